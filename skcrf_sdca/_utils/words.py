"""The words of messages: what callers call their arguments, and the parts of data.

A check reads them when it writes a message. Whoever calls the data by other words hands
these in before, by `in_words`: no message is ever rewritten.
"""

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


def usual_place(argument, i, **within):
    """Return where something is: in an argument, its sequence i, and places in that."""
    parts = {"sequence": words().begin + i, **within}
    where = ", ".join(f"{name_of(part)} {number}" for part, number in parts.items())
    return f"{name_of(argument)}: {where}"


class Words(NamedTuple):
    """The words, by the names of these fields in the code that checks sequences."""

    X: str = "X"
    y: str = "y"
    y_true: str = "y_true"
    X_val: str = "X_val"
    y_val: str = "y_val"
    # The items of a sequence, and the places of their labels and rows.
    sequence: str = "sequence"
    item: str = "item"
    position: str = "position"
    # How to allow several words below the root of a tree.
    several_roots: str = "single_root=False"
    # The parameters of the estimator, its strength of the penalty, and another solver.
    max_iter: str = "max_iter"
    alpha: str = "alpha"
    strength: str = "alpha = {:.3g}"
    alpha_n: str = "alpha n"
    lbfgs: str = "LBFGSCRF"
    # Returns the solvers that the caller may choose, by name, and the name of this one.
    choices: Callable[[], tuple[Mapping[str, tuple[type, ...]], str]] = lambda: ({}, "")
    # The number of the first sequence, of a part of the data of the caller.
    begin: int = 0
    # What fills missing values of X, for a scaler of scikit-learn behind it.
    imputer: str = "PerToken(make_pipeline(SimpleImputer(add_indicator=True), {}))"
    place: Callable[..., str] = usual_place


_USUAL = Words()
_current = ContextVar("words", default=_USUAL)


def words():
    """Return the current Words."""
    return _current.get()


@contextmanager
def in_words(**changes):
    """Take some other words, in a ``with`` statement or as a decorator.

    Examples
    --------
    >>> from skcrf_sdca._utils.words import in_words, place
    >>> with in_words(X="X_val", sequence="graph"):
    ...     place("X", 3, item=0)
    'X_val: graph 3, item 0'
    """
    token = _current.set(words()._replace(**changes))
    try:
        yield
    finally:
        _current.reset(token)


def with_article(noun):
    """Return a noun with "a" or "an".

    >>> from skcrf_sdca._utils.words import with_article
    >>> with_article("item"), with_article("node")
    ('an item', 'a node')
    """
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


@contextmanager
def one_alone(noun, is_list):
    """Say in errors that one sequence or graph is needed, if a list of some was given.

    ``noun`` is the name of the argument, and of what is needed.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        if not is_list:
            raise
        raise type(error)(
            f"{noun}: one {noun} is needed, and this looks like a list of {noun}s: "
            "pass one of them."
        ) from error


def name_of(argument):
    """Return what the caller calls an argument of a check.

    A tuple holds the arguments of `place`, which is called for a message alone.
    """
    if isinstance(argument, tuple):
        return place(*argument)
    return getattr(words(), argument) if argument in Words._fields else argument


def numbered(i):
    """Return the i-th sequence by its name and number.

    >>> from skcrf_sdca._utils.words import in_words, numbered
    >>> with in_words(sequence="graph", begin=1000):
    ...     numbered(7)
    'graph 1007'
    """
    return f"{words().sequence} {words().begin + i}"


def place(argument, i, **within):
    """Return where something is, as `usual_place` unless the words know better."""
    return words().place(argument, i, **within)

"""Tokens of three types: a str, a tuple of columns or a dict of columns.

This is the only module that reads tokens. Other modules get columns, which are lists of
str over all tokens, and the lengths of the sequences.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

import numpy as np

from skcrf_sdca._utils.messages import counted, described
from skcrf_sdca._utils.words import place
from skcrf_sdca.data.containers import check_container, is_frame, plain_column

_FORMS = (
    "Tokens with several columns are dicts, or tuples whose columns are named by "
    "columns=. A fitted tagger takes tokens of the form that it was fitted on."
)

Token: TypeAlias = str | Sequence[str] | Mapping[str, str]


class Tokens:
    """The tokens of all sequences, concatenated.

    `names` are the names of the columns of a tuple; a str has one column. By default,
    the names are the positions in the first token, 0, 1, ... Tuples may also have those
    columns alone that are in `read`, in the order of `names`. `lengths` holds the
    number of tokens of each sequence. If `X` has another form than `transform` of
    `TokenFeatures` takes, a TypeError or ValueError names the sequence and the item.
    """

    def __init__(self, X, names=None, read=None):
        if isinstance(X, str):
            raise TypeError(
                f"X is {described(X)}; it must be a list of sequences of tokens. tag "
                "takes a text, and cuts it into tokens."
            )
        check_container(X)
        X = [_rows(plain_column(sequence)) for sequence in plain_column(X)]
        for index, sequence in enumerate(X):
            _check_sequence(sequence, index)
        self.lengths = np.fromiter(map(len, X), dtype=np.int64, count=len(X))
        self._tokens = list(chain.from_iterable(X))
        self._names = None if names is None else list(names)
        self._read = read if names is None or read is None else _among(names, read)
        self._form = self._common_form()

    def __len__(self):
        """Return the number of tokens."""
        return len(self._tokens)

    @property
    def names(self):
        """The names of the columns; for dicts, the keys of the first token."""
        return list(self._tokens[0]) if self._form is Mapping else self._names

    def column(self, name):
        """Return the column of this name, a list of str that every token has."""
        if not self._tokens:
            return []
        if self._form is Mapping:
            values = self._of_dicts(name)
        elif name not in self._names:
            raise ValueError(
                f"there is no column {name!r}: {self.place(0)} is "
                f"{described(self._tokens[0])}, and has {self._names}. {_FORMS}"
            )
        elif self._form is str:
            values = self._tokens
        else:
            entry = self._names.index(name)
            values = [token[entry] for token in self._tokens]
        if not set(map(type, values)) <= {str}:
            self._check_strings(name, values)
        return values

    def _of_dicts(self, name):
        try:
            return [token[name] for token in self._tokens]
        except KeyError:
            wrong = next(i for i, t in enumerate(self._tokens) if name not in t)
            raise ValueError(
                f"{self.place(wrong)} has no column {name!r}; it has "
                f"{list(self._tokens[wrong])}."
            ) from None

    def place(self, i):
        """Return the sequence and the item of the i-th token, for messages."""
        ends = np.cumsum(self.lengths)
        sequence = int(np.searchsorted(ends, i, side="right"))
        item = i - int(ends[sequence] - self.lengths[sequence])
        return place("X", sequence, item=item)

    def _common_form(self):
        found = {form: _form(form) for form in set(map(type, self._tokens))}
        forms = set(found.values())
        if len(forms) > 1 or None in forms:
            self._refuse_forms(found)
        form = forms.pop() if forms else str
        if form is Mapping:
            return form
        widths = [1 if form is str else len(token) for token in self._tokens]
        if self._names is None:
            self._names = list(range(widths[0] if widths else 1))
        # Tokens of which nothing is read may have any columns.
        if self._read == []:
            return form
        if self._read is not None and set(widths) == {len(self._read)}:
            self._names = self._read
        if set(widths) - {len(self._names)}:
            self._refuse_widths(widths)
        return form

    def _refuse_forms(self, found):
        first = found[type(self._tokens[0])]
        for i, token in enumerate(self._tokens):
            form = found[type(token)]
            if form is None:
                raise TypeError(
                    f"{self.place(i)} is {described(token)}; a token must be a str, a "
                    "tuple of str or a dict of str."
                )
            if form is not first:
                raise TypeError(
                    f"{self.place(i)} is {described(token)}, but the first is "
                    f"{described(self._tokens[0])}: X mixes types of tokens."
                )

    def _refuse_widths(self, widths):
        i = next(i for i, width in enumerate(widths) if width != len(self._names))
        has_others = self._read is not None and len(self._read) < len(self._names)
        least = f", or {len(self._read)}: {self._read}" if has_others else ""
        raise ValueError(
            f"{self.place(i)} is {described(self._tokens[i])} and has "
            f"{counted(widths[i], 'column')}, but must have {len(self._names)}: "
            f"{self._names}{least}. {_FORMS}"
        )

    def _check_strings(self, name, values):
        for i, value in enumerate(values):
            if not isinstance(value, str):
                raise TypeError(
                    f"{self.place(i)}: column {name!r} is {described(value)}; it must "
                    "be a str."
                )


def _rows(sequence):
    """Return the rows of a data frame as dicts, and the entries of one column of it.

    Any other sequence is returned as it is.
    """
    if not is_frame(sequence):
        return sequence.to_list() if hasattr(sequence, "to_list") else sequence
    names = list(sequence.columns)
    columns = (sequence[name].to_list() for name in names)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _among(names, read):
    """Return those of some names that are read, in their order."""
    return [name for name in names if name in read]


def checked_names(columns):
    """Return names of columns as a list; an error if they are none, or not distinct."""
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise TypeError(f"columns must be a sequence of names; got {columns!r}.")
    columns = list(columns)
    names = [name for name in columns if name is not None]
    if len(set(names)) < len(names):
        raise ValueError(f"columns has a name twice: {columns}.")
    return columns


def _check_sequence(sequence, index):
    if isinstance(sequence, (list, tuple)) or (
        isinstance(sequence, np.ndarray) and sequence.ndim == 1
    ):
        return
    # A list of words may be one sequence, but words have no blanks.
    is_text = isinstance(sequence, str) and len(sequence.split()) > 1
    hint = "tag takes a text, and cuts it into tokens"
    if not is_text:
        hint = "if X is a single sequence, wrap it in a list: [X]"
    raise TypeError(
        f"{place('X', index)} is {described(sequence)}; a sequence must be a list of "
        f"tokens ({hint})."
    )


def _form(kind):
    """Return the form of tokens of a type: str, tuple, Mapping, or None if none."""
    if issubclass(kind, str):
        return str
    if issubclass(kind, (tuple, list)):
        return tuple
    return Mapping if issubclass(kind, Mapping) else None

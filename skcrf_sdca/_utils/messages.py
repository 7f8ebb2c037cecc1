"""Parts of error messages: values, counts, names of classes and of arguments."""

import inspect
import numbers
from collections.abc import Iterable
from difflib import get_close_matches
from functools import wraps
from operator import index

import numpy as np


def described(value):
    """Return a short description of a value, with its type, for messages."""
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, (list, tuple)) and value:
        return f"a {type(value).__name__} of {type(value[0]).__name__}"
    text = repr(value) if isinstance(value, (str, bytes, numbers.Number)) else ""
    text = f" {text[:37]}..." if len(text) > 40 else f" {text}"
    return f"of type {type(value).__name__}{text}".rstrip()


def required_attribute(estimator, name):
    """Return a fitted attribute; raise ValueError with its name if it is missing."""
    try:
        return getattr(estimator, name)
    except AttributeError as error:
        raise ValueError(f"{type(estimator).__name__} has no {name}.") from error


def lacking(own, name):
    """Return the error of an attribute that a class has to add to its base.

    >>> from skcrf_sdca._utils.messages import lacking
    >>> lacking(3, "sample")
    NotImplementedError('int has no `sample`, which is needed here')
    """
    return NotImplementedError(
        f"{type(own).__name__} has no `{name}`, which is needed here"
    )


def entry_of(table, name, noun):
    """Return the entry of a table; ValueError, with its names, if there is none.

    >>> from skcrf_sdca._utils.messages import entry_of
    >>> entry_of({"chain": 1}, "chian", "structure")
    Traceback (most recent call last):
    ...
    ValueError: there is no structure 'chian'; did you mean 'chain'? There are 'chain'
    """
    if name not in table:
        raise ValueError(f"there is no {noun} {name!r}{alternatives(name, table)}")
    return table[name]


def counted(n, noun):
    """Return a number with its noun, as in "1 epoch" and "2 epochs"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def alternatives(value, known):
    """Return the end of a message on an unknown value: what was meant, and what is.

    >>> from skcrf_sdca._utils.messages import alternatives
    >>> alternatives("colums", ["columns", "label"])
    "; did you mean 'columns'? There are 'columns', 'label'"
    """
    known = list(dict.fromkeys(map(str, known)))
    close = nearest(value, known)
    start = ";" if close is None else f"; did you mean {close!r}?"
    there = "there" if close is None else "There"
    return f"{start} {there} are {', '.join(map(repr, known))}"


def nearest(value, known):
    """Return the text of some that is most like a value, in any letters, or None.

    >>> from skcrf_sdca._utils.messages import nearest
    >>> nearest("BIOO", ["BIOES", "BIO"]), nearest("x", ["BIO"])
    ('BIO', None)
    """
    lower = {text.lower(): text for text in known}
    close = get_close_matches(str(value).lower(), lower, n=1)
    return lower[close[0]] if close else None


def names_class(method):
    """Decorate a method: errors in how it is called name the class of the object.

    Python names the class that defines the method, which users may not know.
    """
    signature = inspect.signature(method)

    @wraps(method)
    def wrapper(self, *args, **kwargs):
        name = f"{type(self).__name__}.{method.__name__}()"
        try:
            given = signature.bind(self, *args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None
        for argument in given.keys() & {"X", "y"}:
            # NumPy says of these that they are unsized, in the middle of a reader.
            if isinstance(given[argument], np.ndarray) and given[argument].ndim == 0:
                raise TypeError(
                    f"{name}: {argument} is an array of the shape (), which holds one "
                    f"{type(given[argument][()]).__name__}; give a list of sequences."
                )
        return method(self, *args, **kwargs)

    return wrapper


def as_integer(value, name):
    """Return an argument as an int; TypeError if it is no integer."""
    try:
        return index(value)
    except TypeError as error:
        raise TypeError(
            f"{name} must be an integer, got {described(value)}."
        ) from error


def as_list(values, name, what):
    """Return an argument as a list; TypeError if it is none."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a list of {what}, got {described(values)}.")
    return list(values)


def check_count(name, value):
    """Raise ValueError if an argument is not an integer of at least 1."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}.")

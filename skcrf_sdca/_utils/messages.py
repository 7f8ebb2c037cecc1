"""Parts of error messages: values, counts, names of classes and of arguments."""

import inspect
import numbers
import re
from contextlib import contextmanager
from functools import wraps


def described(value):
    """Return a short description of a value, with its type, for messages."""
    if value is None:
        return "None"
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


def counted(n, noun):
    """Return a number with its noun, as in "1 epoch" and "2 epochs"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def names_class(method):
    """Decorate a method: errors in how it is called name the class of the object.

    Python names the class that defines the method, which users may not know.
    """
    signature = inspect.signature(method)

    @wraps(method)
    def wrapper(self, *args, **kwargs):
        try:
            signature.bind(self, *args, **kwargs)
        except TypeError as error:
            name = f"{type(self).__name__}.{method.__name__}()"
            raise TypeError(f"{name}: {error}") from None
        return method(self, *args, **kwargs)

    return wrapper


@contextmanager
def renamed(names):
    """Replace names of arguments in the messages of ValueError and TypeError.

    Parameters
    ----------
    names : dict of str to str
        The names to be replaced, and those that the caller knows. Words in quotes, such
        as labels, stay.

    Examples
    --------
    >>> from skcrf_sdca._utils.messages import renamed
    >>> with renamed({"X": "X_val"}):
    ...     raise ValueError("X: sequence 3 has the label 'X'")
    Traceback (most recent call last):
    ...
    ValueError: X_val: sequence 3 has the label 'X'
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        words = "|".join(map(re.escape, names))
        alone = rf"(?<![\w'\"-])({words})(?![\w'\"-])"
        message = re.sub(alone, lambda found: names[found[0]], str(error))
        if message == str(error):
            raise
        error_class = TypeError if isinstance(error, TypeError) else ValueError
        raise error_class(message) from error

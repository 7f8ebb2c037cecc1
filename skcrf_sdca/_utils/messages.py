"""Parts of error messages: descriptions of values, and missing attributes."""

import numbers


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

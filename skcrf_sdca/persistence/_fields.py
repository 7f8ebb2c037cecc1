"""Checks of the entries of JSON objects, and the error of refused files."""


class ModelFormatError(ValueError):
    """The file is not a model that this version can load.

    Examples
    --------
    >>> import os, tempfile
    >>> from skcrf_sdca.persistence import ModelFormatError, load_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "text.zip")
    ...     with open(path, "w") as file:
    ...         _ = file.write("no model")
    ...     try:
    ...         load_model(path)
    ...     except ModelFormatError as error:
    ...         print(str(error).removeprefix(path))
     cannot be read: File is not a zip file
    """


def fields(value, where, types):
    """Return `value` if it is a dict with exactly these keys and types.

    `value` is an object that JSON returned, and `where` its name in the message of
    ModelFormatError. `types` are types or tuples of types; a bool is not an int.
    """
    if not isinstance(value, dict) or set(value) != set(types):
        raise ModelFormatError(f"{where} must have the entries {sorted(types)}")
    for name, expected in types.items():
        allowed = expected if isinstance(expected, tuple) else (expected,)
        if type(value[name]) not in allowed:
            expected = " or ".join(cls.__name__ for cls in allowed)
            raise ModelFormatError(f"{where}: {name} must be of type {expected}")
    return value

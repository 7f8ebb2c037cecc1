"""The entries of a JSON object, checked; and the error of everything that is wrong."""


class ModelFormatError(ValueError):
    """A file is not a model that this version can load.

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
    """Return `value` if it is a dict of these keys and types, and no others.

    Parameters
    ----------
    value : object
        As JSON gave it.
    where : str
        Its name, for messages.
    types : dict of types or tuples of types
        Those of the entries. A bool is no int.

    Returns
    -------
    value : dict

    Raises
    ------
    ModelFormatError
        If it is no such dict.
    """
    if not isinstance(value, dict) or set(value) != set(types):
        raise ModelFormatError(f"{where} must have the entries {sorted(types)}")
    for name, kind in types.items():
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if type(value[name]) not in kinds:
            expected = " or ".join(kind.__name__ for kind in kinds)
            raise ModelFormatError(f"{where}: {name} must be of type {expected}")
    return value

"""How every document of a model begins: the format, its version and metadata."""

import json
import math
from types import NoneType

from skcrf_sdca._version import __version__
from skcrf_sdca.persistence._fields import ModelFormatError, fields

FORMAT, FORMAT_VERSION = "skcrf_sdca", 3
# The entries of a document, with their types.
HEAD = {"format": str, "format_version": int, "written_by": str, "model": dict}
# What the user says of the model; only with metadata.
METADATA = {"metadata": dict}
METADATA_VERSION = 2
# Characters of the metadata as JSON: they are a note, and no place for data.
MAX_METADATA = 2**16


def with_head(model, version, metadata=None):
    """Return the document of a model that needs this version of the format."""
    own = {}
    if metadata is not None and checked_metadata(metadata):
        own = {"metadata": metadata}
        version = max(version, METADATA_VERSION)
    return {
        "format": FORMAT,
        "format_version": version,
        "written_by": f"skcrf_sdca {__version__}",
        **own,
        "model": model,
    }


def checked_metadata(metadata):
    """Return metadata; TypeError or ValueError if JSON would not give them back."""
    if type(metadata) is not dict:
        raise TypeError(
            f"metadata must be a dict or None, got {type(metadata).__name__}."
        )
    _check_value("metadata", metadata)
    n_characters = len(json.dumps(metadata, allow_nan=False))
    if n_characters > MAX_METADATA:
        raise ValueError(
            f"metadata take {n_characters} characters as JSON, and a model file holds "
            f"{MAX_METADATA}: put the name of a file into them."
        )
    return metadata


def _check_value(name, value):
    """Raise TypeError or ValueError, with the place, for what JSON does not have."""
    if type(value) is dict:
        for key, entry in value.items():
            if type(key) is not str:
                raise TypeError(
                    f"{name} has the key {key!r:.40}, and the keys must be str."
                )
            _check_value(f"{name}[{key!r:.40}]", entry)
    elif type(value) is list:
        for i, entry in enumerate(value):
            _check_value(f"{name}[{i}]", entry)
    elif type(value) not in (NoneType, bool, int, float, str):
        raise TypeError(
            f"{name} is of type {type(value).__name__}, which JSON does not have: take "
            "a str, a number, True, False, None, or a list or dict of these."
        )
    elif type(value) is float and not math.isfinite(value):
        raise ValueError(f"{name} is {value}, which JSON does not have.")


def model_of(document):
    """Return the entry "model"; ModelFormatError if this is no document of a model."""
    return checked_document(document)["model"]


def checked_document(document):
    """Return a document; ModelFormatError if its head is not that of a model."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFormatError("it is not a model of skcrf_sdca")
    version = document.get("format_version")
    if type(version) is not int or not 1 <= version <= FORMAT_VERSION:
        raise ModelFormatError(
            f"it has version {version!r:.40} of the format, but this version of "
            f"skcrf_sdca reads 1 to {FORMAT_VERSION} only"
        )
    if "metadata" not in document:
        return fields(document, "the document", HEAD)
    fields(document, "the document", HEAD | METADATA)
    checked_metadata(document["metadata"])
    return document

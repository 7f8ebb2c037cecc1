"""How every document of a model begins: the format and its version."""

from skcrf_sdca._version import __version__
from skcrf_sdca.persistence._fields import ModelFormatError, fields

FORMAT, FORMAT_VERSION = "skcrf_sdca", 2
# The entries of a document, with their types.
HEAD = {"format": str, "format_version": int, "written_by": str, "model": dict}


def with_head(model, version):
    """Return the document of a model that needs this version of the format."""
    return {
        "format": FORMAT,
        "format_version": version,
        "written_by": f"skcrf_sdca {__version__}",
        "model": model,
    }


def model_of(document):
    """Return the entry "model"; ModelFormatError if this is no document of a model."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFormatError("it is not a model of skcrf_sdca")
    version = document.get("format_version")
    if type(version) is not int or not 1 <= version <= FORMAT_VERSION:
        raise ModelFormatError(
            f"it has version {version!r:.40} of the format, but this version of "
            f"skcrf_sdca reads 1 to {FORMAT_VERSION} only"
        )
    return fields(document, "the document", HEAD)["model"]

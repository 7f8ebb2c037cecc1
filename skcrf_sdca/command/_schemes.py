"""Which tagging scheme labels have."""

from skcrf_sdca.text import convert_labels, extract_spans

SCHEMES = ("BIO", "IOB1", "BIOES", "BILOU", "IO")
# Tried in this order; IOB1 reads labels of IO too.
_TRIED = SCHEMES[:4]


def scheme_of_valid(y):
    """Return the first scheme in which all label lists are valid, or None."""
    return _first(lambda scheme: convert_labels(y, scheme, scheme))


def scheme_of_readable(y):
    """Return the first scheme that can read all labels, or None.

    "BIO" also reads the spans of IOB1 and IO.
    """
    return _first(lambda scheme: extract_spans(y, scheme))


def _first(read):
    for scheme in _TRIED:
        try:
            read(scheme)
        except (TypeError, ValueError):
            continue
        return scheme
    return None

"""Reads and writes model files of CRFsuite ("lCRF").

A file consists of these parts, in this order; offsets count from its first byte:

    header | weights | names of the labels | names of the attributes
           | weights that leave each label | weights of each attribute

A weight belongs to a state (attribute, label) or to a transition (label, label). The
last two chunks list the numbers of the weights of each label and of each attribute.
Names are in tables, see _string_table.py.
"""

from dataclasses import dataclass

import numpy as np

from skcrf_sdca.compat._layout import UINT32, damaged, read_array, read_chunk
from skcrf_sdca.compat._string_table import read_strings, write_strings

STATE, TRANSITION = 0, 1
WEIGHT = np.dtype(
    [("kind", UINT32), ("source", UINT32), ("label", UINT32), ("weight", "<f8")]
)
_PLACES = ("weights", "labels", "attributes", "label_lists", "attribute_lists")
_SHORT = "features", "labels", "attrs", "labelrefs", "attrrefs"
_HEADER = np.dtype(
    [
        ("magic", "S4"),
        ("size", UINT32),
        ("type", "S4"),
        ("version", UINT32),
        ("n_weights", UINT32),
        ("n_labels", UINT32),
        ("n_attributes", UINT32),
        *((place, UINT32) for place in _PLACES),
    ]
)
_CHUNK = np.dtype([("magic", "S4"), ("size", UINT32), ("count", UINT32)])
_MAGIC, _TYPE, _VERSION = b"lCRF", b"FOMC", 100
_LARGEST = 2**32 - 1
# Attributes of the weights that files of CRFsuite have no place for. The readers of
# this package take them for these weights again.
BOUNDARIES = {block: f"skcrf_sdca.{block}" for block in ("intercept", "start", "end")}


@dataclass(frozen=True)
class ModelFile:
    """The content of a model file.

    Attributes
    ----------
    labels, attributes : list of str
        Distinct names.
    weights : ndarray of shape (n_weights,)
        Structured, of dtype WEIGHT: ``kind`` is STATE or TRANSITION, ``source`` is the
        number of an attribute or of the previous label, and ``label`` of a label.
    """

    labels: list[str]
    attributes: list[str]
    weights: np.ndarray


def places_of_boundaries(attributes):
    """Return the number of each attribute of `BOUNDARIES`, by its block."""
    block_of = {name: block for block, name in BOUNDARIES.items()}
    return {block_of[n]: i for i, n in enumerate(attributes) if n in block_of}


def parse(data):
    """Return the ModelFile that is the content of a file, given as bytes.

    It raises ValueError if the file is damaged. Nothing outside the file is read, and
    no more memory is allocated than a few times the size of the file.
    """
    header = read_chunk(data, _HEADER, _MAGIC, 0, "model")
    if header["type"] != _TYPE or header["version"] != _VERSION:
        raise damaged("it is of another type or version")
    if header["size"] != len(data):
        raise damaged(f"it has {len(data)} bytes and should have {header['size']}")
    chunk = read_chunk(data, _CHUNK, b"FEAT", header["weights"], "weights")
    begin = int(header["weights"]) + _CHUNK.itemsize
    weights = read_array(data, WEIGHT, chunk["count"], begin, "weights")
    labels, attributes = (
        read_strings(data, header[place], int(header[f"n_{place}"]), place)
        for place in ("labels", "attributes")
    )
    if not labels:
        raise damaged("it has no labels")
    _check_weights(weights, len(labels), len(attributes))
    return ModelFile(labels, attributes, weights)


def header_of(data):
    """Return the header of a file as CRFsuite's dump has it, {name: text}."""
    header = read_chunk(data, _HEADER, _MAGIC, 0, "model")
    names = {"labels": "labels", "attributes": "attrs"}
    return {
        "magic": header["magic"].decode(),
        "size": str(header["size"]),
        "type": header["type"].decode(),
        "version": str(header["version"]),
        # CRFsuite writes no number of weights either.
        "num_features": "0",
        **{f"num_{short}": str(header[f"n_{name}"]) for name, short in names.items()},
        **{
            f"off_{short}": f"0x{header[place]:X}"
            for place, short in zip(_PLACES, _SHORT, strict=True)
        },
    }


def _check_weights(weights, n_labels, n_attributes):
    is_state = weights["kind"] == STATE
    n_sources = np.where(is_state, n_attributes, n_labels)
    is_known = is_state | (weights["kind"] == TRANSITION)
    is_named = (weights["source"] < n_sources) & (weights["label"] < n_labels)
    if not np.all(is_known & is_named):
        raise damaged("a weight is of nothing that has a name")
    if not np.isfinite(weights["weight"]).all():
        raise damaged("a weight is not finite")


def serialise(model):
    """Return the file of a ModelFile, as bytes, exactly as CRFsuite would write it.

    It raises ValueError if the file would exceed the limit of the format, 4 GiB.
    """
    _check_size(model)
    n_labels, n_attributes = len(model.labels), len(model.attributes)
    is_state = model.weights["kind"] == STATE
    parts = [b"", _chunk(b"FEAT", len(model.weights), model.weights.tobytes())]
    parts += [write_strings(model.labels), write_strings(model.attributes)]
    header = np.zeros(1, dtype=_HEADER)
    offset = _HEADER.itemsize
    for place, part in zip(_PLACES, parts[1:], strict=False):
        header[place] = offset
        offset += len(part)
    parts.append(bytes(-offset % UINT32.itemsize))
    offset += len(parts[-1])
    # CRFsuite reserves two lists for transitions from the start and to the end.
    for place, magic, mask, n, spare in (
        ("label_lists", b"LFRF", ~is_state, n_labels, 2),
        ("attribute_lists", b"AFRF", is_state, n_attributes, 0),
    ):
        header[place] = offset
        parts.append(_lists(magic, model.weights["source"], mask, n, spare, offset))
        offset += len(parts[-1])
    header["magic"], header["size"] = _MAGIC, offset
    header["type"], header["version"] = _TYPE, _VERSION
    header["n_labels"], header["n_attributes"] = n_labels, n_attributes
    parts[0] = header.tobytes()
    return b"".join(parts)


def _check_size(model):
    """Raise ValueError if offsets might not fit into 32 bits, by an upper bound."""
    names = sum(4 * len(name) for name in (*model.labels, *model.attributes))
    # Each name takes a record, two buckets, an offset and a list.
    n_names = len(model.labels) + len(model.attributes)
    size = names + 64 * n_names + 24 * len(model.weights) + 2**13
    if size > _LARGEST:
        raise ValueError(
            f"the model has {len(model.weights)} weights that are not 0, and files of "
            "CRFsuite end at 4 GiB: remove the smallest"
        )


def _chunk(magic, count, content):
    header = np.zeros(1, dtype=_CHUNK)
    header["magic"], header["count"] = magic, count
    header["size"] = _CHUNK.itemsize + len(content)
    return header.tobytes() + content


def _lists(magic, source, mask, n_sources, n_spare, offset):
    """Return the chunk, for this offset, that lists the weights of each source."""
    numbers = np.flatnonzero(mask)
    numbers = numbers[np.argsort(source[numbers], kind="stable")]
    counts = np.bincount(source[numbers], minlength=n_sources)
    before = np.cumsum(counts) - counts
    words = np.insert(numbers, before, counts)
    begin = offset + _CHUNK.itemsize + UINT32.itemsize * (n_sources + n_spare)
    places = np.zeros(n_sources + n_spare, dtype=UINT32)
    places[:n_sources] = begin + UINT32.itemsize * (before + np.arange(n_sources))
    content = places.tobytes() + words.astype(UINT32).tobytes()
    return _chunk(magic, n_sources + n_spare, content)

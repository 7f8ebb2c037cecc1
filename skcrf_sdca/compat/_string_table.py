"""Tables that map names to numbers and back in CRFsuite's model files ("CQDB").

A table consists of these parts, in this order; offsets count from its first byte:

    header | 256 references | records | buckets | offsets of the records

A record is a number, a size and a string with its final NUL. If h is the hash of a
string (lookup3 of Bob Jenkins), reference h mod 256 has the offset and the number of
its buckets, which is twice the number of strings in them. A bucket is a hash and the
offset of a record. A search begins at bucket h // 256 modulo the number of buckets, and
ends at a bucket whose offset is 0. The last part has the offsets of the records in the
order of their numbers.
"""

import struct

import numpy as np

from skcrf_sdca.compat._layout import UINT32, damaged, read_array, read_chunk

_NUMBERS = ("size", "flag", "byte_order", "n_strings", "offsets")
_HEADER = np.dtype([("magic", "S4"), *((name, UINT32) for name in _NUMBERS)])
_REFERENCE = np.dtype([("offset", UINT32), ("n_buckets", UINT32)])
_BUCKET = np.dtype([("hash", UINT32), ("offset", UINT32)])
_RECORD = np.dtype([("number", UINT32), ("size", UINT32)])
_MAGIC, _BYTE_ORDER = b"CQDB", 0x62445371
_N_REFERENCES = 256
_FIRST_RECORD = _HEADER.itemsize + _N_REFERENCES * _REFERENCE.itemsize


def read_strings(data, offset, count, what):
    """Return the `count` strings of the table at an offset, in order of their numbers.

    If the table is damaged, or a string is not UTF-8 or occurs twice, a ValueError
    names `what` the strings are.
    """
    header = read_chunk(data, _HEADER, _MAGIC, offset, what)
    if header["byte_order"] != _BYTE_ORDER or header["n_strings"] != count:
        raise damaged(f"the table of the {what} contradicts the header")
    table = memoryview(data)[int(offset) : int(offset) + int(header["size"])]
    offsets = read_array(table, UINT32, count, header["offsets"], what)
    begins, ends = _text_bounds(table, offsets, what)
    text = bytes(table)
    try:
        strings = [
            text[begin:end].decode()
            for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
        ]
    except UnicodeDecodeError as error:
        raise ValueError(f"{what} of the model are no UTF-8: {error}") from error
    if len(set(strings)) < count:
        raise damaged(f"two of the {what} are equal")
    return strings


def _text_bounds(table, offsets, what):
    """Return and check the offsets at which the text of each record begins and ends."""
    offsets = offsets.astype(np.int64)
    room = len(table) - _RECORD.itemsize
    if not np.all((offsets >= _FIRST_RECORD) & (offsets < room)):
        raise damaged(f"records of the {what} are outside their table")
    octets = np.frombuffer(table, np.uint8)
    records = octets[offsets[:, None] + np.arange(_RECORD.itemsize)].view(_RECORD)[:, 0]
    begins = offsets + _RECORD.itemsize
    ends = begins + records["size"] - 1
    whole = (records["size"] > 0) & (ends < len(table))
    # The text of records that do not overlap is not larger than the table.
    if not whole.all() or records["size"].sum(dtype=np.int64) > len(table):
        raise damaged(f"records of the {what} are outside their table")
    if np.any(records["number"] != np.arange(len(records))) or octets[ends].any():
        raise damaged(f"records of the {what} contradict each other")
    return begins, ends


def write_strings(strings):
    """Return the table, as bytes, of distinct strings without NUL, in their order."""
    keys = [string.encode() + b"\0" for string in strings]
    records = [
        struct.pack("<II", number, len(key)) + key for number, key in enumerate(keys)
    ]
    sizes = np.array([len(record) for record in records], dtype=np.int64)
    ends = _FIRST_RECORD + np.cumsum(sizes)
    end = _FIRST_RECORD + int(sizes.sum())
    references, buckets = _hash_tables(hashes(keys), ends - sizes, end)
    header = np.zeros(1, dtype=_HEADER)
    header["magic"], header["byte_order"] = _MAGIC, _BYTE_ORDER
    header["n_strings"] = len(strings)
    header["offsets"] = end + buckets.nbytes
    header["size"] = end + buckets.nbytes + UINT32.itemsize * len(strings)
    parts = header, references, b"".join(records), buckets, (ends - sizes).astype("<u4")
    return b"".join(bytes(part) for part in parts)


def _hash_tables(values, offsets, first):
    """Return the references, and the buckets, whose offset is `first`."""
    counts = np.bincount(values % _N_REFERENCES, minlength=_N_REFERENCES)
    references = np.zeros(_N_REFERENCES, dtype=_REFERENCE)
    references["n_buckets"] = 2 * counts
    begins = 2 * (np.cumsum(counts) - counts)
    references["offset"] = np.where(counts, first + begins * _BUCKET.itemsize, 0)
    buckets = np.zeros(2 * len(values), dtype=_BUCKET)
    taken = bytearray(len(buckets))
    where = np.empty(len(values), dtype=np.int64)
    begins, sizes = begins.tolist(), (2 * counts).tolist()
    for i, value in enumerate(values.tolist()):
        table = value % _N_REFERENCES
        k = value // _N_REFERENCES % sizes[table]
        while taken[begins[table] + k]:
            k = (k + 1) % sizes[table]
        where[i] = begins[table] + k
        taken[where[i]] = 1
    buckets["hash"][where], buckets["offset"][where] = values, offsets
    return references, buckets


def hashes(keys):
    """Return the hash "lookup3" of Bob Jenkins, with seed 0, of each key.

    The keys are bytes, none of them empty; the hashes are an array of uint32.
    """
    sizes = np.array([len(key) for key in keys], dtype=np.int64)
    n_blocks = -(-sizes // 12)
    padded = b"".join(key.ljust(12 * -(-len(key) // 12), b"\0") for key in keys)
    blocks = np.frombuffer(padded, UINT32).reshape(-1, 3)
    first = np.cumsum(n_blocks) - n_blocks
    state = np.tile((0xDEADBEEF + sizes).astype(np.uint32), (3, 1))
    for number in range(max(n_blocks, default=1) - 1):
        # All blocks of a key but the last.
        longer = np.flatnonzero(n_blocks > number + 1)
        state[:, longer] = _mix(*(state[:, longer] + blocks[first[longer] + number].T))
    return _finish(*(state + blocks[first + n_blocks - 1].T))


def _rotate(x, bits):
    return (x << np.uint32(bits)) | (x >> np.uint32(32 - bits))


def _mix(a, b, c):
    for bits in (4, 6, 8, 16, 19, 4):
        a, b, c = b, c + b, (a - c) ^ _rotate(c, bits)
    return a, b, c


def _finish(a, b, c):
    for bits in (14, 11, 25, 16, 4, 14, 24):
        a, b, c = b, (c ^ b) - _rotate(b, bits), a
    return b

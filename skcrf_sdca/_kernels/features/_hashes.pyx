"""MurmurHash3 of names (x86, 32 bits, seed 0), by which a hasher finds their columns.

It is that of scikit-learn's `FeatureHasher`, for programs without scikit-learn.
"""

from libc.stdint cimport uint32_t

import numpy as np


def name_hashes(names):
    """Return the hashes of the UTF-8 of names, int32.

    UnicodeEncodeError, a ValueError, if one is no valid Unicode.
    """
    found = np.empty(len(names), dtype=np.uint32)
    cdef uint32_t[::1] out = found
    cdef Py_ssize_t i
    cdef bytes data
    for i, name in enumerate(names):
        data = name.encode()
        out[i] = murmur(data, len(data))
    return found.view(np.int32)


cdef uint32_t murmur(const unsigned char* data, Py_ssize_t n) noexcept:
    cdef uint32_t hash = 0, block
    cdef Py_ssize_t i, n_whole = n - n % 4
    for i in range(0, n_whole, 4):
        block = data[i] | data[i + 1] << 8 | data[i + 2] << 16
        block |= <uint32_t> data[i + 3] << 24
        hash = rotated(hash ^ scrambled(block), 13) * 5 + 0xe6546b64U
    block = 0
    for i in range(n - 1, n_whole - 1, -1):
        block = block << 8 | data[i]
    hash ^= scrambled(block) ^ <uint32_t> n
    hash = (hash ^ hash >> 16) * 0x85ebca6bU
    hash = (hash ^ hash >> 13) * 0xc2b2ae35U
    return hash ^ hash >> 16


cdef inline uint32_t scrambled(uint32_t block) noexcept:
    return rotated(block * 0xcc9e2d51U, 15) * 0x1b873593


cdef inline uint32_t rotated(uint32_t block, int n_bits) noexcept:
    return block << n_bits | block >> (32 - n_bits)

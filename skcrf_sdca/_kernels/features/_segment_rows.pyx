"""Features of whole segments, sparse rows for all that there may be."""

from hashlib import sha256

import numpy as np


cdef class SegmentRows:
    """Features of all segments of up to M tokens, of sequences laid end to end.

    The row of the segment of the tokens begin <= t < end is end * M - (end - begin): so
    the rows of one end follow each other, the longest segment first. Rows of what
    begins before its sequence are empty.

    Parameters
    ----------
    indptr, columns : ndarrays of int32
        Row r has the entries indptr[r]:indptr[r + 1], in these columns.
    entries : ndarray of float64
    n_features, most : int
        F and M.
    """

    def __init__(
        self, indptr, columns, entries, Py_ssize_t n_features, Py_ssize_t most
    ):
        self.indptr, self.columns, self.entries = indptr, columns, entries
        self.n_features, self.most = n_features, most

    def digest(self):
        """Return a str that tells these rows from others."""
        found = sha256(f"{self.n_features} {self.most}".encode())
        found.update(self.indptr)
        found.update(self.columns)
        found.update(self.entries)
        return found.hexdigest()

    def of_tokens(self, Py_ssize_t first, Py_ssize_t last):
        """Return the rows of the sequences of the tokens first <= t < last."""
        return SegmentRows(
            np.asarray(self.indptr)[first * self.most:last * self.most + 1],
            np.asarray(self.columns), np.asarray(self.entries), self.n_features,
            self.most,
        )

    def at_tokens(self, tokens):
        """Return the rows of the sequences that some of the tokens are, end to end."""
        rows = (tokens[:, np.newaxis] * self.most + np.arange(self.most)).ravel()
        count, columns, entries = self.gathered(rows)
        indptr = np.concatenate([[0], np.cumsum(count)]).astype(np.int32)
        return SegmentRows(indptr, columns, entries, self.n_features, self.most)

    def entries_of(self, begin, end):
        """Return the segment, the column and the value of each entry of segments."""
        count, columns, entries = self.gathered(end * self.most - (end - begin))
        segment = np.repeat(np.arange(len(count)), count)
        return segment, columns.astype(np.int64), entries

    def gathered(self, rows):
        """Return how many entries rows have, and these, end to end."""
        indptr = np.asarray(self.indptr)
        first, count = indptr[rows], indptr[rows + 1] - indptr[rows]
        skipped = np.repeat(np.cumsum(count) - count - first, count)
        places = np.arange(count.sum()) - skipped
        return count, np.asarray(self.columns)[places], np.asarray(self.entries)[places]

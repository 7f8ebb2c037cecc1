"""How parallel workers divide the sequences, and in which tier each feature is."""

import numpy as np
from scipy.sparse import csr_array, issparse

from skcrf_sdca._utils.memory import BLOCK


def equal_shards(work, n_shards):
    """Return shards with about the same number of sequences and the same work.

    The sequences are sorted by falling work and dealt out to and fro. So each shard has
    its part of the few sequences that are much longer than the others; draws by gap
    visit these most. ``work`` has the work of a visit to each of n >= ``n_shards``
    sequences; a shard is a rising array of intp.
    """
    falling = np.argsort(-work, kind="stable")
    deal, place = np.divmod(np.arange(len(work)), n_shards)
    worker = np.empty(len(work), dtype=np.intp)
    worker[falling] = np.where(deal % 2 == 0, place, n_shards - 1 - place)
    return [np.flatnonzero(worker == p) for p in range(n_shards)]


class FeaturePartition:
    """The tiers of features, and the row of each feature in the local weights.

    A private feature occurs in the sequences of one worker alone; all other features
    are shared. A shared feature is frequent if at least ``least_frequent`` sequences
    have it, else rare. Shared features have the same row in all local weights, the most
    frequent ones first. The private features of each worker take the rows after them,
    in the order of its sequences, so that the features of a sequence are neighbours.
    Private features of different workers have the same rows, or, with ``apart``, rows
    of their own. All features of dense rows are frequent, and all of rows that are made
    at the visit, whose features are not known before.

    Attributes
    ----------
    shared : ndarray of int32
        Frequent features, then rare features, in the order of their rows.
    n_frequent : int
    private : list of ndarrays of int32
        Private features of each worker, in the order of their rows.
    row : ndarray of shape (n_features,), int32
        The row of each feature; features that do not occur have none.
    n_rows : int
        Rows that the local weights of each worker need.
    """

    def __init__(self, features, shards, least_frequent, *, apart=False):
        n_features = features.rows.n_features
        n_sequences, n_workers = np.zeros((2, n_features), dtype=np.int64)
        for shard in shards:
            n_of_worker = features.n_sequences_with(shard)
            n_sequences += n_of_worker
            n_workers += n_of_worker > 0
        shared = np.flatnonzero(n_workers > 1)
        shared = shared[np.argsort(-n_sequences[shared], kind="stable")]
        self.n_frequent = int((n_sequences[shared] >= least_frequent).sum())
        self.shared = shared.astype(np.int32)
        self.row = np.zeros(n_features, dtype=np.int32)
        self.row[shared] = np.arange(len(shared))
        self.private = []
        self.n_rows = first = len(shared)
        for shard in shards:
            private = features.in_order(shard, n_workers == 1)
            self.private.append(private)
            self.row[private] = first + np.arange(len(private))
            self.n_rows = max(self.n_rows, first + len(private))
            first = self.n_rows if apart else first

    def rows_of(self, values, worker):
        """Return a number for each row of the local weights of a worker, 0 for others.

        ``values`` has a number for each feature.
        """
        own = np.zeros(self.n_rows, dtype=values.dtype)
        for features in (self.shared, self.private[worker]):
            own[self.row[features]] = values[features]
        return own

    def renumber(self, X, new_array=np.zeros):
        """Return X with the rows of the features in the local weights as columns.

        ``new_array`` makes the array of these.
        """
        if not issparse(X):
            return X
        columns = new_array(X.indices.shape, np.int32)
        for begin in range(0, len(columns), BLOCK):
            own = slice(begin, begin + BLOCK)
            columns[own] = self.row[X.indices[own]]
        return csr_array((X.data, columns, X.indptr), shape=(X.shape[0], self.n_rows))

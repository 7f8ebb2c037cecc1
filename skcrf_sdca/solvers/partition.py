"""Shares: who of a team has which sequences, and where it keeps which weights."""

import numpy as np
from scipy.sparse import csr_array, issparse


def equal_shares(work, n_shares):
    """Return the sequences of shares that are alike in number, work, and long ones.

    The sequences are dealt by falling work, to and fro: so each share has its part of
    the few that are much longer than others, and that draws by gap visit most.

    Parameters
    ----------
    work : ndarray of shape (n,)
        Of a visit to each sequence.
    n_shares : int
        At most n.

    Returns
    -------
    shares : list of ndarrays of intp
        The sequences of each, rising.
    """
    falling = np.argsort(-work, kind="stable")
    rounds, place = np.divmod(np.arange(len(work)), n_shares)
    owner = np.empty(len(work), dtype=np.intp)
    owner[falling] = np.where(rounds % 2 == 0, place, n_shares - 1 - place)
    return [np.flatnonzero(owner == share) for share in range(n_shares)]


class Kinds:
    """The kinds of features in a team, and the rows of their weights in its copies.

    Joint features are those that sequences of several members have, own features those
    of a single member. Joint ones have the same row in all copies, the most frequent
    first; the rows after those are of each member's own, in the order of its sequences,
    so that those of a sequence lie side by side. All features of dense rows are joint.

    Parameters
    ----------
    features : DistinctFeatures
    shares : list of ndarrays of intp
        The sequences of each member.
    least : ndarray of shape (n_bands,)
        Sequences that the joint features of a band have at least, falling.

    Attributes
    ----------
    joint : ndarray of int32
        Joint features in the order of their rows.
    bands : list of int
        How many of them are in each band or the bands before.
    own : list of ndarrays of int32
        Own features of each member, likewise.
    number : ndarray of shape (n_features,), int32
        The row of each feature that a sequence has: own features of several members
        have the same.
    """

    def __init__(self, features, shares, least):
        n_features = features.rows.n_features
        n_with, n_members = np.zeros((2, n_features), dtype=np.int64)
        for share in shares:
            n_of_member = features.n_sequences_with(share)
            n_with += n_of_member
            n_members += n_of_member > 0
        joint = np.flatnonzero(n_members > 1)
        joint = joint[np.argsort(-n_with[joint], kind="stable")]
        self.bands = [int((n_with[joint] >= number).sum()) for number in least]
        self.joint = joint.astype(np.int32)
        self.number = np.zeros(n_features, dtype=np.int32)
        self.number[joint] = np.arange(len(joint))
        self.own = []
        for share in shares:
            found = features.of_sequences(share)
            own, first = np.unique(found[n_members[found] == 1], return_index=True)
            self.own.append(own[np.argsort(first)])
            self.number[self.own[-1]] = len(joint) + np.arange(len(own))

    @property
    def n_rows(self):
        """Rows of a copy."""
        return len(self.joint) + max(map(len, self.own))

    def renumber(self, X):
        """Return the rows of features with the rows of their weights as columns."""
        if not issparse(X):
            return X
        arrays = X.data, self.number[X.indices], X.indptr
        return csr_array(arrays, shape=(X.shape[0], self.n_rows))

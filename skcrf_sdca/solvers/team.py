"""Teams: dual ascent by several threads, each over a share of the sequences.

Owns how many there are, who has which sequences, and the threads; the rounds in which
they work, and what keeps the dual from falling, are those of _team.pyx.
"""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_array, issparse

from skcrf_sdca._kernels._copies import Copies
from skcrf_sdca._kernels._features import DistinctFeatures, FeatureRows
from skcrf_sdca._kernels._team import Rounds
from skcrf_sdca._kernels._visits import VISIT
from skcrf_sdca._memory import check_fits
from skcrf_sdca.model import ChainModel

# Visits in a round, of all members together, after which the common weights are joined:
# more of them take more epochs, fewer leave the members waiting for each other. All
# weights are joined after so many rounds.
VISITS = 16
JOIN_ALL = 256
# Common is a feature that so many visits of a round have, on average. Those that so many
# visits of 4, 16, ... rounds have make the bands of shared features.
COMMON = 2.0
N_BANDS = 4
# A member with fewer sequences would wait for the others most of the time.
MIN_SHARE = 64

# See `Rounds`.
MARGIN = 1.02
MEMORY = 0.95


def make_visitors(problem, model, scheme, mix, new_visitor):
    """Return the visitors of a problem, as many as its n_jobs, and what leads them.

    Parameters
    ----------
    problem : Problem
    model : ChainModel
        Its weights are moved.
    scheme : Scheme
    mix : float in [0, 1]
        Share of draws by score, the others being uniform.
    new_visitor : callable
        ``new_visitor(features, weights, sampler)`` is a DualVisitor.

    Returns
    -------
    visitors : list of DualVisitor
    kernel : DualVisitor or Team
        The only visitor, or a team of all.
    """
    features = DistinctFeatures(problem.rows, problem.offsets)
    n_members = team_size(problem.n_jobs, problem.n_sequences)
    if n_members == 1:
        sampler = scheme.make(problem, mix)
        visitor = new_visitor(features, model.weights(), sampler)
        return [visitor], visitor
    n = np.arange(problem.n_sequences + 1)
    bounds = equal_shares(problem.offsets + VISIT * n, n_members)
    kinds = Kinds(features, bounds)
    # The copies and what is joined, and two numbers and two marks for each shared row.
    check_fits(
        8 * (n_members + 1) * (kinds.n_rows * problem.n_labels + problem.n_labels**2)
        + 10 * n_members * len(kinds.joint),
        f"copies of the weights for {n_members} threads",
        "take a smaller n_jobs",
    )
    rows = FeatureRows(kinds.renumber(problem.data.X))
    features.renumber(rows, kinds.number, kinds.bands[0], len(kinds.joint))
    copies = Copies(
        model.w,
        model.n_labels,
        kinds.bands,
        kinds.joint,
        kinds.own,
        len(model.w) - model.coef.size,
    )
    visitors = []
    for member, (begin, end) in enumerate(pairwise(bounds)):
        sampler = scheme.make(problem, mix, slice(begin, end))
        own_model = ChainModel(
            copies.n_rows,
            model.n_labels,
            boundaries=model.boundaries,
            w=copies.arrays[member],
        )
        visitors.append(new_visitor(features, own_model.weights(), sampler))
        visitors[-1].share(copies, member, begin)
    mean_length = problem.offsets[-1] / problem.n_sequences
    visit = int((mean_length + VISIT) * problem.n_labels**2)
    rounds = Rounds(
        copies,
        work=max(1, VISITS // n_members) * visit,
        join_all=JOIN_ALL,
        margin=MARGIN,
        memory=MEMORY,
    )
    return visitors, Team(visitors, bounds, rounds)


class Kinds:
    """The kinds of features in a team, and the rows of their weights in its copies.

    Common features are those that most rounds move, shared ones the others that
    sequences of several members have, own ones those of a single member. The first two
    have the same row in all copies, the most frequent first; the rows after those are
    of each member's own features, in the order of its sequences.

    Parameters
    ----------
    features : DistinctFeatures
    bounds : ndarray of shape (n_members + 1,)
        Member p has the sequences bounds[p] <= i < bounds[p + 1].

    Attributes
    ----------
    joint : ndarray of int32
        Common and shared features, in the order of their rows.
    bands : list of int
        How many of them are common, and in each of the next bands or those before.
    own : list of ndarrays of int32
        Features of each member, likewise.
    number : ndarray of shape (n_features,), int32
        The row of each feature: own features of several members have the same.
    """

    def __init__(self, features, bounds):
        n_features = features.rows.n_features
        parts = [features.of_range(b, e) for b, e in pairwise(bounds)]
        n_with = np.array([np.bincount(p, minlength=n_features) for p in parts])
        n_sequences = bounds[-1]
        joint = np.flatnonzero((n_with > 0).sum(axis=0) > 1)
        n_with = n_with.sum(axis=0)
        joint = joint[np.argsort(-n_with[joint], kind="stable")]
        per_round = n_with[joint] * VISITS / n_sequences
        self.bands = [
            int((per_round * 4**band >= COMMON).sum()) for band in range(N_BANDS)
        ]
        self.joint = joint.astype(np.int32)
        is_joint = np.zeros(n_features, dtype=bool)
        is_joint[joint] = True
        self.number = np.zeros(n_features, dtype=np.int32)
        self.number[joint] = np.arange(len(joint))
        self.own = []
        for part in parts:
            part = part[~is_joint[part]]
            own, first = np.unique(part, return_index=True)
            own = own[np.argsort(first)]
            self.number[own] = len(joint) + np.arange(len(own))
            self.own.append(own)

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


def team_size(n_jobs, n_sequences):
    """Return the number of members: 1 for n_jobs=None, in whatever context of joblib.

    A context must not change the bits of a fit.
    """
    if n_jobs is None:
        return 1
    return max(1, min(effective_n_jobs(n_jobs), n_sequences // MIN_SHARE))


def equal_shares(offsets, n_shares):
    """Return bounds of shares with about equally many positions, one sequence at least.

    Parameters
    ----------
    offsets : ndarray of shape (n + 1,)
    n_shares : int
        At most n.

    Returns
    -------
    bounds : ndarray of shape (n_shares + 1,)
    """
    n, share = len(offsets) - 1, np.arange(n_shares + 1)
    bounds = np.searchsorted(offsets, offsets[-1] * share // n_shares)
    bounds = np.maximum.accumulate(bounds - share) + share
    bounds = np.minimum(bounds, n - n_shares + share)
    bounds[[0, -1]] = 0, n
    return bounds


class Team:
    """Visitors side by side, to be used like one.

    Parameters
    ----------
    visitors : list of DualVisitor
        Member p visits the sequences bounds[p] <= i < bounds[p + 1].
    bounds : ndarray of shape (n_members + 1,)
    rounds : Rounds
    """

    def __init__(self, visitors, bounds, rounds):
        self.visitors = visitors
        self.bounds = bounds
        self.rounds = rounds

    @property
    def n_oracle_calls(self):
        """Marginalisations so far."""
        return sum(visitor.n_oracle_calls for visitor in self.visitors)

    @property
    def n_evaluations(self):
        """Steps tried in line searches so far."""
        return sum(visitor.n_evaluations for visitor in self.visitors)

    def weights_changed(self):
        """Take note that the weights of the model are not what the last visits made."""
        self.rounds.weights_changed()

    def epoch(self, uniforms):
        """Make one visit for each row (coin, position) of uniform numbers."""
        self._run(self._rows_of_members(uniforms))

    def epoch_in_order(self, order):
        """Visit the sequences, each member those of its share in the given order."""
        self._run(self._orders_of_members(order))

    def epoch_in_turn(self, uniforms):
        """Make an epoch in one thread: slower, with the same bits."""
        self.rounds.run_in_turn(self.visitors, self._rows_of_members(uniforms))

    def epoch_in_order_in_turn(self, order):
        """Make an epoch in the given order in one thread, with the same bits."""
        self.rounds.run_in_turn(self.visitors, self._orders_of_members(order))

    def _rows_of_members(self, uniforms):
        return [(uniforms[b:e], None) for b, e in pairwise(self.bounds)]

    def _orders_of_members(self, order):
        member = np.searchsorted(self.bounds, order, side="right") - 1
        return [(None, order[member == p]) for p in range(len(self.visitors))]

    def _run(self, visits):
        """Let each member make its visits, uniform numbers or an order."""
        self.rounds.begin()
        members = range(len(self.visitors))
        with ThreadPoolExecutor(len(self.visitors)) as threads:
            try:
                calls = [
                    threads.submit(self._run_member, p, *visits[p]) for p in members
                ]
                for call in calls:
                    call.result()
            except BaseException:
                self.rounds.give_up()
                raise

    def _run_member(self, member, uniforms, order):
        try:
            self.rounds.run(member, self.visitors[member], uniforms, order)
        except BaseException:
            # The others would wait for ever.
            self.rounds.give_up()
            raise

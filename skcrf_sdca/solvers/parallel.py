"""Teams: dual ascent by several threads, each over a share of the sequences.

Owns how many there are, how often they join what they have done, and the threads; the
rounds in which they work, and what keeps the dual from falling, are those of _team.pyx.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from joblib import effective_n_jobs

from skcrf_sdca._kernels._copies import FEWER, Copies
from skcrf_sdca._kernels._features import FeatureRows
from skcrf_sdca._kernels._team import Rounds
from skcrf_sdca._kernels._visits import VISIT
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca.solvers.partition import Kinds, equal_shares

# Visits in a round, about and of all members together, after which the common weights
# are joined: more of them take more epochs, fewer leave the members waiting for each
# other. All that is joined at all is after so many rounds, and at the end of an epoch.
VISITS = 20
JOIN_ALL = 256
# A visit that is as much work as so many of sequences of mean length makes the others
# wait, unless they do as much in its round. No round is more than LONGEST times as much
# work as most are, since all do it without seeing each other.
LONG = 10
LONGEST = 8
# Common is a feature that so many visits of a round have, on average; those that so
# many visits of FEWER, FEWER^2, ... rounds have make the bands of shared ones.
# All features of dense rows must be.
COMMON = 2.0
N_BANDS = 4
# A member with fewer sequences would wait for the others most of the time.
MIN_SHARE = 64

# See `Rounds`.
MARGIN = 1.02
MEMORY = 0.95


def make_team(problem, model, scheme, mix, new_visitor, features, n_members):
    """Return a Team of n_members >= 2; the features are numbered anew."""
    n = problem.n_sequences
    shares = equal_shares(problem.data.lengths, n_members)
    owner, places = np.empty((2, n), dtype=np.intp)
    for member, share in enumerate(shares):
        owner[share], places[share] = member, np.arange(len(share))
    least = COMMON / VISITS * n / float(FEWER) ** np.arange(N_BANDS)
    kinds = Kinds(features, shares, least)
    n_entries = problem.data.X.nnz if problem.data.is_sparse else 0
    # The copies and what is joined, what is known of each shared row, and new indices.
    check_fits(
        8 * n_members * (kinds.n_rows * model.n_labels + model.n_labels**2)
        + len(kinds.joint) * (8 * model.n_labels + 5 * n_members)
        + 4 * n_entries,
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
        kinds.n_rows,
        model.biases.size,
    )
    visitors = []
    for member, share in enumerate(shares):
        sampler = scheme.make(problem, mix, share)
        own_model = model.with_features(kinds.n_rows, copies.arrays[member])
        visitors.append(new_visitor(features, own_model, sampler))
        visitors[-1].share(copies, member, share, places)
    return Team(visitors, owner, _make_rounds(problem, model, copies))


def _make_rounds(problem, model, copies):
    """Return the Rounds of a team whose members have these copies."""
    mean_length = problem.offsets[-1] / problem.n_sequences
    visit = int((mean_length + VISIT) * model.n_labels**2)
    work = max(1, VISITS // len(copies.arrays)) * visit
    return Rounds(
        copies,
        work=work,
        much=LONG * visit,
        most=LONGEST * work,
        join_all=JOIN_ALL,
        margin=MARGIN,
        memory=MEMORY,
    )


def team_size(n_jobs, n_sequences):
    """Return the number of members: 1 for n_jobs=None, in whatever context of joblib.

    A context must not change the bits of a fit.
    """
    if n_jobs is None:
        return 1
    return max(1, min(effective_n_jobs(n_jobs), n_sequences // MIN_SHARE))


class Team:
    """Visitors side by side, to be used like one.

    Parameters
    ----------
    visitors : list of DualVisitor
    owner : ndarray of shape (n,), intp
        Which of them visits each sequence.
    rounds : Rounds
    """

    def __init__(self, visitors, owner, rounds):
        self.visitors = visitors
        self.owner = owner
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
        return [(part, None) for part in np.array_split(uniforms, len(self.visitors))]

    def _orders_of_members(self, order):
        owner = self.owner[order]
        return [(None, order[owner == p]) for p in range(len(self.visitors))]

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

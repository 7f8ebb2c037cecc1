"""Which path is the best where the labels of a chain are those of its states.

The states of a chain of higher order are tuples of labels, and a label path is one path
of states. Of paths with equal scores the one with the lower *label* at the last
position where they differ is to be the best, as in a chain of order 1, however states
are numbered. Two states of one label may go before a third, if they are tuples of
different lengths: so all states that the best paths may have are kept on the way back.
"""

from libc.math cimport INFINITY

from ._chain cimport Workspace
from ..math._transitions cimport FORBIDDEN, FREE

import numpy as np


cdef class StateLabels:
    """The labels of the states of a chain.

    Parameters
    ----------
    label : ndarray of shape (n_states,), int32
        State k < n_labels is the label k alone; a path begins with such a state.
    """

    def __init__(self, label):
        self.label = label
        self.kept, self.before = (np.empty(len(label), dtype=np.intc) for _ in "ab")

    cdef void order_path(
        self,
        Workspace work,                 # in: as `viterbi` leaves it
        Py_ssize_t length,
        int* path,                      # in, out, (T,)
    ) noexcept nogil:
        """Write the first of the best paths, given one of them."""
        cdef Py_ssize_t t, n_kept, n = work.n_labels
        cdef const double* last = work.forward + (length - 1) * n
        n_kept = self.begin(last, last[path[length - 1]], n)
        path[length - 1] = self.only_kept(n_kept)
        for t in range(length - 1, 0, -1):
            n_kept = self.step_back(work, t, n_kept)
            path[t - 1] = self.only_kept(n_kept)
        # A path begins with a label alone.
        path[0] = self.kept[0]
        for t in range(1, length):
            if path[t] < 0:
                path[t] = self.successor(work, path[t - 1], -1 - path[t])

    cdef int only_kept(self, Py_ssize_t n_kept) noexcept nogil:
        """Return the state that is kept, or -1 - its label if several are."""
        return self.kept[0] if n_kept == 1 else -1 - self.label[self.kept[0]]

    cdef Py_ssize_t begin(
        self, const double* last, double best, Py_ssize_t n
    ) noexcept nogil:
        """Keep the best states of lowest label at the last position; return how many.
        """
        cdef Py_ssize_t k, n_found = 0
        for k in range(n):
            if last[k] == best:
                n_found = self.keep_if_lowest(k, n_found)
        self.kept, self.before = self.before, self.kept
        return n_found

    cdef Py_ssize_t step_back(
        self, Workspace work, Py_ssize_t t, Py_ssize_t n_kept
    ) noexcept nogil:
        """Keep the states of lowest label that lead to those kept; return how many."""
        cdef Py_ssize_t i, j, k, n_found = 0, n = work.n_labels
        cdef const double* row = work.forward + (t - 1) * n
        cdef const double* scores
        cdef const int* origin
        cdef const long long* place
        cdef double reached
        for i in range(n_kept):
            k = self.kept[i]
            reached = work.message[t * n + k]
            place = &work.layout.origins[k, 0]
            origin = work.layout.blocks.before + place[0]
            scores = work.transition + place[2]
            for j in range(place[1]):
                if row[origin[j]] + scores[j * place[3]] == reached:
                    n_found = self.keep_if_lowest(origin[j], n_found)
            if not work.layout.has_free:
                continue
            for j in range(n):
                if row[j] == reached and work.layout.place(j, k) == FREE:
                    n_found = self.keep_if_lowest(j, n_found)
        if n_found == 0:
            # As `TransitionLayout.origin`, where scores are no numbers.
            n_found = self.keep_if_lowest(0, n_found)
        self.kept, self.before = self.before, self.kept
        return n_found

    cdef Py_ssize_t keep_if_lowest(
        self, Py_ssize_t state, Py_ssize_t n_found
    ) noexcept nogil:
        """Keep a state for the next position, and none of a higher label."""
        cdef Py_ssize_t i
        cdef int lowest
        if n_found > 0:
            lowest = self.label[self.before[0]]
            if self.label[state] > lowest:
                return n_found
            if self.label[state] < lowest:
                n_found = 0
        for i in range(n_found):
            if self.before[i] == state:
                return n_found
        self.before[n_found] = <int> state
        return n_found + 1

    cdef int successor(
        self, Workspace work, Py_ssize_t state, int label
    ) noexcept nogil:
        """Return the one state of a label that follows a state."""
        cdef Py_ssize_t k, place
        cdef int found = label
        for k in range(work.n_labels):
            if self.label[k] != label:
                continue
            place = work.layout.place(state, k)
            if place == FREE or (
                place != FORBIDDEN and work.transition[place] > -INFINITY
            ):
                found = <int> k
        return found

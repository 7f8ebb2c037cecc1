# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Copies of the weights that members of a team move side by side, and their joining.

Every member moves its copy w_p of the weights w by damping times the change that its
marginals make. Rows of coef, and all other weights, are joined while nobody moves them:

    w  <-  w + sum_p (w_p - w) / damping,      w_p  <-  w.

What nearly every visit moves is joined after every round: the common rows, and what is
not coef. Shared rows, which sequences of several members have, are joined less often,
the rarer they are: band after band every FEWER, FEWER^2, ... rounds, and those of no
band together with all others, if someone has moved them, which is noted. The two kinds
have dampings of their own. Own rows, which sequences of a single member have, are moved
undamped and never joined. That is what most rows are, and a copy holds the rows of its
member alone.

The members join, each the rows of its own part, so that no two write to the same.
"""

from libc.string cimport memcpy, memset

from ._vecmath cimport join_rows

import numpy as np

# So many neighbouring rows belong to the same part: fewer would share cache lines.
cdef Py_ssize_t NEIGHBOURS = 64

# A band is joined so many times less often than the one before.
cpdef enum:
    FEWER = 4


cdef class Copies:
    """Copies of the weights, and which of their shared rows have been moved.

    Row r of the coef of each copy is that of feature joint[r], and of own[p][r - n] of
    copy p from n = len(joint) on. What is not coef stands before it.

    Parameters
    ----------
    w : ndarray of shape (n_weights,)
        coef (d, K) last: changed in place by `finish`.
    n_labels : int
        K.
    bands : list of int, not empty
        The first bands[0] rows of joint are common, those up to bands[b] are joined
        every FEWER^b rounds.
    joint : ndarray of int32
        Features.
    own : list of ndarrays of int32
        Features, for each member.
    n_rows : int
        Rows of coef in a copy: those of joint, and of the most that a member owns.
    n_rest : int
        Weights that are not coef.

    Attributes
    ----------
    arrays : ndarray of shape (n_members, n_rest + n_rows K)
        The copies.
    """

    def __cinit__(self, w, n_labels, bands, joint, own, n_rows, n_rest):
        self.n_members, self.n_joint = len(own), len(joint)
        self.w, self.n_labels, self.n_rest = w, n_labels, n_rest
        self.bands = np.array(bands, dtype=np.intp)
        self.n_rows = n_rows
        # Finite before `start`, too, and written, so that it does not wait for pages.
        self.arrays = np.full((self.n_members, self.n_rows * n_labels + n_rest), 0.0)
        self.copies = self.arrays
        self.joined = np.full(self.n_joint * n_labels + n_rest, 0.0)
        # One more in each, so that what there is none of has an address.
        self.joint = np.append(joint, 0).astype(np.int32)
        self.own = np.concatenate([*own, [0]]).astype(np.int32)
        self.own_bounds = np.cumsum([0, *map(len, own)])
        shape = self.n_members, self.n_joint + 1
        self.moved = np.zeros(shape, dtype=np.uint8)
        self.found = np.empty(shape, dtype=np.int32)

    cdef void start(self, Py_ssize_t member) noexcept nogil:
        """Make the copy of a member anew from w, and a part of what is joined."""
        cdef Py_ssize_t r, n = self.n_labels
        cdef Py_ssize_t row = n * sizeof(double), rest = self.n_rest * sizeof(double)
        cdef double* copy = &self.copies[member, self.n_rest]
        for r in range(self.n_joint):
            memcpy(copy + r * n, &self.w[self.n_rest + self.joint[r] * n], row)
        for r in range(self.part(member), self.part(member + 1)):
            memcpy(&self.joined[r * n], copy + r * n, row)
        copy += self.n_joint * n
        for r in range(self.own_bounds[member], self.own_bounds[member + 1]):
            memcpy(copy, &self.w[self.n_rest + self.own[r] * n], row)
            copy += n
        memcpy(&self.copies[member, 0], &self.w[0], rest)
        if member == 0:
            memcpy(&self.joined[self.n_joint * n], &self.w[0], rest)

    cdef void finish(self, Py_ssize_t member) noexcept nogil:
        """Write to w the rows of a member alone, and a part of what has been joined."""
        cdef Py_ssize_t r, n = self.n_labels
        cdef Py_ssize_t row = n * sizeof(double), rest = self.n_rest * sizeof(double)
        cdef const double* copy = &self.copies[member, self.n_rest + self.n_joint * n]
        for r in range(self.part(member), self.part(member + 1)):
            memcpy(&self.w[self.n_rest + self.joint[r] * n], &self.joined[r * n], row)
        for r in range(self.own_bounds[member], self.own_bounds[member + 1]):
            memcpy(&self.w[self.n_rest + self.own[r] * n], copy, row)
            copy += n
        if member == 0:
            memcpy(&self.w[0], &self.joined[self.n_joint * n], rest)

    cdef Py_ssize_t part(self, Py_ssize_t member) noexcept nogil:
        """Return where the part of a member begins in the rows of `joint`."""
        return member * self.n_joint // self.n_members

    cdef void note(
        self, Py_ssize_t member, const int* rows, Py_ssize_t count
    ) noexcept nogil:
        """Take note that a member has moved these shared rows."""
        cdef Py_ssize_t j
        cdef unsigned char* moved = &self.moved[member, 0]
        for j in range(count):
            moved[rows[j]] = True

    cdef void forget(self, Py_ssize_t member) noexcept nogil:
        """Forget what a member has moved: all joint rows have been joined."""
        memset(&self.moved[member, 0], 0, self.n_joint)

    cdef Py_ssize_t band_due(self, Py_ssize_t n_rounds) noexcept nogil:
        """Return the last of the bands that are joined after so many rounds."""
        cdef Py_ssize_t band = 0
        while band + 1 < self.bands.shape[0] and n_rounds % FEWER == 0:
            n_rounds //= FEWER
            band += 1
        return band

    cdef Squares join_common(self, Py_ssize_t part, double damping) noexcept nogil:
        """Join one of n_members parts of what is common."""
        cdef Squares squares = self.join_neighbours(part, 0, self.bands[0], damping)
        if part == 0:
            self.join_long_row(
                self.n_joint * self.n_labels, 0, self.n_rest, damping, &squares,
            )
        return squares

    cdef Squares join_bands(
        self, Py_ssize_t part, Py_ssize_t last, double damping
    ) noexcept nogil:
        """Join a part of the shared rows of the bands 1 to last."""
        return self.join_neighbours(part, self.bands[0], self.bands[last], damping)

    cdef Squares join_shared(self, Py_ssize_t part, double damping) noexcept nogil:
        """Join a part of the shared rows: of all bands, and those moved of no band."""
        cdef Py_ssize_t n_bands = self.bands.shape[0]
        cdef Squares squares = self.join_bands(part, n_bands - 1, damping)
        join_rows(
            1.0 / damping, &self.found[part, 0], self.find_rows(part),
            &self.joined[0], &self.copies[0, self.n_rest], self.copies.shape[1],
            self.n_members, self.n_labels, &squares.joint, &squares.apart,
        )
        return squares

    cdef Squares join_neighbours(
        self, Py_ssize_t part, Py_ssize_t begin, Py_ssize_t end, double damping
    ) noexcept nogil:
        """Join a part of the rows begin <= r < end."""
        cdef Py_ssize_t n = self.n_labels, count = end - begin
        cdef Py_ssize_t first = begin + part * count // self.n_members
        cdef Py_ssize_t last = begin + (part + 1) * count // self.n_members
        cdef Squares squares = Squares(0.0, 0.0)
        self.join_long_row(
            first * n, self.n_rest + first * n, (last - first) * n, damping, &squares,
        )
        return squares

    cdef void join_long_row(
        self, Py_ssize_t at_joined, Py_ssize_t at_copies, Py_ssize_t n, double damping,
        Squares* squares,                       # added to
    ) noexcept nogil:
        """Join n weights side by side."""
        cdef int row = 0
        if n > 0:
            join_rows(
                1.0 / damping, &row, 1, &self.joined[at_joined],
                &self.copies[0, at_copies], self.copies.shape[1], self.n_members, n,
                &squares.joint, &squares.apart,
            )

    cdef Py_ssize_t find_rows(self, Py_ssize_t part) noexcept nogil:
        """List the moved rows of a part that are of no band; return their number."""
        cdef Py_ssize_t first = self.bands[self.bands.shape[0] - 1] + part * NEIGHBOURS
        cdef Py_ssize_t row, p, n = 0
        cdef int* found = &self.found[part, 0]
        cdef bint moved
        while first < self.n_joint:
            for row in range(first, min(first + NEIGHBOURS, self.n_joint)):
                moved = False
                for p in range(self.n_members):
                    moved |= self.moved[p, row]
                if moved:
                    found[n] = row
                    n += 1
            first += NEIGHBOURS * self.n_members
        return n

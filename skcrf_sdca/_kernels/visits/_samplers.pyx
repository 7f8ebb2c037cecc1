"""Which sequence to visit next: trees over one score for each sequence.

The score of sequence i is weight[i] times a value that visits record, such as its gap,
or weight[i] alone if the sampler is not adaptive. A draw is made from two numbers
uniform on [0, 1), which the caller takes from a NumPy generator: none is kept here.
"""

from libc.math cimport INFINITY

import numpy as np


cdef class Sampler:
    """Uniform draws; the base of the trees.

    Parameters
    ----------
    weight : ndarray of shape (n,), float64
        Factors of the scores; finite, not negative.
    mix : float in [0, 1]
        Probability of a draw by score; the others are uniform.
    adaptive : bool
        Whether a score is weight * value, or the weight alone.
    first : float
        The value that every sequence starts with.

    Attributes
    ----------
    by_residual : bool
        Whether the value that dual visits record is the residual, and not the gap.
    """

    def __init__(self, weight, double mix, bint adaptive, double first):
        self.weight = np.array(weight, dtype=np.float64)
        self.n_sequences = self.weight.shape[0]
        self.n_leaves = 1
        while self.n_leaves < self.n_sequences:
            self.n_leaves *= 2
        self.mix, self.adaptive = mix, adaptive
        self.build()
        cdef Py_ssize_t i
        for i in range(self.n_sequences):
            self.update(i, self.weight[i] * (first if adaptive else 1.0))

    def build(self):
        """Allocate the arrays of draws by score; uniform draws need none."""

    cdef Py_ssize_t pick(self, double coin, double position) noexcept nogil:
        """Return a sequence: by score if coin < mix, else uniformly."""
        if coin < self.mix:
            return self.draw(position)
        return Sampler.draw(self, position)

    cdef void record(self, Py_ssize_t i, double value) noexcept nogil:
        """Update the score of sequence i, if the sampler is adaptive."""
        if self.adaptive:
            self.update(i, self.weight[i] * value)

    cdef double probability(self, Py_ssize_t i) noexcept nogil:
        """Return the probability that the next pick is sequence i."""
        return self.mix * self.share(i) + (1.0 - self.mix) * Sampler.share(self, i)

    cdef double share(self, Py_ssize_t i) noexcept nogil:
        """Return the probability of sequence i in a draw by score."""
        return 1.0 / self.n_sequences

    cdef Py_ssize_t draw(self, double position) noexcept nogil:
        cdef Py_ssize_t i = <Py_ssize_t> (position * self.n_sequences)
        return min(i, self.n_sequences - 1)

    cdef void update(self, Py_ssize_t i, double score) noexcept nogil:
        pass

    def picks(self, const double[:, ::1] uniforms):
        """Return the sequences picked for rows (coin, position) of uniform numbers."""
        return np.array(
            [self.pick(uniforms[v, 0], uniforms[v, 1])
             for v in range(uniforms.shape[0])], dtype=np.intp,
        )

    def probabilities(self):
        """Return the probability of each sequence to be picked next."""
        return np.array([self.probability(i) for i in range(self.n_sequences)])

    def set_value(self, Py_ssize_t i, double value):
        """Record the value of sequence i."""
        if not 0 <= i < self.n_sequences:
            raise IndexError(f"sequence {i} of {self.n_sequences}")
        self.record(i, value)


cdef class SumTree(Sampler):
    """Draws in proportion to the scores: a complete binary tree of sums.

    Node 1 is the root, the children of node v are 2v and 2v + 1, and the leaf of
    sequence i is node n_leaves + i. A sum is always made anew from its two children,
    so that rounding errors do not accumulate.
    """

    def build(self):
        """Allocate the tree."""
        self.sums = np.zeros(2 * self.n_leaves)

    cdef Py_ssize_t draw(self, double position) noexcept nogil:
        cdef Py_ssize_t v = 1
        cdef double rest = position * self.sums[1]
        if not (0.0 < self.sums[1] < INFINITY):
            return Sampler.draw(self, position)
        while v < self.n_leaves:
            v *= 2
            # Rounding must not lead into a branch without any score.
            if rest >= self.sums[v] and self.sums[v + 1] > 0.0:
                rest -= self.sums[v]
                v += 1
        return v - self.n_leaves

    cdef double share(self, Py_ssize_t i) noexcept nogil:
        if not (0.0 < self.sums[1] < INFINITY):
            return Sampler.share(self, i)
        return self.sums[self.n_leaves + i] / self.sums[1]

    cdef void update(self, Py_ssize_t i, double score) noexcept nogil:
        cdef Py_ssize_t v = self.n_leaves + i
        self.sums[v] = score
        v //= 2
        while v > 0:
            self.sums[v] = self.sums[2 * v] + self.sums[2 * v + 1]
            v //= 2


cdef class Window(SumTree):
    """Draws as SumTree, but inside a window of blocks that slides over the sequences.

    Block b has the sequences bounds[b] <= i < bounds[b + 1], neighbours in the data.
    Blocks enter the window in the order of an epoch, each after as many draws as the
    one before has sequences, and leave it in the same order. So visits read data in a
    file block by block, and need the memory of the window.

    A sequence outside has no score in the tree. Before a block has entered, draws are
    uniform.
    """

    def build(self):
        """Allocate the tree, and the scores of the sequences outside."""
        SumTree.build(self)
        self.scores = np.zeros(self.n_sequences)
        self.n_inside = np.zeros(self.n_sequences, dtype=np.uint8)

    def set_blocks(self, bounds, n_blocks_inside):
        """Set the blocks, and how many the window has.

        Parameters
        ----------
        bounds : ndarray of shape (n_blocks + 1,), intp
            Rising, from 0 to the number of sequences.
        n_blocks_inside : int
            From 1 to 255.
        """
        self.bounds = bounds
        self.ring = np.full(n_blocks_inside, -1, dtype=np.intp)

    @property
    def n_blocks_waiting(self):
        """How many blocks of the epoch have not entered yet."""
        return self.n_waiting

    def begin_epoch(self, order):
        """Let the blocks enter in this order, an array of intp; the window stays."""
        self.order, self.n_waiting, self.n_draws_left = order, len(order), 0

    cdef Py_ssize_t pick(self, double coin, double position) noexcept nogil:
        while self.n_draws_left == 0 and self.n_waiting > 0:
            self.enter(self.order[self.order.shape[0] - self.n_waiting])
            self.n_waiting -= 1
        self.n_draws_left -= self.n_draws_left > 0
        if coin < self.mix:
            return self.draw(position)
        return self.draw_uniform(position)

    cdef void enter(self, Py_ssize_t block) noexcept nogil:
        """Let a block enter, and the one leave that entered first."""
        cdef Py_ssize_t place = self.n_entered % self.ring.shape[0]
        cdef Py_ssize_t last = self.ring[place]
        self.ring[place] = block
        self.n_entered += 1
        self.count(block, 1)
        if last >= 0:
            self.count(last, -1)
        self.n_draws_left = self.bounds[block + 1] - self.bounds[block]

    cdef void count(self, Py_ssize_t block, int change) noexcept nogil:
        """Change how often a block is inside: it may enter again before it leaves."""
        cdef Py_ssize_t i
        for i in range(self.bounds[block], self.bounds[block + 1]):
            self.n_inside[i] += change
            SumTree.update(self, i, self.scores[i] if self.n_inside[i] > 0 else 0.0)
            self.n_drawn_from += change

    cdef double probability(self, Py_ssize_t i) noexcept nogil:
        return self.mix * self.share(i) + (1.0 - self.mix) * self.uniform_share(i)

    cdef double share(self, Py_ssize_t i) noexcept nogil:
        if not (0.0 < self.sums[1] < INFINITY):
            return self.uniform_share(i)
        return SumTree.share(self, i)

    cdef double uniform_share(self, Py_ssize_t i) noexcept nogil:
        """Return the probability of sequence i in a uniform draw."""
        if self.n_drawn_from == 0:
            return Sampler.share(self, i)
        return (<double> self.n_inside[i]) / self.n_drawn_from

    cdef Py_ssize_t draw(self, double position) noexcept nogil:
        if not (0.0 < self.sums[1] < INFINITY):
            return self.draw_uniform(position)
        return SumTree.draw(self, position)

    cdef Py_ssize_t draw_uniform(self, double position) noexcept nogil:
        """Return a sequence inside; one that is there twice is drawn twice as often."""
        cdef Py_ssize_t place, block, size, i = 0
        cdef Py_ssize_t rest = <Py_ssize_t> (position * self.n_drawn_from)
        if self.n_drawn_from == 0:
            return Sampler.draw(self, position)
        rest = min(rest, self.n_drawn_from - 1)
        for place in range(self.ring.shape[0]):
            block = self.ring[place]
            if block < 0:
                break
            size = self.bounds[block + 1] - self.bounds[block]
            if rest < size:
                i = self.bounds[block] + rest
                break
            rest -= size
        return i

    cdef void update(self, Py_ssize_t i, double score) noexcept nogil:
        self.scores[i] = score
        if self.n_inside[i] > 0:
            SumTree.update(self, i, score)


cdef class MaxTree(Sampler):
    """Draws the sequence of the largest score; ties go to the first.

    The tree is laid out as in SumTree; each node holds the sequence of the largest
    score below it.
    """

    def build(self):
        """Allocate the tree."""
        self.scores = np.full(self.n_leaves, -np.inf)
        self.winner = np.zeros(2 * self.n_leaves, dtype=np.intp)
        cdef Py_ssize_t v
        for v in range(self.n_leaves):
            self.winner[self.n_leaves + v] = v
        for v in range(self.n_leaves - 1, 0, -1):
            self.winner[v] = self.winner[2 * v]

    cdef Py_ssize_t draw(self, double position) noexcept nogil:
        return self.winner[1]

    cdef double share(self, Py_ssize_t i) noexcept nogil:
        return 1.0 if self.winner[1] == i else 0.0

    cdef double largest(self) noexcept nogil:
        """Return the largest score."""
        return self.scores[self.winner[1]]

    cdef void update(self, Py_ssize_t i, double score) noexcept nogil:
        cdef Py_ssize_t v = (self.n_leaves + i) // 2
        cdef Py_ssize_t left, right
        # NaN would lose every comparison, and leave a leaf beyond the sequences.
        self.scores[i] = score if score == score else -INFINITY
        while v > 0:
            left, right = self.winner[2 * v], self.winner[2 * v + 1]
            self.winner[v] = left if self.scores[left] >= self.scores[right] else right
            v //= 2

"""The multipliers of a step of k-best MIRA [1].

All of the k best labellings r, costs included, are to have a loss of 0. With g_r =
f(y_r) - f(y_i) and l_r the loss of labelling r at w, the step is to the nearest weights
that have none of these losses, as far as C allows,

    min_u 1/2 ||u - w||^2 + C max(0, max_r l_r + <g_r, u - w>),

that is u = w - sum_r a_r g_r with the multipliers a_r >= 0, of a sum of at most C, that
maximise

    sum_r a_r l_r - ||sum_r a_r g_r||^2 / 2.

What is left of C is the multiplier of the target, which has neither loss nor gradient.
Two multipliers are moved at a time: the one that gains most per unit, and of those
above 0 the one that gains least. For k = 1 this is the step min(C, l / ||g||^2).

[1] McDonald, Crammer, Pereira, "Online large-margin training of dependency parsers",
    ACL 2005.
"""

import numpy as np

# Multipliers are moved until a unit gains at most this share of the loss, and so often
# for each pair: some labellings differ too little to tell them apart.
cdef double SMALLEST_GAIN = 1e-12
cdef enum:
    MOST_MOVES = 100


cdef class Multipliers:
    """Multipliers of at most n_best labellings, and of the target after these.

    Whoever takes a step writes the losses to ``gains``, the best labelling first, and
    the products of the gradients.
    """

    def __init__(self, n_best):
        self.n_best = n_best
        self.gains, self.values = np.empty((2, n_best + 1))
        self.products = np.empty((n_best + 1, n_best + 1))

    cdef void ascend(self, Py_ssize_t n, double C) noexcept nogil:
        """Write the multipliers of n labellings."""
        cdef Py_ssize_t k, up, down
        cdef double step, curvature, smallest = SMALLEST_GAIN * self.gains[0]
        for k in range(n + 1):
            self.values[k] = C if k == n else 0.0
            self.products[n, k] = self.products[k, n] = 0.0
        self.gains[n] = 0.0
        for _ in range(MOST_MOVES * (n + 1) * (n + 1)):
            up, down = 0, n
            for k in range(n + 1):
                if self.gains[k] > self.gains[up]:
                    up = k
                if self.values[k] > 0.0 and (
                    self.values[down] == 0.0 or self.gains[k] < self.gains[down]
                ):
                    down = k
            step = self.gains[up] - self.gains[down]
            if step <= smallest:
                return
            curvature = (
                self.products[up, up] + self.products[down, down]
                - 2.0 * self.products[up, down]
            )
            # Labellings of the same features differ by nothing that can be moved.
            step = (
                min(self.values[down], step / curvature) if curvature > 0.0
                else self.values[down]
            )
            self.values[up] += step
            self.values[down] -= step
            for k in range(n + 1):
                self.gains[k] -= step * (self.products[k, up] - self.products[k, down])

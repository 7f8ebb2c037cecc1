"""Chains in which only some pairs of labels have a transition weight, all allowed.

Lavergne, Cappe and Yvon, "Practical very large scale CRFs" (ACL 2010), train models of
thousands of labels so: what no weight needs is neither stored nor computed. Owns which
pairs of labels data have.
"""

import numpy as np

from skcrf_sdca._kernels.math._sparse_transitions import SparseTransitions
from skcrf_sdca._utils.parallel import ranges
from skcrf_sdca.structures.chain.marginals import edge_ends
from skcrf_sdca.structures.chain.observed import neighbours
from skcrf_sdca.structures.chain.structure import Chain


class ObservedChain(Chain):
    """Linear chains with transition weights of some pairs of labels alone.

    ``label_pairs`` (n_labels, n_labels) says which, a mask. The others are allowed
    unless the constraints forbid them, and their weight is 0. There are no edge
    marginals of all pairs, which the exact line search of SDCA needs.
    """

    name = "chain of observed label pairs"
    levels = Chain.levels - {"direct"}

    def __init__(self, data, n_labels, *, label_pairs, **options):
        self.label_pairs = label_pairs
        super().__init__(data, n_labels, **options)

    def _layout(self):
        allowed = None if self.constraints is None else self.constraints.transition
        pairs = self.label_pairs if allowed is None else self.label_pairs & allowed
        return SparseTransitions(pairs, allowed)

    def vector_form(self):
        """Return what says which numbers the vector of weights has."""
        return super().vector_form()._replace(label_pairs=self.label_pairs)


def observed_label_pairs(labels, offsets, n_labels):
    """Return which label follows which in data, a mask (n_labels, n_labels).

    Parameters
    ----------
    labels : ndarray
        As for `neighbours`; a label of -1 is not known.
    offsets : ndarray of shape (n + 1,), int64
    n_labels : int

    Examples
    --------
    >>> import numpy as np
    >>> from skcrf_sdca.structures.chain.observed_chain import observed_label_pairs
    >>> observed_label_pairs(np.array([0, 1, 1]), np.array([0, 3]), 2)
    array([[False,  True],
           [False,  True]])
    """
    seen = np.zeros((n_labels, n_labels), dtype=bool)
    if labels.ndim == 1:
        for begin, end in ranges(offsets):
            bounds = offsets[begin : end + 1]
            own, to = labels[bounds[0] : bounds[-1]], edge_ends(bounds - bounds[0])
            to = to[(own[to - 1] >= 0) & (own[to] >= 0)]
            seen[own[to - 1], own[to]] = True
    else:
        seen.flat[neighbours(labels, offsets, n_labels).indices] = True
    return seen


def observed_label_tuples(labels, offsets, n_labels, longest):
    """Return the tuples of up to ``longest`` labels in data, rows as of `LabelTuples`.

    The arguments are as of `observed_label_pairs`.

    Examples
    --------
    >>> import numpy as np
    >>> from skcrf_sdca.structures.chain.observed_chain import observed_label_tuples
    >>> observed_label_tuples(np.array([0, 1, 1]), np.array([0, 3]), 2, 3)
    array([[-1,  0,  1],
           [-1,  1,  1],
           [ 0,  1,  1]])
    """
    found = []
    for length in range(2, longest + 1):
        codes = np.unique(neighbours(labels, offsets, n_labels, length).indices)
        rows = np.full((len(codes), longest), -1)
        for column in range(longest - 1, longest - 1 - length, -1):
            codes, rows[:, column] = np.divmod(codes, n_labels)
        found.append(rows)
    return np.concatenate(found)

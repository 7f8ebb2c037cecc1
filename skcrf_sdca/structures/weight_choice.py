"""Which weights a model has by "auto": all, or those of pairs that data observe.

With K labels, K^2 weights of transitions cost time at every position, and solvers of
the dual keep as many numbers for every sequence; and each feature has K weights. So the
choice depends on these numbers, and not on K alone. The limits are from measurements,
see docs/many_labels.rst. What is chosen depends on the data, and not on the machine.
"""

from typing import Final

import numpy as np
import scipy.sparse as sp

AUTO: Final = "auto"
OBSERVED: Final = "observed"

# Numbers of pairs of labels of all sequences that would take more than a GiB as dual
# variables of OEG, and products of an epoch that would take more than ten seconds.
MANY_NUMBERS, MANY_PRODUCTS = 1e8, 3e10
# Weights of features of which one vector takes 400 MB; solvers keep several. Where the
# pairs of labels are many too, more than 40 MB are many: a pass over all of the weights
# takes longer than the visits.
MANY_WEIGHTS, MANY_BESIDE_PAIRS = 5e7, 5e6
# Of each pair of labels, whether it has a weight or not: in the fitted transitions, in
# masks and in what inference looks up.
BYTES_OF_PAIR = 16


def are_many_pairs(data, n_labels, order=1):
    """Return whether weights of all pairs of labels take much time or memory.

    Parameters
    ----------
    data : PackedSequences
    n_labels : int
    order : int, default=1
        Weights are of order + 1 labels.

    Examples
    --------
    >>> import numpy as np
    >>> from skcrf_sdca import PackedSequences
    >>> from skcrf_sdca.structures.weight_choice import are_many_pairs
    >>> data = PackedSequences(np.zeros((2000, 1)), np.arange(0, 2001, 2))
    >>> are_many_pairs(data, 20), are_many_pairs(data, 500)
    (False, True)
    """
    n_pairs = float(n_labels) ** (order + 1)
    return (
        len(data) * n_pairs > MANY_NUMBERS or data.n_positions * n_pairs > MANY_PRODUCTS
    )


def bytes_of_pairs(n_labels, order=1):
    """Return what a model of observed pairs keeps for all order + 1 labels in a row."""
    return BYTES_OF_PAIR * n_labels ** (order + 1)


def are_many_weights(data, n_labels):
    """Return whether weights of all labels for sparse features take much memory.

    Parameters
    ----------
    data : PackedSequences
    n_labels : int
    """
    most = MANY_BESIDE_PAIRS if are_many_pairs(data, n_labels) else MANY_WEIGHTS
    return sp.issparse(data.X) and data.n_features * n_labels > most


def bytes_of_observed(problem, n_vectors, bytes_of_potential):
    """Return what a solver of the dual keeps, if only pairs in y have weights.

    Parameters
    ----------
    problem : Problem
        Of a chain in which all pairs have weights.
    n_vectors : int
        How many vectors of weights the solver keeps.
    bytes_of_potential : int
        As `Solver.bytes_of_potential`.
    """
    structure = problem.structure
    # The tied expectations of the targets are the counts of pairs.
    n_pairs = np.count_nonzero(problem.tied_targets)
    n_weights = problem.new_parameters().w.size - structure.n_tied + n_pairs
    n_local = structure.data.n_positions * structure.n_labels
    n_numbers = n_local + len(structure.data) * n_pairs
    return 8 * n_vectors * n_weights + bytes_of_potential * n_numbers


def observed_weights(problem):
    """Return which weights there are alone, in words, and an empty str for all.

    Parameters
    ----------
    problem : Problem
    """
    form, n_labels = problem.structure.vector_form(), problem.structure.n_classes
    parts = []
    if form.label_pairs is not None:
        n_pairs = np.count_nonzero(form.label_pairs)
        parts.append(f"{n_pairs:,} of {n_labels**2:,} pairs of labels")
    if form.label_tuples is not None:
        n_all = sum(n_labels**m for m in range(2, form.label_tuples.shape[1] + 1))
        parts.append(f"{len(form.label_tuples):,} of {n_all:,} tuples of labels")
    if form.pairs is not None:
        n_all = problem.data.n_features * problem.structure.n_columns
        parts.append(f"{len(form.pairs):,} of {n_all:,} pairs of feature and label")
    return f"weights of {' and '.join(parts)}, observed in y" if parts else ""

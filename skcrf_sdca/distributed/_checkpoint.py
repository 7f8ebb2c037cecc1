"""Checkpoints of a fit: the weights, written to disk every so many epochs.

A fit needs nothing else to go on: every w has a dual point, p(. | x; w), from which the
certificate is computed.
"""

import numpy as np

from skcrf_sdca._utils.files import atomic_write
from skcrf_sdca.solvers.monitor import Observer


class Checkpoint(Observer):
    """Write the weights of a solver every so many epochs, and at the end.

    Parameters
    ----------
    path : str or path
        Replaced as a whole: a process that ends while writing leaves the file before.
    every : int
    solver : Solver
    """

    def __init__(self, path, every, solver):
        self.path = path
        self.every = every
        self.solver = solver
        self._n_unwritten = 0

    def end_epoch(self, row):
        """Write if it is due; never stop."""
        self._n_unwritten += 1
        if self._n_unwritten == self.every:
            self._write()
        return False

    def close(self):
        """Write the last epochs."""
        if self._n_unwritten:
            self._write()

    def _write(self):
        w, sizes = self.solver.model.w, _sizes(self.solver.problem)
        with atomic_write(self.path) as file:
            np.savez(file, w=w, sizes=sizes)
        self._n_unwritten = 0


def _sizes(problem):
    shape = problem.parameters
    return [problem.n_sequences, shape.n_features, shape.n_labels]


def load_weights(path, problem):
    """Return the weights in the file of a `Checkpoint` on a CommonProblem.

    It raises ValueError if the file is no checkpoint, or one of other data, and OSError
    if the file cannot be read.
    """
    sizes = _sizes(problem)
    try:
        with np.load(path, allow_pickle=False) as file:
            w, found = file["w"], file["sizes"].tolist()
    except (KeyError, ValueError, AttributeError, EOFError) as error:
        raise ValueError(f"{path} is no checkpoint of DistributedCRF") from error
    right = w.shape == problem.new_parameters().w.shape and w.dtype == np.float64
    if found != sizes or not right or not np.isfinite(w).all():
        raise ValueError(
            f"the checkpoint {path} is of n_sequences, n_features, n_labels = {found}, "
            f"but the partitions have {sizes}; resume with the same data"
        )
    return w

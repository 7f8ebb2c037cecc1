"""Checkpoints of a fit: the weights, written to disk every so many epochs.

The weights are all that a fit needs: any w has a dual point, p(. | x; w), and the
certificate is made anew from the data.
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
        self._written = 0
        self._epoch = 0

    def end_epoch(self, row):
        """Write if it is due; never stop."""
        self._epoch = row["epoch"]
        if self._epoch - self._written >= self.every:
            self._write()
        return False

    def close(self):
        """Write what was not written yet."""
        if self._epoch > self._written:
            self._write()

    def _write(self):
        problem = self.solver.problem
        with atomic_write(self.path) as file:
            np.savez(
                file,
                w=self.solver.model.w,
                sizes=[problem.n_sequences, problem.n_features, problem.n_labels],
            )
        self._written = self._epoch


def load_weights(path, problem):
    """Return the weights in a file.

    Parameters
    ----------
    path : str or path
    problem : CommonProblem

    Raises
    ------
    ValueError
        If the file is no checkpoint, or one of other data.
    OSError
        If it cannot be read.
    """
    sizes = [problem.n_sequences, problem.n_features, problem.n_labels]
    try:
        with np.load(path, allow_pickle=False) as file:
            w, found = file["w"], file["sizes"].tolist()
    except (KeyError, ValueError, AttributeError, EOFError) as error:
        raise ValueError(f"{path} is no checkpoint of DistributedCRF") from error
    right = w.shape == problem.new_model().w.shape and w.dtype == np.float64
    if found != sizes or not right or not np.isfinite(w).all():
        raise ValueError(
            f"the checkpoint {path} is of n_sequences, n_features, n_labels = {found}, "
            f"but the partitions have {sizes}; resume with the same data"
        )
    return w

"""Checkpoints of a fit: the weights, written to disk after a number of epochs.

A fit needs nothing else to go on: every w has a dual point, p(. | x; w), which gives
the certificate.
"""

import io
import os

import numpy as np

from skcrf_sdca._utils.archives import FLOAT, INT, opened_members
from skcrf_sdca._utils.files import atomic_write, checked_read
from skcrf_sdca.solvers.monitor import Observer
from skcrf_sdca.solvers.state_file import warn_unwritten


class Checkpoint(Observer):
    """Write the weights of a solver after every ``every`` epochs, and at the end.

    The file is replaced as a whole: a process that ends while writing leaves the file
    before. Where it cannot be written, as on a full disk, the fit goes on: a warning
    says so, and the next epoch tries again.
    """

    def __init__(self, path, every, solver):
        self.path = path
        self.every = every
        self.solver = solver
        self._n_unwritten = 0

    def end_epoch(self, row):
        """Write if it is due; never stop."""
        self._n_unwritten += 1
        if self._n_unwritten >= self.every:
            self._write()
        return False

    def close(self):
        """Write the last epochs."""
        if self._n_unwritten:
            self._write()

    def _write(self):
        w, sizes = self.solver.model.w, _sizes(self.solver.problem)
        arrays = {"w": np.asarray(w, FLOAT), "sizes": np.asarray(sizes, INT)}
        try:
            # Not into the file: an archive that cannot be written complains once more
            # when Python frees it.
            archive = io.BytesIO()
            np.savez(archive, **arrays)
            with atomic_write(self.path) as file:
                file.write(archive.getbuffer())
        except OSError as error:
            warn_unwritten(error)
            return
        self._n_unwritten = 0


def _sizes(problem):
    shape = problem.parameters
    return [problem.n_sequences, shape.n_features, shape.n_labels]


def load_weights(path, problem):
    """Return the weights in the file of a `Checkpoint` on a CommonProblem.

    ValueError if the file is damaged, no checkpoint, or a checkpoint of other data;
    OSError if it is not there or cannot be opened.
    """
    if os.path.isdir(path):
        raise _refused(f"{path} cannot be read: it is a folder")
    with checked_read(path, _refused) as file, opened_members(file, 2) as members:
        sizes = _sizes(problem)
        found = members.array("sizes", INT, (len(sizes),)).tolist()
        if found != sizes:
            raise ValueError(
                f"it is of n_sequences, n_features, n_labels = {found}, but the "
                f"partitions have {sizes}"
            )
        w = members.array("w", FLOAT, problem.new_parameters().w.shape)
        if not np.isfinite(w).all():
            raise ValueError("its weights are no finite numbers")
    return w


def _refused(message):
    """Return the error of a path that has no checkpoint of these partitions."""
    return ValueError(
        f"{message}; it is no checkpoint of these partitions: resume with the same "
        "data, or give the path of another file as `checkpoint`, or delete this one "
        "and fit with resume=False"
    )

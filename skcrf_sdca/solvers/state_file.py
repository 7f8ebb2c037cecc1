"""The state of a solver in a file, from which a fit goes on that was killed.

The file is a zip archive of arrays, with a checksum of the data that the state belongs
to. It is replaced as a whole after every epoch: a process that is killed leaves the
state of the epoch before. Arrays are written and read in blocks, so that dual variables
that lie in files are never in memory as a whole.
"""

import warnings
import zipfile
import zlib
from contextlib import contextmanager

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._utils import mapped_arrays
from skcrf_sdca._utils.archives import INT, opened_members
from skcrf_sdca._utils.files import atomic_write, checked_read
from skcrf_sdca._utils.memory import BLOCK
from skcrf_sdca.solvers.monitor import Observer

# The members with the checksum of the data, and with the name of the solver.
DATA, SOLVER = "data", "solver"
# No solver has as many arrays in its state.
MOST_MEMBERS = 32


class StateFile(Observer):
    """Writes the state of a solver to a file after every epoch.

    Where it cannot be written, as on a full disk, the fit goes on: a warning says so,
    and the next epoch tries again.

    Parameters
    ----------
    path : str or path-like
    solver : Solver
    name : str
        That of the solver, by which estimators choose it.
    """

    reads_rows = False

    def __init__(self, path, solver, name):
        self.path, self.solver = path, solver
        self.own = {
            DATA: np.array(checksum_of(solver.problem), dtype=INT),
            SOLVER: np.frombuffer(name.encode(), dtype=np.uint8),
        }

    def end_visits(self):
        """Write the state."""
        arrays = {**self.own, **self.solver.state()}
        try:
            with atomic_write(self.path) as file, zipfile.ZipFile(file, "w") as archive:
                for name, array in arrays.items():
                    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                        _write(member, np.asarray(array, order="C"))
        except OSError as error:
            warn_unwritten(error)


def _write(file, array):
    form = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_1_0(file, form)
    for block in _blocks(array):
        file.write(block)


def _blocks(array):
    """Yield the bytes of an array in blocks."""
    values = np.ravel(array)
    for begin in range(0, len(values), BLOCK):
        yield np.ascontiguousarray(values[begin : begin + BLOCK]).view(np.uint8)


def warn_unwritten(error):
    """Warn that a checkpoint could not be written."""
    warnings.warn(
        f"no checkpoint was written: {error}; the fit goes on, and a file that was "
        "there before is unchanged",
        UserWarning,
        stacklevel=3,
    )


def solver_of(path):
    """Return the name of the solver whose state is in a file; ValueError if damaged."""
    with _opened(path) as members:
        name = _name_in(members)
        members.leave("")
    return name


def read_state(path, problem):
    """Return the state in a file, with the name of its "solver".

    Raise ValueError if the file is damaged, or is of other data than the problem has.
    """
    with _opened(path) as members:
        solver = _name_in(members)
        names = [name.removesuffix(".npy") for name in members.sizes()]
        state = {name: members.streamed(name, mapped_arrays.zeros) for name in names}
        if state.pop(DATA, None) != checksum_of(problem):
            raise ValueError("it is of a fit to other data, or of another model")
    numbers = {name: a if a.ndim else a[()] for name, a in state.items()}
    return {**numbers, SOLVER: solver}


@contextmanager
def _opened(path):
    with (
        checked_read(path, _refused) as file,
        opened_members(file, MOST_MEMBERS) as members,
    ):
        yield members


def _name_in(members):
    return members.streamed(SOLVER, np.zeros).tobytes().decode("ascii")


def _refused(message):
    """Return the error of a file that has no state of the problem."""
    return ValueError(
        f"{message}; give another file as `checkpoint`, delete this one, or set "
        "warm_start=False, which replaces it"
    )


def checksum_of(problem):
    """Return a checksum of the data of a problem, and of the form of its weights."""
    X, checksum = problem.data.X, problem.new_parameters().w.size
    arrays = [X.data, X.indices, X.indptr] if sp.issparse(X) else [X]
    arrays += [problem.offsets, problem.targets.given]
    if isinstance(problem.constraints, tuple):
        arrays += problem.constraints
    for array in arrays:
        for block in _blocks(array):
            checksum = zlib.crc32(block, checksum)
    return checksum

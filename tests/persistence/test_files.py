"""Files are replaced as a whole: by the helper, and by all that write through it."""

import errno
import os
import re
import signal
import subprocess
import sys
import threading
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

from skcrf_sdca import LBFGSCRF, PackedSequences, SequenceHasher
from skcrf_sdca._utils.files import atomic_write, is_regular_file
from skcrf_sdca.compat import pycrfsuite, to_crfsuite
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.distributed import DistributedCRF
from skcrf_sdca.persistence import save_model
from skcrf_sdca.text import write_conll, write_conllu

X, Y = make_chains(n_sequences=6, random_state=0)
NAMES = [f"x{j}" for j in range(X[0].shape[1])]
CRF = LBFGSCRF().fit(X, [[str(k) for k in y] for y in Y])
HASHED = SequenceHasher(64).transform([[["a"], ["b"]], [["c"]]])
BOUNDARIES = {"intercept": "bias", "start": "BOS", "end": "EOS"}

WRITERS = {
    "save_model": lambda path: save_model(CRF, path),
    "write_conll": lambda path: write_conll(path, [["a", "b"]]),
    "write_conllu": lambda path: write_conllu(path, [["a", "b"]]),
    "to_crfsuite": lambda path: to_crfsuite(
        CRF, path, feature_names=NAMES, **BOUNDARIES
    ),
    "PackedSequences": lambda path: PackedSequences.from_sequences(X).save(path),
    "sparse PackedSequences": lambda path: HASHED.save(path),
    "pycrfsuite": lambda path: trained(path),
    "checkpoint": lambda path: DistributedCRF(checkpoint=path).fit([(X, Y)]),
}


def trained(path):
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.append([{"a": 1.0}], ["A"])
    trainer.train(os.fspath(path))


@contextmanager
def fails(path, says):
    """Expect an error that names one file, or of a checkpoint a warning."""
    says = f"{says}.*{re.escape(os.fspath(path))}(?!' -> )"
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        with pytest.raises((OSError, UserWarning), match=says):
            yield


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_failed_write_leaves_the_old_file(write, tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "fsync", fail)
    with fails(path, "full"):
        write(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]
    monkeypatch.undo()
    write(path)
    assert path.read_bytes() != b"old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.fixture
def full_disk():
    """No file of this process may have more than 2 bytes."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.survives
@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_full_disk_is_an_error_with_the_path(write, tmp_path, full_disk):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    full_disk()
    with fails(path, "too large"):
        write(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_device_is_an_error_with_the_path():
    with pytest.raises(OSError, match="No space.*/dev/full"):
        save_model(CRF, "/dev/full")


def test_a_folder_that_is_not_there_is_an_error_with_the_path(tmp_path):
    for write in WRITERS.values():
        with fails(tmp_path / "none" / "file", "No such file"):
            write(tmp_path / "none" / "file")


def test_a_fit_goes_on_without_a_checkpoint(tmp_path, monkeypatch):
    """The next epoch tries again, and the fit is the fit without checkpoints."""
    path, replace, n_failed = tmp_path / "fit.npz", os.replace, 2

    def fail(*paths):
        nonlocal n_failed
        if n_failed > 0:
            n_failed -= 1
            raise OSError(errno.ENOSPC, "full")
        replace(*paths)

    monkeypatch.setattr(os, "replace", fail)
    crf = DistributedCRF(checkpoint=path, checkpoint_every=1)
    with pytest.warns(UserWarning, match="no checkpoint.*full.*fit.npz.*goes on"):
        crf.fit([(X, Y)])
    assert n_failed == 0
    assert np.array_equal(crf.coef_, DistributedCRF().fit([(X, Y)]).coef_)
    again = DistributedCRF(checkpoint=path).fit([(X, Y)], resume=True)
    assert again.n_iter_ < crf.n_iter_


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert not is_regular_file(path)
    received = []
    reader = threading.Thread(
        target=lambda: received.append(path.read_bytes()), daemon=True
    )
    reader.start()
    with atomic_write(path) as file:
        file.write(b"content")
    reader.join(timeout=10)
    assert received == [b"content"]
    assert path.is_fifo()


def abandon(write, path, monkeypatch):
    """Write as a process that is killed at the end: nothing is removed."""

    def fail(*_):
        raise OSError(errno.EIO, "killed")

    before = set(path.parent.iterdir())
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        patched.setattr(os, "unlink", fail)
        with fails(path, "killed"):
            write(path)
    (left,) = set(path.parent.iterdir()) - before
    return left


def write_old(path):
    with atomic_write(path) as file:
        file.write(b"old")


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_write_removes_what_killed_writers_left(write, tmp_path, monkeypatch):
    path, other = tmp_path / "file", tmp_path / "other"
    abandon(write, path, monkeypatch)
    abandon(write, path, monkeypatch)
    of_other = abandon(write, other, monkeypatch)
    write(path)
    assert set(tmp_path.iterdir()) == {path, of_other}


KILLED_IN_SAVE_MODEL = f"""
import os
from skcrf_sdca import SequenceHasher
from skcrf_sdca.persistence import save_model

os.fsync = lambda file: os.kill(os.getpid(), {int(signal.SIGKILL)})
save_model(SequenceHasher(), "model")
"""


@pytest.mark.slow
def test_a_killed_save_model_leaves_a_file_that_the_next_removes(tmp_path):
    (tmp_path / "model").write_bytes(b"old")
    command = [sys.executable, "-P", "-c", KILLED_IN_SAVE_MODEL]
    done = subprocess.run(command, cwd=tmp_path, check=False)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "model").read_bytes() == b"old"
    assert len(os.listdir(tmp_path)) == 2
    save_model(CRF, tmp_path / "model")
    assert os.listdir(tmp_path) == ["model"]


def test_the_files_of_living_writers_stay(tmp_path):
    path = tmp_path / "file"
    with atomic_write(path) as first:
        first.write(b"first")
        with atomic_write(path) as second:
            second.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["file"]


def test_files_that_are_not_certainly_abandoned_stay(tmp_path, monkeypatch):
    path = tmp_path / "file"
    ours = abandon(write_old, path, monkeypatch)
    with monkeypatch.context() as patched:
        patched.setattr("platform.node", lambda: "another machine")
        of_others = abandon(write_old, path, monkeypatch)
    places = [ours.with_name(f"{ours.name[:-5]}{k}.tmp") for k in "xyz"]
    places += [ours.with_name(name) for name in ("a.tmp", f".{16 * '0'}.tmp")]
    for place in places:
        place.write_bytes(b"of the user")
    target, link = (
        tmp_path / "target",
        ours.with_name(f"{ours.name[:-20]}{16 * '1'}.tmp"),
    )
    ours.rename(target)
    link.symlink_to(target)
    write_old(path)
    stay = {path, of_others, target, link, *places}
    assert set(tmp_path.iterdir()) == stay


def refuse(*_):
    raise OSError("no locks available")


@pytest.mark.parametrize(
    "missing",
    [("fcntl.flock", refuse), ("skcrf_sdca._utils.temporary_files.fcntl", None)],
    ids=["by the file system", "by the system"],
)
def test_without_locks_files_are_written_and_none_is_removed(
    missing, tmp_path, monkeypatch
):
    path = tmp_path / "file"
    ours = abandon(write_old, path, monkeypatch)
    with monkeypatch.context() as patched:
        patched.setattr(*missing)
        without = abandon(write_old, path, monkeypatch)
        write_old(path)
        assert set(tmp_path.iterdir()) == {path, ours, without}
    write_old(path)
    assert set(tmp_path.iterdir()) == {path, without}

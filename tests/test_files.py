"""Files are replaced as a whole: by the helper, and by all that write through it."""

import os
import threading

import pytest

from skcrf_sdca import LBFGSCRF, PackedSequences
from skcrf_sdca._utils.files import atomic_write, is_regular_file
from skcrf_sdca.compat import to_crfsuite
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.distributed import DistributedCRF
from skcrf_sdca.persistence import save_model
from skcrf_sdca.text import write_conll, write_conllu

X, Y = make_chains(n_sequences=6, random_state=0)
NAMES = [f"x{j}" for j in range(X[0].shape[1])]
CRF = LBFGSCRF().fit(X, [[str(k) for k in y] for y in Y])
BOUNDARIES = {"intercept": "bias", "start": "BOS", "end": "EOS"}

WRITERS = {
    "save_model": lambda path: save_model(CRF, path),
    "write_conll": lambda path: write_conll(path, [["a", "b"]]),
    "write_conllu": lambda path: write_conllu(path, [["a", "b"]]),
    "to_crfsuite": lambda path: to_crfsuite(
        CRF, path, feature_names=NAMES, **BOUNDARIES
    ),
    "PackedSequences": lambda path: PackedSequences.from_sequences(X).save(path),
    "checkpoint": lambda path: DistributedCRF(checkpoint=path).fit([(X, Y)]),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_failed_write_leaves_the_old_file(write, tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError("full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="full"):
        write(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]
    monkeypatch.undo()
    write(path)
    assert path.read_bytes() != b"old"
    assert os.listdir(tmp_path) == ["file"]


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

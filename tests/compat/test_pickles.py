"""Pickles of sklearn_crfsuite.CRF: through the alias, and by a reader of them alone."""

import base64
import bz2
import gzip
import lzma
import os
import pickle
import subprocess
import sys
import zlib

import joblib
import numpy as np
import pytest
from test_compat import random_sequences

from skcrf_sdca.compat import CRF, load_pickle
from skcrf_sdca.compat.trainer import LinePerIterationTrainer

# sklearn_crfsuite.CRF(algorithm="lbfgs", c1=np.float64(0.01), c2=0.1, max_iterations=2)
# of version 0.5.0, fitted to X and Y, by pickle and zlib.
GOLDEN = (
    "eNrtWM1rJEUU7/lKJmNMdsgaFxVZZJERZdhdEGRZmJ1MMpO1k06cRFnUUFvTUzNdbH9tVXVMlKCiuBv2"
    "KWJGUE/iLR72IOxhD0IuexDFw/oHLF5VxAXxpGhVd89H9Kqg2D+o7qrfe/3eq1dF83ivZd9/blYLAQ/w"
    "SzbBzEUm6/CAClImXFAHC49Bptas7z32+k4JJrDd9RgVlgM5u9Xpcsg71EUdRi4bMINtG/ke57RlE8QF"
    "FoQbcOwQKxh2ORXUc6UobZ6CWTdw/O0yMj1Gyk5gC4oZw9swxk1sY7YHuVABcm2x7ZM9SHee2r16pVnS"
    "M5A6axjG079LhA9dE61a/pWj1xvfvvxm5a2mNH+6Ubn5ocJHMOXgLSS3xXDoXE/DpDSMHOLI/ag4x4nP"
    "qe25Boz5hFGvbUifxBbYgIJNXcJldkzLiAyNEtMyUNqK7CKi9I+MMvJFZG5GKY4d31Y+Z0dZE7tt2o6S"
    "dkigHApGsa2i9DFSiTAgZUrXhDGPIU7CnG5KdgJvyi12qds1IL+J5VeuKelcFzsOVsF7ck+oQ23iYkcK"
    "pi4R4iNBHF9xvLcLE6GKWsHDf7kT4ZeMcC9gJoHJulw141V0QbKR2SwOhHfV0nblOQadDt2CiXLfiMwv"
    "I4rKhZ7kibblYc4iVD+/tICaC2srzzZrC2i+ul5FaM4vapot759611eWa+3ovmrpeJyUY0uOr/KadkLq"
    "LCm9her6ouQy2mF88Om7p2+/931FzVPx6HOpWEe9H7px641Hr/1SqT0zP7eej/jLa/Mt5W8pP7T3RD6K"
    "IUGCBAkS/LtwNvk/J/iHoO5VNawW1GxuwKeqpd1j8t7deNH58pGRWkFxaq1qigt/qilW80k+EyT4O3Ay"
    "+ef/J3EuObcE/3Nk5XjpDA6rimjeGsjok++8cGKkTviYX3xb1RRqKH6p3qyX4u/OFTVtsTjU7VcpClWp"
    "dyJeX5Q6VjGS9/XUCFowvklYy+NkF+4RDFOXMGSq/tO94Yq6XWR7XQT3+dvD3pBkfMw4YTC1rrSWvO5q"
    "uI5aQ7mwIwjja+srzfNGA6Y7BIsucZFPmElcobfhaJ9SrTk1DxjhemaoyonpuW3e6O8Mjgzi6Ysqq63l"
    "23f3f4VpLjw2IjGgMOz/bZRkRBnppqenVK/Rk456O5C1Pc57jcrPi5/v157/AibjIJDrMUfyP8VuC1Hj"
    "LWZ/rPwwc/NuCaaxqbpwg8h7MvTisFUYN/GUx+kRlgviSyN3lvFnn7z6IGQFdUhvsMNgp1eyUnraSu9Y"
    "mUblu/bBnQsH16xso/Lb1+XHIbhl5RqVg2/up/vFMWtMz1jjesrKDyK1JgYJCQhM2ZiLYRfUKkBGHtpG"
    "CWbqUcjHZZJjYQEmVaPxzPFas36qXSAwRjblKfGN8CCZ0DU9dQWrq4IE7nYJM2ASUbfjIRObFmkbQav8"
    "B/wtC+0="
)

X, Y = [[{"w": "a"}, {"w": "b"}]] * 2, [["A", "B"]] * 2
MARGINALS = [0.8825203722767593, 0.11747962772324069]


@pytest.fixture(scope="module")
def golden():
    return base64.b64decode("".join(GOLDEN))


def check_golden(crf):
    assert type(crf) is CRF
    assert crf.predict(X) == Y
    found = [item["A"] for item in crf.predict_marginals_single(X[0])]
    np.testing.assert_allclose(found, MARGINALS, rtol=1e-9)
    set_there = {"algorithm": "lbfgs", "c1": 0.01, "c2": 0.1, "max_iterations": 2}
    assert crf.get_params() == {**CRF().get_params(), **set_there}
    assert crf.attributes_ == ["w:a", "w:b"]
    last = crf.training_log_.last_iteration
    assert (last["num"], last["loss"]) == (2, 0.824799)


class TestLoadPickle:
    def test_a_pickle_of_sklearn_crfsuite(self, golden, tmp_path, monkeypatch):
        for name in ("sklearn_crfsuite", "pycrfsuite"):
            monkeypatch.setitem(sys.modules, name, None)
        path = tmp_path / "m.pkl"
        path.write_bytes(golden)
        crf = load_pickle(path)
        check_golden(crf)
        check_golden(load_pickle(str(path)))
        # It is an estimator of this package from then on.
        check_golden(pickle.loads(pickle.dumps(crf)))
        crf.set_params(c1=None, max_iterations=None).fit(X[:1], [["C", "D"]])
        assert crf.predict(X[:1]) == [["C", "D"]]
        assert crf.training_log_.last_iteration["num"] == crf.estimator_.n_iter_

    @pytest.mark.parametrize(
        "compressed",
        [bytes, zlib.compress, gzip.compress, bz2.compress, lzma.compress],
    )
    def test_what_is_compressed_or_within(self, golden, compressed):
        plain = zlib.decompress(golden)
        check_golden(load_pickle(compressed(plain)))
        # A list of the estimator: its opcodes between those of a list.
        opcodes = plain.removeprefix(b"\x80\x04").removesuffix(b".")
        [crf] = load_pickle(b"\x80\x04](" + opcodes + b"e.")
        check_golden(crf)

    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    @pytest.mark.parametrize("algorithm", ["lbfgs", "arow"])
    def test_all_protocols_of_the_peer(self, algorithm, protocol, tmp_path):
        peer = pytest.importorskip("sklearn_crfsuite")
        X, y = random_sequences(n_labels=4)
        theirs = peer.CRF(algorithm, max_iterations=np.int64(9))
        theirs.set_params(min_freq=np.float32(0.5)).fit(X, y, X, y)
        crf = load_pickle(pickle.dumps({"crf": theirs}, protocol))["crf"]
        assert crf.predict(X) == theirs.predict(X).tolist()
        assert crf.max_iterations == 9
        assert crf.min_freq == 0.5
        log = crf.training_log_
        assert log.last_iteration == theirs.training_log_.last_iteration
        assert log.events == theirs.training_log_.events
        joblib.dump(theirs, tmp_path / "m", compress=3)
        assert load_pickle(tmp_path / "m").predict(X) == crf.predict(X)

    def test_a_peer_without_a_model_or_with_a_file(self, tmp_path):
        peer = pytest.importorskip("sklearn_crfsuite")
        crf = load_pickle(pickle.dumps(peer.CRF(c2=0.5)))
        assert crf.c2 == 0.5
        assert crf.classes_ is None
        line = peer.trainer.LinePerIterationTrainer
        crf = load_pickle(pickle.dumps(peer.CRF(trainer_cls=line)))
        assert crf.trainer_cls is LinePerIterationTrainer
        file = str(tmp_path / "m")
        theirs = peer.CRF(model_filename=file).fit(X, Y)
        crf = load_pickle(pickle.dumps(theirs))
        assert crf.predict(X) == theirs.predict(X).tolist()
        assert crf.modelfile.name == file

    def test_other_names_are_refused(self, tmp_path):
        class Evil:
            def __reduce__(self):
                return os.mkdir, (str(tmp_path / "made"),)

        path = tmp_path / "m.pkl"
        path.write_bytes(pickle.dumps(Evil()))
        with pytest.raises(
            ValueError, match=r"m.pkl is no pickle of .*: it names (posix|nt).mkdir"
        ):
            load_pickle(path)
        assert not (tmp_path / "made").exists()
        for name in (b"numpy.core.multiarray\n_reconstruct", b"builtins\neval"):
            with pytest.raises(ValueError, match="it names"):
                load_pickle(b"c" + name + b"\n.")

    def test_damage_is_a_value_error(self, golden):
        plain = zlib.decompress(golden)
        for length in range(0, len(plain), 97):
            with pytest.raises(ValueError, match="content is no pickle of sklearn-crf"):
                load_pickle(plain[:length])
        with pytest.raises(ValueError, match="is no pickle"):
            load_pickle(golden[:99])
        with pytest.raises(ValueError, match="is no pickle"):
            load_pickle(plain.replace(b"lCRF", b"lCRX"))
        # A number of NumPy of a type with objects would be an address.
        with pytest.raises(ValueError, match="is no pickle"):
            load_pickle(b"\x80\x02cnumpy\ndtype\nX\x02\x00\x00\x00O8\x85R.")


ALIAS = """
import io, sys, zlib
import joblib, pickle
import skcrf_sdca.compat
sys.modules["sklearn_crfsuite"] = skcrf_sdca.compat
sys.modules["pycrfsuite"] = skcrf_sdca.compat.pycrfsuite
content = sys.stdin.buffer.read()
for crf in pickle.loads(zlib.decompress(content)), joblib.load(io.BytesIO(content)):
    assert type(crf) is skcrf_sdca.compat.CRF
    print(crf.predict([[{"w": "a"}, {"w": "b"}]]))
import pycrfsuite, sklearn_crfsuite
assert isinstance(crf, sklearn_crfsuite.estimator.CRF)
from sklearn_crfsuite.estimator import CRF
assert isinstance(crf, CRF)
from sklearn_crfsuite.trainer import LinePerIterationTrainer
assert issubclass(LinePerIterationTrainer, pycrfsuite.Trainer)
"""


@pytest.mark.slow
def test_programs_read_their_pickles_through_the_alias(golden):
    done = subprocess.run(
        [sys.executable, "-P", "-c", ALIAS], input=golden, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().split("\n") == [*["[['A', 'B']]"] * 2, ""]


def test_cleanup_removes_a_temporary_file(tmp_path):
    crf = CRF().fit(X, Y)
    path = crf.modelfile.name
    crf.modelfile.cleanup()
    crf.modelfile.cleanup()
    assert not os.path.exists(path)
    kept = CRF(model_filename=tmp_path / "m").fit(X, Y)
    kept.modelfile.cleanup()
    assert (tmp_path / "m").exists()


def test_a_trainer_prints_a_line_for_each_iteration(capsys):
    trainer = LinePerIterationTrainer("lbfgs", {"max_iterations": 3})
    for group in (0, 1):
        trainer.append(X[0], Y[0], group)
    trainer.train("", holdout=1)
    printed = capsys.readouterr().out
    lines = [line for line in printed.splitlines() if line.startswith("Iter ")]
    assert len(lines) == len(trainer.logparser.iterations) > 0
    loss = trainer.logparser.last_iteration["loss"]
    assert f" loss={loss:<8.2f} " in lines[-1]
    assert " avg_f1=1.000 item_accuracy=1.000 " in lines[-1]
    assert "Performance by label" not in printed

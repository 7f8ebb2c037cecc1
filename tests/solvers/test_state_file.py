"""Fits that were killed go on from the state of their solver in a file."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from samples import small_disk
from skcrf_sdca import CRF, OEGCRF, SDCACRF, PackedSequences, load_model, save_model
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.estimators.alpha_path import alpha_path

GOES_ON = {"warm_start": True, "random_state": 0, "tol": 1e-8, "max_iter": 500}
X, Y = make_chains(60, random_state=0)

SOLVERS = {
    "sdca": SDCACRF(),
    "oeg": OEGCRF(),
    "files": SDCACRF(memory="1 kB"),
    "files of oeg": OEGCRF(memory="1 kB"),
    "plain": SDCACRF(acceleration=None),
    "double": SDCACRF(dual_dtype="float64"),
    "l1": OEGCRF(l1_ratio=0.3),
    "bound": SDCACRF(label_pairs="observed"),
    "forbidden": SDCACRF(transitions="observed"),
    "chosen": CRF(),
    "sag": CRF(solver="sag"),
    "lbfgs": CRF(solver="lbfgs"),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_a_fit_goes_on_from_the_state_in_a_file(name, tmp_path):
    path = tmp_path / "state"
    crf = clone(SOLVERS[name]).set_params(**GOES_ON, checkpoint=path)
    whole = clone(crf).set_params(checkpoint=None).fit(X, Y)
    with pytest.warns(ConvergenceWarning):
        crf.set_params(max_iter=12).fit(X, Y)
    assert "_warm_state" not in vars(crf)
    crf.set_params(max_iter=500).fit(X, Y)
    assert crf.n_iter_ < whole.n_iter_
    assert_allclose(crf.primal_objective_, whole.primal_objective_, rtol=1e-7)
    crf.set_params(warm_start=False).fit(X, Y)
    assert crf.n_iter_ == whole.n_iter_


def test_the_state_of_the_hinge_has_its_labellings(tmp_path):
    crf = SDCACRF(loss="hinge", checkpoint=tmp_path / "state", warm_start=True)
    crf.set_params(tol=1e-2, random_state=0, max_iter=500).fit(X, Y)
    assert crf.n_iter_ > 2
    assert crf.fit(X, Y).n_iter_ <= 2


def cut(array):
    return array[:1, :-1]


def far_off(array):
    return np.full_like(array, 10**6)


def with_others_far_off(array):
    return np.append(array[:1], far_off(array[1:]), axis=0)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("size", far_off),
        ("size", np.negative),
        ("share", cut),
        ("paths", with_others_far_off),
    ],
)
def test_labellings_that_no_fit_has_are_refused(name, change):
    crf = SDCACRF(loss="hinge", warm_start=True, tol=1e-2, random_state=0).fit(X, Y)
    crf._warm_state[name] = change(crf._warm_state[name])
    with pytest.raises(ValueError, match="labellings that no fit has; set warm_start"):
        crf.fit(X, Y)


def of_other_length(array):
    return np.append(array, 1.0)


@pytest.mark.parametrize("change", [of_other_length, np.negative, np.zeros_like])
def test_a_curvature_that_no_fit_has_is_refused(change):
    crf = SDCACRF(loss="sparsemap", warm_start=True, tol=1e-2).fit(X, Y)
    assert crf._warm_state["curvature"][0] > 0.0
    crf._warm_state["curvature"] = change(crf._warm_state["curvature"])
    with pytest.raises(ValueError, match="a curvature that no fit has; set warm_start"):
        crf.fit(X, Y)
    del crf._warm_state["curvature"]
    assert crf.fit(X, Y).duality_gap_ <= crf.gap_target_


KILLED = """
import os, signal, sys
import numpy as np
from skcrf_sdca import OEGCRF, SDCACRF, PackedSequences
from skcrf_sdca.solvers.dual import DualSolver

n_epochs = 0

def visit_and_die(solver, n_visits, visit=DualSolver._visit_drawn):
    global n_epochs
    n_epochs += 1
    visit(solver, n_visits // 2 if n_epochs == 8 else n_visits)
    if n_epochs == 8:
        os.kill(os.getpid(), signal.SIGKILL)

DualSolver._visit_drawn = visit_and_die
folder, name = sys.argv[1:]
X = PackedSequences.open(folder + "/X")
y = np.load(folder + "/y.npy", mmap_mode="r")
crf = {"SDCACRF": SDCACRF, "OEGCRF": OEGCRF}[name](memory=500, tol=1e-12)
crf.set_params(checkpoint=folder + "/state", random_state=0).fit(X, y)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system kills otherwise")
@pytest.mark.parametrize("cls", [SDCACRF, OEGCRF])
def test_a_killed_fit_goes_on_from_its_dual_variables(cls, tmp_path):
    PackedSequences.from_sequences(X).save(tmp_path / "X")
    np.save(tmp_path / "y.npy", np.concatenate(Y))
    (tmp_path / "temporary").mkdir()
    killed = subprocess.run(
        [sys.executable, "-P", "-c", KILLED, str(tmp_path), cls.__name__],
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
    )
    assert killed.returncode == -signal.SIGKILL
    assert not list((tmp_path / "temporary").iterdir())
    packed = PackedSequences.open(tmp_path / "X")
    labels = np.load(tmp_path / "y.npy", mmap_mode="r")
    whole = cls(**GOES_ON, memory=500).fit(packed, labels)
    again = cls(**GOES_ON, memory=500, checkpoint=tmp_path / "state")
    again.fit(packed, labels)
    assert again.n_iter_ < whole.n_iter_
    assert_allclose(again.primal_objective_, whole.primal_objective_, rtol=1e-7)


def flip(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


DAMAGE = {
    "short": lambda data: data[:-100],
    "flipped": flip,
    "empty": lambda data: b"",
    "another": lambda data: b"no archive at all",
}


@pytest.fixture
def fitted(tmp_path):
    crf = SDCACRF(checkpoint=tmp_path / "state", warm_start=True, random_state=0)
    return crf.fit(X, Y)


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_file_is_refused_by_name(name, fitted):
    path, before = Path(fitted.checkpoint), fitted.coef_.copy()
    damaged = DAMAGE[name](path.read_bytes())
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match=r"state cannot be read: .*; give another"):
        fitted.fit(X, Y)
    assert path.read_bytes() == damaged
    assert_array_equal(fitted.coef_, before)
    assert fitted.set_params(warm_start=False).fit(X, Y).n_iter_ > 1


def other_X():
    return [*X[:-1], X[-1] + 1e-9], Y


def other_labels():
    return X, [*Y[:-1], [Y[-1][0], *Y[-1][:-1]]]


def other_cuts():
    first, second = X[0], X[1]
    rows = np.concatenate([first, second])
    labels = [*Y[0], *Y[1]]
    cut = len(first) - 1
    return [rows[:cut], rows[cut:], *X[2:]], [labels[:cut], labels[cut:], *Y[2:]]


@pytest.mark.parametrize("make", [other_X, other_labels, other_cuts])
def test_the_state_of_other_data_is_refused(make, fitted):
    with pytest.raises(ValueError, match="is of a fit to other data, or of another"):
        fitted.fit(*make())


def test_the_state_of_other_partly_known_labels_is_refused(tmp_path):
    crf = SDCACRF(checkpoint=tmp_path / "state", warm_start=True, random_state=0)
    y = [[None, *labels[1:]] for labels in Y]
    crf.fit(X, y)
    assert crf.fit(X, y).n_iter_ > 0
    with pytest.raises(ValueError, match="is of a fit to other data, or of another"):
        crf.fit(X, [*y[:-1], Y[-1]])


def test_the_state_of_other_soft_labels_is_refused(tmp_path):
    crf = OEGCRF(checkpoint=tmp_path / "state", warm_start=True, random_state=0)
    n_labels = len({label for labels in Y for label in labels})
    rng = np.random.default_rng(0)
    y = [rng.dirichlet(np.ones(n_labels), size=len(labels)) for labels in Y]
    n_iter = crf.fit(X, y).n_iter_
    assert crf.fit(X, y).n_iter_ < n_iter
    with pytest.raises(ValueError, match="is of a fit to other data, or of another"):
        crf.fit(X, [*y[:-1], y[-1][::-1]])


def test_the_state_of_another_model_is_refused(fitted):
    with pytest.raises(ValueError, match="state of a fit by the same estimator"):
        OEGCRF(checkpoint=fitted.checkpoint, warm_start=True).fit(X, Y)
    few = X[:3], Y[:3]
    fitted.set_params(warm_start=False, transitions="observed").fit(*few)
    with pytest.raises(ValueError, match="or of another model"):
        fitted.set_params(warm_start=True, transitions=None).fit(*few)


def test_the_solver_that_was_chosen_goes_on_with_another_alpha(tmp_path):
    crf = CRF(checkpoint=tmp_path / "state", warm_start=True, random_state=0).fit(X, Y)
    assert crf.solver_ == "sdca"
    small = CRF(alpha=1e-4, tol=0.1, random_state=0).fit(X, Y)
    assert small.solver_ == "lbfgs"
    crf.set_params(**small.get_params() | {"checkpoint": tmp_path / "state"})
    assert crf.set_params(warm_start=True).fit(X, Y).solver_ == "sdca"
    assert_allclose(crf.primal_objective_, small.primal_objective_, rtol=0.1)
    assert crf.set_params(warm_start=False).fit(X, Y).solver_ == "lbfgs"


def test_the_state_of_another_kind_of_loss_is_refused():
    crf = SDCACRF(loss="sparsemap", warm_start=True, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="same estimator, solver and kind of loss"):
        crf.set_params(loss="log_loss").fit(X, Y)


def test_a_fit_with_a_state_takes_no_init(fitted):
    with pytest.raises(ValueError, match="both say where to start"):
        clone(fitted).fit(X, Y, init=fitted)


def test_where_no_file_can_be_written_the_fit_goes_on(fitted):
    path = Path(fitted.checkpoint)
    before = path.read_bytes()
    crf = clone(fitted).set_params(warm_start=False)
    with small_disk(1000), pytest.warns(UserWarning, match="no checkpoint was written"):
        crf.fit(X, Y)
    assert_array_equal(
        crf.coef_, clone(crf).set_params(checkpoint=None).fit(X, Y).coef_
    )
    assert path.read_bytes() == before


def test_a_full_disk_of_temporary_files_is_no_fault_of_the_state(fitted):
    path = Path(fitted.checkpoint)
    before = path.read_bytes()
    with small_disk(1000), pytest.raises(OSError, match=tempfile.gettempdir()) as error:
        fitted.fit(X, Y)
    assert "delete" not in str(error.value)
    assert path.read_bytes() == before
    assert fitted.fit(X, Y).n_iter_ <= 2


def test_a_path_of_alphas_and_a_saved_model_have_no_file(fitted, tmp_path):
    before = Path(fitted.checkpoint).read_bytes()
    models = alpha_path(fitted, X, Y, [0.1, 0.01])
    assert [model.checkpoint for model in models] == [None, None]
    assert Path(fitted.checkpoint).read_bytes() == before
    save_model(fitted, tmp_path / "model")
    assert load_model(tmp_path / "model").checkpoint is None

"""One fitted model in many threads and processes, and fits that are broken off."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone

from samples import all_estimators, as_dicts, name_of
from skcrf_sdca import SDCACRF
from skcrf_sdca.datasets import make_chains

ESTIMATORS = all_estimators()
ARRAYS, LABELS = make_chains(
    30, n_labels=3, n_features=4, length=(1, 7), random_state=0
)
DICTS = as_dicts(ARRAYS)
ON_LINUX = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="forks, or sends signals"
)


def bits(crf):
    """Return all that a fit computes, to the last bit."""
    arrays = crf.coef_, crf.intercept_, crf.start_, crf.end_, crf.transition_
    columns = [v for k, v in crf.history_.items() if k != "seconds"]
    return [np.asarray(a).tobytes() for a in (*arrays, *columns)]


def bits_of_fit(crf, X=DICTS, y=LABELS):
    return bits(clone(crf).fit(X, y))


def probabilities(crf):
    return [p.tobytes() for p in crf.predict_proba(DICTS)]


@pytest.fixture
def eager_switches():
    """Let threads change places as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.survives
def test_threads_predict_with_one_model(eager_switches):
    crf = SDCACRF(random_state=0).fit(DICTS, LABELS)
    expected, labels = probabilities(crf), crf.predict(DICTS).tolist()

    def work(_):
        return [
            probabilities(crf) == expected and crf.predict(DICTS).tolist() == labels
            for _ in range(75)
        ]

    with ThreadPoolExecutor(8) as threads:
        answers = [right for part in threads.map(work, range(8)) for right in part]
    assert len(answers) == 600
    assert all(answers)


@pytest.mark.parametrize("crf", ESTIMATORS, ids=name_of)
def test_fits_in_threads_have_the_bits_of_serial_ones(crf, eager_switches):
    expected = bits_of_fit(crf)
    with ThreadPoolExecutor(4) as threads:
        fits = list(threads.map(lambda _: bits_of_fit(crf), range(8)))
    assert fits == [expected] * 8


def test_fits_in_loky_workers_have_the_bits_of_serial_ones():
    parallel = Parallel(n_jobs=2, backend="loky")
    fits = parallel(delayed(bits_of_fit)(crf) for crf in ESTIMATORS)
    assert fits == [bits_of_fit(crf) for crf in ESTIMATORS]


def _predict_and_fit_in_child(crf, send):
    """Predict with the parent's model, serially and on threads, and fit a new one."""
    threaded = clone(crf).set_params(n_jobs=2).fit(DICTS, LABELS)
    send.send((probabilities(crf), probabilities(threaded), bits(threaded)))


@ON_LINUX
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("crf", ESTIMATORS, ids=name_of)
def test_a_forked_child_predicts_and_fits(crf, many_ranges):
    crf = clone(crf).set_params(n_jobs=2).fit(DICTS, LABELS)
    expected = probabilities(crf)
    receive, send = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_predict_and_fit_in_child, args=(crf, send))
    child.start()
    assert receive.poll(60), "the child hangs"
    assert receive.recv() == (expected, expected, bits(crf))
    child.join(60)
    assert child.exitcode == 0
    assert probabilities(crf) == expected


# A fit that would take minutes, of a model that is fitted before or not; it is broken
# off once it is under way.
BROKEN_OFF = """
import os, signal, sys, threading, time
import numpy as np
import skcrf_sdca
from skcrf_sdca.datasets import make_chains

# A process of the background starts with the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
name, fitted = sys.argv[1], sys.argv[2] == "fitted"
X, y = make_chains(1500, n_labels=12, n_features=8, length=20, random_state=0)
crf = getattr(skcrf_sdca, name)(max_iter=3, tol=1.0)
if fitted:
    crf.fit(X[:20], y[:20])
before = {k: np.copy(v) for k, v in vars(crf).items()}
crf.set_params(max_iter=100_000, tol=0.0)
sent = []

def interrupt():
    time.sleep(1.0)
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    crf.fit(X, y)
except KeyboardInterrupt:
    seconds = time.perf_counter() - sent[0]
crf.set_params(max_iter=3, tol=1.0)
assert vars(crf).keys() == before.keys(), "the estimator has changed"
for k, v in vars(crf).items():
    assert np.array_equal(v, before[k]), f"{k} has changed"
if fitted:
    crf.predict(X[:3])
print(seconds)
"""


@ON_LINUX
@pytest.mark.parametrize(
    ("name", "state"),
    [(name_of(crf), "fitted") for crf in ESTIMATORS] + [("SDCACRF", "unfitted")],
)
def test_ctrl_c_stops_a_fit_and_leaves_the_estimator_as_it_was(name, state):
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-P", "-c", BROKEN_OFF, name, state],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        if (seconds := float(done.stdout)) < 0.5:
            return
    # On a busy machine it may take longer to get a turn, but not every time.
    pytest.fail(f"it took {seconds:.2f} s")


def test_threads_of_one_process_leave_no_threads_behind(many_ranges):
    before = threading.active_count()
    crf = SDCACRF(random_state=0, n_jobs=2).fit(DICTS, LABELS)
    crf.predict_proba(DICTS)
    assert threading.active_count() == before


DETERMINISM = """
import hashlib
import numpy as np
import skcrf_sdca
from skcrf_sdca.datasets import make_chains

X, y = make_chains(30, n_labels=3, n_features=4, length=(1, 7), random_state=0)
kinds = [
    X,
    [[{f"f{j}": v for j, v in enumerate(row)} for row in x] for x in X],
    [[{"a": {f"f{j}" for j, v in enumerate(row) if v > 0}} for row in x] for x in X],
]
digest = hashlib.sha256()
for name in ("SDCACRF", "OEGCRF", "SAGNUSCRF", "LBFGSCRF"):
    for x in kinds:
        seed = {} if name == "LBFGSCRF" else {"random_state": 0}
        crf = getattr(skcrf_sdca, name)(**seed).fit(x, y)
        for a in (crf.coef_, crf.transition_, crf.history_["gap"]):
            digest.update(np.ascontiguousarray(a).tobytes())
print(digest.hexdigest())
"""
SETTINGS = [
    {},
    {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "1"},
    {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "8", "PYTHONHASHSEED": "2"},
    {"OPENBLAS_NUM_THREADS": "8", "OMP_NUM_THREADS": "2", "PYTHONHASHSEED": "3"},
]


def test_neither_thread_settings_nor_the_hash_seed_change_a_bit():
    digests = {
        subprocess.run(
            [sys.executable, "-P", "-c", DETERMINISM],
            env={**os.environ, **settings},
            stdout=subprocess.PIPE,
            check=True,
        ).stdout
        for settings in SETTINGS
    }
    assert len(digests) == 1


@pytest.mark.parametrize("crf", ESTIMATORS, ids=name_of)
def test_with_a_seed_the_global_state_of_numpy_is_neither_read_nor_written(crf):
    fits = []
    for seed in (1, 2):
        np.random.seed(seed)  # noqa: NPY002
        before = np.random.get_state()[1].tobytes()  # noqa: NPY002
        fits.append(bits_of_fit(crf))
        assert np.random.get_state()[1].tobytes() == before  # noqa: NPY002
    assert fits[0] == fits[1]


def test_without_a_seed_fits_differ_and_an_instance_is_used_up():
    crf = SDCACRF(random_state=None, max_iter=2, tol=1.0)
    assert bits_of_fit(crf) != bits_of_fit(crf)
    crf = SDCACRF(random_state=np.random.RandomState(0), max_iter=2, tol=1.0)
    first = bits(crf.fit(DICTS, LABELS))
    assert bits(crf.fit(DICTS, LABELS)) != first


def test_signals_are_as_before_after_a_fit():
    before = signal.getsignal(signal.SIGINT)
    SDCACRF(random_state=0).fit(DICTS, LABELS)
    assert signal.getsignal(signal.SIGINT) is before

"""One fitted model in many threads and processes, and fits that are interrupted."""

import datetime
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from itertools import count

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer

from samples import all_estimators, as_dicts, name_of
from skcrf_sdca import (
    SDCACRF,
    OnlineDependencyCRF,
    PackedSequences,
    PerToken,
    SequenceVectorizer,
    compat,
    metrics,
)
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.text import Apply, ArcFeatures, Suffix, TokenFeatures

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
    """Let the interpreter switch threads as often as it can."""
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


def _fit_of_two_workers():
    X, y = make_chains(n_sequences=200, random_state=0)
    return bits(SDCACRF(n_jobs=2, max_iter=3, tol=0.5, random_state=0).fit(X, y))


def _send_fit(send):
    send.send(_fit_of_two_workers())


@ON_LINUX
@pytest.mark.filterwarnings("error", "ignore:.*fork.*:DeprecationWarning")
def test_a_daemonic_process_has_as_many_threads_as_it_asks_for():
    """There joblib itself starts no workers."""
    receive, send = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_send_fit, args=(send,), daemon=True)
    child.start()
    assert receive.poll(60), "the child hangs"
    assert receive.recv() == _fit_of_two_workers()
    child.join(60)


@pytest.mark.filterwarnings("error")
def test_backends_of_joblib_change_no_bit():
    expected = _fit_of_two_workers()
    with parallel_config(backend="sequential"):
        assert _fit_of_two_workers() == expected


# Fits that would take minutes, of estimators that are fitted already or not; each is
# interrupted once it runs.
BROKEN_OFF = """
import os, signal, sys, threading, time
import numpy as np
import skcrf_sdca
from skcrf_sdca.datasets import make_chains

# A process of the background starts with the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
X, y = make_chains(1500, n_labels=12, n_features=8, length=20, random_state=0)

def interrupt(sent):
    time.sleep(0.15)
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

for name, fitted in (case.split() for case in sys.argv[1:]):
    crf = getattr(skcrf_sdca, name)(max_iter=3, tol=1.0)
    if name == "SGDCRF":
        # With the default alpha SVRG is at the optimum within a second.
        crf.set_params(alpha=1e-9)
    if fitted == "fitted":
        crf.fit(X[:20], y[:20])
    before = {k: np.copy(v) for k, v in vars(crf).items()}
    crf.set_params(max_iter=100_000, tol=0.0)
    sent = []
    threading.Thread(target=interrupt, args=(sent,)).start()
    try:
        crf.fit(X, y)
    except KeyboardInterrupt:
        print(time.perf_counter() - sent[0])
    crf.set_params(max_iter=3, tol=1.0)
    assert vars(crf).keys() == before.keys(), f"{name} has changed"
    for k, v in vars(crf).items():
        assert np.array_equal(v, before[k]), f"{k} of {name} has changed"
    if fitted == "fitted":
        crf.predict(X[:3])
"""


@ON_LINUX
@pytest.mark.parametrize("n_best", [1, 2])
def test_ctrl_c_stops_an_epoch_of_a_parser(n_best):
    features = ArcFeatures(["h.word m.word"], columns=("word",), n_features=64)
    parser = OnlineDependencyCRF(features=features, n_best=n_best)
    arcs, heads, _ = parser._read_trees([["go", "home"]], [[0, 1]])
    kernel = parser._new_learner(arcs, heads, goes_on=False).kernel
    order = np.zeros(3_000_000, dtype=np.intp)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        with pytest.raises(KeyboardInterrupt):
            kernel.epoch_in_order(order)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert 0 < kernel.n_visits < len(order)


@pytest.mark.slow
@ON_LINUX
def test_ctrl_c_stops_a_fit_and_leaves_the_estimator_as_it_was():
    cases = [f"{name_of(crf)} fitted" for crf in ESTIMATORS] + ["SDCACRF unfitted"]
    done = subprocess.run(
        [sys.executable, "-P", "-c", BROKEN_OFF, *cases],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    seconds = dict(zip(cases, map(float, done.stdout.split()), strict=True))
    # The fits would take minutes; on a busy machine an interrupt takes a second.
    assert max(seconds.values()) < 10.0, seconds


def test_threads_of_one_process_leave_no_threads_behind(many_ranges):
    before = threading.active_count()
    crf = SDCACRF(random_state=0, n_jobs=2).fit(DICTS, LABELS)
    crf.predict_proba(DICTS)
    assert threading.active_count() == before


# The same signal while the code of users' objects runs -------------------------------


class UserCode:
    """Counts the calls of users' code; Ctrl-C arrives in one of them."""

    n_left = 0

    @classmethod
    def run(cls):
        cls.n_left -= 1
        if cls.n_left == 0:
            signal.raise_signal(signal.SIGINT)


def with_user_code(base, *names):
    """Return a subclass of a type whose methods of these names are users' code.

    So is its `__class__`, which isinstance asks for.
    """

    def method(name):
        def run(self, *arguments):
            UserCode.run()
            return getattr(base, name)(self, *arguments)

        return run

    def own_class(self):
        UserCode.run()
        return base

    methods = {name: method(name) for name in names}
    return type("User", (base,), {**methods, "__class__": property(own_class)})


COMPARISONS = "__hash__", "__eq__", "__lt__", "__str__", "__repr__"
UserFloat = with_user_code(float, "__float__", *COMPARISONS)
UserStr = with_user_code(str, "__len__", "__iter__", *COMPARISONS)
UserTuple = with_user_code(tuple, "__iter__", "__len__", "__getitem__", *COMPARISONS)
UserList = with_user_code(list, "__iter__", "__len__", "__getitem__")
UserSet = with_user_code(frozenset, "__iter__", "__len__", "__contains__")
UserDict = with_user_code(dict, "items", "keys", "__iter__", "__len__", "__getitem__")
UserDate = with_user_code(datetime.date, *COMPARISONS)


class UserArray:
    """Converts itself to an array by users' code."""

    def __init__(self, rows):
        self.rows = rows

    @property
    def shape(self):
        UserCode.run()
        return self.rows.shape

    def __array__(self, dtype=None, copy=None):
        UserCode.run()
        return self.rows


def user_dicts():
    names = UserStr("a"), UserStr("b")
    item = UserDict(
        {
            "number": UserFloat(2.0),
            "numpy": np.float64(2.0),
            "names": UserList(names),
            "tuple": UserTuple(names),
            "set": UserSet(names),
            "nested": UserDict({"inner": UserDict({names[0]: names[1]})}),
            names[0]: 1.0,
        }
    )
    return UserList([UserList([item, UserDict({"a": 1})]), UserList([])])


def user_strings():
    names = UserStr("a"), UserStr("b")
    items = UserTuple(names), UserList(names), UserSet(names)
    return UserList([UserList(items), UserList([])])


def user_arrays():
    return UserList([UserArray(np.eye(3)), UserArray(np.ones((1, 3)))])


def user_rows():
    # NumPy takes an object for a number if its __len__ raises, so lists are plain here.
    rows = [UserFloat(1.0), UserFloat(2.0)], (UserFloat(3.0), 4.0)
    return UserList([[*rows, rows[0]], [rows[1]]])


def tagged(token):
    UserCode.run()
    return [UserStr("x"), token]


def user_tokens():
    return UserList([UserList([UserStr("a"), UserStr("b")])])


def user_labels(new):
    return UserList([UserList([new(1), new(2), new(1)]), UserList([new(2)])])


def date(day):
    return UserDate(2026, 1, day)


FITTED = SDCACRF(random_state=0).fit([[["a"], ["b"]]], [["B-X", "I-X"]])
OF_DATES = SDCACRF(random_state=0).fit([np.eye(3), np.ones((1, 3))], user_labels(date))
VECTORIZER = SequenceVectorizer().fit(user_dicts())
INTERRUPTED = {
    "fit_transform dicts": lambda: SequenceVectorizer().fit_transform(user_dicts()),
    "fit_transform strings": lambda: SequenceVectorizer().fit(user_strings()),
    "transform": lambda: VECTORIZER.transform(user_dicts()),
    "min_freq": lambda: SequenceVectorizer(min_freq=2).fit(user_dicts()),
    "pack arrays": lambda: PackedSequences.from_sequences(user_arrays()),
    "rows": lambda: SDCACRF(random_state=0).fit(user_rows(), user_labels(date)),
    "rows of a table": lambda: SDCACRF(random_state=0).fit(user_rows()[0], [1, 2, 1]),
    "sample_weight": lambda: SDCACRF(random_state=0).fit(
        user_arrays(), user_labels(date), [UserFloat(1.0), UserFloat(2.0)]
    ),
    "fit": lambda: SDCACRF(random_state=0).fit(user_arrays(), user_labels(date)),
    "fit on str": lambda: SDCACRF(random_state=0).fit(
        user_arrays(), user_labels(lambda k: UserStr(k))
    ),
    "fit on floats": lambda: SDCACRF(random_state=0).fit(
        user_arrays(), user_labels(UserFloat)
    ),
    "fit on tuples": lambda: SDCACRF(random_state=0).fit(
        user_arrays(), user_labels(lambda k: UserTuple((k, k)))
    ),
    "fit on dicts": lambda: SDCACRF(random_state=0).fit(
        user_dicts(), UserList([UserList([date(1), date(2)]), UserList([])])
    ),
    "fit a table": lambda: SDCACRF(random_state=0).fit(
        np.eye(4), np.fromiter(map(date, [1, 2, 2, 1]), dtype=object, count=4)
    ),
    "transitions": lambda: SDCACRF(
        random_state=0,
        transitions=UserList(
            [UserTuple((date(j), date(k))) for j in (1, 2) for k in (1, 2)]
        ),
    ).fit(user_arrays(), user_labels(date)),
    "score": lambda: OF_DATES.score(user_arrays(), user_labels(date)),
    "known": lambda: OF_DATES.predict(user_arrays(), known=user_labels(date)),
    "explain": lambda: repr(
        OF_DATES.explain(
            np.eye(3), 0, labels=UserList([date(1)]), path=user_labels(date)[0]
        )
    ),
    "top_features": lambda: repr(OF_DATES.top_features(labels=UserList([date(1)]))),
    "span_proba": lambda: OF_DATES.span_proba(
        user_arrays(),
        UserList([UserList([UserTuple((0, 1, UserList([date(1)])))]), []]),
    ),
    "typed spans": lambda: FITTED.span_proba(
        [[["a"], ["b"]]],
        UserList([UserList([UserTuple((UserStr("X"), 0, 2))])]),
        scheme="BIO",
    ),
    "metrics": lambda: metrics.flat_classification_report(
        user_labels(lambda k: UserStr(k)), user_labels(lambda k: UserStr(k))
    ),
    "spans": lambda: metrics.extract_spans(UserList([UserStr("B-X"), UserStr("O")])),
    "tokens": lambda: TokenFeatures(["word", Apply(tagged), Suffix(1)]).transform(
        user_tokens()
    ),
    "to_crfsuite": lambda: compat.to_crfsuite(
        FITTED,
        os.devnull,
        intercept=UserStr("bias"),
        start=UserStr("BOS"),
        end=UserStr("EOS"),
        feature_names=UserList([UserStr("a"), UserStr("b")]),
    ),
    "crfsuite_features": lambda: compat.crfsuite_features(
        user_dicts(), intercept=UserStr("bias")
    ),
    "compat": lambda: compat.CRF().fit(
        user_strings(), [[UserStr("a"), UserStr("b"), UserStr("b")], []]
    ),
    "PerToken": lambda: PerToken(DictVectorizer()).fit_transform(
        UserList([UserList([UserDict({"a": UserStr("b")})])])
    ),
}


@pytest.fixture
def sigint_raises():
    # A process of the background starts with the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
    UserCode.n_left = 0


@pytest.mark.usefixtures("sigint_raises")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", INTERRUPTED)
def test_ctrl_c_in_the_code_of_users_is_a_keyboard_interrupt(name):
    # Interrupt the first call of users' code, then the second, until there are no more.
    for n_calls in count(1):
        UserCode.n_left = n_calls
        try:
            INTERRUPTED[name]()
        except KeyboardInterrupt:
            assert UserCode.n_left <= 0
            continue
        assert UserCode.n_left > 0, f"call {n_calls} was interrupted, and it went on"
        assert n_calls > 1, "no code of users ran"
        return


PLAIN_ITEMS = [
    {"a": np.float64(2.0), "b": np.float64(0.0)},
    {"a": Decimal(2), "b": Fraction(1, 2)},
    {"a": ["b", "c"], "b": ("b",), "c": {"d", "e"}},
    {"a": np.ones(2), "b": {"c": {"d": np.str_("e")}}},
]


@contextmanager
def interrupted_in_call(number, name):
    """Raise KeyboardInterrupt as the Python function of a name is called so often."""
    left = [number]

    def interrupt(frame, event, _):
        if event == "call" and frame.f_code.co_name == name:
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt

    before = sys.getprofile()
    sys.setprofile(interrupt)
    try:
        yield left
    finally:
        sys.setprofile(before)


@pytest.mark.parametrize("item", PLAIN_ITEMS)
def test_ctrl_c_while_the_type_of_a_plain_value_is_asked_for(item):
    n_interrupts = 0
    for number in count(1):
        vectorizer = SequenceVectorizer()
        try:
            with interrupted_in_call(number, "__instancecheck__") as left:
                vectorizer.fit([[item]])
        except KeyboardInterrupt:
            assert left[0] == 0
            assert not hasattr(vectorizer, "vocabulary_")
            n_interrupts += 1
            continue
        assert left[0] > 0, f"call {number} was interrupted, and it went on"
        break
    assert n_interrupts > 1


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
        crf = getattr(skcrf_sdca, name)(max_iter=10, **seed).fit(x, y)
        for a in (crf.coef_, crf.transition_, crf.history_["gap"]):
            digest.update(np.ascontiguousarray(a).tobytes())
print(digest.hexdigest())
"""
SETTINGS = [
    {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "1"},
    {"OPENBLAS_NUM_THREADS": "8", "OMP_NUM_THREADS": "2", "PYTHONHASHSEED": "3"},
]


@pytest.mark.slow
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

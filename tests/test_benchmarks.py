"""Every benchmark script of a figure or a table runs with --quick."""

import csv
import gzip
import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from reference import all_features, all_paths
from samples import make_problem
from skcrf_sdca import OEGCRF, DualityGapMonitor, PackedSequences
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.solvers.sdca import SDCA
from twins import OEGTwin

FOLDER = Path(__file__).parents[1] / "examples" / "benchmarks"
# Scripts that draw or print the runs of the campaign: the file that each is asked to
# write, and the files that it writes.
SCRIPTS = {
    "authors_data": ("authors.png", ["authors.png"]),
    "beside_crfsuite": ("images/w.png", ["images/w.png", "results/w.csv"]),
    "convergence": ("a.png", ["a.png"]),
    "convergence_table": ("a.csv", ["a_ocr.csv"]),
    "dear_oracles": (
        "images/dear.png",
        ["images/dear.png", "results/dear.csv", "results/dear_seconds.csv"],
    ),
    "epoch_costs": (None, []),
    "first_passes": ("first.csv", ["first.csv"]),
    "gap_estimate": ("b.png", ["b.png"]),
    "held_out_error": ("c.png", ["c.png"]),
    "learning_curves": ("l.png", ["l.png"]),
    "rivals_test_error": ("r.png", ["r.png"]),
    "line_search": ("d.png", ["d.png"]),
    "memory_table": ("memory.csv", ["memory.csv", "tasks.csv"]),
    "memory_vs_crfsuite": (None, []),
    "network_layers": ("n.csv", ["n.csv"]),
    "oeg_sampling": ("e.csv", ["e.csv"]),
    "out_of_core": ("o.csv", ["o.csv"]),
    "pack_text": ("pack.csv", ["pack.csv"]),
    "partitions": ("i.png", ["i.png", "i.csv"]),
    "seconds_to_gap": ("seconds.csv", ["seconds.csv"]),
    "sampling_mix": ("f.png", ["f.png"]),
    "sampling_schemes": ("g.png", ["g.png"]),
    "rates": ("rates.png", ["rates.png"]),
    "scaling": ("h.png", ["h.png"]),
    "stochastic_rivals": ("s.png", ["s.png"]),
    "threads": ("t.png", ["t.png", "t.csv"]),
    "time_to_optimum": (None, []),
    "toy_orders": ("toy.csv", ["toy.csv"]),
    "visit_orders": ("v.csv", ["v.csv"]),
}
# Tries of one corpus: each method has a process of its own, or many iterations.
OPTIONS = dict.fromkeys(("memory_vs_crfsuite", "time_to_optimum"), ["--task", "ned"])
# Structures with a price, and without one.
OPTIONS["dear_oracles"] = ["--task", "trw, 5 sweeps", "--task", "arcs"]


# Sentences of each file of a corpus: more than any trial takes.
N_SENTENCES = 350


@pytest.fixture(scope="module")
def corpora(data_folder, tmp_path_factory):
    """Folder of the corpora, whose texts are cut to their first sentences."""
    folder = tmp_path_factory.mktemp("corpora")
    for path in data_folder.rglob("*.*"):
        copy = folder / path.relative_to(data_folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".gz":
            sentences = gzip.decompress(path.read_bytes()).split(b"\n\n")
            content = b"\n\n".join([*sentences[:N_SENTENCES], b""])
            copy.write_bytes(gzip.compress(content, compresslevel=1))
        else:
            copy.symlink_to(path.resolve())
    return folder


def run_anew(name, *options, data=None):
    """Return what a script printed; it must end without an error."""
    environment = dict(os.environ)
    if data is not None:
        environment["SKCRF_SDCA_DATA"] = str(data)
    command = [sys.executable, FOLDER / f"{name}.py", *options]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def forks():
    """Process that runs scripts in forks."""
    path = os.pathsep.join([str(FOLDER), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [sys.executable, "-P", Path(__file__).parent / "script_forks.py"],
        env=os.environ | {"PYTHONPATH": path.rstrip(os.pathsep)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def run(forks, tmp_path):
    """Function as `run_anew`, for scripts whose own memory or log does not matter."""
    files = tmp_path / "stdout", tmp_path / "stderr"

    def result(name, *options, data=None):
        job = {
            "arguments": [str(FOLDER / f"{name}.py"), *map(str, options)],
            "environment": {} if data is None else {"SKCRF_SDCA_DATA": str(data)},
            "files": [str(file) for file in files],
        }
        print(json.dumps(job), file=forks.stdin, flush=True)
        status = int(forks.stdout.readline())
        stdout, stderr = (file.read_text() for file in files)
        assert status == 0, stdout + stderr
        return SimpleNamespace(stdout=stdout, stderr=stderr)

    return result


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


def test_the_sentences_of_the_authors_are_read(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    authors = importlib.import_module("authors")
    # Two templates, of which the first has the attributes 1 and 2.
    X = np.array([[1, 3], [2, 0], [0, 0], [0, 1], [0, 0]], dtype=np.uint16)
    y = np.array([7, 2, 0, 2, 0], dtype=np.uint8)
    task = authors.packed_task("names", X, y)
    expected = [[1, 0, 0, 0, 1], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0]]
    assert_array_equal(task.X.X.toarray(), expected)
    assert_array_equal(task.X.offsets, [0, 2, 3])
    assert [list(labels) for labels in task.y] == [[7, 2], [2]]
    assert task.alpha == 0.5
    (labels,) = authors.packed_task("names", X, y, first=1).y
    assert list(labels) == [7, 2]


@pytest.mark.parametrize("steps", ["1 / c_i", "theta / q_i", "search"])
def test_visits_with_the_steps_of_theorems_raise_the_dual(monkeypatch, steps):
    monkeypatch.syspath_prepend(FOLDER)
    fixed = importlib.import_module("fixed_steps")
    rng = np.random.default_rng(0)
    rows = fixed.Rows(rng.normal(size=(8, 2)), np.arange(8) % 3)

    def dual():
        entropy = -(rows.mu * np.log(rows.mu)).sum(axis=1).mean()
        return entropy - 0.5 * rows.alpha * (rows.w**2).sum()

    assert_allclose(rows.primal() - dual(), rows.gaps.mean())
    for i in range(8):
        before, step = dual(), fixed.STEPS[steps](rows, i)
        rows.visit(i, step)
        assert 0.0 < step <= 1.0
        assert dual() > before
    assert_allclose(rows.primal() - dual(), rows.gaps.mean())


def test_siblings_of_kept_arcs_are_counted(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    pruned = importlib.import_module("pruned_arcs")
    proba = np.array([[0.1, 0.5, 0.2], [0.0, 0.4, 0.2], [0.2, 0, 0.6], [0.7, 0.1, 0]])
    assert pruned.kept(proba, 0.0).all()
    mask = pruned.kept(proba, 0.25)
    assert_array_equal(mask, [[0, 1, 1], [0, 1, 1], [1, 0, 1], [1, 0, 0]])
    # Without siblings nearer to the head (1, 2), (1, 3), (2, 1), (2, 3), (3, 1), and
    # (1, 3) beside (1, 2).
    assert pruned.share_of_siblings([mask]) == 6 / 8


def test_fronts_of_a_grid_are_its_diagonals(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    module = importlib.import_module("belief_propagation")
    ends, _ = module.grid(3, 4)
    assert_array_equal(module.fronts(12, ends), [1, 2, 3, 3, 2, 1])
    assert_array_equal(module.fronts(3, np.array([[0, 1], [1, 2]])), [1, 1, 1])


def test_radii_from_known_labels_are_the_largest_distances(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    radii = importlib.import_module("radii").radii
    rng = np.random.default_rng(0)
    X = [rng.uniform(size=(length, 3)) for length in (1, 2, 4)]
    y = [np.array([2]), np.array([0, 1]), np.array([1, 1, 0, 1])]
    found = radii(make_problem(X, y, 3, 0.1))["appendix C"]
    for x, labels, radius in zip(X, y, found, strict=True):
        features, paths = all_features(x, 3), all_paths(len(x), 3)
        own = features[(paths == labels).all(axis=1)]
        assert_allclose(radius, ((features - own) ** 2).sum(axis=1).max())


def test_single_losses_and_gradients_have_the_mean_of_all(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    single_losses = importlib.import_module("single_losses")
    rng = np.random.default_rng(0)
    X = [rng.uniform(size=(length, 3)) for length in (1, 2, 4)]
    y = [np.array([2]), np.array([0, 1]), np.array([1, 1, 0, 1])]
    losses = single_losses.SingleLosses(make_problem(X, y, 3, 0.1))
    w = rng.normal(size=len(losses.problem.new_parameters().w))
    values, gradients = zip(
        *(losses.loss_and_gradient(w, i) for i in range(3)), strict=True
    )
    assert_allclose(np.mean(values), losses.problem.mean_loss(w))
    assert_allclose([losses.loss(w, i) for i in range(3)], values)
    assert losses.n_calls == 4.5
    expected = np.mean(gradients, axis=0) + 0.1 * w
    assert_allclose(losses.mean_gradient(w), expected, atol=1e-12)
    assert losses.n_calls == 7.5


def test_updates_of_cliques_reach_the_minimum_of_trw(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    cliques = importlib.import_module("clique_updates")
    X, y = cliques.images(2, 4, np.random.default_rng(0))
    crf = cliques.GraphCRF(0.5, inference="trw", solver="lbfgs", tol=1e-6)
    least = crf.fit(X, y).primal_objective_
    with pytest.warns(cliques.ConvergenceWarning):
        problem = cliques.problem_of(crf, X, y)
    run = cliques.CliqueUpdates(problem, X, y, np.random.default_rng(0), 3.0)
    for _ in range(60):
        run.epoch()
    w = run.model.w
    assert problem.primal(w, problem.mean_loss(w)) <= 1.001 * least
    ends = run.nodes[run.ends]
    assert_allclose([run.sums(e) for e in range(len(ends))], ends, atol=0.02)


@pytest.mark.parametrize("size", [1, 2])
def test_batches_have_the_mean_of_the_losses(monkeypatch, size):
    monkeypatch.syspath_prepend(FOLDER)
    batches_of = importlib.import_module("sag_variants").Batches
    losses = [np.array([k, k**2]) for k in (1.0, 2.0, 4.0, 5.0, 9.0)]
    chains = SimpleNamespace(
        n=len(losses),
        loss=lambda w, i: w @ losses[i],
        loss_and_gradient=lambda w, i: (w @ losses[i], losses[i]),
    )
    batches, w = batches_of(chains, size), np.array([3.0, -1.0])
    values, gradients = zip(
        *(batches.loss_and_gradient(w, k) for k in range(len(batches.members))),
        strict=True,
    )
    assert len(values) == -(-len(losses) // size)
    assert_allclose(np.mean(gradients, axis=0), np.mean(losses, axis=0))
    assert_allclose(np.mean(values), np.mean(losses, axis=0) @ w)
    assert_allclose(batches.loss(w, 0), values[0])


@pytest.mark.parametrize("C", [0.01, 0.3, 100.0])
def test_the_minimum_with_half_spaces_is_found(monkeypatch, C):
    monkeypatch.syspath_prepend(FOLDER)
    shares = importlib.import_module("exact_blocks").shares
    rng = np.random.default_rng(0)
    slopes = np.vstack([np.zeros(5), rng.normal(size=(4, 5))])
    values = np.append(0.0, rng.uniform(0.1, 2.0, 4))
    norm = slopes[1] @ slopes[1]
    one = shares(slopes[:2] @ slopes[:2].T, values[:2], C)
    assert_allclose(one[1], min(C, values[1] / norm))
    s = shares(slopes @ slopes.T, values, C)
    assert (s >= 0.0).all()
    assert_allclose(s.sum(), C)
    # At the minimum all tangents that are used have the largest value.
    at_minimum = values - slopes @ (s @ slopes)
    assert_allclose(at_minimum[s > 1e-9], at_minimum.max(), atol=1e-9)


def test_cells_of_a_table_are_drawn_as_points(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(FOLDER)
    pictures = importlib.import_module("table_pictures")
    picture = pictures.Picture(1, {"SDCA": (1,), "OEG": (2,)}, "passes")
    rows = [["Dutch", "5, 7", "> 60 (0.03)"], ["OCR", "", "1.5e-3, no"]]
    figure = pictures.draw(["Task", "SDCA, plain", "plain"], rows, picture)
    # The first line of each panel is the entry of the legend.
    of_sdca, of_oeg = (
        [(line.get_marker(), *line.get_xydata()[0]) for line in axis.lines[1:]]
        for axis in figure.axes
    )
    assert of_sdca == [("o", 5.0, 0.0), ("o", 7.0, 0.0)]
    assert of_oeg == [(">", 60.0, 0.0), ("o", 1.5e-3, 1.0)]
    assert [axis.lines[0].get_label() for axis in figure.axes] == ["plain", "plain"]


@pytest.mark.parametrize("start", [(3.0, 0.0), (3.0, 3.0), (14.0, 14.0)])
def test_starts_of_oeg_at_edges_are_those_of_its_twin(monkeypatch, start):
    monkeypatch.syspath_prepend(FOLDER)
    rng = np.random.default_rng(0)
    X = [rng.uniform(size=(length, 3)) for length in (1, 2, 4)]
    y = [np.array([2]), np.array([0, 1]), np.array([1, 1, 0, 1])]
    problem = make_problem(X, y, 3, 0.1)
    run = importlib.import_module("oeg_starts").Run(problem, start, rng)
    twin = OEGTwin(X, y, 3, 0.1, at_nodes=start[0], at_edges=start[1], first_step=0.5)
    for i in rng.integers(3, size=20):
        assert_allclose(run.p.w, twin.w, rtol=0, atol=1e-10)
        run.visit(i, 5)
        twin.visit(i, 5)


@pytest.mark.parametrize(("way", "times"), [("catalyst", 1.0), ("theory", 2.0)])
def test_centres_have_the_momentum_of_the_papers(monkeypatch, way, times):
    monkeypatch.syspath_prepend(FOLDER)
    *_, points = importlib.import_module("acceleration").WAYS[way]
    X, y = make_chains(130, n_labels=3, n_features=4, random_state=0)
    problem = make_problem(X, y, 3, 0.01)
    run = points(problem, np.random.default_rng(0), solver=SDCA)
    weights = [run.model.w.copy()]
    for _ in range(3):
        run.epoch()
        run.certify()
        weights.append(run.model.w.copy())
    z, kappa = run.proximal.penalty.center, run.proximal.penalty.kappa
    root = (1.0 + times * kappa) ** -0.5
    momentum = (1.0 - root) / (1.0 + root)
    assert_allclose(z, weights[2] + momentum * (weights[2] - weights[1]))
    if way == "theory":
        largest = problem.structure.squared_radii().max()
        assert_allclose(kappa, largest / (0.01 * len(X)) - 1.0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_epochs_to_a_level_are_those_of_visits(monkeypatch):
    """A fit has fewer certificates than epochs."""
    pytest.importorskip("pycrfsuite")
    monkeypatch.syspath_prepend(FOLDER)
    race_of = importlib.import_module("time_to_optimum").Race
    X, y = make_chains(150, n_labels=3, n_features=10, random_state=0)
    task = SimpleNamespace(X=PackedSequences.from_sequences(X), y=y, alpha=0.001)
    optimum = OEGCRF(task.alpha, tol=1e-9).fit(task.X, y).primal_objective_
    race = race_of(task, optimum, ())
    epochs, _, _ = race.fit(OEGCRF, 1e-4)
    tol = 1e-4 * race.problem.initial_primal / optimum
    crf = OEGCRF(task.alpha, tol=tol, max_iter=epochs, random_state=0)
    crf.set_callbacks(DualityGapMonitor()).fit(task.X, y)
    below = race.level(crf.history_["primal"]) <= 1e-4
    assert_array_equal(np.flatnonzero(below), [epochs - 1])


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_quick_trial_runs(run, name, cache, corpora):
    if name in ("beside_crfsuite", "memory_vs_crfsuite", "time_to_optimum"):
        pytest.importorskip("pycrfsuite")
    output, written = SCRIPTS[name]
    options = ["--quick", "--cache", cache, *OPTIONS.get(name, [])]
    if output is not None:
        options += ["--output", cache / output]
    assert run(name, *options, data=corpora).stdout
    for file in written:
        assert len((cache / file).read_bytes().splitlines()) > 1


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_cycles_of_fit_and_pickle_leave_nothing_behind():
    run_anew("soak", "--cycles", "600")


@pytest.mark.slow
def test_the_tutorial_is_compared_with_crfsuite(run, corpora):
    pytest.importorskip("sklearn_crfsuite")
    options = "--first", "300", "--iterations", "20"
    done = run("as_people_run", *options, data=corpora)
    rows = [row.split() for row in done.stdout.splitlines()]
    for pairs in ("observed", "all"):
        ways = [row[1] for row in rows if row[0] == pairs]
        assert {"sklearn-crfsuite", "certificate"} <= set(ways)


@pytest.mark.slow
def test_logistic_regression_is_measured(run):
    done = run("multinomial", "--quick")
    # The header, and nine solvers for each alpha.
    assert len(done.stdout.splitlines()) == 1 + 2 * 9


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [(), ("--projective", "--by-length"), ("--siblings",)]
)
def test_a_parser_is_certified(run, options, corpora):
    few = "--sentences", "60", "--epochs", "2", "--bits", "12"
    printed = run("certified_parsing", *few, *options, data=corpora).stdout
    assert "UAS" in printed
    assert ("arcs" in printed) == ("--by-length" in options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "firsts"), [((), ["1", "1", "1", "1", "inf"]), (("--figure",), ["1"])]
)
def test_losses_of_parsers_are_compared(run, options, firsts, corpora):
    few = "--sentences", "30", "--epochs", "1"
    printed = run("parsing_losses", *few, *options, data=corpora).stdout
    rows = printed.splitlines()[-len(firsts) :]
    assert [row.split()[0] for row in rows] == firsts


@pytest.mark.slow
def test_pruned_arcs_are_measured(run, corpora):
    few = "--sentences", "60", "--bits", "12"
    printed = run("pruned_arcs", *few, data=corpora).stdout.splitlines()
    assert len(printed) == 1 + 5 + 5
    assert printed[1].split()[2:6] == ["100.0", "%", "100.00", "%"]
    rows = run("pruned_arcs", *few, "--train", data=corpora).stdout.splitlines()[1:]
    features = [float(row.split()[1]) for row in rows]
    assert features == sorted(features, reverse=True)
    assert features[-1] < 0.5 * features[0]
    assert all(float(row.split()[4]) <= 1e-3 for row in rows)


@pytest.mark.slow
def test_the_choice_of_the_solver_is_measured(run):
    _, *rows = run("solver_choice", "--quick").stdout.splitlines()
    ratios = [row for row in rows if "the largest ratio of 1 is" in row]
    assert len(ratios) == len(rows) / 2 == 7


@pytest.mark.slow
def test_rules_of_alpha_are_compared(run):
    _, row, last = run("alpha_of_recordings", "--quick").stdout.splitlines()
    assert row.startswith("'short' 60 100 6 3 ")
    assert len(last.split(": ")[1].split()) == 5


@pytest.mark.slow
def test_residual_sampling_is_compared(run):
    header, *rows = run("residual_sampling", "--quick").stdout.splitlines()
    assert header.split()[:2] == ["data", "sampling"]
    assert len(rows) == 2 * 6


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n_rows"), [("nonuniformity", 6), ("starts", 16)])
def test_schemes_and_starts_are_measured(run, name, n_rows, corpora):
    done = run(name, "--quick", "--task", "ocr", data=corpora)
    assert len(done.stdout.splitlines()) == 1 + n_rows


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options", "n_rows"),
    [
        ("schedules", ["--task", "ocr"], 17),
        ("several_c", [], 12),
        ("oeg_starts", ["--task", "ocr"], 6),
        ("staleness", ["--task", "ocr", "ned"], 2),
        ("sag_draws", ["--task", "ocr"], 18),
        ("radii", ["--task", "ocr", "ned"], 12),
        ("fixed_steps", [], 8),
        ("sag_variants", [], 10),
        ("exact_blocks", [], 18),
        ("out_of_core", ["--reads"], 3),
        ("rivals", ["--task", "ocr"], 21),
        ("clique_updates", [], 9),
        ("ramp_and_risk", ["--tol", "0.1"], 15),
    ],
)
def test_variants_of_the_papers_are_measured(run, name, options, n_rows, corpora):
    done = run(name, "--quick", *options, data=corpora)
    assert len(done.stdout.splitlines()) == 1 + n_rows


@pytest.mark.slow
@pytest.mark.parametrize("task", ["signals", "mixed"])
def test_dense_features_are_measured(run, task, corpora):
    # Steps of OEGCRF hardly move on recordings, in however many seconds.
    options = ["--quick", "--softmax", "--limit", "1", "--task", task]
    options += ["--estimator", "OEGCRF", "CRF"]
    header, *rows = run("dense_tasks", *options, data=corpora).stdout.splitlines()
    assert header.endswith("gap / P")
    assert [row.split()[2] for row in rows] == ["OEGCRF", "CRF:", "softmax"]


@pytest.mark.slow
def test_models_of_signals_are_compared(run, tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(600, 15))
    rows[:, -1] = np.repeat(rng.integers(2, size=60), 10)
    rows[:, 0] += rows[:, -1]
    header = ",".join(["a"] * 15)
    path = tmp_path / "eeg-eye-state.csv"
    np.savetxt(path, rows, delimiter=",", header=header, comments="")
    models = ["boosting", "CRF, alpha by runs", "trees and frames below a CRF"]
    done = run("signals", tmp_path, "--data", "eeg", "--folds", 2, "--model", *models)
    head, _, *lines = done.stdout.splitlines()
    assert head.startswith("eeg: 20 recordings, 600 frames, 14 features")
    assert len(lines) == 5
    assert [line.split("  ")[0] for line in lines] == [
        "boosting",
        *(f"{name}, {of}" for name in models[1:] for of in ("viterbi", "posterior")),
    ]


@pytest.mark.slow
def test_the_hinge_is_measured(run, corpora):
    options = ["--first", "20", "--epochs", "3", "--task", "ocr"]
    done = run("hinge", *options, data=corpora)
    assert "plain P / P - 1" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("task", ["morphology", "bioes"])
def test_models_of_many_labels_are_measured(run, task):
    done = run("many_labels", "--quick", "--task", task, "--solvers", "SDCA", "OEG")
    *_, sdca, oeg = done.stdout.splitlines()
    # The same transitions, and about the same accuracy.
    assert sdca.split()[1:3] == oeg.split()[1:3]
    assert abs(float(sdca.split()[-1]) - float(oeg.split()[-1])) < 20.0


@pytest.mark.slow
def test_the_time_to_f1_is_measured(run, corpora):
    pytest.importorskip("pycrfsuite")
    done = run("time_to_f1", "--quick", "--task", "ned", data=corpora)
    # The header, the level, eight of ours, five of CRFsuite, and one pass in two ways.
    header, *rows = done.stdout.splitlines()
    assert len(rows) == 1 + 8 + 5 + 2
    assert rows[-1].split()[-1] == rows[-2].split()[-1]


@pytest.mark.slow
def test_losses_are_compared(run, corpora):
    options = ["--first", "40", "--epochs", "2", "--task", "conll2000"]
    done = run("losses", *options, data=corpora)
    rows = [row.split() for row in done.stdout.splitlines()]
    # beta gamma, and class weights; each with a header.
    assert [row[0] for row in rows[2:10]] == "0 1 3 5 9 15 25 inf".split()
    assert [row[0] for row in rows[11:]] == "1.0 2.0 5.0 10.0 balanced".split()


@pytest.mark.slow
def test_wide_graphs_are_compared(run, tmp_path):
    done = run("wide_graphs", "--quick", "--output", tmp_path / "w.png")
    # Two widths, snakes, the image, the digits and three temperatures.
    assert done.stdout.count("trw") == 2 + 1 + 1 + 1 + 3
    assert (tmp_path / "w.png").stat().st_size > 0
    assert (tmp_path / "wide_image.png").stat().st_size > 0


@pytest.mark.slow
def test_belief_propagation_is_compared(run):
    done = run("belief_propagation", "--quick", "--task", "images", "random", "trees")
    rows = [row.split() for row in done.stdout.splitlines()]
    assert [row[2] for row in rows[1:10]] == ["exact", "trw", "bp"] * 3
    assert [row[0] for row in rows[11:15]] == ["0.5", "1", "2", "4"]
    # Strong scores of both signs have labellings of a probability above 1.
    assert float(rows[14][1]) > 0.0
    # log Z_TRW - log Z with the trees of GraphCRF, and with uniform ones.
    assert all(float(own) > 0.0 for row in rows[16:] for own in row[-2:])
    printed = run("belief_propagation", "--quick", "--task", "fronts").stdout
    assert [row.split()[:5] for row in printed.splitlines()[1:]] == [
        ["4", "x", "4", labels, "7"] for labels in ("2", "11")
    ]


@pytest.mark.slow
def test_parsers_of_second_order_are_compared(run, corpora):
    few = "--sentences", "20", "--epochs", "2", "--longest", "6", "--bits", "12"
    steps = "--steps", "adagrad", "dca", "sgd 0.1"
    printed = run("second_order_parsing", *few, *steps, data=corpora).stdout
    rows = [re.split(" {2,}", row) for row in printed.splitlines()]
    assert [row[1] for row in rows[1:10]] == ["arcs", "bp", "bound"] * 3
    assert [row[1] for row in rows[11:]] == ["bp", "bound"] * 4
    # The losses of exact sums and of bounds are not negative.
    for row in (*rows[1:10:3], *rows[3:10:3]):
        assert row[4:6] == ["0.0 %", "0.0 %"]
    assert all(row[2] == "0.0 %" for row in rows[12::2])


@pytest.mark.slow
def test_trees_of_linear_programs_are_compared(run, corpora):
    few = "--sentences", "20", "--longest", "6", "--bits", "12", "--held-out", "20"
    printed = run("tree_programs", *few, data=corpora).stdout
    rows = [re.split(" {2,}", row) for row in printed.splitlines()[4:]]
    assert [row[0] for row in rows] == ["bp", "pairs", "words", "exact"]
    assert rows[-1][2:4] == ["100.0 %", "100.0 %"]


@pytest.mark.slow
def test_graphs_are_compared(run, cache, corpora):
    options = ["--quick", "--task", "digits", "ned"]
    done = run("graphs", *options, data=corpora)
    rows = {row.split()[0]: row.split() for row in done.stdout.splitlines() if row}
    assert float(rows["rows"][1]) > float(rows["nodes"][1])
    assert "skip" in rows


@pytest.mark.slow
def test_small_models_are_measured(run, cache, corpora):
    options = ["--quick", "--rounds", "2", "--output", cache / "small.png"]
    run("small_models", *options, "--task", "ned", data=corpora)
    header, *rows = csv.reader((cache / "small_ned.csv").read_text().splitlines())
    size = header.index("sparse MB")
    by_threshold = [float(row[size]) for row in rows if row[0].startswith("prune")]
    assert by_threshold == sorted(by_threshold, reverse=True)
    assert by_threshold[0] < float(rows[0][size])
    assert (cache / "small.png").stat().st_size > 100


@pytest.mark.slow
def test_what_is_proven_to_be_0_is_0(run, corpora):
    done = run("screening", "--first", "100", data=corpora)
    # Five gaps for each of three penalties.
    rows = [row.replace(",", "").split() for row in done.stdout.splitlines()[-15:]]
    zero, proven = np.array([row[-2:] for row in rows], dtype=int).T.reshape(2, 3, 5)
    assert np.all(proven <= zero)
    assert np.all(proven[:, -1] > 0.5 * zero[:, -1])


@pytest.mark.slow
def test_a_retrain_is_measured_cold_and_from_the_last_model(run, corpora):
    header, *rows = run("retrain", "--known", "40", data=corpora).stdout.splitlines()
    assert header.split()[-2:] == ["epochs", "above"]
    assert [row.split()[3] for row in rows] == ["cold", "init"] * 6
    # On its own sentences the last model is at the optimum.
    above = [float(row.split()[-1].rstrip("%")) for row in rows]
    assert max(map(abs, above[4::6] + above[5::6])) < 0.2 < min(above[0::6])


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_ways_from_a_string_to_spans_are_compared(corpora):
    pytest.importorskip("pycrfsuite")
    few = "--sentences", "100", "--calls", "3"
    rows = run_anew("string_to_spans", *few, data=corpora).stdout.splitlines()
    alone = {
        row.split()[0]: row.split()[-1] for row in rows if row.endswith(("s", "o"))
    }
    assert (alone["Predictor"], alone["compat.pycrfsuite"]) == ("yes", "yes")
    assert alone["Tagger"] == "no"


@pytest.mark.slow
def test_the_way_of_a_newcomer_loses_no_request(corpora):
    printed = run_anew("newcomer_way", data=corpora).stdout
    assert "none lost" in printed
    assert printed.splitlines()[-1].endswith("minutes by the clock")


@pytest.mark.slow
def test_ways_to_train_on_some_labels_are_compared(run, corpora):
    done = run("partial_labels", "--quick", data=corpora)
    rows = [row.split() for row in done.stdout.splitlines() if "%" in row]
    assert [row[0] for row in rows] == ["0%"] + ["50%"] * 3 + ["80%"] * 3
    assert done.stdout.count("P by convex problem") == 2


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_a_cluster_and_one_that_loses_a_worker_are_measured(corpora):
    pytest.importorskip("distributed", reason="needs the extra 'distributed'")
    done = run_anew("cluster", "--quick", "--method", "lbfgs", data=corpora)
    assert len(done.stdout.splitlines()) == 4
    assert "is lost with worker" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_the_memory_of_a_stream_is_measured():
    done = run_anew("stream", "--quick", "--method", "PassiveAggressiveCRF")
    first, last = map(float, done.stdout.splitlines()[1].split()[1:3])
    assert last < first + 50.0


def test_every_script_is_named_on_a_page_or_imported():
    root = FOLDER.parents[1]
    pages = [root / "README.rst", *root.glob("docs/*.rst")]
    named = re.findall(r"(\w+)\.py", "\n".join(page.read_text() for page in pages))
    sources = {path.stem: path.read_text() for path in FOLDER.glob("*.py")}
    imported = re.findall(r"^(?:import|from) (\w+)", "\n".join(sources.values()), re.M)
    assert sources.keys() - {*named, *imported} == set()

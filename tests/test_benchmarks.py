"""Every benchmark script of a figure or a table runs with --quick."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples" / "benchmarks"
# Scripts that draw or print the runs of the campaign: the file that each is asked to
# write, and the files that it writes.
SCRIPTS = {
    "convergence": ("a.png", ["a.png"]),
    "convergence_table": ("a.csv", ["a_ocr.csv"]),
    "elastic_net": (None, []),
    "epoch_costs": (None, []),
    "gap_estimate": ("b.png", ["b.png"]),
    "held_out_error": ("c.png", ["c.png"]),
    "line_search": ("d.png", ["d.png"]),
    "memory_table": ("memory.csv", ["memory.csv", "tasks.csv"]),
    "oeg_sampling": ("e.csv", ["e.csv"]),
    "out_of_core": ("o.csv", ["o.csv"]),
    "partitions": ("i.png", ["i.png", "i.csv"]),
    "sampling_mix": ("f.png", ["f.png"]),
    "sampling_schemes": ("g.png", ["g.png"]),
    "scaling": ("h.png", ["h.png"]),
    "threads": ("t.png", ["t.png", "t.csv"]),
    "time_to_optimum": (None, []),
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_quick_trial_runs(name, cache, data_folder):
    if name == "time_to_optimum":
        pytest.importorskip("pycrfsuite")
    output, written = SCRIPTS[name]
    command = [sys.executable, FOLDER / f"{name}.py", "--quick", "--cache", cache]
    if output is not None:
        command += ["--output", cache / output]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, "SKCRF_SDCA_DATA": str(data_folder)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    for file in written:
        assert (cache / file).stat().st_size > 100


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_cycles_of_fit_and_pickle_leave_nothing_behind():
    command = [sys.executable, FOLDER / "soak.py", "--cycles", "2000"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_cost_of_validation_is_measured_for_both_forms(data_folder):
    command = [sys.executable, FOLDER / "validation_cost.py", "--first", "300"]
    environment = {**os.environ, "SKCRF_SDCA_DATA": str(data_folder)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    forms = [row.split()[0] for row in done.stdout.splitlines()]
    assert forms == ["input", "packed", "lists"]


@pytest.mark.slow
def test_logistic_regression_is_measured():
    command = [sys.executable, FOLDER / "multinomial.py", "--quick"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # The header, and nine solvers for each alpha.
    assert len(done.stdout.splitlines()) == 1 + 2 * 9


@pytest.mark.slow
def test_the_hinge_is_measured(data_folder):
    options = ["--first", "20", "--epochs", "3", "--task", "ocr"]
    command = [sys.executable, FOLDER / "hinge.py", *options]
    environment = {**os.environ, "SKCRF_SDCA_DATA": str(data_folder)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "plain P / P - 1" in done.stdout


@pytest.mark.slow
def test_losses_are_compared(data_folder):
    options = ["--first", "40", "--epochs", "2", "--task", "conll2000"]
    command = [sys.executable, FOLDER / "losses.py", *options]
    environment = {**os.environ, "SKCRF_SDCA_DATA": str(data_folder)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    rows = [row.split() for row in done.stdout.splitlines()]
    # beta gamma, the table of both, class weights; each with a header.
    assert [row[0] for row in rows[2:10]] == "0 1 3 5 9 15 25 inf".split()
    assert [row[0] for row in rows[11:15]] == "1 3 5 inf".split()
    assert [row[0] for row in rows[16:]] == "1.0 2.0 5.0 10.0 balanced".split()


@pytest.mark.slow
def test_seeds_are_compared(data_folder):
    options = ["--first", "40", "--seeds", "2", "--tol", "1e-2"]
    command = [sys.executable, FOLDER / "seeds.py", *options]
    environment = {**os.environ, "SKCRF_SDCA_DATA": str(data_folder)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    names = [row.split()[0] for row in done.stdout.splitlines()]
    assert names == ["optimum:", "SDCACRF", "OEGCRF"]


@pytest.mark.slow
def test_ways_to_train_on_some_labels_are_compared(data_folder):
    command = [sys.executable, FOLDER / "partial_labels.py", "--quick"]
    environment = {**os.environ, "SKCRF_SDCA_DATA": str(data_folder)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    rows = [row.split() for row in done.stdout.splitlines() if "%" in row]
    assert [row[0] for row in rows] == ["0%"] + ["50%"] * 3 + ["80%"] * 3
    assert done.stdout.count("P by convex problem") == 2


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_a_cluster_and_one_that_loses_a_worker_are_measured(data_folder):
    pytest.importorskip("distributed", reason="needs the extra 'distributed'")
    command = [sys.executable, FOLDER / "cluster.py", "--quick", "--method", "lbfgs"]
    environment = {**os.environ, "SKCRF_SDCA_DATA": str(data_folder)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 4
    assert "is lost with worker" in done.stderr

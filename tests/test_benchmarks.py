"""Every script of the papers' figures and tables runs, in its quick trial."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples" / "benchmarks"
# The scripts that draw or print the runs of the campaign, and what each writes.
SCRIPTS = {
    "convergence": ".png",
    "convergence_table": "_ocr.csv",
    "epoch_costs": None,
    "gap_estimate": ".png",
    "held_out_error": ".png",
    "line_search": ".png",
    "memory_table": ".csv",
    "oeg_sampling": ".csv",
    "sampling_mix": ".png",
    "sampling_schemes": ".png",
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_quick_trial_runs(name, cache, data_folder):
    written = SCRIPTS[name]
    command = [sys.executable, FOLDER / f"{name}.py", "--quick", "--cache", cache]
    if written is not None:
        command += ["--output", cache / f"{name}{Path(written).suffix}"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, "SKCRF_SDCA_DATA": str(data_folder)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    if written is not None:
        assert (cache / f"{name}{written}").stat().st_size > 100

"""The programs on the page about serving answer as the estimator."""

import json
import shutil
import subprocess
import textwrap
from pathlib import Path

import numpy as np
import numpy_alone
import pytest

from skcrf_sdca import SDCACRF, make_tagger, save_model
from skcrf_sdca.text import TokenFeatures

PAGE = Path(__file__).parents[2] / "docs" / "serving.rst"
# What follows the readers: it reads sentences, and writes their labels.
MAIN = """
const [, , path, sentences] = process.argv;
const model = readModel(path);
console.log(JSON.stringify(JSON.parse(sentences).map((x) => bestPath(x, model))));
"""


def block(language, text):
    """Return the code of a language on the page that has this text."""
    _, *parts = PAGE.read_text().split(f".. code-block:: {language}\n")
    (code,) = (part for part in parts if text in part)
    lines = []
    for line in code.splitlines():
        if line[:1] not in ("", " "):
            break
        lines.append(line)
    return textwrap.dedent("\n".join(lines))


@pytest.fixture
def model(tmp_path):
    """Return an estimator, the path of its file, and sentences."""
    rng = np.random.default_rng(0)
    X = [
        [
            [f"é{j}" for j in rng.integers(9, size=rng.integers(4))]
            for _ in range(length)
        ]
        for length in [1, *rng.integers(1, 9, size=30)]
    ]
    y = [[f"L{k}" for k in rng.integers(3, size=len(x))] for x in X]
    crf = SDCACRF(alpha=0.1, transitions="observed", random_state=0).fit(X, y)
    save_model(crf, tmp_path / "model")
    return crf, tmp_path / "model", [*X, [["unseen", "__proto__"], ["é1", "é1"]]]


def test_the_reader_in_numpy(model):
    crf, path, X = model
    names = {}
    exec(block("python", "def read_model"), names)
    read = names["read_model"](path)
    assert [names["best_path"](x, *read) for x in X] == crf.predict(X).tolist()


# The program on the page, in the folder that has its model.
SPANS = """
import json, os, sys
os.chdir(sys.argv[1])
{program}
print(json.dumps(spans_of(sys.argv[2])))
"""


def test_the_program_that_gets_text_needs_numpy_alone(tmp_path):
    X, y = [["near", "Basel"], ["the", "Rhine"]] * 9, [["O", "B-LOC"]] * 18
    tagger = make_tagger(TokenFeatures(), SDCACRF(random_state=0)).fit(X, y)
    save_model(tagger, tmp_path / "model.crf")
    code = SPANS.format(program=block("python", "def spans_of"))
    (span,) = json.loads(numpy_alone.printed(code, tmp_path, "near  Basel"))
    (((kind, _, _, proba),),) = tagger.predict_spans([["near", "Basel"]])
    place = {"type": kind, "begin": 6, "end": 11, "text": "Basel"}
    assert span == {**place, "probability": pytest.approx(proba)}


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js")
def test_the_reader_in_javascript(model):
    crf, path, X = model
    script = path.with_suffix(".js")
    script.write_text(block("javascript", "readModel") + MAIN)
    command = ["node", script, path, json.dumps(X)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == crf.predict(X).tolist()

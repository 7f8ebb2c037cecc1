"""The programs on the page about serving answer as the estimator."""

import json
import shutil
import subprocess
import textwrap
from pathlib import Path

import numpy as np
import numpy_alone
import pytest

from skcrf_sdca import (
    SDCACRF,
    DependencyCRF,
    GraphCRF,
    OnlineDependencyCRF,
    SegmentCRF,
    make_tagger,
    save_model,
)
from skcrf_sdca.serving import Predictor
from skcrf_sdca.serving._explanation import ExplanationMixin
from skcrf_sdca.serving._likelihood import LikelihoodMixin
from skcrf_sdca.text import ArcFeatures, TokenFeatures

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


WORDS = [["near", "Basel"], ["the", "Rhine"]] * 5
ARCS = [[[f"{h}>{m}"] for h in ["root", *own] for m in own] for own in WORDS]
TAGGED = [[(word, "NOUN") for word in own] for own in WORDS]
SEGMENTS = SegmentCRF(solver="lbfgs", tol=1e-2)
GRAPHS = [([[f"w={word}"] for word in own], [[0, 1]]) for own in WORDS]
# By default the parser has no probabilities.
ONLINE = {"loss": "softmax_margin", "max_iter": 1}
OF_ARCS = ArcFeatures(columns=("word", "upos"), n_features=64)
# Of each column of the table: a model, its items, and their labels.
SERVED = {
    "Chains": (make_tagger(TokenFeatures(), SDCACRF()), WORDS, ["O", "B-LOC"]),
    "SegmentCRF": (make_tagger(TokenFeatures(), SEGMENTS), WORDS, ["O", "B-LOC"]),
    "GraphCRF": (GraphCRF(), GRAPHS, ["O", "B-LOC"]),
    "DependencyCRF": (DependencyCRF(solver="lbfgs", tol=1e-2), ARCS, [0, 1]),
    "OnlineDependencyCRF": (
        OnlineDependencyCRF(features=OF_ARCS, **ONLINE),
        TAGGED,
        [0, 1],
    ),
}
METHODS = {
    "predict_one": lambda own, x, y: own.predict_one(x),
    "marginals": lambda own, x, y: own.marginals(x),
    "n_best": lambda own, x, y: own.n_best(x, 2),
    "log_partition": lambda own, x, y: own.log_partition(x),
    "log_likelihood": lambda own, x, y: own.log_likelihood(x, y),
    "explain": lambda own, x, y: own.explain(x, 1),
    "spans": lambda own, x, y: own.spans(x),
    "tag": lambda own, x, y: own.tag("near Basel"),
    "unknown_features": lambda own, x, y: own.unknown_features(x),
}


def table_of_methods():
    """Return {structure: {method: whether it has it}} of the page."""
    _, text = PAGE.read_text().split("Which methods a structure has\n")
    lines = text.split("\n\n")[1].replace("``", "").splitlines()
    head, *rows = (line.strip().split(",") for line in lines)
    columns = zip(*rows, strict=True)
    methods = next(columns)
    answers = [[{"yes": True, "no": False}[cell] for cell in own] for own in columns]
    return {
        name: dict(zip(methods, own, strict=True))
        for name, own in zip(head[1:], answers, strict=True)
    }


def test_the_table_has_every_structure_and_method():
    table = table_of_methods()
    assert table.keys() == SERVED.keys()
    classes = LikelihoodMixin, ExplanationMixin, Predictor
    public = {n for own in classes for n in vars(own) if not n.startswith("_")}
    public -= {"load", "from_estimator", "classes_"}
    assert public == METHODS.keys()
    assert all(methods.keys() == METHODS.keys() for methods in table.values())


@pytest.mark.filterwarnings("ignore:the duality gap")
@pytest.mark.parametrize("name", SERVED)
def test_a_structure_has_the_methods_of_the_table(name):
    model, X, y = SERVED[name]
    predictor = Predictor.from_estimator(model.fit(X, [y] * len(X)))
    for method, has_it in table_of_methods()[name].items():
        if has_it:
            METHODS[method](predictor, X[0], y)
        else:
            with pytest.raises(ValueError, match=r"trees|graphs|no TokenF|vocabulary"):
                METHODS[method](predictor, X[0], y)


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

"""Write the golden files of this release: models and their predictions.

    python tests/golden/make_golden.py [FOLDER]

makes tests/golden/VERSION/NAME.{pickle,zip,json} once for every release; files of older
releases stay as they are, for test_persistence.py to load. They were made
with Python 3.11.7, numpy 2.4.6, scipy 1.17.1 and scikit-learn 1.9.1. With a folder the
files are written there, for another machine to read.
"""

import json
import pickle
import sys
from pathlib import Path

from sklearn.pipeline import make_pipeline

from skcrf_sdca import (
    LBFGSCRF,
    OEGCRF,
    SDCACRF,
    DependencyCRF,
    OnlineDependencyCRF,
    SequenceVectorizer,
    __version__,
)
from skcrf_sdca.persistence import save_model
from skcrf_sdca.text import (
    Apply,
    ArcFeatures,
    At,
    Joint,
    Prefix,
    Shape,
    Suffix,
    TokenFeatures,
    Window,
    has_hyphen,
)

ARRAYS = [[[1.0, 0.0], [0.5, -1.0], [0.0, 2.0]], [[-1.0, 0.25]], [[2.0, 1.0], [0, 0]]]
NUMBERS = [[3, 5, 5], [3], [5, 3]]
DICTS = [
    [
        {"word": "the", "capital": True, "n": 0.5},
        {"word": "caf\u00e9"},
        {"tab\t": "\0"},
    ],
    [{"shape": ["X", "xx"], "word": "caf\u00e9", "lone\ud800": "surrogate"}],
    [{"word": "the"}, {"word": "new"}],
]
LABELS = [["O", "B", "I\u00e9"], ["O"], ["O", "B"]]
STRINGS = [[["w=a", "cap"], ["w=b"]], [["w=b", "w=b"]], [[], ["w=a"]]]
TOKENS = [
    [["Caf\u00e9-bar", "N"], ["is", "V"]],
    [["the", "D"]],
    [["in", "P"], ["A4", "N"]],
]
TEMPLATES = [
    *("word", Shape("pos"), Shape(compact=True), Prefix(2), Suffix(2, "pos")),
    *(Apply(str.lower), Apply(has_hyphen, name="-"), At("pos", -1)),
    *(Window("word", (0, 1), n=2), Joint("pos", Window(Shape(), 1))),
]
ARCS = ArcFeatures(
    ["h.word m.word", "h.pos between.pos m.pos"], columns=("word", "pos"), n_features=99
)
TREES = [[2, 0], [0], [2, 0]]
PAIRS = [([2, 0], ["nsubj", "root"]), ([0], ["root"]), ([2, 0], ["case", "root"])]

MODELS = {
    "arrays": (LBFGSCRF(), ARRAYS, NUMBERS),
    "dicts": (SDCACRF(random_state=0), DICTS, LABELS),
    "pipeline": (
        make_pipeline(SequenceVectorizer(), OEGCRF(random_state=0)),
        STRINGS,
        [[True, False], [False], [False, True]],
    ),
    "tagger": (
        make_pipeline(
            TokenFeatures(TEMPLATES, columns=("word", "pos"), pad=("<", ">")),
            SDCACRF(random_state=0),
        ),
        TOKENS,
        [["B", "O"], ["O"], ["O", "B"]],
    ),
    "arcs": (make_pipeline(ARCS, DependencyCRF(random_state=0)), TOKENS, TREES),
    "parser": (
        OnlineDependencyCRF(
            features=ARCS, loss="log_loss", labelled=True, random_state=0
        ),
        TOKENS,
        PAIRS,
    ),
}


def main():
    usual = Path(__file__).parent / __version__
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else usual
    folder.mkdir()
    for name, (model, X, y) in MODELS.items():
        model.fit(X, y)
        if hasattr(model, "relations_"):
            # A megabyte for each relation else.
            model.relations_.sparsify()
        (folder / f"{name}.pickle").write_bytes(pickle.dumps(model, protocol=4))
        save_model(model, folder / f"{name}.zip")
        answers = {
            "X": X,
            "labels": model.predict(X).tolist(),
            "proba": [proba.tolist() for proba in model.predict_proba(X)],
        }
        (folder / f"{name}.json").write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()

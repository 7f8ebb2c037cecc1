"""Models of graphs in files: the same answers, or refused."""

import io

import numpy as np
import pytest

from model_fuzz import change_model
from skcrf_sdca import OEGCRF, GraphCRF, TreeCRF, load_model, save_model
from skcrf_sdca.persistence import TRUSTED_TYPES, ModelFormatError

WORDS = [[["Ada"], ["met"], ["Ada"]], [["Bob"], ["ran"]]]
KINDS = [[[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [[1.0, 0.5]]]
GRAPHS = [
    (nodes, edges, kinds)
    for nodes, edges, kinds in zip(
        WORDS, [[[0, 1], [1, 2], [0, 2]], [[0, 1]]], KINDS, strict=True
    )
]
ROWS = [(np.eye(3)[[0, 1, 0]], [[0, 1], [2, 1]]), (np.eye(3)[[2, 1]], [])]
TREES = [(WORDS[0], [1, -1, 1]), (WORDS[1], [-1, 0])]
Y = [["PER", "O", "PER"], ["PER", "O"]]


def through_file(crf):
    save_model(crf, file := io.BytesIO())
    return load_model(file.getvalue())


def through_skops(crf):
    sio = pytest.importorskip("skops.io")
    return sio.loads(sio.dumps(crf), trusted=TRUSTED_TYPES)


@pytest.mark.parametrize("way", [through_file, through_skops])
@pytest.mark.parametrize(
    ("crf", "X"),
    [
        (GraphCRF(0.1, random_state=0), GRAPHS),
        (GraphCRF(0.1, directed=True, l1_ratio=0.5, solver="lbfgs", tol=0.1), GRAPHS),
        (GraphCRF(0.1, loss="hinge", tol=0.1, max_iter=500, random_state=0), ROWS),
        (TreeCRF(0.1, solver="sdca", random_state=0), TREES),
    ],
)
def test_files_keep_every_bit(way, crf, X):
    crf.fit(X, Y)
    other = way(crf)
    assert type(other) is type(crf)
    assert set(vars(other)) == set(vars(crf))
    assert other.get_params() == crf.get_params()
    for name in crf._form().weights_of(crf).attributes():
        np.testing.assert_array_equal(getattr(other, name), getattr(crf, name))
    assert other.predict(X).tolist() == crf.predict(X).tolist()
    if crf.loss == "log_loss":
        both = zip(other.predict_proba(X), crf.predict_proba(X), strict=True)
        assert all(a.tobytes() == b.tobytes() for a, b in both)
    assert other.fit(X, Y).score(X, Y) > 0.5


def test_what_does_not_hold_together_is_not_saved():
    crf = GraphCRF(random_state=0).fit(GRAPHS, Y)
    crf.edge_coef_ = crf.edge_coef_[:1]
    with pytest.raises(ValueError, match="edge_coef_ has shape"):
        through_file(crf)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: model.pop("graphs"), "must have the entries"),
        (lambda model: model.update(type="OEGCRF"), "must have the entries"),
        (lambda model: model.update(graphs={}), "graphs must have the entries"),
        (lambda model: model.update(tuples={}), "must have the entries"),
        (lambda model: model["graphs"].update(n_edge_features=-1), "n_edge_features"),
        (lambda model: model["graphs"].update(n_edge_features=2**40), "n_edge_feature"),
        (lambda model: model["graphs"].update(n_edge_features=2**30), "edge_coef.npy"),
        (lambda model: model["graphs"].update(n_edge_features=1), "edge_coef.npy"),
        (lambda model: model["graphs"].update(n_edge_features=True), "n_edge_features"),
    ],
)
def test_wrong_documents(change, message, tmp_path):
    path = tmp_path / "model"
    save_model(GraphCRF(random_state=0).fit(GRAPHS, Y), path)
    change_model(path, change)
    with pytest.raises(ModelFormatError, match=message):
        load_model(path)


def test_edges_are_of_graph_models_only(tmp_path):
    path = tmp_path / "model"
    save_model(OEGCRF(random_state=0).fit(WORDS, Y), path)
    change_model(path, lambda model: model.update(graphs={"n_edge_features": 1}))
    with pytest.raises(ModelFormatError, match="must have the entries"):
        load_model(path)

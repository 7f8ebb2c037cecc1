"""OnlineDependencyCRF against a twin in NumPy that lists all trees."""

import pickle

import numpy as np
import pytest
import tree_twin
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from pairs import by_pairs
from skcrf_sdca import DependencyCRF, OnlineDependencyCRF
from skcrf_sdca._utils.sklearn_versions import ScoringMonitor
from skcrf_sdca.metrics import attachment_report
from skcrf_sdca.text import ArcFeatures

TEMPLATES = ["h.word m.word", "h.tag m.tag", "m.tag", "h.tag between.tag m.tag"]
# So few columns that some are shared.
FEATURES = ArcFeatures(TEMPLATES, columns=("word", "tag"), n_features=301)
LENGTHS = [3, 4, 1, 4, 2, 3, 0, 4]
LOSSES = ("hinge", "perceptron", "log_loss", "softmax_margin")
SMOOTH = {"log_loss", "softmax_margin"}
KINDS = [(True, False), (True, True), (False, False), (False, True)]
# Powers of shares in the average.
POWERS = {"polynomial": 4, "uniform": 1, False: None}


def made(seed=0, **kind):
    """Return sentences, and a tree of each."""
    rng = np.random.default_rng(seed)
    X = [
        list(zip(rng.choice(list("abc"), n), rng.choice(list("NV"), n), strict=True))
        for n in LENGTHS
    ]
    X = [[(str(word), str(tag)) for word, tag in sentence] for sentence in X]
    y = []
    for n in LENGTHS:
        found = tree_twin.trees(n, **kind) if n else [np.zeros(0, dtype=int)]
        y.append(found[rng.integers(len(found))].tolist())
    return X, y


def new_parser(**options):
    return OnlineDependencyCRF(features=FEATURES, random_state=0, **options)


def twin(X, y, *, C, loss, average, epochs, temperature=1.0, margin=1.0, **kind):
    """Return the weights after epochs in order, and the mean loss of the last one."""
    w, visits, power = np.zeros(FEATURES.n_features), [], POWERS[average]
    dense = [arcs.toarray() for arcs in FEATURES.transform(X)]
    for _ in range(epochs):
        losses = []
        for rows, heads in zip(dense, y, strict=True):
            if heads:
                options = np.array(heads), w, loss, kind, temperature, margin
                found, g = loss_of(rows, *options)
                losses.append(max(found, 0.0))
                is_wrong = found > 0.0 or loss == "perceptron"
                if is_wrong and (g != 0.0).any():
                    step = C if loss == "perceptron" else min(C, found / (g @ g))
                    w = w - step * g
            visits.append(w)
    if power is not None:
        ends = (np.arange(len(visits) + 1) / len(visits)) ** power
        w = np.diff(ends) @ np.array(visits)
    return w, sum(losses) / len(X)


def loss_of(rows, heads, w, loss, kind, temperature=1.0, margin=1.0):
    """Return the loss of a sentence, and its gradient."""
    n = len(heads)
    scores, target = (rows @ w).reshape(n + 1, n), np.zeros((n + 1, n))
    target[heads, np.arange(n)] = 1.0
    right = (scores * target).sum()
    if loss in ("hinge", "softmax_margin"):
        scores = scores + margin * (1.0 - target)
    if loss in SMOOTH:
        scores = scores / temperature
        marginals, _ = tree_twin.arc_marginals(scores, **kind)
        value = temperature * tree_twin.log_partition(scores, **kind) - right
        return value, rows.T @ (marginals - target).ravel()
    trees, values = tree_twin.tree_scores(scores, **kind)
    best = np.zeros((n + 1, n))
    best[trees[values.argmax()], np.arange(n)] = 1.0
    return values.max() - right, rows.T @ (best - target).ravel()


@by_pairs({"loss": sorted(SMOOTH), "average": POWERS, "single_root,projective": KINDS})
def test_visits_are_those_of_the_twin(loss, single_root, projective, average):
    kind = {"single_root": single_root, "projective": projective}
    X, y = made(**kind)
    # Marginals have no ties between trees.
    options = {"C": 0.4, "loss": loss, "average": average}
    options |= {"temperature": 0.6, "margin": 1.7}
    expected, loss = twin(X, y, epochs=3, **options, **kind)
    crf = new_parser(max_iter=3, shuffle=False, **options, **kind).fit(X, y)
    assert_allclose(crf.coef_[0], expected, rtol=0, atol=2e-6)
    assert crf.loss_ == pytest.approx(loss, abs=1e-5)
    assert crf.n_visits_ == 3 * len(X)
    assert crf.history_["epoch"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("loss", ["hinge", "perceptron"])
@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("margin", [1.0, 0.3])
def test_steps_from_the_best_tree_are_those_of_the_twin(margin, loss, projective):
    kind = {"single_root": True, "projective": projective}
    X, y = made(1, **kind)
    X, y = X[3:4], y[3:4]
    # Weights that leave no ties between trees.
    start = np.random.default_rng(5).normal(size=FEATURES.n_features)
    options = {"C": 0.05, "loss": loss, "average": False, "margin": margin}
    crf = new_parser(**options, **kind).fit(X, y)
    crf.coef_ = start[np.newaxis].copy()
    (rows,) = (arcs.toarray() for arcs in FEATURES.transform(X))
    value, g = loss_of(rows, np.array(y[0]), start, loss, kind, margin=margin)
    assert value > 0.0
    step = 0.05 if loss == "perceptron" else min(0.05, value / (g @ g))
    crf.partial_fit(X, y)
    assert_allclose(crf.coef_[0], start - step * g, atol=2e-6)
    assert crf.loss_ == pytest.approx(value, abs=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_what_can_be_learned_is_learned(loss):
    X, y = made(2, single_root=True)
    crf = new_parser(C=1.0, loss=loss, max_iter=60).fit(X, y)
    twice = {tuple(sentence) for sentence in map(tuple, X)}
    assert len(twice) == len(X)
    assert crf.score(X, y) == 1.0
    assert crf.predict(X).tolist() == y


@pytest.mark.parametrize("loss", LOSSES)
def test_chunks_are_an_epoch(loss):
    X, y = made()
    whole = new_parser(loss=loss, max_iter=1, shuffle=False).fit(X, y)
    crf = new_parser(loss=loss)
    for i in range(0, len(X), 3):
        crf.partial_fit(X[i : i + 3], y[i : i + 3])
    assert_array_equal(crf.coef_, whole.coef_)
    assert crf.n_visits_ == whole.n_visits_ == len(X)


def test_a_warm_start_goes_on():
    X, y = made()
    whole = new_parser(max_iter=4, shuffle=False).fit(X, y)
    crf = new_parser(max_iter=2, shuffle=False, warm_start=True).fit(X, y).fit(X, y)
    assert_array_equal(crf.coef_, whole.coef_)
    assert crf.n_visits_ == 4 * len(X)
    cold = new_parser(max_iter=2, shuffle=False).fit(X, y)
    assert_array_equal(cold.fit(X, y).coef_, cold.coef_)


def test_answers_are_those_of_a_parser_with_rows():
    X, y = made()
    crf = new_parser(loss="log_loss").fit(X, y)
    rows = FEATURES.transform(X)
    other = DependencyCRF(random_state=0).fit(rows, y)
    other.coef_, other.intercept_ = (
        crf.coef_.astype(np.float32).astype(float),
        crf.intercept_,
    )
    assert crf.predict(X).tolist() == other.predict(rows).tolist()
    known = [[heads[0], *[None] * (len(heads) - 1)] if heads else [] for heads in y]
    assert (
        crf.predict(X, known=known).tolist()
        == other.predict(rows, known=known).tolist()
    )
    for method in ("predict_proba", "predict_log_proba"):
        for one, own in zip(
            getattr(crf, method)(X), getattr(other, method)(rows), strict=True
        ):
            assert_allclose(one, own, atol=1e-12)
    assert_allclose(crf.log_likelihood(X, y), other.log_likelihood(rows, y))
    assert_array_equal(
        crf.sample(X, 5, random_state=0), other.sample(rows, 5, random_state=0)
    )
    best, expected = crf.predict_n_best(X, 3), other.predict_n_best(rows, 3)
    assert [[tree for tree, _ in own] for own in best] == [
        [tree for tree, _ in own] for own in expected
    ]
    assert crf.score(X, y) == other.score(rows, y)


def test_bits_do_not_depend_on_threads():
    X, y = made()
    crf = new_parser(loss="log_loss").fit(X * 400, y * 400)
    one = crf.predict_proba(X * 400)
    for own, other in zip(
        one, crf.set_params(n_jobs=2).predict_proba(X * 400), strict=True
    ):
        assert_array_equal(own, other)


def test_crossing_arcs_are_learned_from():
    X = [[(word, "N") for word in "abcd"]]
    y = [[3, 4, 0, 3]]
    crf = new_parser(projective=True, C=1.0, max_iter=30).fit(X, y)
    assert crf.score(X, y) < 1.0
    assert new_parser(C=1.0, max_iter=30).fit(X, y).score(X, y) == 1.0
    crf = new_parser(projective=True, loss="log_loss").fit(X, y)
    assert crf.log_likelihood(X, y).tolist() == [-np.inf]


def test_the_perceptron_moves_wherever_the_prediction_is_wrong():
    """Also where y crosses and scores more than each tree that may be predicted."""
    X, y = [[(word, "N") for word in "abcd"]], [[3, 4, 0, 3]]
    options = {"projective": True, "loss": "perceptron", "average": False}
    crf = new_parser(C=0.5, max_iter=1, **options).fit(X, y)
    (rows,) = FEATURES.transform(X)
    features = rows.toarray()[np.array(y[0]) * 4 + np.arange(4)].sum(axis=0)
    # No trees are equally good with such weights.
    noise = np.random.default_rng(0).normal(size=FEATURES.n_features)
    crf.coef_ = (10.0 * features + 0.1 * noise)[np.newaxis]
    value, g = loss_of(
        rows.toarray(), np.array(y[0]), crf.coef_[0], "perceptron", {"projective": True}
    )
    assert value < 0.0
    expected = crf.coef_[0] - 0.5 * g
    crf.partial_fit(X, y)
    assert_allclose(crf.coef_[0], expected, rtol=0, atol=1e-4)
    assert crf.loss_ == 0.0


def test_probabilities_are_of_scores_divided_by_the_temperature():
    X, y = made(3, single_root=True)
    crf = new_parser(loss="softmax_margin", temperature=0.5, max_iter=2).fit(X, y)
    assert crf.temperature_ == 0.5
    for rows, proba in zip(FEATURES.transform(X), crf.predict_proba(X), strict=True):
        n = proba.shape[1]
        if n:
            scores = (rows @ crf.coef_[0]).reshape(n + 1, n) / 0.5
            expected, _ = tree_twin.arc_marginals(
                scores, single_root=True, projective=False
            )
            assert_allclose(proba, expected, atol=1e-6)


def test_probabilities_are_there_with_smooth_losses_alone():
    X, y = made()
    for loss in ("hinge", "perceptron"):
        crf = new_parser(loss=loss)
        assert not hasattr(crf, "predict_proba")
        assert not hasattr(crf.fit(X, y), "predict_proba")
        with pytest.raises(AttributeError, match="scores, and no probabilities"):
            crf.sample(X)
    with pytest.raises(NotFittedError):
        new_parser().predict(X)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[("a", "N")], [("a", "N"), "b"]], [[0], [2, 0]], "item 1 is str|mixes types"),
        ([[("a",)]], [[0]], "sentence 0, token 0"),
        ([[("a", "N")]] * 2, [[0]], "X has 2 sentences, and y has 1"),
        ([[("a", "N")]] * 2, [[0], [0, 1]], "sentence 1 has 2 heads"),
        ([[("a", "N")]] * 2, [[0], [2]], "sentence 1, word 1 has the head 2"),
        ([[("a", "N")] * 2], [[2, 1]], "sentence 0, word 1: its heads form a cycle"),
        ([[("a", "N")] * 2], [[0, 2]], "sentence 0, word 2 is its own head"),
        ([[("a", "N")] * 2], [[0, 0]], "sentence 0 has 2 words below the root"),
        ([[("a", "N")]], None, "must be a list of the heads"),
        ([], [], "X has 0 sentences"),
    ],
)
def test_errors_name_sentence_and_word(X, y, message):
    good = made()
    crf = new_parser().partial_fit(*good)
    before = crf.coef_.copy(), crf.n_visits_
    for method in (crf.fit, crf.partial_fit):
        with pytest.raises((ValueError, TypeError), match=message):
            method(X, y)
    assert_array_equal(crf.coef_, before[0])
    assert crf.n_visits_ == before[1]


def test_two_roots_are_allowed_on_request():
    X, y = [[("a", "N"), ("b", "N")]], [[0, 0]]
    crf = new_parser(single_root=False, C=1.0).fit(X, y)
    assert crf.predict(X).tolist() == y


def test_another_number_of_columns_is_refused():
    X, y = made()
    crf = new_parser().fit(X, y)
    crf.set_params(features=ArcFeatures(TEMPLATES, columns=("word", "tag")))
    for call in (lambda: crf.predict(X), lambda: crf.partial_fit(X, y)):
        with pytest.raises(ValueError, match="n_features=1048576, but the m"):
            call()


def test_steps_that_overflow_are_refused():
    X, y = made()
    crf = new_parser(loss="perceptron").partial_fit(X, y)
    before = crf.coef_.copy()
    with pytest.raises(ValueError, match="not finite: take a smaller C"):
        crf.set_params(C=1e38).partial_fit(X * 20, y * 20)
    assert_array_equal(crf.coef_, before)


def test_models_are_cloned_and_pickled():
    X, y = made()
    crf = clone(new_parser(C=0.5)).fit(X, y)
    copy = pickle.loads(pickle.dumps(crf))
    assert copy.predict(X).tolist() == crf.predict(X).tolist()
    one, other = new_parser().partial_fit(X, y), new_parser().partial_fit(X, y)
    other = pickle.loads(pickle.dumps(other))
    assert_array_equal(one.partial_fit(X, y).coef_, other.partial_fit(X, y).coef_)
    search = GridSearchCV(new_parser(), {"C": [0.01, 0.5]}, cv=2).fit(X, y)
    assert search.best_estimator_.predict(X).shape == (len(X),)


def test_epochs_are_printed(capsys):
    X, y = made()
    new_parser(max_iter=2, verbose=1).fit(X, y)
    # The lines are those of PassiveAggressiveCRF.
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines] == [
        ["OnlineDependencyCRF", "epoch", "1"],
        ["OnlineDependencyCRF", "epoch", "2"],
    ]
    assert all("mean loss of the visits" in line for line in lines)


@pytest.mark.parametrize("labelled", [False, True])
def test_epochs_are_followed_by_callbacks(labelled):
    X, y = made()
    y = with_relations(X, y) if labelled else y
    monitor = ScoringMonitor(scoring={"own": lambda crf, X, y: crf.score(X, y)})
    crf = new_parser(max_iter=3, labelled=labelled).set_callbacks(monitor).fit(X, y)
    rows = monitor.get_logs().data
    assert [row["own"] for row in rows][-1] == crf.score(X, y)
    assert list(crf.history_) == ["epoch", "updates", "oracle_calls", "seconds", "loss"]
    assert len(crf.history_["loss"]) == crf.n_iter_ == 3


def with_relations(X, y):
    """Return pairs (heads, relations); a relation follows from the tag and the side."""
    return [
        (
            heads,
            [
                f"{tag}-{'root' if h == 0 else 'left' if h > m else 'right'}"
                for m, (h, (_, tag)) in enumerate(zip(heads, words, strict=True), 1)
            ],
        )
        for words, heads in zip(X, y, strict=True)
    ]


@pytest.mark.parametrize("loss", LOSSES)
def test_relations_are_learned_with_the_trees(loss):
    X, y = made(2, single_root=True)
    pairs = with_relations(X, y)
    crf = new_parser(C=1.0, loss=loss, max_iter=60, labelled=True).fit(X, pairs)
    heads = new_parser(C=1.0, loss=loss, max_iter=60).fit(X, y)
    assert_array_equal(crf.coef_, heads.coef_)
    assert crf.predict(X).tolist() == pairs
    assert crf.score(X, pairs) == 1.0
    names = {name for _, own in pairs for name in own}
    assert crf.relations_.classes_.tolist() == sorted(names)
    # A wrong head counts, and a wrong relation too.
    n_words = sum(LENGTHS)
    wrong = [(list(own), list(relations)) for own, relations in pairs]
    wrong[0][1][1], wrong[2] = "other", ([0], ["other"])
    assert crf.score(X, wrong) == pytest.approx(1.0 - 2 / n_words)
    weights = np.zeros(len(X))
    weights[[0, 1]] = 1.0, 2.0
    expected = 1.0 - 1.0 / (LENGTHS[0] + 2 * LENGTHS[1])
    assert crf.score(X, wrong, sample_weight=weights) == pytest.approx(expected)
    report = attachment_report(pairs, crf.predict(X), output_dict=True)
    assert report["all"]["f1-score"] == 1.0


def test_other_answers_of_labelled_parsers_are_about_heads():
    X, y = made()
    pairs = with_relations(X, y)
    crf = new_parser(loss="log_loss", labelled=True).fit(X, pairs)
    heads = new_parser(loss="log_loss").fit(X, y)
    assert_array_equal(crf.log_likelihood(X, pairs), heads.log_likelihood(X, y))
    assert_array_equal(crf.predict_proba(X)[0], heads.predict_proba(X)[0])
    known = [[own[0], *[None] * (len(own) - 1)] if own else [] for own in y]
    found = crf.predict(X, known=known)
    assert [own for own, _ in found] == heads.predict(X, known=known).tolist()


def test_relations_of_a_stream_are_those_of_an_epoch():
    X, y = made()
    pairs = [(own, [tag for _, tag in words]) for own, words in zip(y, X, strict=True)]
    options = {"labelled": True, "shuffle": False}
    whole = new_parser(max_iter=1, **options).fit(X, pairs)
    crf = new_parser(**options)
    for i in range(0, len(X), 3):
        crf.partial_fit(X[i : i + 3], pairs[i : i + 3])
    assert_allclose(crf.relations_.coef_, whole.relations_.coef_, atol=1e-12)
    # A relation that was not seen before.
    crf.partial_fit([[("a", "X")]], [([0], ["root"])])
    assert crf.relations_.classes_.tolist() == ["N", "V", "root"]
    assert crf.predict([[("a", "X")]]).tolist() == [([0], ["root"])]
    before = crf.relations_.coef_.copy()
    with pytest.raises(ValueError, match="Sentence 0 has 3 words in X, but 2 labels"):
        crf.partial_fit(X, [(pairs[0][0], pairs[0][1][:2]), *pairs[1:]])
    assert_array_equal(crf.relations_.coef_, before)


@pytest.mark.parametrize("relation", [None, {"N", "V"}, {"N": 1.0}, float("nan")])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_each_word_has_one_relation(relation, method):
    X, y = made()
    pairs = with_relations(X, y)
    crf = new_parser(labelled=True)
    crf.fit(X, pairs)
    before = crf.coef_.copy()
    pairs[2][1][0] = relation
    message = "y: sentence 2, word 0 .*; a label is needed"
    with pytest.raises(ValueError, match=message):
        getattr(crf, method)(X, pairs)
    assert_array_equal(crf.coef_, before)


def test_relations_that_were_not_learned_are_refused():
    X, y = made()
    crf = new_parser().fit(X, y).set_params(labelled=True)
    with pytest.raises(ValueError, match="fitted with labelled=False"):
        crf.predict(X)
    with pytest.raises(TypeError, match="sentence 0 is .* must be a pair"):
        crf.fit(X, [own[:2] for own in y])
    crf = new_parser(labelled=True).fit(X, with_relations(X, y))
    crf.set_params(labelled=False).fit(X, y)
    assert not hasattr(crf, "relations_")


@pytest.mark.parametrize("loss", ["hinge", "softmax_margin"])
@pytest.mark.parametrize(("single_root", "projective"), KINDS)
def test_best_trees_are_those_of_the_scores(loss, single_root, projective):
    X, y = made(5, single_root=single_root, projective=projective)
    options = {"single_root": single_root, "projective": projective}
    crf = new_parser(loss=loss, temperature=0.5, **options).fit(X, y)
    free = [[None] * len(words) for words in X]
    # Trees with known heads are found by the scores of all sentences.
    assert crf.predict(X).tolist() == crf.predict(X, known=free).tolist()
    assert crf.predict([]).tolist() == []


@pytest.mark.parametrize("value", [1e30, np.nan])
def test_scores_that_are_none_name_the_sentence(value, monkeypatch):
    X, y = made(6)
    crf = new_parser(projective=True).fit(X, y)
    crf.coef_ = np.full_like(crf.coef_, value)
    monkeypatch.setattr("skcrf_sdca.structures.scores.LARGEST_SCORE", 1e20)
    monkeypatch.setattr("skcrf_sdca.estimators.online_dependencies.LARGEST_SCORE", 1e20)
    with pytest.raises(ValueError, match="sentence 0, .*scale the features"):
        crf.predict(X)


@pytest.mark.parametrize(("single_root", "projective"), KINDS)
@pytest.mark.parametrize("C", [0.02, 1.0])
def test_steps_of_the_n_best_trees_are_those_of_numpy(single_root, projective, C):
    kind = {"single_root": single_root, "projective": projective}
    X, y = made(8, **kind)
    crf = new_parser(C=C, n_best=3, average=False, shuffle=False, **kind)
    crf = crf.set_params(max_iter=1).fit(X, y)
    # No trees are equally good with such weights.
    w = 0.1 * np.random.default_rng(9).normal(size=FEATURES.n_features)
    crf.coef_ = w[np.newaxis].astype(np.float32).astype(float)
    w = crf.coef_[0]
    crf.partial_fit(X, y)
    for rows, heads in zip(FEATURES.transform(X), y, strict=True):
        n = len(heads)
        if n == 0:
            continue
        scores = (rows @ w).reshape(n + 1, n)
        trees, values = tree_twin.tree_scores(scores, **kind)
        right = scores[heads, np.arange(n)].sum()
        losses = values + (trees != heads).sum(axis=1) - right
        best = np.argsort(-losses)[:3]
        if losses[best[0]] > 0.0:
            features = [
                rows.toarray()[own * n + np.arange(n)].sum(axis=0)
                for own in [*trees[best], np.array(heads)]
            ]
            gradients = np.array(features[:-1]) - features[-1]
            w = w - tree_twin.best_step(losses[best], gradients, C)
    assert_allclose(crf.coef_[0], w, atol=1e-5)


def test_one_best_tree_is_mira_with_one():
    X, y = made(10)
    one, other = (new_parser(n_best=n).fit(X[2:3], y[2:3]) for n in (1, 5))
    # A sentence of one word has one tree.
    assert_array_equal(one.coef_, other.coef_)


def test_n_best_needs_the_hinge():
    X, y = made()
    with pytest.raises(ValueError, match='n_best=2 is for loss="hinge", not "log'):
        new_parser(n_best=2, loss="log_loss").fit(X, y)

"""Checks of the methods of fitted models against the enumeration of all labellings.

Each takes a `Model` of matrix_models.py and an estimator that is fitted to its data.
"""

import copy
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import issparse
from scipy.stats import entropy

from matrix_models import ALPHA, ARRAYS, dense
from skcrf_sdca import compat
from skcrf_sdca.metrics import extract_spans
from skcrf_sdca.plotting import TransitionDisplay
from skcrf_sdca.selection import alpha_path
from skcrf_sdca.structures.uncertainty import MEASURES

CLOSE = {"rtol": 1e-9, "atol": 1e-12}


def classes_of(crf):
    return crf.classes_.tolist()


def rows_of(model, found):
    """Return what is one array for a table as one array for each item."""
    return [row[np.newaxis] for row in found] if model.is_table else list(found)


def lists_of(model, found):
    """Return labellings as lists, also those of a table."""
    return [[label] for label in found] if model.is_table else list(found)


def names_of(crf, labellings):
    return [crf.classes_[codes].tolist() for codes in labellings.codes]


# Checks of methods --------------------------------------------------------------------


def check_best(crf, own, labels, among=True):
    """Check that a labelling has the largest score of those among which it is."""
    scores = np.where(among, own.scores, -np.inf)
    chosen = scores[names_of(crf, own).index(labels)]
    assert_allclose(chosen, scores.max(), **CLOSE)


def check_predict(model, crf):
    found = crf.predict(model.X)
    assert isinstance(found, np.ndarray)
    for own, labels in zip(model.labellings(crf), lists_of(model, found), strict=True):
        check_best(crf, own, labels)
    known = [[None, *labels[1:]] for labels in model.labels()]
    given = [labels[0] for labels in known] if model.is_table else known
    kept = lists_of(model, crf.predict(model.X, known=given))
    for own, labels, kept_labels in zip(
        model.labellings(crf), known, kept, strict=True
    ):
        check_best(crf, own, kept_labels, own.agreeing(labels, classes_of(crf)))


def check_posterior_decoding(model, crf):
    """The labelling with the largest expected number of right labels."""
    found = lists_of(model, crf.predict(model.X, decoding="posterior"))
    for own, labels in zip(model.labellings(crf), found, strict=True):
        node = own.node_marginals(len(crf.classes_))
        right = node[np.arange(len(node)), own.codes].sum(axis=1)
        chosen = names_of(crf, own).index(labels)
        assert_allclose(right[chosen], right.max(), **CLOSE)


def check_predict_proba(model, crf):
    found = rows_of(model, crf.predict_proba(model.X))
    for own, proba in zip(model.labellings(crf), found, strict=True):
        assert_allclose(proba, own.node_marginals(len(crf.classes_)), **CLOSE)


def check_predict_log_proba(model, crf):
    found = rows_of(model, crf.predict_log_proba(model.X))
    for own, log_proba in zip(model.labellings(crf), found, strict=True):
        expected = own.node_marginals(len(crf.classes_))
        assert_allclose(np.exp(log_proba), expected, **CLOSE)
        assert_array_equal(log_proba == -np.inf, expected == 0.0)


def check_predict_edge_proba(model, crf):
    found = crf.predict_edge_proba(model.X)
    n_labels = len(crf.classes_)
    for x, own, proba in zip(model.X, model.labellings(crf), found, strict=True):
        assert_allclose(proba, own.pair_marginals(model.ends(x), n_labels), **CLOSE)


def check_predict_bound(model, crf):
    assert_array_equal(crf.predict_bound(model.X), np.zeros(len(model.X)))


def check_predict_n_best(model, crf):
    found = crf.predict_n_best(model.X, 5)
    for own, best in zip(model.labellings(crf), found, strict=True):
        labels, values = zip(*best, strict=True)
        names = names_of(crf, own)
        rows = [names.index(labels) for labels in lists_of(model, labels)]
        assert len(set(rows)) == len(rows) == min(5, len(names))
        # Of equal scores either order is right.
        expected = own.proba if crf.temperature_ > 0.0 else own.scores
        assert_allclose(values, expected[rows], **CLOSE)
        assert_allclose(values, np.sort(expected)[::-1][: len(rows)], **CLOSE)


def check_sample(model, crf):
    """Frequencies of draws are near the probabilities, and nothing else is drawn."""
    n_draws = 2000
    draws = crf.sample(model.X, n_draws, random_state=0)
    assert draws.shape == (n_draws, len(model.X))
    assert_array_equal(draws, crf.sample(model.X, n_draws, random_state=0))
    for i, own in enumerate(model.labellings(crf)):
        counts = Counter(map(tuple, lists_of(model, draws[:, i])))
        names = [tuple(labels) for labels in names_of(crf, own)]
        assert counts.keys() <= set(names)
        shares = np.array([counts[name] for name in names]) / n_draws
        # Six standard deviations of a share.
        assert (abs(shares - own.proba) <= 6 * np.sqrt(own.proba / n_draws)).all()


def check_log_partition(model, crf):
    expected = [own.log_z for own in model.labellings(crf)]
    assert_allclose(crf.log_partition(model.X), expected, **CLOSE)


def check_uncertainty(model, crf):
    measures = set(MEASURES)
    if not hasattr(crf, "predict_n_best"):
        measures -= {"margin"}
        with pytest.raises(ValueError, match="n best labellings cannot be computed"):
            crf.uncertainty(model.X, measure="margin")
    found = {name: crf.uncertainty(model.X, measure=name) for name in measures}
    assert_array_equal(crf.uncertainty(model.X), found["mnlp"])
    for i, own in enumerate(model.labellings(crf)):
        best, second, *_ = np.sort(np.append(own.proba, 0.0))[::-1]
        length = own.codes.shape[1]
        nodes = own.node_marginals(len(crf.classes_))
        expected = {
            "entropy": entropy(own.proba),
            "token_entropy": entropy(nodes, axis=1).sum() / max(length, 1),
            "least_confidence": 1.0 - best,
            "mnlp": -np.log(best) / max(length, 1),
            "margin": 1.0 - (best - second),
        }
        assert expected.keys() == set(MEASURES)
        for name in measures:
            value = expected[name]
            assert_allclose(found[name][i], value, rtol=1e-6, atol=1e-9, err_msg=name)


def check_log_likelihood(model, crf):
    found = crf.log_likelihood(model.X, model.y)
    items = zip(model.labellings(crf), model.labels(), found, strict=True)
    for own, labels, value in items:
        (score,) = own.scores[own.agreeing(labels, classes_of(crf))]
        assert_allclose(value, score / own.temperature - own.log_z, **CLOSE)


def check_log_likelihood_of_known_labels(model, crf):
    """Labels that are not known are summed over."""
    y = [[None, *v[1:]] if i % 2 else v for i, v in enumerate(model.labels())]
    found = crf.log_likelihood(model.X, [v[0] for v in y] if model.is_table else y)
    for own, labels, value in zip(model.labellings(crf), y, found, strict=True):
        agree = own.agreeing(labels, classes_of(crf))
        assert_allclose(np.exp(value), own.proba[agree].sum(), **CLOSE)


def check_score(model, crf):
    right = [
        np.array(predicted) == np.array(labels)
        for predicted, labels in zip(
            lists_of(model, crf.predict(model.X)), model.labels(), strict=True
        )
    ]
    assert crf.score(model.X, model.y) == np.concatenate(right).mean()
    weight = np.arange(len(right)) + 1.0
    sizes = [len(own) for own in right]
    expected = np.average(np.concatenate(right), weights=np.repeat(weight, sizes))
    assert_allclose(crf.score(model.X, model.y, sample_weight=weight), expected)


def spans_of(model, crf, labels):
    """Return the spans of a labelling as the model reads them."""
    if model.family == "segments":
        return extract_spans([labels], crf.scheme_)[0]
    return extract_spans([labels], "BIO")[0]


def shares_of_spans(model, crf, own, spans):
    """Return the sums of the probabilities of the labellings that have a span."""
    found = [spans_of(model, crf, labels) for labels in names_of(crf, own)]
    return [own.proba[[span in has for has in found]].sum() for span in spans]


def check_predict_spans(model, crf):
    found = crf.predict_spans(model.X)
    best = lists_of(model, crf.predict(model.X))
    items = zip(model.labellings(crf), best, found, strict=True)
    for own, labels, spans in items:
        assert [span[:3] for span in spans] == spans_of(model, crf, labels)
        expected = shares_of_spans(model, crf, own, [span[:3] for span in spans])
        assert_allclose([span[3] for span in spans], expected, **CLOSE)


def check_span_proba(model, crf):
    asked = [
        [("X", b, e) for b in range(len(labels)) for e in range(b + 1, len(labels) + 1)]
        for labels in model.labels()
    ]
    found = crf.span_proba(model.X, asked)
    for own, spans, proba in zip(model.labellings(crf), asked, found, strict=True):
        assert_allclose(proba, shares_of_spans(model, crf, own, spans), **CLOSE)


def check_explain(model, crf):
    """The terms add up to the difference of two enumerated scores."""
    for i, own in enumerate(model.labellings(crf)):
        position = own.codes.shape[1] // 2
        item = model.X[i : i + 1] if model.is_table else model.X[i]
        possible = [classes_of(crf)[k] for k in np.unique(own.codes[:, position])]
        found = crf.explain(item, position, labels=possible)
        names = names_of(crf, own)
        best = {
            label: own.scores[own.codes[:, position] == k].max()
            for k, label in enumerate(classes_of(crf))
            if label in possible
        }
        for j, label in enumerate(found.labels):
            expected = best[label] - best[found.reference]
            assert_allclose(found.scores[j], expected, **CLOSE)
            assert_allclose(found.contributions[:, j].sum(), expected, **CLOSE)
            chosen = own.scores[names.index(found.paths[label])]
            assert_allclose(chosen, best[label], **CLOSE)
        if crf.temperature_ > 0.0:
            node = own.node_marginals(len(crf.classes_))[position]
            codes = [classes_of(crf).index(label) for label in possible]
            assert_allclose(found.probabilities, node[codes], **CLOSE)


def answers(model, crf):
    values = [] if crf.temperature_ == 0.0 else [crf.log_partition(model.X)]
    return [lists_of(model, crf.predict(model.X)), *map(np.ndarray.tolist, values)]


def check_sparsify(model, crf):
    before, crf = answers(model, crf), copy.deepcopy(crf)
    assert issparse(crf.sparsify().coef_)
    assert answers(model, crf) == before


def check_densify(model, crf):
    before, crf = answers(model, crf), copy.deepcopy(crf)
    if hasattr(crf, "sparsify"):
        crf.sparsify()
    assert isinstance(crf.densify().coef_, np.ndarray)
    assert answers(model, crf) == before


def check_prune(model, crf):
    before, crf = answers(model, crf), copy.deepcopy(crf)
    assert answers(model, crf.prune()) == before
    threshold = np.median(abs(dense(crf.coef_)))
    crf.prune(threshold)
    small = abs(dense(crf.coef_))
    assert ((small == 0.0) | (small > threshold)).all()
    assert (small == 0.0).any()
    if crf.temperature_ > 0.0:
        check_log_partition(model, crf)


def check_constrain(model, crf):
    of_types = model.family == "segments"
    allowed = [("O", "X"), ("X", "O")] if of_types else "BIO"
    if of_parts := crf.label_features_ is not None:
        with pytest.raises(ValueError, match="only transitions can be forbidden"):
            crf.constrain(allowed)
        every = product(classes_of(crf), repeat=2)
        allowed = [pair for pair in every if pair != ("O", "I-X")]
    crf = copy.deepcopy(crf).constrain(allowed)
    found = lists_of(model, crf.predict(model.X))
    for own, labels in zip(model.labellings(crf), found, strict=True):
        check_best(crf, own, labels)
        assert model.is_table or of_parts or labels[0] != "I-X"
        assert of_types or ("O", "I-X") not in pairwise(labels)
        assert not of_types or ("B-X", "B-X") not in pairwise(labels)
    if crf.temperature_ > 0.0:
        check_log_partition(model, crf)


def check_partial_fit(model, crf):
    """A pass over the items in two chunks gives the weights of one pass."""
    for name in model.online:
        one, two = model.new(name, max_iter=1), model.new(name, max_iter=1)
        one.partial_fit(model.X, model.y)
        labels = model.y[3:] if model.is_table else model.y[2:]
        n = len(model.X) - len(labels)
        two.partial_fit(model.X[:n], model.y[:n], classes=classes_of(crf))
        two.partial_fit(model.X[n:], labels)
        assert one.n_visits_ == two.n_visits_ == len(model.X)
        assert_allclose(two.log_partition(model.X), one.log_partition(model.X))
        check_log_partition(model, two)


def shown(table, weights):
    """Return whether a table shows exactly the finite weights that are not 0."""
    weights = np.ravel(dense(weights))
    expected = np.sort(weights[np.isfinite(weights) & (weights != 0.0)])
    return np.array_equal(np.sort(table["weight"]), expected)


def check_state_features(model, crf):
    names = {"<intercept>": "intercept_", "<start>": "start_", "<end>": "end_"}
    table = crf.state_features()
    special = np.isin(table["feature"], list(names))
    assert_array_equal(np.sort(table["weight"])[::-1], table["weight"])
    for name, block in names.items():
        rows = table["feature"] == name
        if hasattr(crf, block):
            found = {"weight": table["weight"][rows]}
            assert shown(found, getattr(crf, block))
        else:
            assert not rows.any()
    assert shown({"weight": table["weight"][~special]}, crf.coef_)


def check_top_features(model, crf):
    every = crf.state_features()
    rows = classes_of(crf) if crf.parts_ is None else crf.parts_
    for label in rows:
        own = every["weight"][every["label"] == label]
        table = crf.top_features(2, [label])["weight"]
        positive, negative = own[own > 0][:2], own[own < 0][-2:]
        assert_array_equal(table, np.concatenate([positive, negative]))


def check_transition_features(model, crf):
    weights = crf.edge_coef_ if model.family == "graphs" else crf.transition_
    assert shown(crf.transition_features(), weights)


def check_tuple_features(model, crf):
    """Every row is a weight of these labels, and of this feature."""
    found = crf.tuple_features()
    blocks = [np.ravel(dense(own)) for own in crf.higher_transitions_]
    if crf.edge_coef_ is not None:
        blocks.append(np.ravel(dense(crf.edge_coef_)))
    assert shown(found, np.concatenate([np.zeros(0), *blocks]))
    names = [f"x{j}" for j in range(crf.n_features_in_)]
    if hasattr(crf, "vectorizer_"):
        names = crf.vectorizer_.get_feature_names_out().tolist()
    for feature, labels, weight in found:
        codes = tuple(classes_of(crf).index(label) for label in labels)
        if feature == "<labels>":
            assert crf.higher_transitions_[len(codes) - 3][codes] == weight
        else:
            pair = codes[0] * len(crf.classes_) + codes[1]
            assert dense(crf.edge_coef_)[pair, names.index(feature)] == weight


def check_length_features(model, crf):
    assert shown(crf.length_features(), crf.length_)


def check_segment_weights(model, crf):
    weights = np.zeros(0) if crf.segment_coef_ is None else crf.segment_coef_
    assert shown(crf.segment_weights(), weights)


def check_feature_names_in(model, crf):
    """Only data frames, and packed data with names, have names of features."""
    assert not hasattr(crf, "feature_names_in_")


def check_best_epoch(model, crf):
    assert not hasattr(crf, "best_epoch_")
    crf = model.new("oeg").fit(model.X, model.y, X_val=model.X, y_val=model.y)
    scores = crf.history_["val_score"]
    assert crf.best_val_score_ == scores.max()
    assert crf.best_epoch_ == crf.history_["epoch"][scores.argmax()]


def check_best_val_score(model, crf):
    """A fit with patience ends after the first epoch that is not the best so far."""
    assert not hasattr(crf, "best_val_score_")
    crf = model.new("oeg", patience=1)
    crf.fit(model.X, model.y, X_val=model.X, y_val=model.y)
    scores = crf.history_["val_score"]
    assert crf.best_val_score_ == scores.max()
    assert (np.diff(scores[:-1]) > 0.0).all()


def check_alpha_path(model, crf):
    path = alpha_path(model.new("oeg"), model.X, model.y, [ALPHA, 10 * ALPHA])
    assert [own.alpha_ for own in path] == [10 * ALPHA, ALPHA]
    gap = abs(path[1].primal_objective_ - crf.primal_objective_)
    assert gap <= path[1].duality_gap_ + crf.duality_gap_


def check_lengths(model, crf):
    """A table with `lengths` is the sequences that it is cut into."""
    if model.is_table:
        lengths = np.ones(len(model.X), dtype=int)
        X, y = list(model.X[:, np.newaxis]), model.labels()
    else:
        X, y, lengths = ARRAYS, model.y, [len(x) for x in ARRAYS]
    table, labels = np.concatenate(X), np.concatenate(y)
    cut = model.new().fit(table, labels, lengths=lengths)
    crf = model.new().fit(X, y)
    assert_array_equal(model.weights(cut), model.weights(crf))
    assert_array_equal(cut.predict(table, lengths), np.concatenate(crf.predict(X)))


def check_to_crfsuite(model, crf, path):
    names = None
    if not hasattr(crf, "vectorizer_"):
        names = [f"f{j}" for j in range(crf.n_features_in_)]
    compat.to_crfsuite(
        crf, path, feature_names=names, intercept="bias", start="BOS", end="EOS"
    )
    again = compat.from_crfsuite(path)
    assert classes_of(again) == classes_of(crf)
    assert_allclose(again.transition_, crf.transition_)


def check_transition_display(model, crf):
    pytest.importorskip("matplotlib").use("Agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    weights, labels = [getattr(crf, "transition_", None)], classes_of(crf)
    if model.family == "graphs":
        weights = crf.edge_coef_
    if model.family == "segments":
        labels = crf.types_.tolist()
    for feature, expected in enumerate(weights):
        display = TransitionDisplay.from_estimator(
            crf, feature=feature, include_values=False
        )
        assert_array_equal(display.transition, expected)
        assert display.labels == labels
        assert (display.start is None) == (model.family != "chains")
        plt.close(display.figure_)

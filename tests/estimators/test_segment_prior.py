"""`init` and `prior` of SegmentCRF.fit, against the objective they state."""

import numpy as np
import pytest
from segment_twin import Enumeration, Features, sentences

from skcrf_sdca import OEGCRF, SegmentCRF
from skcrf_sdca.estimators.solver_choice import OF_ANY_STRUCTURE

X, Y = sentences(40)
FIRST, SECOND = slice(0, 24), slice(24, 36)
EXACT = {"alpha": 0.05, "tol": 1e-8, "max_iter": 3000, "random_state": 0}


def of_segment(sequence, begin, end):
    return {"capitals": sum(word.istitle() for (word,) in sequence[begin:end]) / 2}


def more_of_segment(sequence, begin, end):
    return {"last": sequence[end - 1][0][-1], **of_segment(sequence, begin, end)}


@pytest.fixture(scope="module")
def prior():
    """A model of one type only, shorter segments and fewer features."""
    own = [i for i in range(24) if not {"B-B", "I-B"} & set(Y[i])]
    crf = SegmentCRF(segment_features=of_segment, solver="lbfgs", **EXACT)
    crf.fit([X[i] for i in own], [Y[i] for i in own])
    assert crf.max_length_ == 2
    return crf


def flat(crf):
    """Return the weights in one row, 0 where something is forbidden."""
    blocks = crf.intercept_, crf.start_, crf.end_, crf.transition_, crf.length_
    row = [np.ravel(b) for b in (*blocks, crf.segment_coef_.T, crf.coef_.T)]
    row = np.concatenate(row)
    return np.where(row == -np.inf, 0.0, row), np.cumsum([b.size for b in blocks])


def in_place_of(crf, prior):
    """Return the weights of a prior where a model that has more has its own."""

    def numbers(names, known):
        known = list(known)
        return [(i, known.index(name)) for i, name in enumerate(names) if name in known]

    def moved(name, *axes):
        out = np.zeros(getattr(crf, name).shape)
        for places in np.ndindex(*map(len, axes)):
            pairs = [axis[i] for axis, i in zip(axes, places, strict=True)]
            to, start = zip(*pairs, strict=True)
            out[to] = getattr(prior, name)[start]
        return np.where(out == -np.inf, 0.0, out).T.ravel()

    label = numbers(crf.classes_, prior.classes_)
    kind = numbers(crf.types_, prior.types_)
    length = [(m, m) for m in range(min(crf.max_length_, prior.max_length_))]
    features = [c.vectorizer_.get_feature_names_out() for c in (crf, prior)]
    more = [c.segment_vectorizer_.get_feature_names_out() for c in (crf, prior)]
    parts = [moved(n, label) for n in ("intercept_", "start_", "end_")]
    n, most = len(crf.types_), crf.max_length_
    parts.append(moved("transition_", kind, kind).reshape(n, n).T.ravel())
    parts.append(moved("length_", kind, length).reshape(most, n).T.ravel())
    parts.append(moved("segment_coef_", kind, numbers(*more)))
    parts.append(moved("coef_", label, numbers(*features)))
    return np.concatenate(parts)


def objective(crf, w, w_0, X, y):
    """Return P of the weights in one row, by enumeration."""
    n, d, grammar = len(crf.classes_), crf.n_features_in_, crf._grammar()
    n_segment = crf.segment_coef_.size
    sizes = [n, n, n, grammar.n_tied + n_segment, n * d]
    intercept, start, end, tied, coef = np.split(w, np.cumsum(sizes)[:-1])
    names = crf.segment_vectorizer_.get_feature_names_out().tolist()
    value = 0.5 * crf.alpha_ * np.sum((w - w_0) ** 2)
    for own, labels in zip(X, y, strict=True):
        if not own:
            continue
        rows = crf.vectorizer_.transform([own]).X.toarray()
        local = rows @ coef.reshape(d, n) + intercept
        local[0] += start
        local[-1] += end

        def values(begin, end, own=own):
            found = np.zeros(len(names))
            for key, number in crf.segment_features(own, begin, end).items():
                name = f"{key}:{number}" if isinstance(number, str) else key
                if name in names:
                    found[names.index(name)] = isinstance(number, str) or number
            return found

        known = Enumeration(grammar, local, tied, Features(len(names), values))
        path = tuple(np.searchsorted(crf.classes_, labels))
        i = [tuple(y) for y in known.labels].index(path)
        value += (known.log_z - known.scores[i]) / len(X)
    return value


@pytest.mark.parametrize("solver", ["lbfgs", "oeg", "sag", "sgd"])
def test_a_prior_has_the_objective_that_it_states(prior, solver):
    tol = 1e-4 if solver == "sgd" else 1e-6
    crf = SegmentCRF(solver=solver, **EXACT | {"tol": tol})
    crf.set_params(segment_features=more_of_segment)
    crf.fit(X[SECOND], Y[SECOND], prior=prior)
    assert set(prior.classes_) < set(crf.classes_)
    assert prior.segment_coef_.shape[1] == 1 < crf.segment_coef_.shape[1]
    w, _ = flat(crf)
    w_0 = in_place_of(crf, prior)
    primal = objective(crf, w, w_0, X[SECOND], Y[SECOND])
    assert crf.primal_objective_ == pytest.approx(primal, rel=1e-9)
    assert crf.duality_gap_ <= tol * primal
    near = np.random.default_rng(0).normal(size=(2, len(w)))
    for step in 1e-2 * near:
        nearby = objective(crf, w + step, w_0, X[SECOND], Y[SECOND])
        assert nearby >= primal - crf.duality_gap_


def test_a_strong_prior_is_returned(prior):
    crf = SegmentCRF(1e5, solver="lbfgs", segment_features=more_of_segment)
    crf.fit(X[SECOND], Y[SECOND], prior=prior)
    np.testing.assert_allclose(flat(crf)[0], in_place_of(crf, prior), atol=1e-4)
    assert np.array_equal(crf.predict(X[FIRST]), prior.predict(X[FIRST]))


def test_a_prior_has_lengths_and_features_that_y_lacks(prior):
    crf = SegmentCRF(1e5, solver="lbfgs", segment_features=of_segment)
    short = [i for i, labels in enumerate(Y) if len(labels) == 1]
    data = [X[i] for i in short], [Y[i] for i in short]
    crf.fit(*data, prior=prior)
    assert crf.max_length_ == prior.max_length_ > 1
    np.testing.assert_allclose(
        crf.length_[crf.types_.tolist().index("A")],
        prior.length_[prior.types_.tolist().index("A")],
        atol=1e-4,
    )
    assert crf.set_params(max_length=1).fit(*data, prior=prior).max_length_ == 1


@pytest.mark.parametrize("solver", ["oeg", "sag", "sgd", "lbfgs"])
def test_solvers_start_at_the_weights_of_init(prior, solver, monkeypatch):
    cls, given = OF_ANY_STRUCTURE[solver][0], []
    start_at = cls.start_at

    def noted(self, w, unseen):
        given.append(w.copy())
        return start_at(self, w, unseen)

    monkeypatch.setattr(cls, "start_at", noted)
    crf = SegmentCRF(solver=solver, tol=1e-1, random_state=0)
    crf.set_params(segment_features=more_of_segment)
    crf.fit(X[SECOND], Y[SECOND], init=prior)
    np.testing.assert_array_equal(given[0], in_place_of(crf, prior))
    assert crf.duality_gap_ <= 1e-1 * crf.primal_objective_


def test_init_beside_a_prior(prior):
    crf = SegmentCRF(solver="lbfgs", segment_features=more_of_segment, **EXACT)
    alone, _ = flat(crf.fit(X[SECOND], Y[SECOND], prior=prior))
    both, _ = flat(crf.fit(X[SECOND], Y[SECOND], init=prior, prior=prior))
    np.testing.assert_allclose(both, alone, atol=1e-3)


def test_what_is_no_model_of_segments_is_refused(prior):
    chain = OEGCRF(random_state=0).fit(X, Y)
    for name in ("init", "prior"):
        with pytest.raises(TypeError, match=f"{name} must be a fitted SegmentCRF"):
            SegmentCRF().fit(X, Y, **{name: chain})
        with pytest.raises(TypeError, match=f"{name} must be a fitted CRF of chains"):
            OEGCRF().fit(X, Y, **{name: prior})
        with pytest.raises(ValueError, match="is not fitted"):
            SegmentCRF().fit(X, Y, **{name: SegmentCRF()})
    with pytest.raises(ValueError, match="set segment_features to the function"):
        SegmentCRF().fit(X, Y, prior=prior)
    crf = SegmentCRF(random_state=0, warm_start=True)
    with pytest.raises(ValueError, match="warm_start"):
        crf.fit(X, Y, prior=prior)
    with pytest.raises(ValueError, match="warm_start"):
        crf.fit(X, Y).fit(X, Y, init=prior)
    with pytest.raises((TypeError, ValueError), match="init"):
        SegmentCRF(loss="hinge").fit(X, Y, init=prior)

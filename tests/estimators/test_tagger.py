"""Tagger: every method of the last step, for the data that the first step takes."""

import inspect
import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import skcrf_sdca
from pairs import in_one_test
from samples import seeded
from skcrf_sdca import (
    LBFGSCRF,
    SDCACRF,
    SGDCRF,
    GraphCRF,
    PackedSequences,
    PassiveAggressiveCRF,
    PerToken,
    SequenceUnion,
    SequenceVectorizer,
    TreeCRF,
    load_model,
    make_tagger,
    save_model,
)
from skcrf_sdca.compat import CRF
from skcrf_sdca.distributed import DistributedCRF
from skcrf_sdca.estimators import tagger as tagger_module
from skcrf_sdca.estimators.crfs import ESTIMATORS
from skcrf_sdca.estimators.tagger import Tagger
from skcrf_sdca.metrics import get_scorer
from skcrf_sdca.plotting import TransitionDisplay
from skcrf_sdca.selection import cross_val_predict_proba
from skcrf_sdca.text import LabelPairs, Shape, TokenFeatures

WORDS = [["Ada", "Lovelace", "wrote"], ["Bern", "waits"], ["Ada", "waits"]] * 4
Y = [["B-PER", "I-PER", "O"], ["B-LOC", "O"], ["B-PER", "O"]] * 4
FEATURES = TokenFeatures(["word", Shape()])


def fitted(crf):
    return make_tagger(FEATURES, SequenceVectorizer(), crf).fit(WORDS, Y)


@pytest.fixture
def tagger():
    return fitted(SDCACRF(random_state=0))


def own_methods(crf):
    """Return the names of the public methods of a class that a Pipeline lacks.

    But for `partial_fit` and `support`, which not every fit has, and which have tests
    of their own, and `set_callbacks`, which a Pipeline lacks before scikit-learn 1.9.
    """
    names = {
        name for name in dir(crf) if name[0] != "_" and not hasattr(Pipeline, name)
    } - {"set_callbacks"}
    # Metadata routing is that of Pipeline.
    found = {name for name in names if callable(getattr(crf, name))}
    found = {name for name in found if not name.endswith("_request")}
    return found - {"partial_fit", "support"}


def same(found, expected):
    """Whether two answers are equal: arrays of any depth, tables, numbers."""
    if isinstance(expected, (np.ndarray, list, tuple)):
        pairs = zip(found, expected, strict=True)
        return type(found) is type(expected) and all(same(*pair) for pair in pairs)
    if isinstance(expected, (str, dict, int, float, np.generic)):
        return found == expected
    return str(found) == str(expected)


# The arguments of every method of a CRF, but for its data and the names of features.
CALLS = {
    "constrain": (["BIO"], {}),
    "densify": ([], {}),
    "explain": ([-1], {"labels": ["O", "I-PER"]}),
    "log_likelihood": ([Y], {}),
    "log_partition": ([], {}),
    "predict_edge_proba": ([], {}),
    "predict_marginals": ([], {}),
    "predict_marginals_single": ([], {}),
    "predict_n_best": ([3], {}),
    "predict_single": ([], {}),
    "predict_spans": ([], {"tokens": WORDS, "scheme": "BIO"}),
    "prune": ([0.1], {}),
    "sample": ([5, 0], {}),
    "span_proba": ([[[("PER", 0, 1)]] * 12], {"scheme": "BIO"}),
    "sparsify": ([], {}),
    "state_features": ([], {}),
    "top_features": ([2, ["O"]], {}),
    "transition_features": ([], {}),
    "tuple_features": ([], {}),
    "uncertainty": ([], {"measure": "entropy"}),
}
CHANGES = {"constrain", "densify", "prune", "sparsify"}
METHODS = {crf: own_methods(crf) for crf in (*ESTIMATORS, CRF)}


def parameters_of(crf, name):
    return inspect.signature(getattr(crf, name)).parameters


def test_no_method_is_forgotten():
    assert set().union(*METHODS.values()) == {*CALLS}
    assert own_methods(DistributedCRF) - METHODS[SDCACRF] == {"to_estimator"}


@in_one_test(
    ("crf", "name"),
    [(crf, name) for crf in METHODS for name in sorted(METHODS[crf] - CHANGES)],
)
def test_a_method_is_that_of_the_last_step_on_transformed_data(crf, name):
    tagger = fitted(seeded(crf))
    vectorizer, step = tagger[1:]
    arguments, options = CALLS[name]
    packed = vectorizer.transform(FEATURES.transform(WORDS))
    parameters = parameters_of(crf, name)
    raw, transformed, names = [], [], {}
    if "X" in parameters:
        raw, transformed = [WORDS], [packed]
    elif {"sequence", "xseq"} & {*parameters}:
        raw, transformed = [WORDS[0]], [packed[0]]
    if "feature_names" in parameters:
        names = {"feature_names": vectorizer.get_feature_names_out()}
    expected = getattr(step, name)(*transformed, *arguments, **options, **names)
    assert same(getattr(tagger, name)(*raw, *arguments, **options), expected)
    options = {**options, **dict.fromkeys(names)}
    assert same(getattr(tagger, name)(*raw, *arguments, **options), expected)


def test_the_support_is_that_of_the_last_step():
    tagger = fitted(SDCACRF(loss="sparsemap", random_state=0))
    packed = tagger[1].transform(FEATURES.transform(WORDS))
    assert same(tagger.support(WORDS), tagger[-1].support(packed))
    assert "support" in dir(tagger)


@in_one_test("name", sorted(CHANGES))
@in_one_test("crf", ESTIMATORS)
def test_a_method_that_changes_the_last_step_returns_the_tagger(crf, name):
    tagger = fitted(seeded(crf))
    step = pickle.loads(pickle.dumps(tagger[-1]))
    arguments, options = CALLS[name]
    assert getattr(tagger, name)(*arguments, **options) is tagger
    getattr(step, name)(*arguments, **options)
    for weight in ("coef_", "start_", "transition_"):
        found, expected = getattr(tagger[-1], weight), getattr(step, weight)
        assert type(found) is type(expected)
        assert (found != expected).sum() == 0


def test_arguments_by_name_and_by_position_are_the_same(tagger):
    by_name = tagger.predict_n_best(n=2, X=WORDS)
    assert same(by_name, tagger.predict_n_best(WORDS, 2))
    by_name = tagger.explain(position=0, sequence=WORDS[1])
    assert str(by_name) == str(tagger.explain(WORDS[1], 0))
    assert same(tagger.log_partition(iter(WORDS)), tagger.log_partition(WORDS))
    with pytest.raises(TypeError, match="missing a required argument: 'n'"):
        tagger.predict_n_best(WORDS)
    with pytest.raises(TypeError, match="unexpected keyword argument 'm'"):
        tagger.predict_n_best(WORDS, 2, m=2)


def test_names_of_features_that_the_user_passes_are_kept(tagger):
    names = [f"my {j}" for j in range(tagger[-1].n_features_in_)]
    for table in (
        tagger.top_features(feature_names=names),
        tagger.explain(WORDS[0], 0, feature_names=names),
    ):
        assert "my " in str(table)
        assert "word=" not in str(table)


class Sizes(TransformerMixin, BaseEstimator):
    """A transformer of a user, without names of features."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return [np.array([[len(w), w.count("a")] for w in words]) for words in X]


def sizes(X):
    return [[{"length": len(word)} for word in words] for words in X]


ARRAYS = Sizes().transform(WORDS)
PAIRS = list(zip(sizes(WORDS), ARRAYS, strict=True))


@pytest.mark.parametrize(
    ("steps", "X", "names"),
    [
        ([FEATURES], WORDS, {"word=Ada", "shape=Xxx"}),
        ([FEATURES, "passthrough"], WORDS, {"word=Ada", "shape=Xxx"}),
        ([FunctionTransformer(sizes), SequenceVectorizer()], WORDS, {"length"}),
        ([FunctionTransformer(sizes)], WORDS, {"length"}),
        ([Sizes()], WORDS, {"x0", "x1"}),
        ([Sizes(), PerToken(StandardScaler())], WORDS, {"x0", "x1"}),
        ([PerToken(StandardScaler())], ARRAYS, {"x0", "x1"}),
        ([PerToken(StandardScaler())], PackedSequences.from_sequences(ARRAYS), set()),
        ([], ARRAYS, {"x0", "x1"}),
        ([], sizes(WORDS), {"length"}),
        (
            [
                SequenceUnion(
                    [
                        ("words", SequenceVectorizer(), 0),
                        ("vectors", PerToken(StandardScaler()), 1),
                    ]
                )
            ],
            PAIRS,
            {"words__length", "vectors__x0"},
        ),
    ],
    ids=range(11),
)
def test_steps_of_all_kinds_give_names_and_explanations(steps, X, names):
    tagger = make_tagger(*steps, SDCACRF(random_state=0)).fit(X, Y)
    assert names <= {*tagger.state_features()["feature"]}
    one = X[:1] if isinstance(X, PackedSequences) else X[0]
    given = X
    for step in steps:
        given = given if step == "passthrough" else step.transform(given)
    found, expected = tagger.explain(one, 1), tagger[-1].explain(given[0], 1)
    # The first line has the labels with their probabilities.
    assert str(found).splitlines()[0] == str(expected).splitlines()[0]
    assert same(tagger.predict_n_best(X, 2), tagger[-1].predict_n_best(given, 2))


def test_a_table_is_one_sequence():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), ["A", "B"] * 15
    tagger = make_tagger(StandardScaler(), LBFGSCRF()).fit(X, y)
    scaled = tagger[0].transform(X)
    assert str(tagger.explain(X, 4)) == str(tagger[-1].explain(scaled, 4))
    assert same(tagger.predict_n_best(X, 2), tagger[-1].predict_n_best(scaled, 2))


def test_data_frames_name_the_features():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(np.arange(12.0).reshape(6, 2) ** 1.5, columns=["a", "b"])
    scaler = StandardScaler().set_output(transform="pandas")
    tagger = make_tagger(scaler, LBFGSCRF()).fit(X, ["A", "B"] * 3)
    assert {"a", "b"} <= {*tagger.state_features()["feature"]}
    assert "a" in str(tagger.explain(X, 0))


# What is not there --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("last", "names"),
    [
        (SDCACRF(), ["predict_single", "predict_marginals", "decision_function"]),
        (CRF(), ["explain", "predict_n_best", "span_proba", "predict_proba"]),
        (StandardScaler(), ["predict_n_best", "predict", "set_fit_request"]),
        ("passthrough", ["upper", "predict"]),
        (None, ["predict"]),
        (SDCACRF(), ["coef_", "alpha", "_run", "set_fit_request", "__array__"]),
    ],
)
def test_a_method_that_the_last_step_lacks_is_an_attribute_error(last, names):
    tagger = make_tagger(SequenceVectorizer(), last)
    for name in names:
        assert not hasattr(tagger, name)
        with pytest.raises(
            AttributeError, match=f"'Tagger'.* has no attribute '{name}'"
        ):
            getattr(tagger, name)
    assert not {*names[:-1]} & {*dir(tagger)} - {*dir(Pipeline)}


def test_pipeline_decides_about_its_own_methods():
    """One step cannot be inverted, so that neither can the pipeline."""
    slice_ = make_tagger(SequenceVectorizer(), StandardScaler())
    assert hasattr(slice_[-1], "inverse_transform")
    with pytest.raises(AttributeError, match="'Tagger' has no attribute 'inverse_tr"):
        slice_.inverse_transform  # noqa: B018


@pytest.mark.parametrize("steps", [[], None, 3, [SDCACRF()], [("crf",)]])
def test_wrong_steps_have_no_methods_until_fit_refuses_them(steps):
    tagger = Tagger(steps)
    assert not hasattr(tagger, "predict_n_best")
    with pytest.raises((TypeError, ValueError)):
        tagger.fit(WORDS, Y)


def test_an_object_without_attributes_has_no_methods():
    empty = Tagger.__new__(Tagger)
    assert not hasattr(empty, "steps")
    assert not hasattr(empty, "explain")
    assert "fit" in dir(empty)


@pytest.mark.parametrize("features", [FEATURES, SequenceVectorizer(), Sizes()])
def test_before_fit(features):
    tagger = make_tagger(features, SDCACRF())
    for call in (
        lambda: tagger.predict(WORDS),
        lambda: tagger.predict_n_best(WORDS, 2),
        lambda: tagger.explain(WORDS[0], 0),
        lambda: tagger.top_features(),
        lambda: tagger.prune(),
        lambda: tagger.transition_features(),
    ):
        with pytest.raises(NotFittedError):
            call()


def test_errors_are_those_of_the_last_step(tagger):
    with pytest.raises(ValueError, match="n must be an integer of at least 1"):
        tagger.predict_n_best(WORDS, 0)
    with pytest.raises(IndexError, match="position: 7 is not in the sequence of 3"):
        tagger.explain(WORDS[0], 7)
    hinge = fitted(SDCACRF(loss="hinge", alpha=1.0, max_iter=1000))
    for name in ("predict_edge_proba", "log_partition", "predict_spans", "sample"):
        with pytest.raises(AttributeError, match="gives scores, and no probabilities"):
            getattr(hinge, name)(WORDS)
    assert "Position 0: " in str(hinge.explain(WORDS[0], 0))


# Editors and people -------------------------------------------------------------------


def test_completion_and_help(tagger):
    assert own_methods(SDCACRF) <= {*dir(tagger)}
    assert {"fit", "predict", "named_steps", "set_output"} <= {*dir(tagger)}
    assert not [name for name in dir(tagger) if name.endswith("_features_")]
    method, own = tagger.predict_n_best, tagger[-1].predict_n_best
    assert method.__doc__ == own.__doc__
    assert method.__name__ == "predict_n_best"
    assert inspect.signature(method) == inspect.signature(own)
    assert own_methods(CRF) <= {*dir(make_tagger(CRF()))}


def test_representations(tagger):
    assert repr(make_tagger(SDCACRF())) == "Tagger(steps=[('sdcacrf', SDCACRF())])"
    for shown in (tagger, make_tagger(SDCACRF()), GridSearchCV(tagger, {})):
        assert "SDCACRF" in shown._repr_html_()


# What a Pipeline does -----------------------------------------------------------------


def test_make_tagger_is_make_pipeline():
    steps = SequenceVectorizer(), SDCACRF()
    options = {"memory": "cache", "verbose": True}
    tagger, pipeline = make_tagger(*steps, **options), make_pipeline(*steps, **options)
    assert isinstance(tagger, Pipeline)
    parameters = tagger.get_params()
    # A Pipeline does not know what cut its texts.
    assert parameters.pop("tokens") is None
    assert str(parameters).replace("Tagger", "Pipeline") == str(pipeline.get_params())


def test_clone_set_params_and_slices(tagger):
    other = clone(tagger).set_params(sdcacrf__alpha=0.5)
    assert type(other) is Tagger
    with pytest.raises(NotFittedError):
        other.predict_n_best(WORDS, 1)
    assert other.fit(WORDS, Y).log_partition(WORDS)[0] != pytest.approx(
        tagger.log_partition(WORDS)[0]
    )
    other.set_params(sdcacrf=CRF())
    assert hasattr(other, "predict_marginals")
    assert not hasattr(other, "explain")
    first = tagger[:-1]
    assert isinstance(first, Tagger)
    assert isinstance(first.transform(WORDS), PackedSequences)
    assert same(
        tagger[1:].log_partition(FEATURES.transform(WORDS)),
        tagger.log_partition(WORDS),
    )
    # A method of a transformer: the vectorizer returns itself, hence the tagger.
    n_features = tagger[-1].n_features_in_
    assert first.restrict(np.arange(n_features) < 2) is first
    assert len(first.get_feature_names_out()) == 2


def test_pickles_of_a_tagger_and_of_its_methods(tagger):
    restored = pickle.loads(pickle.dumps(tagger))
    expected = tagger.predict_n_best(WORDS, 2)
    assert same(restored.predict_n_best(WORDS, 2), expected)
    method = pickle.loads(pickle.dumps(tagger.predict_n_best))
    assert same(method(WORDS, 2), expected)
    assert same(FrozenEstimator(tagger).predict_n_best(WORDS, 2), expected)
    frozen = make_tagger(FrozenEstimator(tagger[:-1]), FrozenEstimator(tagger[-1]))
    assert same(frozen.predict_n_best(WORDS, 2), expected)


def test_search_and_cross_validation():
    tagger = make_tagger(FEATURES, SequenceVectorizer(), SDCACRF(random_state=0))
    grid = {"sdcacrf__alpha": [0.1, 0.01], "sequencevectorizer__min_freq": [1, 2]}
    search = GridSearchCV(tagger, grid, cv=2, scoring=get_scorer("log_likelihood"))
    best = search.fit(WORDS, Y).best_estimator_
    assert type(best) is Tagger
    assert "word=Ada" in str(best.explain(WORDS[0], 0))
    assert search.best_score_ > -1
    pipeline = make_pipeline(*clone(tagger))
    assert same(
        cross_val_predict_proba(tagger, WORDS, Y, cv=3),
        cross_val_predict_proba(pipeline, WORDS, Y, cv=3),
    )
    pytest.importorskip("matplotlib")
    assert TransitionDisplay.from_estimator(best).ax_ is not None


@sklearn.config_context(enable_metadata_routing=True)
def test_metadata_routing_is_that_of_a_pipeline():
    crf = SDCACRF(random_state=0).set_fit_request(sample_weight=True)
    weight = np.linspace(0.1, 3, len(Y))
    tagger = make_tagger(SequenceVectorizer(), crf)
    tagger.fit(sizes(WORDS), Y, sample_weight=weight)
    alone = clone(crf).fit(sizes(WORDS), Y, sample_weight=weight)
    found, expected = (m.log_partition(sizes(WORDS)) for m in (tagger, alone))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert same(tagger.predict(sizes(WORDS)), alone.predict(sizes(WORDS)))
    with pytest.raises(UnsetMetadataPassedError, match="decoding"):
        tagger.predict(sizes(WORDS), decoding="posterior")


def test_predict_hands_its_arguments_to_the_last_step(tagger):
    X = tagger[:-1].transform(WORDS)
    for arguments in (
        {"decoding": "posterior"},
        {"known": [[Y[0][0]] * len(words) for words in WORDS]},
    ):
        found = tagger.predict(WORDS, **arguments)
        assert same(found, tagger[-1].predict(X, **arguments))


@pytest.mark.parametrize("kind", [Tagger, Pipeline])
def test_save_model_keeps_the_type(kind, tmp_path):
    X = FEATURES.transform(WORDS)
    steps = [("v", SequenceVectorizer()), ("crf", SDCACRF(random_state=0))]
    model = kind(steps).fit(X, Y)
    save_model(model, tmp_path / "model.zip")
    loaded = load_model(tmp_path / "model.zip")
    assert type(loaded) is kind
    assert same(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    "crf",
    [PassiveAggressiveCRF(), SGDCRF(method="sgd", random_state=0)],
    ids=lambda crf: type(crf).__name__,
)
def test_a_stream_begins_in_a_tagger_whose_steps_learn_nothing(crf):
    tagger = make_tagger(FEATURES, clone(crf))
    labels = sorted({label for y in Y for label in y})
    for chunk in (slice(0, 2), slice(2, 4)):
        assert tagger.partial_fit(WORDS[chunk], Y[chunk], labels) is tagger
        crf.partial_fit(FEATURES.transform(WORDS[chunk]), Y[chunk], labels)
    np.testing.assert_array_equal(tagger[-1].coef_, crf.coef_)


def test_a_stream_needs_the_steps_that_learn_to_be_fitted():
    tagger = make_tagger(FEATURES, SequenceVectorizer(), PassiveAggressiveCRF())
    with pytest.raises(NotFittedError, match="SequenceVectorizer"):
        tagger.partial_fit(WORDS, Y)


def test_a_tagger_has_the_figures_of_the_fit_of_its_last_step():
    tagger = make_tagger(TokenFeatures(), SDCACRF(random_state=0))
    assert not hasattr(tagger, "n_iter_")
    tagger.fit([["a", "b"]], [["A", "B"]])
    assert tagger.history_ is tagger[-1].history_
    assert tagger.duality_gap_ <= tagger.gap_target_
    assert {"history_", "n_iter_"} <= set(dir(tagger))
    assert pickle.loads(pickle.dumps(tagger)).n_iter_ == tagger.n_iter_
    chosen = make_tagger(TokenFeatures(), skcrf_sdca.CRF(random_state=0))
    assert chosen.fit([["a", "b"]], [["A", "B"]]).solver_ == chosen[-1].solver_
    assert not hasattr(tagger, "solver_")


@pytest.mark.parametrize("crf", [SDCACRF(random_state=0), PassiveAggressiveCRF()])
def test_label_pairs_that_the_estimator_takes_for_others_are_told(crf):
    features = TokenFeatures([LabelPairs("word"), "word"])
    tagger = make_tagger(features, crf)
    with pytest.warns(UserWarning, match=r"edge_features=\[\"b:\*\"\]"):
        tagger.fit(WORDS, Y)
    if isinstance(crf, SDCACRF):
        tagger.set_params(sdcacrf__edge_features=["b:*"])
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            tagger.fit(WORDS, Y)


def test_explain_says_that_it_needs_one_sequence(tagger):
    message = "sequence: one sequence is needed, and this looks like a list of"
    dicts = [[{"word": word} for word in words] for words in WORDS]
    for X in WORDS, WORDS[:1], dicts:
        with pytest.raises((TypeError, ValueError), match=message):
            tagger.explain(X, 0)
    strings = [[[word] for word in words] for words in WORDS]
    arrays = [np.ones((len(words), 2)) for words in WORDS]
    for X in dicts, strings, arrays:
        crf = SDCACRF(random_state=0).fit(X, Y)
        with pytest.raises((TypeError, ValueError), match=message):
            crf.explain(X, 0)
        assert crf.explain(X[0], 0).labels
    # Another error of one sequence stays as it is.
    with pytest.raises(TypeError, match="X: sequence 0, item 0 is of type int 1"):
        tagger.explain([1, 2], 0)


HEADS = [[-1, 0, 1], [1, -1], [-1, 0]] * 4


@pytest.mark.parametrize("crf", [TreeCRF(random_state=0), GraphCRF(random_state=0)])
def test_tokens_may_be_nodes_of_trees_and_graphs(crf, tmp_path):
    rests = HEADS
    if not isinstance(crf, TreeCRF):
        ends = [[[t, t + 1] for t in range(len(words) - 1)] for words in WORDS]
        rests = [np.array(own) for own in ends]
    X = list(zip(WORDS, rests, strict=True))
    tagger = make_tagger(FEATURES, crf)
    tagger.fit(zip(WORDS, rests, strict=True), Y)
    by_hand = list(zip(FEATURES.transform(WORDS), rests, strict=True))
    other = clone(crf).fit(by_hand, Y)
    np.testing.assert_array_equal(tagger[-1].coef_, other.coef_)
    assert tagger.predict(X).tolist() == other.predict(by_hand).tolist()
    assert tagger.score(X, Y) == other.score(by_hand, Y)
    assert str(tagger.explain(X[0], 1)) == str(other.explain(by_hand[0], 1))
    with pytest.raises((TypeError, ValueError), match="graph: one graph is needed"):
        tagger.explain(X, 1)
    save_model(tagger, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert loaded.predict(X).tolist() == tagger.predict(X).tolist()
    grid = {"tokenfeatures__templates": [["word"], None]}
    assert GridSearchCV(tagger, grid, cv=2).fit(X, Y).best_score_ > 0


# Further data, with features and a label that the model does not know.
MORE = [["Ada", "met", "Grace", "Hopper"], ["Rome", "sleeps"]]
Y_MORE = [["B-PER", "O", "B-PER", "I-PER"], ["B-LOC", "V"]]


@pytest.mark.parametrize("name", ["init", "prior"])
@pytest.mark.parametrize("steps", [[FEATURES], [FEATURES, SequenceVectorizer()]])
def test_fit_takes_a_tagger_to_start_from_or_to_stay_near(name, steps):
    """Features are matched by name, through the vocabularies of both."""
    crf = LBFGSCRF(tol=0.3)
    old = make_tagger(*steps, crf).fit(WORDS, Y)
    X, y = WORDS + MORE, Y + Y_MORE
    new = clone(old).fit(X, y, **{name: old})
    alone = clone(crf).fit(clone(old[:-1]).fit_transform(X), y, **{name: old[-1]})
    assert same(new.predict_proba(X), alone.predict_proba(old[:-1].fit_transform(X)))
    plain = clone(old).fit(X, y)
    assert not same(new.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize("name", ["init", "prior"])
def test_a_pipeline_hands_a_tagger_to_its_last_step(name):
    old = make_tagger(FEATURES, LBFGSCRF()).fit(WORDS, Y)
    X, y = WORDS + MORE, Y + Y_MORE
    tagger = clone(old).fit(X, y, **{name: old})
    plain = make_pipeline(FEATURES, LBFGSCRF()).fit(X, y, **{f"lbfgscrf__{name}": old})
    assert same(plain.predict_proba(X), tagger.predict_proba(X))


def test_fit_takes_weights_of_sequences():
    weight = np.linspace(0.1, 3.0, len(Y))
    tagger = clone(fitted(LBFGSCRF())).fit(WORDS, Y, sample_weight=weight)
    by_step = clone(tagger).fit(WORDS, Y, lbfgscrf__sample_weight=weight)
    assert same(tagger.predict_proba(WORDS), by_step.predict_proba(WORDS))
    assert not same(
        tagger.predict_proba(WORDS), clone(tagger).fit(WORDS, Y).predict_proba(WORDS)
    )


def test_fit_cuts_a_table_by_lengths():
    X = np.random.default_rng(0).normal(size=(12, 3))
    y, lengths = ["a", "b", "a"] * 4, [5, 4, 3]
    tagger = make_tagger(StandardScaler(), LBFGSCRF()).fit(X, y, lengths=lengths)
    scaled = StandardScaler().fit_transform(X)
    alone = LBFGSCRF().fit(scaled, y, lengths=lengths)
    found = tagger.predict(X, lengths=lengths)
    assert same(found, alone.predict(scaled, lengths=lengths))


@pytest.mark.parametrize("model", [FEATURES, make_tagger(FEATURES, LBFGSCRF()), 3])
def test_what_is_no_fitted_model_is_not_taken(model):
    error = NotFittedError if isinstance(model, Tagger) else TypeError
    with pytest.raises(error, match="^init"):
        make_tagger(FEATURES, LBFGSCRF()).fit(WORDS, Y, init=model)


def test_arguments_that_no_step_takes_are_refused_as_in_a_pipeline():
    with pytest.raises(ValueError, match="does not accept the nonsense parameter"):
        make_tagger(FEATURES, LBFGSCRF()).fit(WORDS, Y, nonsense=1)


@sklearn.config_context(enable_metadata_routing=True)
def test_with_routing_the_last_step_asks_for_the_model():
    old = make_tagger(FEATURES, LBFGSCRF()).fit(WORDS, Y)
    crf = LBFGSCRF().set_fit_request(init=True)
    new = make_tagger(FEATURES, crf).fit(WORDS, Y, init=old)
    assert same(new.predict(WORDS), old.predict(WORDS))
    with pytest.raises(UnsetMetadataPassedError, match="init"):
        clone(old).fit(WORDS, Y, init=old)


@pytest.mark.parametrize("steps", [[FEATURES], [FEATURES, SequenceVectorizer()]])
@pytest.mark.parametrize("crf", [LBFGSCRF(), CRF()])
def test_many_sentences_are_labelled_in_parts(steps, crf, monkeypatch):
    tagger = make_tagger(*steps, crf).fit(WORDS, Y)
    expected, options = tagger.predict(WORDS), {}
    if isinstance(crf, LBFGSCRF):
        options = {"decoding": "posterior"}
    posterior = tagger.predict(WORDS, **options)
    seen, transform = [], TokenFeatures.transform

    def noted(self, X):
        seen.append(len(X))
        return transform(self, X)

    monkeypatch.setattr(TokenFeatures, "transform", noted)
    monkeypatch.setattr(tagger_module, "PART", 5)
    assert same(tagger.predict(WORDS), expected)
    assert seen == [5, 5, 2]
    assert same(tagger.predict(tuple(WORDS), **options), posterior)
    # Of a generator no more than a part is read at once.
    assert same(tagger.predict(iter(WORDS)), expected)
    assert seen == [5, 5, 2] * 3
    assert same(tagger.predict(iter([])), tagger.predict([]))
    assert list(tagger.predict(WORDS[:10])) == list(expected[:10])
    assert seen[-2:] == [5, 5]


def test_an_error_in_a_part_names_the_sequence(monkeypatch):
    tagger = make_tagger(FEATURES, LBFGSCRF()).fit(WORDS, Y)
    monkeypatch.setattr(tagger_module, "PART", 5)
    for wrong, place in {("a", 3): "sequence 7, item 1", 3: "sequence 7"}.items():
        with pytest.raises(TypeError, match=f"X: {place} is"):
            tagger.predict([*WORDS[:7], wrong, *WORDS])
    items = make_tagger(SequenceVectorizer(), LBFGSCRF()).fit([[["a"]]], [["O"]])
    with pytest.raises(TypeError, match="sequence 7, item 1"):
        items.predict([[["a"]]] * 7 + [[["a"], 3]] + [[["a"]]] * 7)


def test_steps_of_users_get_all_sequences_at_once(monkeypatch):
    """They may look from one sequence to another."""
    seen = []
    first = FunctionTransformer(lambda X: (seen.append(len(X)), X)[1])
    tagger = make_tagger(first, FEATURES, LBFGSCRF()).fit(WORDS, Y)
    monkeypatch.setattr(tagger_module, "PART", 5)
    tagger.predict(WORDS)
    assert seen[-1] == len(WORDS)


def test_labels_of_many_sentences_take_little_memory():
    tagger = make_tagger(FEATURES, LBFGSCRF()).fit(WORDS, Y)
    X = [["Ada", "waits", "and", "waits"] * 5] * tagger_module.PART

    def peak(times):
        tracemalloc.start()
        try:
            tagger.predict(X * times)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    # The labels themselves are some 5 % of the features.
    assert peak(4) < 1.5 * peak(1)


def test_the_steps_before_the_last_have_the_names_that_it_has_learnt():
    X, y = [["the", "dog"], ["dogs"]], [["D", "N"], ["N"]]
    tagger = make_tagger(TokenFeatures(["word"]), SDCACRF(random_state=0)).fit(X, y)
    names = tagger[:-1].get_feature_names_out()
    assert names.tolist() == ["word=the", "word=dog", "word=dogs"]
    assert len(names) == tagger[-1].n_features_in_
    copy = pickle.loads(pickle.dumps(tagger))[:-1]
    assert copy.get_feature_names_out().tolist() == names.tolist()
    # A clone has learnt nothing, and all steps end with a CRF.
    assert clone(tagger)[:-1].get_feature_names_out() is None
    with pytest.raises(AttributeError, match="get_feature_names_out"):
        tagger.get_feature_names_out()
    packed = make_tagger(TokenFeatures(["word"]), SequenceVectorizer(), SDCACRF())
    assert packed.fit(X, y)[:-1].get_feature_names_out().tolist() == names.tolist()

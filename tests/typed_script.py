"""A user's script with types: `mypy --strict` finds no error in it."""

import io
from collections.abc import Iterator
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import skcrf_sdca
from skcrf_sdca import (
    LBFGSCRF,
    OEGCRF,
    SAGNUSCRF,
    SDCACRF,
    DualityGapMonitor,
    GraphCRF,
    PackedSequences,
    PassiveAggressiveCRF,
    PerToken,
    SegmentCRF,
    SequenceUnion,
    SequenceVectorizer,
    TreeCRF,
    load_model,
    make_tagger,
    save_model,
)
from skcrf_sdca.compat import CRF, from_crfsuite, to_crfsuite
from skcrf_sdca.data.feature_names import FeatureNames
from skcrf_sdca.data.tagging_schemes import is_valid_pair, parse_label
from skcrf_sdca.datasets import load_digit_sequences, make_chains
from skcrf_sdca.estimators.crfs import CRF as AnyCRF
from skcrf_sdca.estimators.tagger import Tagger
from skcrf_sdca.metrics import (
    extract_spans,
    flat_accuracy_score,
    flat_f1_score,
    get_scorer,
    span_f1_score,
)
from skcrf_sdca.model.explanation import Explanation
from skcrf_sdca.model.tables import Table
from skcrf_sdca.persistence import model_info
from skcrf_sdca.plotting import ConvergenceDisplay, TransitionDisplay
from skcrf_sdca.selection import alpha_path, cross_val_predict_proba
from skcrf_sdca.serving import Predictor
from skcrf_sdca.structures.chain.decoding import posterior
from skcrf_sdca.structures.chain.marginals import Marginals
from skcrf_sdca.structures.chain.oracle import log_partition, marginals
from skcrf_sdca.text import (
    Apply,
    Joint,
    LabelPairs,
    Shape,
    Suffix,
    TaggedText,
    TextSpan,
    TokenFeatures,
    Window,
    convert_labels,
    repair_labels,
    spans_to_labels,
)

Spans = list[TextSpan] | None


def features(word: str) -> dict[str, str | bool]:
    return {"word": word.lower(), "capital": word.istitle()}


def graphs(y: list[list[str]]) -> None:
    graph = np.ones((3, 2)), np.array([[0, 1], [1, 2]])
    crf = GraphCRF(alpha=0.1, directed=True, solver="lbfgs", loss="softmax_margin")
    assert_type(crf.fit([graph], y), GraphCRF)
    crf.fit([([{"w": "a"}, {"w": "b"}], [[0, 1]], [[1.0]])], y, sample_weight=[1.0])
    assert_type(crf.predict([graph]), NDArray[Any])
    assert_type(crf.predict_proba([graph]), NDArray[Any])
    assert_type(crf.predict_edge_proba([graph]), NDArray[Any])
    assert_type(crf.log_likelihood([graph], y), NDArray[np.float64])
    assert_type(crf.score([graph], y), float)
    assert_type(crf.edge_coef_, NDArray[np.float64])
    assert_type(TreeCRF(0.1, n_jobs=2).fit([([["a"], ["b"]], [-1, 0])], y), TreeCRF)


def every_form_of_input(sentences: list[list[str]], y: list[list[str]]) -> None:
    crf = SDCACRF(alpha=0.1, transitions="BIO", sampling="gap", random_state=0)
    dicts = [[features(word) for word in words] for words in sentences]
    strings = [[[word] for word in words] for words in sentences]
    arrays = [np.ones((len(words), 3)) for words in sentences]
    packed = PackedSequences.from_sequences(arrays)
    generator: Iterator[list[list[str]]] = iter(strings)
    assert_type(crf.fit(dicts, y), SDCACRF)
    crf.fit(strings, y, sample_weight=[1.0] * len(y))
    crf.fit(generator, tuple(y))
    crf.fit(dicts, y, X_val=lambda: dicts, y_val=y)
    crf.fit(dicts, y, init=crf)
    crf.fit(dicts, y, prior=crf)
    crf.fit(arrays, [np.array(labels) for labels in y])
    crf.fit(packed[:10], y[:10])
    crf.fit(np.ones((3, 2)), ["A", "B", "A"])
    crf.fit(np.ones((3, 2)), ["A", "B", "A"], lengths=[1, 2])
    assert_type(crf.predict(np.ones((3, 2)), [1, 2]), NDArray[Any])
    crf.fit([[{"word": "the", "length": 3.0}]], [["O"]])
    SDCACRF(transitions="BIO", label_names=["O", "B"]).fit([[["a"], ["b"]]], [[1, 0]])
    second = OEGCRF(order=2, edge_features=["word=*"]).fit(dicts, y)
    assert_type(second.higher_transitions_, tuple[NDArray[np.float64], ...])
    SDCACRF(edge_features="all").fit(arrays, y)
    LBFGSCRF(edge_features=np.array([0, 2])).fit(arrays, y)
    assert_type(packed.lengths, NDArray[np.int64])
    assert_type(packed.feature_names, FeatureNames | None)
    recording = PackedSequences.from_lengths(np.ones((3, 2)), [1, 2])
    crf.fit(recording, np.array(["a", "b", "a"])).predict(packed[:1])
    named = PackedSequences(packed.X, [0, 3], feature_names=["a", "b"])
    assert_type(list(named.feature_names or ()), list[str])
    assert_type(len(packed), int)


def what_a_model_answers(crf: SDCACRF, X: list[list[dict[str, str]]]) -> Table:
    assert_type(crf.predict(X, known=[["O", None]], decoding="posterior"), NDArray[Any])
    assert_type(crf.predict_proba(X), NDArray[Any])
    assert_type(crf.predict_log_proba(X), NDArray[Any])
    assert_type(crf.predict_n_best(X, 3), NDArray[Any])
    assert_type(crf.sample(X, n_draws=2, random_state=0), NDArray[Any])
    assert_type(crf.span_proba(X, [[("PER", 0, 2)]], scheme="BIO"), NDArray[Any])
    words = [["the"]]
    assert_type(crf.predict_spans(X, scheme="IOBES", tokens=words), NDArray[Any])
    assert_type(crf.log_likelihood(X, [["O"]]), NDArray[np.float64])
    assert_type(crf.score(X, crf.predict(X)), float)
    assert_type(crf.duality_gap_ + crf.history_["gap"][-1].item(), Any)
    assert_type(crf.intercept_, NDArray[np.float64])
    assert_type(crf.vectorizer_, SequenceVectorizer)
    assert_type(crf.feature_names_in_, NDArray[np.object_])
    assert_type(crf.explain(X[0], 0, labels=["O"]), Explanation)
    assert_type(crf.prune(1e-3).constrain([("B", "I"), (None, "B")]), SDCACRF)
    return crf.top_features(5, feature_names=["a", "b"])


def what_segments_answer(X: list[list[list[str]]], y: list[list[str]]) -> Table:
    crf = SegmentCRF(max_length=3, scheme="BIOES", solver="lbfgs")
    assert_type(crf.fit(X, y, X_val=X, y_val=y), SegmentCRF)
    assert_type(crf.predict_spans(X), NDArray[Any])
    assert_type(crf.span_proba(X, [[("PER", 0, 2)]]), NDArray[Any])
    assert_type(crf.max_length_, int)
    SegmentCRF(scheme=None, loss="hinge").fit([np.ones((2, 1))], [[0, 1]])
    crf.set_params(segment_features=lambda own, begin, end: {"long": end - begin > 1})
    SegmentCRF(segment_features=lambda own, begin, end: own[begin]).fit(X, y, prior=crf)
    assert_type(crf.segment_weights(), Table)
    assert_type(crf.predict_n_best(X, 2), NDArray[Any])
    assert_type(crf.sample(X, 2), NDArray[Any])
    return crf.length_features()


def what_a_tagger_answers(words: list[list[str]], y: list[list[str]]) -> Table:
    tagger = make_tagger(TokenFeatures(), SequenceVectorizer(), SDCACRF())
    assert_type(tagger.fit(words, y), Tagger)
    assert_type(tagger.predict_n_best(words, 3), NDArray[Any])
    assert_type(tagger.explain(words[0], 0, labels=["O"]), Explanation)
    assert_type(tagger.constrain("BIO").prune(), Tagger)
    assert_type(tagger.tag("Anna left", tokens="blanks"), TaggedText)
    assert_type(Predictor.from_estimator(tagger).tag("Anna left").spans, Spans)
    pairs = [([features("the")], np.ones((1, 3)))]
    union = SequenceUnion([("words", SequenceVectorizer(), 0), ("vectors", "drop", 1)])
    make_tagger(union, SDCACRF()).fit(pairs, [["O"]]).predict_spans(pairs)
    make_tagger(CRF()).predict_marginals(words)
    return tagger.top_features(5)


def what_goes_around_it(words: list[list[str]], y: list[list[str]]) -> None:
    pairs = Window("word", (-1, 1), n=2), LabelPairs(Joint("word", Suffix(2)))
    X = TokenFeatures([Shape(), Apply(str.lower), *pairs, "word"]).transform(words)
    assert_type(X, list[list[tuple[str, ...]]])
    packed = SequenceVectorizer(min_freq=2, dtype=np.float32).fit_transform(X)
    assert_type(packed, PackedSequences)
    union = SequenceUnion([("words", SequenceVectorizer())], n_jobs=2)
    assert_type(union.fit(X).transform(X), PackedSequences)
    assert_type(skcrf_sdca.CRF(solver="lbfgs").fit(X, y), skcrf_sdca.CRF)
    path = alpha_path(OEGCRF(step_init=0.5), packed, y, [1.0, 0.1])
    assert_type(path, list[OEGCRF])
    cross_val_predict_proba(LBFGSCRF(n_jobs=2), packed, y, cv=3)
    crf = SAGNUSCRF(sampling="uniform", saga=True).set_callbacks(DualityGapMonitor())
    save_model(crf, "model.zip", metadata={"corpus": "a", "f1": 0.5})
    print(model_info("model.zip").metadata["corpus"])
    load_model("model.zip").predict(X)
    save_model(crf, file := io.BytesIO())
    load_model(file)
    load_model(file.getvalue())
    assert_type(PerToken("scaler").fit(X), PerToken)


def numbers(y: list[list[str]]) -> float:
    scores = np.zeros((4, 2)), [[0.0, 1.0], [1.0, 0.0]]
    assert_type(log_partition(*scores), NDArray[np.float64])
    assert_type(marginals(*scores, [0, 4])[0], Marginals)
    assert_type(posterior(*scores)[0], NDArray[np.int32])
    assert_type(extract_spans(y[0], "BIOES"), list[tuple[str, int, int]])
    assert_type(extract_spans(y, "bio"), list[list[tuple[str, int, int]]])
    assert_type(repair_labels(y, "IOB2"), tuple[list[list[str]], int])
    assert_type(convert_labels(y[0], "BIO", "BILUO"), list[str])
    assert_type(spans_to_labels([extract_spans(y[0])], [3]), list[list[str]])
    assert_type(spans_to_labels([("PER", 0, 2)], 3, "IO"), list[str])
    assert_type(parse_label("B-PER"), tuple[str, str | None])
    is_valid_pair(None, "I-PER", scheme="IOB1")
    get_scorer("span_f1")(SDCACRF(), y, y)
    span_f1_score(y, y, average=None, zero_division=0.0)
    flat_f1_score(y, y, average="macro", ignore=("O",))
    return flat_accuracy_score(y, y, zero_division="warn")


def other_parts() -> None:
    X, y = make_chains(n_sequences=20, length=(2, 5), random_state=0)
    data = load_digit_sequences(strings="dates", n_train=20)
    fits = {"SDCA": SDCACRF().fit(X, y), "OEG": OEGCRF().fit(data.X_train, y)}
    display = ConvergenceDisplay.from_estimators(fits, x="seconds")
    assert_type(display, ConvergenceDisplay)
    display.ax_.set_title("gap")
    TransitionDisplay.from_estimator(fits["SDCA"], labels=["B", "I"]).plot(cmap="RdBu")
    crf = CRF(algorithm="lbfgs", c2=0.1, max_iterations=100, solver="oeg").fit(X, y)
    assert_type(crf.predict_single([{"word": "the"}]), list[Any])
    assert_type(crf.estimator_, AnyCRF | PassiveAggressiveCRF | SDCACRF)
    to_crfsuite(crf, "model.crfsuite")
    assert_type(from_crfsuite("model.crfsuite"), SDCACRF)

"""The displays: their curves, their sources and their units."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skcrf_sdca import (
    LBFGSCRF,
    OEGCRF,
    SDCACRF,
    SequenceVectorizer,
    make_tagger,
)
from skcrf_sdca.compat import CRF
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.inspection import Drift, DriftReport
from skcrf_sdca.metrics import flat_confusion_matrix, span_confusion_matrix
from skcrf_sdca.plotting import (
    ConfusionDisplay,
    ConvergenceDisplay,
    DriftDisplay,
    TransitionDisplay,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

X, Y = make_chains(30, n_labels=3, n_features=4, random_state=0)
FITS = [SDCACRF(random_state=0).fit(X, Y), OEGCRF(random_state=0).fit(X, Y)]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def drawn(display):
    """Draw the whole figure, as a screen would; warnings are errors here."""
    display.figure_.canvas.draw()
    return display


@pytest.mark.parametrize("x", ["epoch", "updates", "oracle_calls", "seconds"])
def test_gap_of_one_fit(x):
    display = drawn(ConvergenceDisplay.from_estimator(FITS[0], x=x))
    (line,) = display.lines_
    assert_array_equal(line.get_xdata(), FITS[0].history_[x])
    assert_array_equal(line.get_ydata(), FITS[0].history_["gap"])
    assert display.ax_.get_yscale() == "log"
    assert display.ax_.figure is display.figure_
    (target,) = display.target_lines_
    assert set(target.get_ydata()) == {FITS[0].gap_target_}


def test_target_is_tol_times_the_primal_objective():
    assert FITS[0].gap_target_ == 1e-3 * FITS[0].primal_objective_


def test_suboptimality_is_above_the_best_dual():
    display = drawn(ConvergenceDisplay.from_estimators(FITS, y="suboptimality"))
    best = max(crf.dual_objective_ for crf in FITS)
    for line, crf in zip(display.lines_, FITS, strict=True):
        assert_array_equal(line.get_ydata(), crf.history_["primal"] - best)
    display = ConvergenceDisplay.from_estimators(FITS, y="suboptimality", optimum=0.5)
    assert display.lines_[0].get_ydata()[-1] == FITS[0].history_["primal"][-1] - 0.5


def labels_of(display):
    return [line.get_label() for line in display.lines_]


def test_names_of_fits():
    twice = [FITS[0], FITS[1], FITS[0]]
    display = drawn(ConvergenceDisplay.from_estimators(twice))
    assert labels_of(display) == ["SDCACRF 1", "OEGCRF", "SDCACRF 2"]
    display = ConvergenceDisplay.from_estimators({"a": FITS[0], "b": FITS[1]})
    assert labels_of(display) == ["a", "b"]
    assert labels_of(ConvergenceDisplay.from_estimator(FITS[0], name="c")) == ["c"]
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["a", "b", r"target, tol $\times$ primal"]


def test_looks_of_curves():
    display = ConvergenceDisplay.from_estimators(FITS)
    looks = {(line.get_color(), line.get_linestyle()) for line in display.lines_}
    assert len(looks) == 2
    styles = [{"color": "red"}, None]
    display = ConvergenceDisplay.from_estimators(FITS, curve_kwargs=styles)
    assert display.lines_[0].get_color() == "red"
    display = ConvergenceDisplay.from_estimators(FITS, curve_kwargs={"linewidth": 7})
    assert {line.get_linewidth() for line in display.lines_} == {7}
    with pytest.raises(ValueError, match="curve_kwargs has 1 dicts, but there are 2"):
        ConvergenceDisplay.from_estimators(FITS, curve_kwargs=[{}])


def test_axes_of_the_user_and_no_target():
    figure, ax = plt.subplots()
    display = drawn(ConvergenceDisplay.from_estimator(FITS[0], ax=ax, target=False))
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert display.target_lines_ == []
    assert ax.get_legend() is None


def test_logarithmic_epochs_stay_so():
    _, ax = plt.subplots()
    ax.set_xscale("log")
    drawn(ConvergenceDisplay.from_estimator(FITS[0], ax=ax))
    assert ax.get_xscale() == "log"


def test_distinct_targets():
    loose = SDCACRF(tol=1e-2, random_state=0).fit(X, Y)
    display = drawn(ConvergenceDisplay.from_estimators([*FITS, loose]))
    shared, own = display.target_lines_
    # The smaller of the two targets is first.
    names = shared.get_label().removeprefix("target of ").split(", ")
    assert sorted(names) == ["OEGCRF", "SDCACRF(tol=0.001)"]
    assert own.get_label() == "target of SDCACRF(tol=0.01)"
    curves = [line.get_color() for line in display.lines_]
    assert own.get_color() == curves[2]
    assert shared.get_color() not in curves


def test_names_say_what_differs():
    fits = [SDCACRF(a, random_state=0).fit(X, Y) for a in (np.float64(0.1), 0.01)]
    display = drawn(ConvergenceDisplay.from_estimators(fits))
    assert labels_of(display) == ["SDCACRF(alpha=0.1)", "SDCACRF(alpha=0.01)"]
    pipelines = [make_pipeline(crf) for crf in fits]
    display = ConvergenceDisplay.from_estimators([*pipelines, *FITS])
    names = [f"SDCACRF(alpha={alpha})" for alpha in (0.1, 0.01, "auto")]
    assert labels_of(display) == [*names, "OEGCRF"]
    long = [SDCACRF(0.1 + i / 7, tol=0.1 + i / 3, random_state=i) for i in range(2)]
    fits = [crf.fit(X, Y) for crf in long]
    display = ConvergenceDisplay.from_estimators(fits)
    assert labels_of(display) == ["SDCACRF 1", "SDCACRF 2"]


def test_the_model_of_compat_is_drawn():
    crf = CRF().fit(X, [list(map(str, labels)) for labels in Y])
    (line,) = drawn(ConvergenceDisplay.from_estimator(crf)).lines_
    assert_array_equal(line.get_ydata(), crf.estimator_.history_["gap"])
    assert drawn(TransitionDisplay.from_estimator(crf)).im_.get_array().size == 16


def test_single_epoch_and_single_label():
    one = SDCACRF(random_state=0).fit(X[:1], [[0] * len(X[0])])
    display = drawn(ConvergenceDisplay.from_estimator(one))
    assert len(one.history_["gap"]) == 1
    assert display.lines_[0].get_marker() == "o"
    drawn(TransitionDisplay.from_estimator(one))


@pytest.mark.parametrize(
    "estimator",
    [
        GridSearchCV(CRF(), {"c2": [0.1]}, cv=2),
        GridSearchCV(make_pipeline(SequenceVectorizer(), SDCACRF()), {}, cv=2),
        make_tagger(SequenceVectorizer(), GridSearchCV(LBFGSCRF(), {}, cv=2)),
        make_tagger(CRF()),
    ],
    ids=["search", "search over a pipeline", "search in a tagger", "tagger"],
)
def test_the_model_within_is_drawn(estimator):
    dicts = [[{"a": row[0]} for row in x] for x in X]
    for display in (ConvergenceDisplay, TransitionDisplay):
        with pytest.raises(NotFittedError):
            display.from_estimator(estimator)
    estimator.fit(dicts, [list(map(str, labels)) for labels in Y])
    (line,) = drawn(ConvergenceDisplay.from_estimator(estimator)).lines_
    assert line.get_label() in ("CRF", "SDCACRF", "LBFGSCRF")
    assert drawn(TransitionDisplay.from_estimator(estimator)).text_.shape == (4, 4)


def test_end_of_a_pipeline():
    dicts = [[{"a": row[0]} for row in x] for x in X]
    pipe = make_pipeline(SequenceVectorizer(), LBFGSCRF()).fit(dicts, Y)
    assert labels_of(ConvergenceDisplay.from_estimator(pipe)) == ["LBFGSCRF"]
    drawn(TransitionDisplay.from_estimator(pipe))


def test_what_is_refused():
    with pytest.raises(ValueError, match="x must be one of"):
        ConvergenceDisplay.from_estimator(FITS[0], x="time")
    with pytest.raises(ValueError, match="y must be one of"):
        ConvergenceDisplay.from_estimator(FITS[0], y="loss")
    with pytest.raises(ValueError, match="estimators is empty"):
        ConvergenceDisplay.from_estimators([])
    with pytest.raises(ValueError, match="labels: 7 is not among the labels of fit"):
        TransitionDisplay.from_estimator(FITS[0], labels=[0, 7])
    with pytest.raises(NotFittedError):
        ConvergenceDisplay.from_estimator(SDCACRF())
    with pytest.raises(NotFittedError):
        TransitionDisplay.from_estimator(SDCACRF())


def cells(display):
    return np.ma.filled(display.im_.get_array(), np.nan)


def texts_of(display):
    return [[text.get_text() for text in row] for row in display.text_]


def test_cells_are_from_row_to_column():
    crf = FITS[0]
    display = drawn(TransitionDisplay.from_estimator(crf))
    shown = cells(display)
    assert_array_equal(shown[1:, :3], crf.transition_)
    assert_array_equal(shown[0, :3], crf.start_)
    assert_array_equal(shown[1:, 3], crf.end_)
    assert np.isnan(shown[0, 3])
    ax = display.ax_
    assert [t.get_text() for t in ax.get_xticklabels()] == ["0", "1", "2", "end"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["start", "0", "1", "2"]
    assert display.text_[1, 2].get_text() == format(crf.transition_[0, 2], "z.1f")
    assert display.text_[0, 3] is None
    low, high = display.im_.get_clim()
    assert low == -high == -np.nanmax(np.abs(shown))


def test_choice_of_labels_and_no_boundaries():
    crf = FITS[0]
    display = TransitionDisplay.from_estimator(crf, labels=[2, 0], boundaries=False)
    assert_array_equal(cells(display), crf.transition_[np.ix_([2, 0], [2, 0])])
    display = drawn(TransitionDisplay(np.eye(2), end=[1.0, 2.0]).plot())
    assert cells(display).shape == (2, 3)
    display = drawn(TransitionDisplay(np.eye(2), start=[1.0, 2.0]).plot())
    assert cells(display).shape == (3, 2)


def test_forbidden_transitions_are_hatched():
    crf = copy.deepcopy(FITS[0])
    crf.transition_ = crf.transition_.copy()
    crf.transition_[0, 1] = crf.transition_[2, 0] = -np.inf
    display = drawn(TransitionDisplay.from_estimator(crf))
    places = {(p.get_y() + 0.5, p.get_x() + 0.5) for p in display.ax_.patches}
    assert places == {(1, 1), (3, 0)}
    assert all(patch.get_hatch() for patch in display.ax_.patches)
    assert display.text_[1, 1] is None
    assert np.isfinite(display.im_.get_clim()).all()


@pytest.mark.parametrize(("n_labels", "written"), [(12, True), (13, False)])
def test_values_are_written_where_they_have_room(n_labels, written):
    blocks = {"start": np.zeros(n_labels), "end": np.zeros(n_labels)}
    display = TransitionDisplay(np.zeros((n_labels, n_labels)), **blocks)
    assert (display.plot(colorbar=False).text_ is not None) == written
    assert (display.plot(include_values=not written).text_ is not None) != written


def test_no_weight_is_written_as_minus_zero():
    display = TransitionDisplay([[-0.04, -0.06], [0.04, -0.0]]).plot()
    assert texts_of(display) == [["0.0", "-0.1"], ["0.0", "0.0"]]


def test_options_reach_matplotlib():
    options = {"im_kw": {"vmin": -9, "vmax": 9}, "text_kw": {"color": "red"}}
    display = TransitionDisplay.from_estimator(FITS[0], values_format=".3f", **options)
    assert display.im_.get_clim() == (-9, 9)
    assert display.text_[1, 1].get_color() == "red"
    assert len(display.text_[1, 1].get_text().split(".")[1]) == 3


Y_TRUE = [["B-PER", "I-PER", "O", "B-LOC"], [], ["B-LOC", "O"]]
Y_PRED = [["B-PER", "O", "O", "B-PER"], [], ["B-LOC", "B-LOC"]]


def test_confusion_of_tokens():
    display = drawn(ConfusionDisplay.from_predictions(Y_TRUE, Y_PRED))
    expected = flat_confusion_matrix(Y_TRUE, Y_PRED)
    assert_array_equal(display.confusion_matrix, expected)
    assert texts_of(display) == [[str(n) for n in row] for row in expected]
    ax = display.ax_
    for ticks in (ax.get_xticklabels(), ax.get_yticklabels()):
        assert [t.get_text() for t in ticks] == ["B-LOC", "B-PER", "I-PER", "O"]
    assert {t.get_rotation() for t in ax.get_xticklabels()} == {90.0}
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("True label", "Predicted label")


def test_confusion_of_spans():
    options = {"normalize": "true", "sample_weight": [1, 2, 3]}
    display = ConfusionDisplay.from_predictions(
        Y_TRUE, Y_PRED, scheme="BIO", labels=["PER", "LOC"], **options
    )
    expected = span_confusion_matrix(Y_TRUE, Y_PRED, types=["PER", "LOC"], **options)
    assert_array_equal(drawn(display).confusion_matrix, expected)
    assert display.display_labels == ["PER", "LOC", "no span"]
    assert texts_of(display)[1] == ["0.25", "0.75", "0.00"]
    strict = ConfusionDisplay.from_predictions(
        [["I-X"]], [["I-X"]], scheme="BIO", strict=True
    )
    assert_array_equal(strict.confusion_matrix, [[0]])


def test_confusion_of_what_is_predicted():
    dicts = [[{"a": row[0]} for row in x] for x in X]
    pipe = make_pipeline(SequenceVectorizer(), LBFGSCRF()).fit(dicts, Y)
    search = GridSearchCV(LBFGSCRF(), {"alpha": [0.1]}, cv=2).fit(X, Y)
    for estimator, data in ((FITS[0], X), (pipe, dicts), (search, X)):
        display = drawn(ConfusionDisplay.from_estimator(estimator, data, Y))
        expected = flat_confusion_matrix(Y, estimator.predict(data))
        assert_array_equal(display.confusion_matrix, expected)
    names = [["O" if label else "B" for label in labels] for labels in Y]
    crf = CRF().fit(X, names)
    display = ConfusionDisplay.from_estimator(crf, X, names, scheme="BIO")
    assert display.display_labels == ["", "no span"]


def test_options_of_the_confusion():
    _, ax = plt.subplots()
    display = ConfusionDisplay(np.eye(2)).plot(
        ax=ax, cmap="Greens", xticks_rotation=45, values_format=".1f", colorbar=False
    )
    assert display.ax_ is ax
    assert display.im_.get_cmap().name == "Greens"
    assert texts_of(drawn(display))[0] == ["1.0", "0.0"]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["0", "1"]
    assert {t.get_rotation() for t in ax.get_xticklabels()} == {45.0}
    display = ConfusionDisplay(np.eye(2)).plot(include_values=False)
    assert {t.get_rotation() for t in display.ax_.get_xticklabels()} == {0.0}
    assert display.text_ is None


def test_confusion_of_nothing():
    with pytest.raises(ValueError, match="y_true has no labels: there is nothing to"):
        ConfusionDisplay.from_predictions([[]], [[]])
    with pytest.raises(ValueError, match="y_pred has 0"):
        ConfusionDisplay.from_predictions([["a"]], [])
    with pytest.raises(NotFittedError):
        ConfusionDisplay.from_estimator(SDCACRF(), X, Y)


def test_a_report_of_drift_has_a_mark_for_each_figure():
    rows = [
        Drift("spans", 67.0, 0.0, -31.0),
        Drift("unknown features", 0.1, 0.3, 9.0),
        Drift("label O", 920.0, 925.0, 1.5),
        Drift("label X", 0.0, 2.0, 3.0),
        Drift("label Y", 0.0, 0.0, 0.0),
    ]
    display = drawn(DriftDisplay.from_report(DriftReport(rows, (9, 9), (99, 99))))
    marks = [line for line in display.ax_.lines if line.get_marker() in "<>o"]
    assert [mark.get_marker() for mark in marks] == ["<", "o", "o", ">", "o"]
    assert marks[1].get_xdata()[0] == pytest.approx(3.0)
    assert marks[4].get_xdata()[0] == 1.0
    assert [text.get_text() for text in display.ax_.texts] == [
        "67 \N{RIGHTWARDS ARROW} 0",
        "0.1 \N{RIGHTWARDS ARROW} 0.3",
    ]
    names = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert names == [row.figure for row in rows]
    again = DriftDisplay(display.report).plot(ax=display.ax_)
    assert again.figure_ is display.figure_

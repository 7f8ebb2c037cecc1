"""The steps of the tutorial of sklearn-crfsuite, from its first cell to its last."""

import sys
from collections import Counter
from itertools import chain

import pytest
import scipy.stats
from sklearn.metrics import make_scorer
from sklearn.model_selection import RandomizedSearchCV

from skcrf_sdca import compat

NAMES = {"Ana": "B-PER", "Rio": "B-LOC", "Lima": "B-LOC"}
SENTENCES = [
    "Ana va a Rio",
    "Lima es grande",
    "a Lima va Ana",
    "Rio es de Ana",
    "ella va a Lima",
    "el rio es grande",
] * 3


def features_of(words, i):
    word = words[i]
    found = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
    }
    if i > 0:
        found["-1:word.lower()"] = words[i - 1].lower()
    else:
        found["BOS"] = True
    if i == len(words) - 1:
        found["EOS"] = True
    return found


@pytest.fixture
def package(monkeypatch):
    """The package under the name that the tutorial imports."""
    monkeypatch.setitem(sys.modules, "sklearn_crfsuite", compat)
    for name in "metrics", "scorers", "utils":
        module = getattr(compat, name)
        monkeypatch.setitem(sys.modules, f"sklearn_crfsuite.{name}", module)
    import sklearn_crfsuite
    from sklearn_crfsuite import metrics

    return sklearn_crfsuite, metrics


# A minimum of 1e-3 P is proven on a few sentences in fewer passes than the search has.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_tutorial_runs_to_its_last_cell(package):
    sklearn_crfsuite, metrics = package
    words = [sentence.split() for sentence in SENTENCES]
    X = [[features_of(s, i) for i in range(len(s))] for s in words]
    y = [[NAMES.get(word, "O") for word in s] for s in words]
    train, test = slice(0, 12), slice(12, None)
    crf = sklearn_crfsuite.CRF(
        algorithm="lbfgs",
        c1=0.1,
        c2=0.1,
        max_iterations=100,
        all_possible_transitions=True,
    )
    crf.fit(X[train], y[train])
    labels = list(crf.classes_)
    labels.remove("O")
    predicted = crf.predict(X[test])
    f1 = metrics.flat_f1_score(y[test], predicted, average="weighted", labels=labels)
    assert f1 == 1.0
    ordered = sorted(labels, key=lambda name: (name[1:], name[0]))
    report = metrics.flat_classification_report(
        y[test], predicted, labels=ordered, digits=3
    )
    assert "B-LOC      1.000     1.000     1.000" in report

    fixed = sklearn_crfsuite.CRF(
        algorithm="lbfgs", max_iterations=100, all_possible_transitions=True
    )
    space = {"c1": scipy.stats.expon(scale=0.5), "c2": scipy.stats.expon(scale=0.05)}
    scorer = make_scorer(metrics.flat_f1_score, average="weighted", labels=labels)
    search = RandomizedSearchCV(
        fixed, space, cv=3, n_iter=3, scoring=scorer, random_state=0
    )
    search.fit(X[train], y[train])
    assert set(search.best_params_) == {"c1", "c2"}
    assert search.best_score_ > 0.5
    # Where the tutorial ended before.
    assert 0.0 < search.best_estimator_.size_ / 1_000_000 < 0.1
    assert len(search.cv_results_["param_c1"]) == 3

    best = search.best_estimator_
    assert best.predict(X[test]) == y[test]
    for (before, after), weight in Counter(best.transition_features_).most_common(20):
        assert {before, after} <= {*labels, "O"}
        assert isinstance(weight, float)
    strongest = Counter(best.state_features_).most_common(30)
    attributes = set(chain.from_iterable(name.split() for name in best.attributes_))
    for (attribute, label), weight in strongest:
        assert attribute in attributes
        assert label in best.classes_
        assert weight != 0.0


def test_the_other_modules_are_there(package):
    from sklearn_crfsuite.scorers import flat_accuracy
    from sklearn_crfsuite.utils import flatten

    sklearn_crfsuite, metrics = package
    X, y = [[{"w": "a"}, {"w": "b"}]] * 4, [["A", "B"]] * 4
    crf = sklearn_crfsuite.CRF().fit(X, y)
    assert flatten(crf.predict(X)) == ["A", "B"] * 4
    assert flat_accuracy(crf, X, y) == metrics.flat_accuracy_score(y, y) == 1.0

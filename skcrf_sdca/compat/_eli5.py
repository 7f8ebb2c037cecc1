"""What eli5 shows of the weights of estimators; see `register_eli5`."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca.compat._crf import CRF
from skcrf_sdca.data.label_encoding import plain_labels
from skcrf_sdca.estimators.sequences import ChainCRF
from skcrf_sdca.estimators.tagger import Tagger


def _explain_chain(
    estimator: ChainCRF,
    *,
    top: Any = 20,
    target_names: Any = None,
    targets: Any = None,
    feature_names: Any = None,
    feature_re: str | None = None,
    feature_filter: Callable[[str], bool] | None = None,
) -> Any:
    """Return the largest weights of each label, and those of pairs of labels.

    The arguments are those of ``eli5.explain_weights``. Intercepts, first and last
    labels are the features ``<intercept>``, ``<start>`` and ``<end>``. With parts of
    labels, these are the targets, and there are no pairs.
    """
    from eli5 import base  # type: ignore
    from eli5.utils import get_target_display_names  # type: ignore

    table = estimator.state_features(feature_names=feature_names)
    tests: list[Any] = [] if feature_re is None else [re.compile(feature_re).search]
    tests += [] if feature_filter is None else [feature_filter]
    kept = [all(is_kept(name) for is_kept in tests) for name in table["feature"]]
    table = table[np.array(kept, dtype=bool)]
    parts = estimator.parts_
    labels = plain_labels(estimator.classes_ if parts is None else parts)
    chosen = _in_order(labels) if targets is None else targets
    shown = get_target_display_names(labels, target_names, chosen)
    numbers, names = map(list, zip(*shown, strict=True))
    pairs = None
    if parts is None:
        own = estimator.transition_[np.ix_(numbers, numbers)]
        pairs = base.TransitionFeatureWeights(names, own)
    return base.Explanation(
        estimator=repr(estimator),
        method="CRF",
        targets=[
            base.TargetExplanation(
                name, _top(table[table["label"] == labels[number]], top)
            )
            for number, name in shown
        ],
        transition_features=pairs,
    )


def _explain_compat(crf: CRF, **options: Any) -> Any:
    if crf.classes_ is None:
        # It has no file either.
        check_is_fitted(crf)
    return _named(crf, _explain_chain(crf.estimator_, **options))


def _explain_tagger(tagger: Tagger, **options: Any) -> Any:
    from eli5 import explain_weights

    return _named(tagger, explain_weights(tagger[-1], **options))


def _named(estimator, explanation):
    explanation.estimator = repr(estimator)
    return explanation


def _in_order(labels):
    """Return labels with "O" first, and those of the same type beside each other."""
    if not all(isinstance(label, str) for label in labels):
        return labels
    return sorted(labels, key=lambda label: (label.partition("-")[2], label))


def _top(table, top):
    """Return the largest of the weights of a label, a sorted table."""
    from eli5.base import FeatureWeight, FeatureWeights  # type: ignore

    pairs = list(zip(table["feature"].tolist(), table["weight"].tolist(), strict=True))
    n_positive = int((table["weight"] > 0).sum())
    positive, negative = pairs[:n_positive], pairs[n_positive:][::-1]
    if isinstance(top, (list, tuple)):
        n_first, n_last = top
    else:
        largest = sorted(pairs, key=lambda pair: -abs(pair[1]))[:top]
        n_first = sum(weight > 0 for _, weight in largest)
        n_last = len(largest) - n_first
    shown = [
        [FeatureWeight(*pair) for pair in of_sign[:n]]
        for of_sign, n in ((positive, n_first), (negative, n_last))
    ]
    return FeatureWeights(*shown, *map(_n_left, (positive, negative), shown))


def _n_left(pairs, shown):
    return len(pairs) - len(shown)


# What explains the estimators of each class.
EXPLAINED = {ChainCRF: _explain_chain, CRF: _explain_compat, Tagger: _explain_tagger}

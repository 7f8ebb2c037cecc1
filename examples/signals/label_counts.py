"""
At most so many of a label
==========================

A *budget* joins all labels of a sequence: at most, or exactly, k of them are a certain
label ([Martins10]_, sec. 3, calls this a hard factor). Pairs of neighbours cannot say
it, but pairs of a label and of the count so far can. With K labels the model of these
K (k + 1) states is a chain again, so that everything is exact: the best path within the
budget, the n best ones, their probabilities given the budget, and the probability of
the budget itself.

`limited` makes such a model of a fitted one. Its labels are the numbers of states, and
`label_of` turns them back. `fit_given_counts` trains with the factor: a sequence has
the probability of its labels among the paths that have the label as often. All counts
share the weights of a label, so that the slope is a sum over counts. Its squared norm,
divided by 2 alpha, is a duality gap.

The example knows how often the digit 8 stands in each string of handwritten digits, and
has two points more of the digits right. The factor in training gains nothing more, as
other constraints do not. The picture shows how probable each number of 8s is in six
strings. scikit-learn contains the data. The example takes some seconds, and prints::

    accuracy of the digits                        0.917
    given the number of 8s                        0.935
    given it in training too                      0.933
    gap / P of this training                      2e-05
    log P(at most one 8), mean over the strings  -1.117

.. image:: /images/examples/label_counts.png
"""

from collections import defaultdict
from copy import copy

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from skcrf_sdca import CRF
from skcrf_sdca.datasets import load_digit_sequences
from skcrf_sdca.metrics import flat_accuracy_score

BLOCKS = ("coef_", "intercept_", "start_", "end_", "transition_")


def limited(crf, label, most, least=0):
    """Return a model of the paths that have a label ``least`` to ``most`` times.

    State c K + y of the model is label y of K and c occurrences so far. ``crf`` is a
    fitted chain of order 1 without edge features; it is not changed.
    """
    n_labels, n_counts = len(crf.classes_), most + 1
    count, y = np.divmod(np.arange(n_labels * n_counts), n_labels)
    is_counted = crf.classes_[y] == label
    # A step to the label adds 1 to the count, and any other step keeps it.
    follows = count[:, None] + is_counted == count
    stack = sp.vstack if sp.issparse(crf.coef_) else np.concatenate
    model = copy(crf)
    model.classes_ = np.arange(len(y))
    model.coef_ = stack([crf.coef_] * n_counts)
    model.intercept_ = crf.intercept_[y]
    model.start_ = np.where(count == is_counted, crf.start_[y], -np.inf)
    model.end_ = np.where(count >= least, crf.end_[y], -np.inf)
    model.transition_ = np.where(follows, crf.transition_[np.ix_(y, y)], -np.inf)
    return model


def label_of(crf, states):
    """Return the labels of a sequence of states."""
    return crf.classes_[np.asarray(states) % len(crf.classes_)].tolist()


def with_weights(crf, w):
    """Return a copy of a model whose weights are the numbers of a vector."""
    model, old = copy(crf), [getattr(crf, name) for name in BLOCKS]
    parts = np.split(w, np.cumsum([block.size for block in old[:-1]]))
    for name, block, own in zip(BLOCKS, old, parts, strict=True):
        setattr(model, name, own.reshape(block.shape))
    return model


def objective(w, crf, X, y, label, alpha):
    """Return P(w) and its slope, of -log p(labels | x, their count of a label)."""
    model, n_labels = with_weights(crf, w), len(crf.classes_)
    by_count = defaultdict(list)
    for x, labels in zip(X, y, strict=True):
        by_count[list(labels).count(label)].append((x, labels))
    loss = -np.sum(model.log_likelihood(X, y) + model.log_partition(X))
    slope = np.zeros(len(w))
    change = with_weights(crf, slope)
    for count, pairs in by_count.items():
        own = [x for x, _ in pairs]
        given = limited(model, label, most=count, least=count)
        loss += given.log_partition(own).sum()
        marginals = given.predict_proba(own), given.predict_edge_proba(own)
        for (x, labels), nodes, edges in zip(pairs, *marginals, strict=True):
            codes = np.searchsorted(crf.classes_, labels)
            nodes = nodes.reshape(len(x), -1, n_labels).sum(axis=1)
            nodes[np.arange(len(x)), codes] -= 1.0
            change.coef_ += nodes.T @ x
            change.intercept_ += nodes.sum(axis=0)
            change.start_ += nodes[0]
            change.end_ += nodes[-1]
            shape = len(edges), count + 1, n_labels, count + 1, n_labels
            change.transition_ += edges.reshape(shape).sum(axis=(0, 1, 3))
            np.subtract.at(change.transition_, (codes[:-1], codes[1:]), 1.0)
    return alpha / 2.0 * w @ w + loss / len(X), alpha * w + slope / len(X)


def fit_given_counts(crf, X, y, label, alpha):
    """Return a model like ``crf``, trained given counts, and its gap over P."""
    start = np.concatenate([getattr(crf, name).ravel() for name in BLOCKS])
    options = {"jac": True, "method": "L-BFGS-B", "options": {"gtol": 1e-4}}
    found = minimize(objective, start, (crf, X, y, label, alpha), **options)
    gap = found.jac @ found.jac / (2.0 * alpha)
    return with_weights(crf, found.x), gap / found.fun


def given_counts(crf, X, y, label):
    """Return the best labels of paths that have a label as often as y."""
    found = []
    for x, labels in zip(X, y, strict=True):
        n = list(labels).count(label)
        (states,) = limited(crf, label, most=n, least=n).predict([x])
        found.append(label_of(crf, states))
    return found


def draw(crf, X, y):
    """Write a picture of the probability of each number of 8s in each string."""
    log_z, counts = crf.log_partition(X), range(4)
    models = [limited(crf, 8, most=n, least=n) for n in counts]
    proba = np.exp([model.log_partition(X) - log_z for model in models])
    figure, axes = plt.subplots(2, 3, figsize=(7, 4.5), sharex=True, sharey=True)
    for ax, labels, values in zip(axes.flat, y, proba.T, strict=True):
        true = list(labels).count(8)
        ax.bar(counts, values, color=["C1" if n == true else "C0" for n in counts])
        ax.set_title("".join(map(str, labels)))
    figure.supxlabel("number of 8s in the string, the true one orange")
    figure.supylabel("probability")
    figure.tight_layout()
    figure.savefig("label_counts.png", dpi=150)


def main():
    """Print the accuracy without and with the number of 8s in each string."""
    data = load_digit_sequences(n_train=200, n_test=300, noise=0.4)
    crf = CRF(random_state=0).fit(data.X_train, data.y_train)
    X, y = data.X_test, data.y_test
    alpha = 1.0 / len(data.X_train)
    trained, gap = fit_given_counts(crf, data.X_train, data.y_train, 8, alpha)
    told, both = (
        flat_accuracy_score(y, given_counts(model, X, y, 8)) for model in (crf, trained)
    )
    few = limited(crf, 8, most=1).log_partition(X) - crf.log_partition(X)
    print(f"accuracy of the digits                        {crf.score(X, y):.3f}")
    print(f"given the number of 8s                        {told:.3f}")
    print(f"given it in training too                      {both:.3f}")
    print(f"gap / P of this training                      {gap:.0e}")
    print(f"log P(at most one 8), mean over the strings  {few.mean():.3f}")
    unsure = np.argsort(crf.uncertainty(X))[-6:]
    draw(crf, [X[i] for i in unsure], [y[i] for i in unsure])


if __name__ == "__main__":
    main()

# sphinx_gallery_thumbnail_path = 'images/examples/label_counts.png'

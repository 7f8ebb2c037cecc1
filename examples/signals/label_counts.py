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
`label_of` turns them back. The example knows how often the digit 8 stands in each
string of handwritten digits. scikit-learn contains the data. It prints::

    accuracy of the digits                        0.918
    given the number of 8s                        0.936
    log P(at most one 8), mean over the strings  -1.106
"""

from copy import copy

import numpy as np
import scipy.sparse as sp

from skcrf_sdca import CRF
from skcrf_sdca.datasets import load_digit_sequences
from skcrf_sdca.metrics import flat_accuracy_score


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


def main():
    """Print the accuracy without and with the number of 8s in each string."""
    data = load_digit_sequences(n_train=200, n_test=300, noise=0.4)
    crf = CRF(random_state=0).fit(data.X_train, data.y_train)
    X, y = data.X_test, data.y_test
    found = []
    for x, labels in zip(X, y, strict=True):
        n = list(labels).count(8)
        (states,) = limited(crf, 8, most=n, least=n).predict([x])
        found.append(label_of(crf, states))
    few = limited(crf, 8, most=1).log_partition(X) - crf.log_partition(X)
    print(f"accuracy of the digits                        {crf.score(X, y):.3f}")
    told = flat_accuracy_score(y, found)
    print(f"given the number of 8s                        {told:.3f}")
    print(f"log P(at most one 8), mean over the strings  {few.mean():.3f}")


if __name__ == "__main__":
    main()

"""
Calibration of span probabilities
=================================

Probabilities are calibrated if, for example, six of ten spans with a probability of 0.6
are correct. ``span_proba`` sums over all label paths that contain the span. This
example shows that these probabilities are calibrated. The product of the probabilities
of the labels is not: it treats the labels as independent, and is too small for
uncertain labels. Here a span is any three neighbouring labels, in data drawn from a
known model. The example takes some seconds.
"""

import matplotlib.pyplot as plt
import numpy as np

from skcrf_sdca import SDCACRF
from skcrf_sdca.datasets import make_chains

X, y = make_chains(2000, n_labels=4, transition_scale=2.0, random_state=0)
X_train, y_train, X_test, y_test = X[:1000], y[:1000], X[1000:], y[1000:]
crf = SDCACRF(random_state=0).fit(X_train, y_train)

# %%
# Probabilities of three neighbouring labels
# ------------------------------------------
# The spans are taken from the predicted paths.

LENGTH = 3
paths = crf.predict(X_test)
spans = [
    [(path[t : t + LENGTH], t, t + LENGTH) for t in range(len(path) - LENGTH + 1)]
    for path in paths
]
probability = np.concatenate(crf.span_proba(X_test, spans))
product = np.array(
    [
        proba[np.arange(begin, end), labels].prod()
        for proba, asked in zip(crf.predict_proba(X_test), spans, strict=True)
        for labels, begin, end in asked
    ]
)
right = np.array(
    [
        truth[begin:end] == labels
        for truth, asked in zip(y_test, spans, strict=True)
        for labels, begin, end in asked
    ]
)

# %%
# Plot the fraction of correct spans by their probability
# -------------------------------------------------------
# The error bars are two standard errors.

figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), sharex=True, sharey=True)
values = {"span_proba": probability, "product of the labels' probabilities": product}
for ax, (name, value) in zip(axes, values.items(), strict=True):
    groups = np.digitize(value, np.linspace(0.1, 0.9, 9))
    groups = [groups == k for k in range(10) if (groups == k).sum() > 30]
    share = np.array([right[group].mean() for group in groups])
    error = 2 * np.sqrt(share * (1 - share) / [group.sum() for group in groups])
    mean = [value[group].mean() for group in groups]
    ax.plot([0, 1], [0, 1], color="#707070", linewidth=0.8)
    ax.errorbar(mean, share, yerr=error, fmt="o", color="#0072B2", capsize=3)
    ax.set(title=name, xlabel="probability")
    ax.grid(alpha=0.3)
axes[0].set_ylabel("fraction of spans that are correct")
figure.suptitle("span_proba is calibrated, the product is not", weight="bold")
figure.tight_layout()
plt.show()

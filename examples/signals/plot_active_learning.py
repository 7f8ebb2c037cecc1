"""
Which strings to annotate next
==============================

Annotation costs time, and most strings of a pool teach a model little that it does not
know. Here 10 strings of handwritten digits are annotated first, and then in each round
the 10 that the model is least sure of. The same number of annotated digits makes a
better reader than strings that are drawn at random. scikit-learn contains the data. The
example takes some seconds.
"""

import matplotlib.pyplot as plt
import numpy as np

from skcrf_sdca import SDCACRF
from skcrf_sdca.datasets import load_digit_sequences
from skcrf_sdca.selection import select_uncertain

data = load_digit_sequences(n_train=600, n_test=300)
X, y = list(data.X_train), list(data.y_train)

# %%
# Simulate rounds of annotation
# -----------------------------
#
# The labels of the pool are known here; a round reveals the ones of the batch.


def rounds(measure, seed, n_rounds=12, size=10):
    """Return the annotated digits and the errors of each round."""
    rng = np.random.default_rng(seed)
    pool = rng.permutation(len(X))
    own, pool = pool[:size], pool[size:]
    digits, errors = [], []
    for _ in range(n_rounds):
        crf = SDCACRF(alpha=0.01, tol=0.01, random_state=0)
        crf.fit([X[i] for i in own], [y[i] for i in own])
        digits.append(sum(len(y[i]) for i in own))
        errors.append(1 - crf.score(data.X_test, data.y_test))
        # The pool is in random order: without a measure its first strings are taken.
        batch = np.arange(size)
        if measure is not None:
            batch = select_uncertain(crf, [X[i] for i in pool], size, measure=measure)
        own, pool = np.append(own, pool[batch]), np.delete(pool, batch)
    return digits, errors


curves = {
    name: np.mean([rounds(measure, seed) for seed in range(3)], axis=0)
    for name, measure in (
        ("at random", None),
        ("least sure, mnlp", "mnlp"),
        ("least sure, entropy", "entropy"),
    )
}

# %%
# Plot the errors on test strings
# -------------------------------

figure, axes = plt.subplots(figsize=(7, 4))
styles = ("s--", "o-", "^-")
colors = ("#707070", "#0072B2", "#D55E00")
for (name, (digits, errors)), style, color in zip(
    curves.items(), styles, colors, strict=True
):
    axes.semilogy(digits, 100 * errors, style, color=color, label=name)
axes.set(xlabel="annotated digits", ylabel="wrong test digits (percent)")
axes.set_yticks([3, 5, 10, 20], ["3", "5", "10", "20"])
axes.minorticks_off()
axes.legend(title="strings chosen", frameon=False)
axes.set_title("Uncertain strings teach more", weight="bold")
figure.tight_layout()
plt.show()

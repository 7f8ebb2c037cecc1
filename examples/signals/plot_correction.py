"""
Correct labels interactively with known labels
==============================================

A person looks at some positions of each predicted string and enters their true labels.
``predict(X, known=...)`` keeps these known labels and predicts the others again, given
the known ones. This removes further mistakes. It is best to look first at the positions
where the model is least certain, which ``predict_proba`` shows. scikit-learn contains
the data. The example takes some seconds.
"""

import matplotlib.pyplot as plt
import numpy as np

from skcrf_sdca import SDCACRF
from skcrf_sdca.datasets import load_digit_sequences

data = load_digit_sequences(n_train=100, n_test=1000, noise=0.5)
crf = SDCACRF(random_state=0).fit(data.X_train, data.y_train)
X, y = data.X_test, data.y_test
total = sum(map(len, y))
rng = np.random.default_rng(0)


def errors(paths):
    """Return the number of wrong labels."""
    return sum(
        a != b
        for path, true in zip(paths, y, strict=True)
        for a, b in zip(path, true, strict=True)
    )


# %%
# Enter one label of each string, then two, then three
# ----------------------------------------------------

orders = {
    "least certain first": [p.max(axis=1).argsort() for p in crf.predict_proba(X)],
    "random positions": [rng.permutation(len(labels)) for labels in y],
}
counts = range(4)
left = {}
for name, order in orders.items():
    left[name], left[f"{name}, not predicted again"] = [], []
    for n in counts:
        known = [
            [label if t in places[:n] else None for t, label in enumerate(labels)]
            for labels, places in zip(y, order, strict=True)
        ]
        left[name].append(errors(crf.predict(X, known=known)))
        kept = [
            [k if k is not None else label for k, label in zip(ks, path, strict=True)]
            for ks, path in zip(known, crf.predict(X), strict=True)
        ]
        left[f"{name}, not predicted again"].append(errors(kept))

# %%
# Plot the remaining mistakes
# ---------------------------

figure, ax = plt.subplots(figsize=(7, 4.4))
looks = ("o-", "#0072B2"), ("o:", "#0072B2"), ("s-", "#D55E00"), ("s:", "#D55E00")
for (name, values), (style, color) in zip(left.items(), looks, strict=True):
    print(f"{name:46}", *values)
    ax.plot(counts, np.divide(values, total), style, color=color, label=name)
ax.set_xticks(counts)
ax.set(xlabel="known labels of each string", ylabel="fraction of wrong labels")
ax.legend(frameon=False)
ax.grid(alpha=0.3)
ax.set_title("Predicting again removes more mistakes", weight="bold")
figure.tight_layout()
plt.show()

"""
A label that is corrected corrects its neighbours
=================================================

Somebody reads over what a model has labelled, and corrects one mistake of each string.
``predict(X, known=...)`` keeps the labels that are known and decodes the others given
these: some further mistakes go away without being looked at. It pays to begin where the
model is least certain, which ``predict_proba`` tells. It needs no data but that of
scikit-learn.
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
# One label of each string is looked up, then two, then three
# -----------------------------------------------------------

orders = {
    "the least certain first": [p.max(axis=1).argsort() for p in crf.predict_proba(X)],
    "at random": [rng.permutation(len(labels)) for labels in y],
}
counts = range(4)
left = {}
for name, order in orders.items():
    left[name], left[f"{name}, others as they were"] = [], []
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
        left[f"{name}, others as they were"].append(errors(kept))

# %%
# The picture
# -----------

figure, ax = plt.subplots(figsize=(7, 4.4))
looks = ("o-", "#0072B2"), ("o:", "#0072B2"), ("s-", "#D55E00"), ("s:", "#D55E00")
for (name, values), (style, color) in zip(left.items(), looks, strict=True):
    print(f"{name:46}", *values)
    ax.plot(counts, np.divide(values, total), style, color=color, label=name)
ax.set_xticks(counts)
ax.set(xlabel="labels looked up in each string", ylabel="share of wrong labels left")
ax.legend(frameon=False)
ax.grid(alpha=0.3)
ax.set_title("Decoded anew, more mistakes go away", weight="bold")
figure.tight_layout()
plt.show()

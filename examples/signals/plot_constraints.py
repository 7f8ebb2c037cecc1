"""
Constraints in training or after it
===================================

Each digit of these strings is adjacent to the one before it on the keypad of a
telephone. ``transitions`` takes the allowed pairs: all others have probability zero, in
training and in prediction. ``constrain`` applies the same constraint to a model that
was trained without it. Both improve the accuracy. Here ``constrain`` after the fit is
better: without the constraint, a model also learns from the forbidden paths what a
digit does not look like. The difference is largest for few training strings.
scikit-learn contains the data. The example takes some seconds.
"""

import matplotlib.pyplot as plt
import numpy as np

from skcrf_sdca import SDCACRF
from skcrf_sdca.datasets import load_digit_sequences

KEYPAD = ["123", "456", "789", " 0 "]
place = {key: (r, c) for r, row in enumerate(KEYPAD) for c, key in enumerate(row)}
pairs = [
    (int(a), int(b))
    for a in "0123456789"
    for b in "0123456789"
    if np.abs(np.subtract(place[a], place[b])).sum() == 1
]

# %%
# Fit three models for each number of training strings
# ----------------------------------------------------

sizes = (10, 20, 40, 80, 160, 300)
data = load_digit_sequences(n_train=max(sizes), n_test=500, noise=0.4)
accuracy = {
    "no constraint": [],
    "constraint after the fit": [],
    "constraint in the fit": [],
}
for n in sizes:
    X, y = data.X_train[:n], data.y_train[:n]
    free = SDCACRF(random_state=0).fit(X, y)
    after = SDCACRF(random_state=0).fit(X, y).constrain(pairs)
    told = SDCACRF(transitions=pairs, random_state=0).fit(X, y)
    for values, crf in zip(accuracy.values(), (free, after, told), strict=True):
        values.append(crf.score(data.X_test, data.y_test))
    print(f"{n:3}", *(f"{name}: {values[-1]:.3f}" for name, values in accuracy.items()))

# %%
# Plot the accuracy
# -----------------

figure, ax = plt.subplots(figsize=(7, 4.4))
looks = ("o--", "#D55E00"), ("s-", "#0072B2"), ("^:", "#009E73")
for (name, values), (style, color) in zip(accuracy.items(), looks, strict=True):
    ax.semilogx(sizes, values, style, color=color, label=name)
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.set(xlabel="training strings", ylabel="accuracy on test digits")
ax.legend(frameon=False)
ax.grid(alpha=0.3)
ax.set_title("The constraint helps most after the fit", weight="bold")
figure.tight_layout()
plt.show()

"""
A rule that is known helps, and more so after the fit than in it
================================================================

Each digit of the strings is next to the one before on the keypad of a telephone.
``transitions`` takes the pairs that are allowed: all others have probability zero, in
training and in prediction. ``constrain`` forbids them in a model that was trained with
all paths. Here that is better: such a model has learnt from more paths what a digit
does not look like, and the fewer strings there are the more it matters. It needs no
data but that of scikit-learn.
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
# Three models of each size
# -------------------------

sizes = (10, 20, 40, 80, 160, 300)
data = load_digit_sequences(n_train=max(sizes), n_test=500, noise=0.4)
accuracy = {
    "nothing": [],
    "the keypad, after the fit": [],
    "the keypad, in the fit": [],
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
# The picture
# -----------

figure, ax = plt.subplots(figsize=(7, 4.4))
looks = ("o--", "#D55E00"), ("s-", "#0072B2"), ("^:", "#009E73")
for (name, values), (style, color) in zip(accuracy.items(), looks, strict=True):
    ax.semilogx(sizes, values, style, color=color, label=name)
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.set(xlabel="training strings", ylabel="share of test digits read right")
ax.legend(title="what the model is told", frameon=False)
ax.grid(alpha=0.3)
ax.set_title("Told the rule after the fit, it reads best", weight="bold")
figure.tight_layout()
plt.show()

"""
Strings of handwritten digits: training, gap and prediction
===========================================================

Each sequence of this example is a code that was typed on the keypad of a telephone. The
finger moves from key to adjacent key, and each digit is a noisy image of 8 x 8 pixels.
A classifier of single images gets some digits wrong. A conditional random field (CRF)
also learns which digit follows which, and labels each code as a whole. Its training
stops when the duality gap reaches its target. The gap is a certificate: it is an upper
bound on the distance of the objective from its minimum.

scikit-learn contains the images. The example takes a few seconds, and saves the figure
as ``digit_strings.png``::

    python examples/plot_digit_strings.py
"""

import matplotlib.pyplot as plt
import numpy as np

from skcrf_sdca import SDCACRF
from skcrf_sdca.datasets import load_digit_sequences

# %%
# Training
# --------
# A sequence is an array with one row of 64 pixels for each digit. Its labels are a
# list. ``verbose=1`` prints the certificate of every epoch.

data = load_digit_sequences(strings="keypad")
chain = SDCACRF(random_state=0, verbose=1).fit(data.X_train, data.y_train)

# %%
# Test accuracy
# -------------
# If the same estimator gets a table of digits, it is a classifier of single digits. We
# compare it with the chain.

single = SDCACRF(random_state=0)
single.fit(np.concatenate(data.X_train), np.concatenate(data.y_train))
single_accuracy = single.score(np.concatenate(data.X_test), np.concatenate(data.y_test))
chain_accuracy = chain.score(data.X_test, data.y_test)
print(f"\ntest accuracy, digit by digit  {single_accuracy:.1%}")
print(f"test accuracy, chain           {chain_accuracy:.1%}")

# %%
# Label new strings
# -----------------
# ``predict`` returns the labels of each string, ``predict_proba`` the probabilities of
# the labels at each position. :doc:`/persistence` says how to save the model.

n_shown = 8
strings = data.X_test[:n_shown]
readings = {
    "true": data.y_test[:n_shown],
    "chain": chain.predict(strings),
    "single": [single.predict(X) for X in strings],
}
print("\nnew strings")
for true, labels, proba in zip(
    readings["true"], readings["chain"], chain.predict_proba(strings), strict=True
):
    print(
        f"  true {''.join(map(str, true)):10}  chain {''.join(map(str, labels)):10}  "
        f"probability of its least certain digit {proba.max(axis=1).min():.2f}"
    )

# %%
# Plot the gap and the predictions
# --------------------------------
# A much longer fit finds the minimum. The left figure shows that the distance from this
# minimum was below the gap in every epoch.

BLUE, RED, GREY = "#1f5f99", "#c8102e", "#707070"
history = chain.history_
minimum = SDCACRF(tol=1e-10, random_state=0).fit(data.X_train, data.y_train)
distance = history["primal"] - minimum.dual_objective_

figure = plt.figure(figsize=(13, 5.4), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=(4, 7), wspace=0.03)
left.suptitle("The duality gap certifies the fit", weight="bold")
right.suptitle(
    f"The chain reads {chain_accuracy:.1%} of the test digits, "
    f"a classifier of single digits {single_accuracy:.1%}",
    weight="bold",
)
right.supxlabel("the first test strings, mistakes in red", color=GREY, size="medium")

ax = left.subplots()
ax.semilogy(history["epoch"], history["gap"], "o-", color=BLUE, label="duality gap")
ax.semilogy(
    history["epoch"], distance, ".--", color=GREY, label="distance from the minimum"
)
ax.axhline(chain.gap_target_, color="black", label="gap target: the fit ends")
ax.set(xlabel="epoch", ylabel="nats a string")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
ax.grid(alpha=0.3)

for i, ax in enumerate(right.subplots(n_shown // 2, 2).flat):
    ax.set_axis_off()
    for t, image in enumerate(data.images_test[i]):
        ax.imshow(image, "gray_r", extent=(t + 0.05, t + 0.95, 0.95, 0.05))
    for row, (name, labels) in enumerate(readings.items()):
        y = 1.3 + 0.6 * row
        ax.text(-0.2, y, name, ha="right", va="center", color=GREY)
        for t, label in enumerate(labels[i]):
            style = {"ha": "center", "va": "center"}
            if label != data.y_test[i][t]:
                style["color"] = "white"
                style["bbox"] = {"boxstyle": "circle,pad=0.15", "color": RED}
            ax.text(t + 0.5, y, label, **style)
    ax.set(xlim=(-1.6, 10), ylim=(2.9, 0))

figure.savefig("digit_strings.png", dpi=150)
if plt.get_backend().lower() != "agg":
    plt.show()

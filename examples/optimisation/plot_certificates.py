"""
Duality gaps of four solvers
============================

Four of the solvers are compared on the same objective. Each computes a certificate
after every epoch: the duality gap (full line), which is never below the true distance
from the minimum (dashed line). How tight this bound is depends on the solver. SDCA and
OEG keep marginals, and their gap is a few times the distance. SAG-NUS keeps marginals
of earlier weights, which are a looser bound while the optimum is far. L-BFGS has only
weights. Its gap follows from strong convexity, or from a mix of its last dual points:
it is a valid bound, but a loose one. scikit-learn contains the data. The example takes
some seconds.
"""

import matplotlib.pyplot as plt

from skcrf_sdca import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF, DualityGapMonitor
from skcrf_sdca.datasets import load_digit_sequences

data = load_digit_sequences(n_train=200, n_test=1)
X, y = data.X_train, data.y_train

# %%
# Compute the minimum
# -------------------
# A fit to a tiny gap gives the minimum to nine digits, since the minimum is between the
# dual and the primal objective.

minimum = SDCACRF(tol=1e-10, max_iter=500, random_state=0).fit(X, y).dual_objective_
print(f"minimum: {minimum:.9f} nats a sequence")

# %%
# Plot gap and distance by epoch
# ------------------------------
#
# Fits with a callback certify every epoch; others do so where it can end them.

estimators = {
    "SDCA": SDCACRF(tol=1e-6, random_state=0),
    "OEG": OEGCRF(tol=1e-6, random_state=0),
    "SAG-NUS": SAGNUSCRF(tol=1e-6, random_state=0),
    "L-BFGS": LBFGSCRF(tol=1e-6),
}
figure, axes = plt.subplots(2, 2, figsize=(9, 6), sharex=True, sharey=True)
for ax, (name, crf) in zip(axes.flat, estimators.items(), strict=True):
    history = crf.set_callbacks(DualityGapMonitor()).fit(X, y).history_
    distance = history["primal"] - minimum
    assert (history["gap"] >= distance).all()
    ax.semilogy(history["epoch"], history["gap"], color="#0072B2", label="gap")
    ax.semilogy(history["epoch"], distance, "--", color="#D55E00", label="distance")
    ax.set_title(f"{name}: {crf.n_iter_} epochs", fontsize="medium")
    ax.grid(alpha=0.3)
axes[0, 0].legend(frameon=False)
figure.supxlabel("epoch")
figure.supylabel("nats per sequence")
figure.suptitle("The gap is never below the distance", weight="bold")
figure.tight_layout()
plt.show()

"""
Decision areas and methods on a mixture of Gaussians
====================================================

Rows of a table are chains of one node each, and a CRF of them is multinomial logistic
regression. The points here are those of a mixture of Gaussians in the plane, as in the
report of SDCA for CRFs of 2017. Its first figure shows the areas in which the model
predicts each class: polygons, as the scores are linear. Its second figure compares
methods: all end at the same weights, after different numbers of passes. The example
takes two seconds.
"""

import matplotlib.pyplot as plt
import numpy as np

from skcrf_sdca import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF, DualityGapMonitor

N, N_CLASSES = 600, 6
rng = np.random.default_rng(0)
centres = 3.0 * rng.normal(size=(N_CLASSES, 2))
y = rng.integers(N_CLASSES, size=N)
X = centres[y] + rng.normal(size=(N, 2))

# %%
# The areas
# ---------
# The penalty includes the intercept, as that of the report does.

crf = SDCACRF(tol=1e-9, max_iter=1000, random_state=0).fit(X, y)
low, high = X.min(axis=0) - 1.0, X.max(axis=0) + 1.0
across, up = np.meshgrid(*np.linspace(low, high, 200).T)
areas = crf.predict(np.column_stack([across.ravel(), up.ravel()]))
print(f"{100 * np.mean(crf.predict(X) == y):.0f} % of the points are in their area")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
colours = {"cmap": "tab10", "vmin": 0, "vmax": 9}
left.pcolormesh(across, up, np.reshape(areas, across.shape), alpha=0.3, **colours)
left.scatter(*X.T, c=y, s=8, **colours)
left.set_title("Decision areas", fontsize="medium")

# %%
# The methods
# -----------
# The distance from the minimum by oracle calls, of which L-BFGS takes as many for an
# iteration as SDCA for an epoch. Draws by the residual are the best ones of SDCA here;
# SAG-NUS* and L-BFGS are level with them.

given = {"tol": 1e-6, "max_iter": 1000}
plain = {"acceleration": None, "random_state": 0, **given}
methods = {
    "SDCA, by residual": SDCACRF(sampling="residual", **plain),
    "SDCA, by gap": SDCACRF(**plain),
    "SDCA, uniform": SDCACRF(sampling="uniform", **plain),
    "OEG, by gap": OEGCRF(**plain),
    "SAG-NUS*": SAGNUSCRF(random_state=0, **given),
    "L-BFGS": LBFGSCRF(**given),
}
for name, method in methods.items():
    # With a callback every epoch is certified.
    history = method.set_callbacks(DualityGapMonitor()).fit(X, y).history_
    distance = history["primal"] - crf.dual_objective_
    right.semilogy(history["oracle_calls"], distance, label=name)
    reached = np.flatnonzero(distance <= 1e-3 * crf.dual_objective_)
    calls = history["oracle_calls"][reached[0]] if len(reached) else np.inf
    print(f"{name:20} {calls:5.1f} calls / n to P <= 1.001 P*")
right.set_xlim(0, 60)
right.set_ylim(1e-8, 2.0)
right.set_xlabel("oracle calls / n")
right.set_ylabel("$P - P^*$")
right.grid(alpha=0.3)
right.legend(frameon=False, fontsize="small")
plt.show()

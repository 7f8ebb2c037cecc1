"""
Grid search over alpha, estimators and sampling schemes
=======================================================

The best strength of regularisation, ``alpha``, depends on the data, so we search for
it. The estimator and its sampling scheme change only the time: all of them reach the
same model. This example searches over all three on a part of the CoNLL-2000 chunking
task. It prints the F1 score of phrases and the seconds of each candidate.

The data are the same as in ``chunking_conll2000.py``. The example takes one to two
minutes::

    python examples/text/grid_search_chunking.py --output grid_search_chunking.png
"""

import argparse

import matplotlib.pyplot as plt
from sklearn.model_selection import GridSearchCV, KFold

from chunking_conll2000 import FEATURES
from skcrf_sdca import OEGCRF, SAGNUSCRF, SDCACRF, SequenceVectorizer
from skcrf_sdca.datasets import fetch_conll2000
from skcrf_sdca.metrics import get_scorer

# %%
# Compute the features once
# -------------------------
# ``PackedSequences`` can be split into folds, so the features are computed only once.

N_SENTENCES, N_FOLDS = 1000, 3
X, y = fetch_conll2000(return_X_y=True)
X, y = X[:N_SENTENCES], y[:N_SENTENCES]
packed = SequenceVectorizer().fit_transform(FEATURES.transform(X))

# %%
# The grid
# --------
# The candidates for alpha are 1 / n, the default, and two values around it.
# ``sampling_mix`` is the probability of a draw that is not uniform. It has no effect on
# uniform sampling, so each estimator has two grids.

n_train = N_SENTENCES * (N_FOLDS - 1) // N_FOLDS
ALPHAS = [0.2 / n_train, 1 / n_train, 5 / n_train]
ADAPTIVE = {SDCACRF: "gap", OEGCRF: "gap", SAGNUSCRF: "lipschitz"}


def grids(sampling):
    """Return the grids of an estimator whose adaptive scheme is ``sampling``."""
    return [
        {"alpha": ALPHAS, "sampling": ["uniform"]},
        {"alpha": ALPHAS, "sampling": [sampling], "sampling_mix": [0.5, 0.8]},
    ]


# %%
# Print the results
# -----------------
# For one alpha, all scores agree to the tolerance of the fit, but the seconds differ.

ROW = "{:12}{:>10}{:>12}{:>6}{:>8}{:>8}{:>10}"


def print_results(name, results):
    """Print a row for every point of the grid, best score first."""
    for i in results["rank_test_score"].argsort(kind="stable"):
        parameters = results["params"][i]
        print(
            ROW.format(
                name,
                f"{parameters['alpha']:.1e}",
                parameters["sampling"],
                parameters.get("sampling_mix", ""),
                f"{results['mean_test_score'][i]:.4f}",
                f"{results['std_test_score'][i]:.4f}",
                f"{results['mean_fit_time'][i]:.2f} s",
            ),
            flush=True,
        )


# %%
# Plot the results
# ----------------
# Points of the same alpha have about the same F1.
#
# .. image:: /images/examples/grid_search_chunking.png


def draw(found, output):
    """Draw the F1 of every candidate against the time of its fit."""
    figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
    colors = dict(zip(ALPHAS, ("#0072B2", "#D55E00", "#009E73"), strict=True))
    for (name, results), marker in zip(found.items(), "osD", strict=True):
        color = [colors[alpha] for alpha in results["param_alpha"]]
        x, y = results["mean_fit_time"], results["mean_test_score"]
        ax.scatter(x, y, c=color, marker=marker, alpha=0.7)
        ax.scatter([], [], c="#707070", marker=marker, label=name)
    for alpha, color in colors.items():
        ax.scatter([], [], c=color, marker="_", label=f"alpha {alpha:.1e}")
    ax.set(xscale="log", xlabel="seconds of a fit", ylabel="F1 of phrases")
    ax.legend(frameon=False, ncols=2)
    ax.set_title("alpha decides on the score, the optimiser on the time")
    figure.savefig(output, dpi=110)


def main():
    """Search over the grids of every estimator."""
    parser = argparse.ArgumentParser(description="Search over optimisers.")
    parser.add_argument("--output", default="grid_search_chunking.png")
    output = parser.parse_args().output
    found = {}
    print(ROW.format("estimator", "alpha", "sampling", "mix", "F1", "+-", "fit"))
    for estimator, sampling in ADAPTIVE.items():
        search = GridSearchCV(
            estimator(random_state=0),
            grids(sampling),
            scoring=get_scorer("span_f1"),
            cv=KFold(N_FOLDS),
            refit=False,
        ).fit(packed, y)
        print_results(estimator.__name__, search.cv_results_)
        found[estimator.__name__] = search.cv_results_
    draw(found, output)


if __name__ == "__main__":
    main()

# sphinx_gallery_thumbnail_path = 'images/examples/grid_search_chunking.png'

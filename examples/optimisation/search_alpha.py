"""
Grid search over alpha with a certificate for every fit
=======================================================

A grid search compares candidates fairly only if all fits converged: the score of a fit
that stopped too early says little about its parameters. This example searches over
``alpha`` and ``sampling_mix`` for named entities in Dutch. It shows scikit-learn's
progress bar, and plots the duality gap of every candidate on every fold.

The data are the names of CoNLL-2002. They are read from the folder that
``SKCRF_SDCA_DATA`` names, or downloaded. The example needs ``pip install
"skcrf-sdca[plot,progress]"``, and takes about a minute on two cores::

    python examples/optimisation/search_alpha.py --output search_alpha.png
"""

import argparse
from itertools import groupby
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.callback import ProgressBar
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold

from skcrf_sdca import SDCACRF, DualityGapMonitor, SequenceVectorizer
from skcrf_sdca.datasets import fetch_conll2002
from skcrf_sdca.metrics import span_f1_score

N_FOLDS = 3


def token_features(sentence, i):
    """Return the features of a token: the word, its form, and its neighbours."""
    word = sentence[i]["word"]
    features = {
        "word": word.lower(),
        "ends": [word[-k:] for k in (1, 2, 3)],
        "capitals": word.istitle() or word.isupper(),
        "first": i == 0,
        "digits": any(map(str.isdigit, word)),
    }
    for k in (-2, -1, 1, 2):
        if 0 <= i + k < len(sentence):
            near = sentence[i + k]
            features[f"[{k}]"] = {
                "word": near["word"].lower(),
                "pos": near["pos"],
                "capitals": near["word"].istitle(),
            }
    return features


def sentence_features(sentence):
    """Return the features of every token of a sentence."""
    return [token_features(sentence, i) for i in range(len(sentence))]


def search(X, y):
    """Search on features that are computed once; return the search and the gaps.

    ``PackedSequences`` can be split into folds and sent to processes. A feature that
    occurs in the test fold only does no harm: its weight stays zero.
    """
    packed = SequenceVectorizer().fit_transform(map(sentence_features, X))
    n_train = len(packed) * (N_FOLDS - 1) // N_FOLDS
    grid = {
        "alpha": [c / n_train for c in (0.1, 0.3, 1.0, 3.0)],
        "sampling_mix": [0.0, 0.8],
    }
    grid_search = GridSearchCV(
        SDCACRF(random_state=0),
        grid,
        scoring=make_scorer(span_f1_score),
        cv=KFold(N_FOLDS),
        n_jobs=2,
    )
    monitor = DualityGapMonitor()
    grid_search.set_callbacks(monitor, ProgressBar()).fit(packed, y)
    return grid_search, monitor.get_logs().data


def gap_curves(rows):
    """Yield (candidate, fold, gaps by epoch) of every fit except the final one.

    In a log row, ``task_id_path`` is (search, candidates, number of the fit, epoch).
    The fits are numbered candidate by candidate. The final fit is on all data.
    """
    fits = (row for row in rows if len(row["task_id_path"]) == 4)
    for (_, _, fit), epochs in groupby(fits, lambda row: row["parent_task_id_path"]):
        yield *divmod(fit, N_FOLDS), [row["gap"] for row in epochs]


# %%
# Plot the gaps and the scores
# ----------------------------
#
# .. image:: /images/examples/search_alpha.png


def draw(results, curves, output):
    """Plot the gaps of all fits, and the score of each candidate."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    alphas = sorted(set(results["param_alpha"]))
    colours = dict(zip(alphas, plt.cm.viridis([0.0, 0.3, 0.6, 0.9]), strict=True))
    styles = {0.0: "--", 0.8: "-"}
    for candidate, fold, gaps in curves:
        alpha, mix = (
            results[f"param_{p}"][candidate] for p in ("alpha", "sampling_mix")
        )
        label = f"alpha {alpha:.1e}, mix {mix}" if fold == 0 else None
        epochs = range(1, len(gaps) + 1)
        left.semilogy(
            epochs, gaps, styles[mix], color=colours[alpha], lw=1, label=label
        )
    left.xaxis.get_major_locator().set_params(integer=True)
    left.set(xlabel="epoch", ylabel="duality gap, nats a sentence")
    left.set_title("Every candidate on every fold ends on its certificate")
    left.legend(frameon=False, fontsize="small")
    for mix, style in styles.items():
        chosen = results["param_sampling_mix"] == mix
        x, f1 = results["param_alpha"][chosen], results["mean_test_score"][chosen]
        right.plot(x.astype(float), f1, f"ko{style}", mfc="none", label=f"mix {mix}")
    right.set(
        xscale="log", xlabel="alpha", ylabel=f"F1 of entities, mean of {N_FOLDS} folds"
    )
    right.set_title("alpha decides on the model, the sampling on its cost")
    right.legend(frameon=False)
    figure.savefig(output, dpi=150)


def main():
    """Search, print the table and draw the curves."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--output", type=Path, default="search_alpha.png")
    parser.add_argument("--n-sentences", type=int, default=4000)
    options = parser.parse_args()
    X, y = fetch_conll2002(return_X_y=True)
    n = options.n_sentences
    grid_search, rows = search(X[:n], y[:n])
    results = grid_search.cv_results_
    curves = list(gap_curves(rows))
    print(f"\n{'alpha':>9} {'mix':>4} {'F1':>7} {'epochs':>7} {'largest gap':>12}")
    for i, point in enumerate(results["params"]):
        gaps = [curve for candidate, _, curve in curves if candidate == i]
        print(
            f"{point['alpha']:9.1e} {point['sampling_mix']:4} "
            f"{results['mean_test_score'][i]:7.4f} {max(map(len, gaps)):7} "
            f"{max(gap[-1] for gap in gaps):12.2e}"
        )
    draw(results, curves, options.output)
    print(f"figure saved as {options.output}")


if __name__ == "__main__":
    main()

# sphinx_gallery_thumbnail_path = 'images/examples/search_alpha.png'

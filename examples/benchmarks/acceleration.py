"""Count epochs, oracle calls and seconds with and without acceleration, by alpha.

    python examples/benchmarks/acceleration.py [--task nl] [--way metric] [--quick]

Each fit ends at the default tolerance, or after 200 epochs (--epochs). "scalar" is the
proximal point iteration with the same kappa for all features of the same size, "metric"
is the default, and "momentum" is the default from points that are extrapolated, as
those of Catalyst: z = w + 0.6 (w - w'), with w' the weights one epoch before.
"catalyst" is "scalar" with the momentum of Catalyst itself, (1 - sqrt q) / (1 + sqrt q)
for q = alpha / (alpha + kappa). "theory" has kappa = max R_i / n - alpha for all
weights, and the same momentum for q = alpha / (alpha + 2 kappa) [1]_. The other
estimators, which are not accelerated, have the way "plain" alone.

Oracle calls are counted in passes over the data. The seconds are of the processor: for
all of ``fit``, and in milliseconds for the visits of an epoch, in the mean. The table
has the epochs of each seed, and medians of the rest. "noisy", "addresses" and "short"
are made, see made_texts.py. The tasks "nl" and "upos" have the features of
examples/text/crfsuite_tutorial.py and of `upos_features`; they are read from the folder
that SKCRF_SDCA_DATA names.

References
----------
.. [1] Shalev-Shwartz, Zhang, "Accelerated proximal stochastic dual coordinate ascent
   for regularized loss minimization", Mathematical Programming, 2016.
"""

import argparse
import gzip
import os
import sys
import warnings
from functools import cached_property
from itertools import product
from pathlib import Path
from time import process_time

import made_texts
import numpy as np
from sklearn.exceptions import ConvergenceWarning

import packed
import tables
from skcrf_sdca import (
    LBFGSCRF,
    OEGCRF,
    SAGNUSCRF,
    SDCACRF,
    SGDCRF,
    SequenceVectorizer,
)
from skcrf_sdca.estimators import solver_choice
from skcrf_sdca.solvers import monitor, proximal
from skcrf_sdca.solvers.proximal import ProximalPoint

sys.path.append(str(Path(__file__).resolve().parents[1] / "text"))

N_ALPHAS = (10.0, 1.0, 0.1, 0.01, 0.001)
EPOCHS, QUICK_SEQUENCES, QUICK_EPOCHS = 200, 200, 3
DEFAULTS = {name: getattr(proximal, name) for name in ("EXPONENT", "FEATURES")}


class Extrapolated(ProximalPoint):
    """Proximal points whose centre is beyond the weights, by a share of the step."""

    def share(self):
        """Return the share of the step from the weights one epoch before."""
        return 0.6

    def _center(self):
        w = self.model.w
        before = vars(self).get("before", w)
        self.before = w.copy()
        return w + self.share() * (w - before)


class Catalyst(Extrapolated):
    """The share is that of Catalyst: (1 - sqrt q) / (1 + sqrt q)."""

    # 1 / q - 1, over kappa / alpha.
    times = 1.0

    def share(self):
        """Return the share for kappa of this epoch."""
        root = (1.0 + self.times * self._kappa()) ** -0.5
        return (1.0 - root) / (1.0 + root)


class Theory(Catalyst):
    """kappa and the share are those of Shalev-Shwartz and Zhang."""

    times = 2.0

    @cached_property
    def radius(self):
        """The largest R_i."""
        return self.problem.structure.squared_radii().max()

    def _kappa(self):
        strength = self.problem.strength * self.problem.n_sequences
        return max(self.radius / strength - 1.0, 0.0)


# The acceleration, how kappa differs from its rule, and the proximal points.
SAME = {"EXPONENT": 0.0}
WAYS = {
    "plain": (None, {}, ProximalPoint),
    "scalar": ("auto", SAME, ProximalPoint),
    "metric": ("auto", {}, ProximalPoint),
    "momentum": ("auto", {}, Extrapolated),
    "catalyst": ("auto", SAME, Catalyst),
    "theory": ("auto", {**SAME, "FEATURES": np.inf}, Theory),
}


def upos_features(words, i):
    """Return the features of a word for universal part-of-speech tags."""
    word = words[i]
    return {
        "bias": 1.0,
        "word": word.lower(),
        **{f"prefix{n}": word[:n] for n in (2, 3)},
        **{f"suffix{n}": word[-n:] for n in (1, 2, 3)},
        "title": word.istitle(),
        "upper": word.isupper(),
        "digit": word.isdigit(),
        "hyphen": "-" in word,
        "before": words[i - 1].lower() if i else "BOS",
        "after": words[i + 1].lower() if i < len(words) - 1 else "EOS",
    }


def load_upos():
    """Return features and tags of the English Web Treebank."""
    path = Path(os.environ["SKCRF_SDCA_DATA"]) / "ud" / "en_ewt.train.conllu.gz"
    X, y = [], []
    for block in gzip.open(path, "rt", encoding="utf-8").read().split("\n\n"):
        rows = [line.split("\t") for line in block.splitlines()]
        rows = [row for row in rows if row[0].isdigit()]
        words = [row[1] for row in rows]
        if words:
            X.append([upos_features(words, i) for i in range(len(words))])
            y.append([row[3] for row in rows])
    return X, y


def load_dutch():
    """Return features and labels of the Dutch names of the tutorial."""
    from crfsuite_tutorial import load

    return load("nl")[0]


TEXTS = {
    "nl": load_dutch,
    "upos": load_upos,
    "noisy": made_texts.noisy_names,
    "addresses": made_texts.addresses,
    "short": made_texts.short_names,
}
ESTIMATORS = {
    crf.__name__: crf for crf in (SDCACRF, OEGCRF, SAGNUSCRF, LBFGSCRF, SGDCRF)
}


def load(name):
    """Return packed sequences and labels of a task."""
    if name in packed.NAMES:
        task = packed.load(name)
        return task.X, task.y
    X, y = TEXTS[name]()
    return SequenceVectorizer().fit_transform(X), y


def fit(name, X, y, n_alpha, way, epochs, seed, l1_ratio):
    """Return epochs, passes of oracle calls, seconds, and seconds of an epoch.

    The epochs are 0 if the fit does not end. ``n_alpha`` is the strength of L2.
    """
    acceleration, of_kappa, solver_choice.ProximalPoint = WAYS[way]
    vars(proximal).update(DEFAULTS | of_kappa)
    strength = n_alpha / (1.0 - l1_ratio) / len(X)
    crf = ESTIMATORS[name](strength, l1_ratio=l1_ratio, max_iter=epochs)
    own = {"acceleration": acceleration, "random_state": seed}
    crf.set_params(**{key: own[key] for key in own if key in crf.get_params()})
    start = process_time()
    crf.fit(X, y)
    seconds = process_time() - start
    history = crf.history_
    reached = crf.duality_gap_ <= crf.gap_target_
    calls, epoch = history["oracle_calls"][-1], history["seconds"][-1] / crf.n_iter_
    return crf.n_iter_ if reached else 0, calls, seconds, epoch


def cells(found, epochs):
    """Return the cells of fits: epochs of each seed, and medians of the rest."""
    n_iter, *others = zip(*found, strict=True)
    calls, seconds, epoch = map(np.median, others)
    figures = f"{calls:.0f}", f"{seconds:.1f}", f"{1e3 * epoch:.0f}"
    return [", ".join(str(own or f"> {epochs}") for own in n_iter), *figures]


def main():
    """Print the table of the tasks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    choices = (*packed.NAMES, *TEXTS)
    parser.add_argument("--task", nargs="+", choices=choices, default=choices)
    parser.add_argument("--n-alpha", nargs="+", type=float, default=N_ALPHAS)
    parser.add_argument("--way", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument(
        "--estimator", nargs="+", choices=ESTIMATORS, default=["SDCACRF"]
    )
    parser.add_argument("--l1-ratio", type=float, default=0.0)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    epochs = QUICK_EPOCHS if options.quick else options.epochs
    warnings.simplefilter("ignore", ConvergenceWarning)
    # The clock of the history.
    monitor.perf_counter = process_time
    rows = [["task", "alpha n", "fit", "epochs", "calls", "seconds", "ms"]]
    for name in options.task:
        X, y = load(name)
        if options.quick:
            X, y = X[:QUICK_SEQUENCES], y[:QUICK_SEQUENCES]
        for n_alpha, estimator in product(options.n_alpha, options.estimator):
            accelerated = "acceleration" in ESTIMATORS[estimator]().get_params()
            for way in options.way if accelerated else ("plain",):
                found = [
                    fit(estimator, X, y, n_alpha, way, epochs, seed, options.l1_ratio)
                    for seed in range(options.seeds)
                ]
                fitted = f"{estimator} {way}"
                rows.append([name, f"{n_alpha:g}", fitted, *cells(found, epochs)])
                print(*rows[-1], flush=True)
    tables.show(rows)


if __name__ == "__main__":
    main()

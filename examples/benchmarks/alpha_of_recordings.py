"""Which strength of the penalty suits recordings: rules without a search, and a search.

    python examples/benchmarks/alpha_of_recordings.py [--folder FOLDER] [--set walk ...]
        [--quick]

Recordings are few and long, and their neighbouring frames are alike. The rules for
alpha n are 1; tau, the mean run of equal labels; the square root of the mean length;
and the smaller of the last two, which is ``alpha="auto"``. They are compared with a
grid from 0.1 to 3,000, and with a search by warm-started fits of five strengths
(`CRFCV`), by folds of groups: people, or pieces of a recording. Printed are, for each
set, its numbers; the log loss of a frame for each rule, for the search, and for the
best strength of the grid; the accuracy of each, by the largest marginals; and the
seconds of the search over those of a fit with tau. The last line has the mean deficits
of the log loss to the best of the grid.

Sets that are made: recordings of people whose means differ, of other lengths, noise and
numbers of labels. Public sets are read where FOLDER has their files: the watch data of
seglearn (watch_dataset.npy), occupancy detection (datatraining.txt, datatest.txt,
datatest2.txt), gestures (a1_va3.csv), the windows of WISDM
(WISDM_ar_v1.1_transformed.arff) and the EEG eye state ("EEG Eye State.arff"), the last
four of the UCI repository. "letters" are pixels of handwritten words, and "chunks" are
dense vectors of the words of CoNLL-2000, as in dense_tasks.py.
"""

import argparse
import warnings
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np
from dense_tasks import projected, sentences
from sklearn.model_selection import GroupKFold

from skcrf_sdca import CRF, CRFCV
from skcrf_sdca.datasets import fetch_ocr_letters
from skcrf_sdca.metrics import get_scorer
from skcrf_sdca.selection import alpha_path

STRENGTHS = (3000.0, 1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
SEARCHED = (300.0, 100.0, 30.0, 10.0, 1.0)
# Samples of the watch data in a frame.
FRAME = 10
RULES = ("1", "tau", "root", "auto", "search")


def standardised(rows):
    """Return rows of which each column has the mean 0 and the deviation 1."""
    spread = rows.std(axis=0)
    return (rows - rows.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)


def pieces(rows, labels, n, n_groups):
    """Return a recording cut into n sequences, and neighbours in one group."""
    bounds = np.linspace(0, len(rows), n + 1).astype(int)[1:-1]
    groups = np.arange(n) * n_groups // n
    return np.split(standardised(rows), bounds), np.split(labels, bounds), groups


def made(n, length, n_labels, n_features, run, noise, seed=0):
    """Return recordings of n people, whose means differ."""
    rng = np.random.default_rng(seed)
    means = rng.standard_normal((n_labels, n_features))
    X, y = [], []
    for _ in range(n):
        states = rng.integers(n_labels, size=length)
        begins = rng.random(length) < 1.0 / run
        begins[0] = True
        states = states[np.maximum.accumulate(np.where(begins, np.arange(length), 0))]
        slow = rng.standard_normal((length, n_features))
        for t in range(1, length):
            slow[t] = 0.8 * slow[t - 1] + 0.6 * slow[t]
        own = means + 0.5 * rng.standard_normal(means.shape)
        X.append(own[states] + noise * slow)
        y.append(states)
    rows = standardised(np.vstack(X))
    return np.split(rows, n), y, np.arange(n)


def watch(folder):
    """Return frames of the watch data, a recording for each person."""
    data = np.load(folder / "watch_dataset.npy", allow_pickle=True).item()
    people = {}
    for samples, label, person in zip(
        data["X"], data["y"], data["subject"], strict=True
    ):
        n = len(samples) // FRAME
        frames = np.asarray(samples)[: n * FRAME].reshape(n, FRAME, -1)
        rows = np.hstack([frames.mean(axis=1), frames.std(axis=1), frames.max(axis=1)])
        people.setdefault(person, []).append((rows, np.full(n, label)))
    X = [np.vstack([rows for rows, _ in parts]) for parts in people.values()]
    y = [np.concatenate([labels for _, labels in parts]) for parts in people.values()]
    bounds = np.cumsum([len(rows) for rows in X])[:-1]
    return np.split(standardised(np.vstack(X)), bounds), y, np.arange(len(X))


def occupancy(folder):
    """Return minutes of a room, cut into twelve parts of days."""
    names = ["datatraining.txt", "datatest.txt", "datatest2.txt"]
    parts = [
        np.loadtxt(
            folder / name, delimiter=",", skiprows=1, usecols=range(2, 8), dtype=str
        )
        for name in names
    ]
    table = np.vstack(parts).astype(float)
    return pieces(table[:, :-1], table[:, -1].astype(int), 24, 8)


def gestures(folder):
    """Return frames of a recording of gestures, cut into ten parts."""
    table = np.loadtxt(folder / "a1_va3.csv", delimiter=",", dtype=str)
    return pieces(table[:, :-1].astype(float), table[:, -1], 10, 5)


def arff(path):
    """Return the rows of an ARFF file as text, those with a missing value left out."""
    lines = path.read_text().splitlines()
    lines = [line for line in lines if line.strip() and not line.startswith("@")]
    return np.array([line.split(",") for line in lines if "?" not in line])


def windows(folder):
    """Return windows of walking and other activities, cut into 36 parts."""
    table = arff(folder / "WISDM_ar_v1.1_transformed.arff")
    return pieces(table[:, :-1].astype(float), table[:, -1], 36, 9)


def eyes(folder):
    """Return an EEG, and whether the eyes are closed, cut into ten parts."""
    table = arff(folder / "EEG Eye State.arff")
    rows = np.clip(standardised(table[:, :-1].astype(float)), -0.05, 0.05)
    return pieces(rows, table[:, -1].astype(int), 10, 10)


def letters(folder):
    """Return pixels of words, in five groups."""
    X, y = fetch_ocr_letters(return_X_y=True)
    return list(X[:1500]), list(y[:1500]), np.arange(1500) % 5


def chunks(folder):
    """Return dense vectors of the words of sentences."""
    X, y = sentences(600)
    rows, bounds = projected(X, 100)
    return np.split(rows, bounds[1:-1]), list(y), np.arange(len(y)) % 5


MADE = {
    "walk": (10, 2000, 6, 12, 100.0, 2.0),
    "sleep": (20, 900, 5, 6, 20.0, 1.5),
    "short runs": (12, 500, 4, 8, 5.0, 1.5),
    "two labels": (8, 3000, 2, 4, 300.0, 2.0),
    "many labels": (15, 1000, 12, 20, 40.0, 2.0),
    "short": (60, 100, 3, 6, 10.0, 2.0),
    "clear": (10, 1000, 4, 10, 50.0, 0.7),
}
PUBLIC = {
    "watch": (watch, "watch_dataset.npy"),
    "occupancy": (occupancy, "datatraining.txt"),
    "gestures": (gestures, "a1_va3.csv"),
    "windows": (windows, "WISDM_ar_v1.1_transformed.arff"),
    "eyes": (eyes, "EEG Eye State.arff"),
    "letters": (letters, None),
    "chunks": (chunks, None),
}


def mean_run(y):
    """Return the mean run of equal labels."""
    runs = sum(1 + np.count_nonzero(np.asarray(p)[1:] != np.asarray(p)[:-1]) for p in y)
    return sum(map(len, y)) / runs


def chosen(data, places):
    """Return the elements of a list at some places."""
    return [data[i] for i in places]


def figures(crf, X, y):
    """Return the log loss of a frame, and the accuracy of the largest marginals."""
    proba, classes = np.vstack(list(crf.predict_proba(X))), list(crf.classes_)
    right = [classes.index(k) if k in classes else -1 for p in y for k in p]
    right = np.array(right)
    of_right = np.where(right < 0, 0.0, proba[np.arange(len(right)), right])
    loss = -np.log(np.maximum(of_right, 1e-12)).mean()
    return loss, (proba.argmax(axis=1) == right).mean()


def searched(X, y, groups):
    """Return the best of five strengths by warm-started fits, one group held out."""
    last = np.isin(groups, np.unique(groups)[::4])
    train, held_out = np.flatnonzero(~last), np.flatnonzero(last)
    search = CRFCV(
        CRF(solver="lbfgs"),
        strengths=SEARCHED,
        l1_ratios=(0.0,),
        scoring=get_scorer("neg_log_loss"),
    )
    return search.set_params(cv=[(train, held_out)]).fit(X, y)


def fold(X, y, groups, train, test):
    """Return the figures of the rules and of the grid, and the cost of the search."""
    X_train, y_train = chosen(X, train), chosen(y, train)
    n, tau = len(train), mean_run(y_train)
    root = np.sqrt(np.mean([len(path) for path in y_train]))
    rules = {"1": 1.0, "tau": tau, "root": root, "auto": min(tau, root)}
    strengths = sorted({*STRENGTHS, *rules.values()}, reverse=True)
    path = alpha_path(CRF(solver="lbfgs"), X_train, y_train, [s / n for s in strengths])
    held_out = chosen(X, test), chosen(y, test)
    found = {s: figures(crf, *held_out) for s, crf in zip(strengths, path, strict=True)}
    begin = process_time()
    CRF(tau / n, solver="lbfgs").fit(X_train, y_train)
    middle = process_time()
    search = searched(X_train, y_train, groups[train])
    ratio = (process_time() - middle) / (middle - begin)
    own = [found[strength] for strength in rules.values()]
    own.append(figures(search, *held_out))
    return np.array(own), np.array([found[s] for s in STRENGTHS]), ratio


def measured(X, y, groups):
    """Return the figures of the rules, those of the best of the grid, and the ratio."""
    folds = GroupKFold(min(5, len(np.unique(groups)))).split(X, groups=groups)
    found = [fold(X, y, groups, *split) for split in folds]
    rules, grid = (np.mean([one[k] for one in found], axis=0) for k in range(2))
    best = grid[:, 0].argmin()
    rows = np.vstack([rules, grid[best]])
    return rows, STRENGTHS[best], np.median([one[2] for one in found])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path())
    parser.add_argument("--set", nargs="+", default=[*MADE, *PUBLIC])
    parser.add_argument("--quick", action="store_true", help="the made set 'short'")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sets = {name: partial(made, *numbers) for name, numbers in MADE.items()}
    for name, (read, file) in PUBLIC.items():
        if file is None or (options.folder / file).exists():
            sets[name] = partial(read, options.folder)
    print(
        "set n length features labels tau", *RULES, "best alpha_n", *RULES, "best fits"
    )
    deficits = []
    for name in ["short"] if options.quick else filter(sets.__contains__, options.set):
        X, y, groups = sets[name]()
        rows, best, ratio = measured(X, y, groups)
        losses, accuracies = rows.T
        numbers = len(y), round(np.mean(list(map(len, y)))), X[0].shape[1]
        n_labels = len({label for path in y for label in path})
        print(f"{name!r}", *numbers, n_labels, f"{mean_run(y):.1f}", end=" ")
        print(*(f"{loss:.3f}" for loss in losses), f"{best:g}", end=" ")
        print(*(f"{share:.3f}" for share in accuracies), f"{ratio:.1f}", flush=True)
        deficits.append(losses[:-1] - losses[-1])
    print("mean deficits:", *np.mean(deficits, axis=0).round(4).tolist())


if __name__ == "__main__":
    main()

"""Labels of frames by chains, boosted trees and hidden Markov models: a table.

    python examples/benchmarks/signals.py FOLDER [--data watch ...] [--model ...]
        [--folds 5] [--seed 0]

FOLDER has the public recordings that are to be read, under their own names:

* "watch": ``watch_dataset.npy`` of seglearn (PyPI; 10 people, 7 exercises, six channels
  at 50 Hz). A frame is 12 samples: their means, deviations and mean absolute
  differences. The exercises of each person are cut into bouts, which follow each other
  in random order, one recording a person.
* "gestures": ``a1_raw.csv`` to ``c3_raw.csv`` of Gesture Phase Segmentation (UCI; 7
  recordings of 3 people, 5 phases). A frame has the positions of the hands and wrists
  relative to the spine, and their speeds.
* "eeg": ``eeg-eye-state.csv`` (UCI; one recording, eyes open or closed, 14 channels),
  cut into 20 pieces of equal length. Values far off are clipped.

Folds are of whole groups: of people ("watch"), of recordings ("gestures"), of pieces
("eeg"). Printed are the mean and the standard deviation over the folds: accuracy and
macro F1 of frames, log loss (probabilities below 1e-15 count as that), the expected
calibration error of the largest probability in ten bins, and the number of predicted
segments over the number of true ones. "seconds" is the processor time of all fits. A
chain has two rows, one for its best path, and one for its largest marginals.
"""

import argparse
import csv
import warnings
from collections import defaultdict
from pathlib import Path
from time import process_time

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import f1_score
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import tables
from skcrf_sdca import CRF, PerToken, SequenceUnion, make_tagger
from skcrf_sdca.features import ClassifierFeatures, SequenceWindow

FRAME = 12
HEADER = "accuracy,macro F1,log loss,ECE,segments / true,seconds".split(",")
GESTURES = ("a1", "a2", "a3", "b1", "b3", "c1", "c3")
N_PIECES = 20
CONTEXT = SequenceWindow(2, span=4)


def watch(folder, rng):
    """Return a recording of each person, its exercises, and who it is."""
    data = np.load(folder / "watch_dataset.npy", allow_pickle=True).item()
    people = np.asarray(data["subject"])
    X, y = [], []
    for person in np.unique(people):
        bouts = []
        for i in np.flatnonzero(people == person):
            parts = bouts_of(frames_of(data["X"][i]), rng)
            bouts += [(part, int(data["y"][i])) for part in parts]
        bouts = [bouts[i] for i in rng.permutation(len(bouts))]
        X.append(np.vstack([rows for rows, _ in bouts]))
        y.append(np.concatenate([np.full(len(rows), label) for rows, label in bouts]))
    return X, y, np.unique(people)


def frames_of(samples):
    """Return the features of frames of FRAME samples each."""
    n = len(samples) // FRAME
    frames = samples[: n * FRAME].reshape(n, FRAME, -1)
    steps = np.abs(np.diff(frames, axis=1)).mean(axis=1)
    return np.hstack([frames.mean(axis=1), frames.std(axis=1), steps])


def bouts_of(rows, rng):
    """Return rows cut into one to five parts, of 15 frames or more."""
    places = np.arange(1, len(rows) // 15)
    n_cuts = min(rng.integers(0, 5), len(places))
    cuts = 15 * np.sort(rng.choice(places, n_cuts, replace=False))
    return np.split(rows, cuts)


def gestures(folder, rng):
    """Return the recordings, their phases, and a number of each."""
    X, y = [], []
    for name in GESTURES:
        with open(folder / f"{name}_raw.csv", encoding="utf-8") as file:
            _, *rows = csv.reader(file)
        numbers = np.array([row[:18] for row in rows], dtype=float)
        points = numbers.reshape(len(rows), 6, 3)
        hands = np.delete(points, [2, 3], axis=1) - points[:, [3]]
        speeds = np.linalg.norm(np.gradient(hands, axis=0), axis=2)
        X.append(np.hstack([hands.reshape(len(rows), -1), speeds]))
        # One of them is in Portuguese.
        y.append(np.array([row[-1].strip().replace("ção", "tion") for row in rows]))
    _, labels = np.unique(np.concatenate(y), return_inverse=True)
    return X, np.split(labels, np.cumsum(list(map(len, X)))[:-1]), np.arange(len(X))


def eeg(folder, rng):
    """Return pieces of the recording, whether eyes are closed, and their numbers."""
    rows = np.loadtxt(folder / "eeg-eye-state.csv", delimiter=",", skiprows=1)
    low, middle, high = np.percentile(rows, [25, 50, 75], axis=0)
    far = 5 * (high - low)
    values = np.clip(rows, middle - far, middle + far)[:, :-1]
    X = np.array_split(values, N_PIECES)
    return X, np.array_split(rows[:, -1].astype(int), N_PIECES), np.arange(N_PIECES)


DATA = {"watch": watch, "gestures": gestures, "eeg": eeg}


def boosting():
    """Return boosted trees."""
    return HistGradientBoostingClassifier(max_iter=30, max_bins=63, random_state=0)


def by_runs(y):
    """Return the alpha of recordings: the mean run of equal labels over n."""
    return sum(map(len, y)) / n_segments(y) / len(y)


def chain(window, alpha_of=by_runs):
    """Return a chain of standardised frames, given the alpha of labels."""

    def model(y):
        scaler = PerToken(StandardScaler())
        return make_tagger(scaler, window, CRF(alpha_of(y), random_state=0))

    return model


def trees_below():
    """Return the probabilities of boosted trees with context, as features."""
    below = ClassifierFeatures(boosting(), cv=3)
    return make_pipeline(SequenceWindow(4), below)


def stacked(y):
    """Return a chain above boosted trees."""
    crf = CRF(by_runs(y), random_state=0)
    return make_tagger(*(step for _, step in trees_below().steps), crf)


def trees_and_frames(y):
    """Return a chain above boosted trees, and the frames themselves."""
    frames = make_pipeline(PerToken(StandardScaler()), CONTEXT)
    both = SequenceUnion([("trees", trees_below()), ("frames", frames)])
    return make_tagger(both, CRF(by_runs(y), random_state=0))


class Frames:
    """A classifier of frames, one by one, with a window."""

    def __init__(self, window):
        self.window = window

    def fit(self, X, y):
        """Fit boosted trees to the frames of all recordings."""
        rows = self.window.fit_transform(X).X
        self.model = boosting().fit(rows, np.concatenate(y))
        self.classes_ = self.model.classes_
        return self

    def answers(self, X):
        """Return the labels, by their names, and the probabilities."""
        packed = self.window.transform(X)
        proba = np.split(self.model.predict_proba(packed.X), packed.offsets[1:-1])
        return {"": [self.classes_[p.argmax(axis=1)] for p in proba]}, proba


class Markov:
    """hmmlearn's Gaussian states, of full covariance, estimated from the labels."""

    def fit(self, X, y):
        """Take means, covariances and transitions of the labels."""
        from hmmlearn.hmm import GaussianHMM

        self.scaler = StandardScaler().fit(np.vstack(X))
        rows, labels = self.scaler.transform(np.vstack(X)), np.concatenate(y)
        self.classes_ = np.unique(labels)
        n = len(self.classes_)
        counts = np.ones((n, n))
        for own in y:
            codes = np.searchsorted(self.classes_, own)
            np.add.at(counts, (codes[:-1], codes[1:]), 1.0)
        self.model = GaussianHMM(n, covariance_type="full")
        shares = np.bincount(np.searchsorted(self.classes_, labels), minlength=n)
        self.model.startprob_ = shares / shares.sum()
        self.model.transmat_ = counts / counts.sum(axis=1, keepdims=True)
        own = [rows[labels == label] for label in self.classes_]
        self.model.means_ = np.array([part.mean(axis=0) for part in own])
        ridge = 1e-3 * np.eye(rows.shape[1])
        self.model.covars_ = np.array([np.cov(part.T) + ridge for part in own])
        return self

    def answers(self, X):
        """Return the labels, by their names, and the probabilities."""
        own = [self.scaler.transform(rows) for rows in X]
        paths = [self.classes_[self.model.predict(rows)] for rows in own]
        return {"": paths}, [self.model.predict_proba(rows) for rows in own]


MODELS = {
    "boosting": lambda y: Frames(SequenceWindow(0)),
    "boosting, +-4 frames": lambda y: Frames(SequenceWindow(4)),
    "hmmlearn, from labels": lambda y: Markov(),
    "CRF(alpha=1 / n)": chain(SequenceWindow(0), lambda y: 1 / len(y)),
    "CRF()": chain(SequenceWindow(0), lambda y: "auto"),
    "CRF, alpha by runs": chain(SequenceWindow(0)),
    "CRF, +-2 and +-4 frames": chain(CONTEXT),
    "trees below a CRF": stacked,
    "trees and frames below a CRF": trees_and_frames,
}


def answers(model, X):
    """Return the labels of each recording, by decodings, and the probabilities."""
    if hasattr(model, "answers"):
        return model.answers(X)
    found = {
        f", {name}": list(map(np.asarray, model.predict(X, decoding=name)))
        for name in ("viterbi", "posterior")
    }
    return found, list(model.predict_proba(X))


def n_segments(y):
    """Return the number of runs of equal labels."""
    return sum(1 + np.count_nonzero(labels[1:] != labels[:-1]) for labels in y)


def calibration_error(proba, is_right):
    """Return the expected calibration error of the largest probability."""
    p = proba.max(axis=1)
    bins = np.minimum((10 * p).astype(int), 9)
    errors = [abs((p - is_right)[bins == k].sum()) for k in range(10)]
    return sum(errors) / len(p)


def scores(y, found, proba):
    """Return the figures of the table of one fold, but for the seconds."""
    labels, P = np.concatenate(y), np.vstack(proba)
    predicted = np.concatenate(found)
    own = P[np.arange(len(labels)), labels]
    return [
        np.mean(predicted == labels),
        f1_score(labels, predicted, average="macro"),
        -np.log(np.maximum(own, 1e-15)).mean(),
        calibration_error(P, P.argmax(axis=1) == labels),
        n_segments(found) / n_segments(y),
    ]


def rows_of(name, X, y, folds):
    """Return the mean and the deviation of each figure over the folds, as text."""
    figures, seconds = defaultdict(list), 0.0
    for train, test in folds:
        began = process_time()
        own = [y[i] for i in train]
        model = MODELS[name](own).fit([X[i] for i in train], own)
        seconds += process_time() - began
        found, proba = answers(model, [X[i] for i in test])
        for decoding, labels in found.items():
            figures[decoding].append(scores([y[i] for i in test], labels, proba))
    return [
        [name + decoding, *map(cell, zip(*own, strict=True)), f"{seconds:.1f}"]
        for decoding, own in figures.items()
    ]


def cell(values):
    """Return the mean and the standard deviation of a figure."""
    return f"{np.mean(values):.3f} ({np.std(values):.3f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--model", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for data in options.data:
        X, y, groups = DATA[data](options.folder, np.random.default_rng(options.seed))
        print(f"{data}: {len(X)} recordings, {sum(map(len, X))} frames, ", end="")
        print(f"{X[0].shape[1]} features, {n_segments(y)} segments")
        cv = GroupKFold(options.folds, shuffle=True, random_state=options.seed)
        folds = list(cv.split(X, groups=groups))
        with threadpool_limits(1):
            rows = [own for name in options.model for own in rows_of(name, X, y, folds)]
        tables.show([[data, *HEADER], *rows])


if __name__ == "__main__":
    main()

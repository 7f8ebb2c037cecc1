"""Load the four tasks of the papers' figures: corpora, text features, test sets.

`load` returns a task in the form in which it is trained: the packed tasks with their
known optimum (packed.py), and "wsj", part-of-speech tags of a sample of the Wall Street
Journal. `load_split` makes a task and its test set from raw data. `problem` returns the
training problem of a task, for a solver without an estimator. Tasks can be cut to their
first sequences.

The packed tasks and "wsj" are read from the folder that the environment variable
SKCRF_SDCA_DATA names. The raw data of the others are downloaded if they are not there.
"""

import argparse
import os
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

import packed
from packed import Task
from skcrf_sdca import PackedSequences, SequenceVectorizer
from skcrf_sdca._kernels.features._features import FeatureRows
from skcrf_sdca.datasets import fetch_conll2000, fetch_conll2002, fetch_ocr_letters
from skcrf_sdca.metrics import flat_accuracy_score, span_f1_score
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.structures.chain.structure import Chain
from skcrf_sdca.text import (
    Apply,
    Prefix,
    Shape,
    Suffix,
    TokenFeatures,
    Window,
    is_capitalized,
    read_conll,
)

sys.path.append(str(Path(__file__).resolve().parents[1] / "text"))
from chunking_conll2000 import FEATURES as CHUNK_FEATURES

NAMES = (*packed.NAMES, "wsj")
TITLES = {
    "ocr": "OCR",
    "conll2000": "CoNLL-2000 chunks",
    "ned": "CoNLL-2002 Dutch",
    "wsj": "WSJ tags",
}

# The templates of chunking, without the trigrams of part-of-speech tags.
ENTITY_FEATURES = TokenFeatures(
    [
        *(template for template in CHUNK_FEATURES.templates if template.n < 3),
        Shape(),
        Prefix(3),
        Suffix(3),
        Apply(is_capitalized),
        Apply(str.isdigit),
    ]
)
LONGEST_AFFIX = 4


def first(word):
    """Return the prefixes of a word."""
    return [word[:length] for length in range(1, min(len(word), LONGEST_AFFIX) + 1)]


def last(word):
    """Return the suffixes of a word."""
    return [word[-length:] for length in range(1, min(len(word), LONGEST_AFFIX) + 1)]


TAG_FEATURES = TokenFeatures([Window("word", 2), Shape(), Apply(first), Apply(last)])


def read_wsj(subset):
    """Return the sentences and tags of the sample, as the fetchers do."""
    folder = Path(os.environ["SKCRF_SDCA_DATA"]) / "wsj_sample"
    return read_conll(folder / f"{subset}.txt.gz", ("word", "label"))


# For each task of text: how to read it, its test part, its features.
TEXTS = {
    "conll2000": (partial(fetch_conll2000, return_X_y=True), "test", CHUNK_FEATURES),
    "ned": (partial(fetch_conll2002, return_X_y=True), "testb", ENTITY_FEATURES),
    "wsj": (read_wsj, "test", TAG_FEATURES),
}
WITH_SPANS = ("conll2000", "ned")


@dataclass
class HeldOut:
    """A test set: packed sequences, their labels, and the label names of a model."""

    X: PackedSequences
    y: list
    names: np.ndarray
    spans: bool

    def errors(self, model):
        """Return the fraction of wrong tokens, and 1 - span F1 if there are spans."""
        rows, n = FeatureRows(self.X.X), len(self.X)
        paths, _ = model.scores(rows, self.X.offsets, 0, n).viterbi()
        predicted = np.split(self.names[paths], self.X.offsets[1:-1])
        errors = {"token_error": 1.0 - flat_accuracy_score(self.y, predicted)}
        if self.spans:
            f1 = span_f1_score(self.y, predicted, zero_division=0.0)
            errors["span_error"] = 1.0 - f1
        return errors


def load(name, first=None):
    """Return a task, or the task of its first sequences and their features."""
    if name == "wsj":
        return load_split(name, first)[0]
    task = packed.load(name)
    return task if first is None else part(task, np.arange(min(first, len(task.X))))


def load_random(name, n):
    """Return a task of n random sequences and their features; of all if n is None.

    The first sequences of "ocr" are few words, which many people wrote.
    """
    task = load(name)
    if n is None:
        return task
    chosen = np.random.default_rng(0).choice(len(task.X), n, replace=False)
    return part(task, chosen)


def part(task, chosen):
    """Return the task of some sequences and their features."""
    X, y = task.X[chosen], [task.y[i] for i in chosen]
    used = np.unique(X.X.indices)
    X = PackedSequences(X.X[:, used], X.offsets)
    return Task(task.name, X, y, 1.0 / len(y), optimum=None)


def load_split(name, first=None):
    """Return a task made from raw data, and its test set."""
    make = _letters if name == "ocr" else partial(_text, *TEXTS[name])
    X, y, X_test, y_test = make(slice(first))
    held_out = HeldOut(X_test, y_test, _names(y), name in WITH_SPANS)
    return Task(name, X, y, 1.0 / len(X), optimum=None), held_out


def _letters(cut):
    """Return X, y and X, y of the test set for the handwritten words."""
    X, y = fetch_ocr_letters(return_X_y=True)
    X_test, y_test = fetch_ocr_letters(subset="test", return_X_y=True)
    pack = PackedSequences.from_sequences
    return pack(X[cut]), y[cut], pack(X_test[cut]), y_test[cut]


def _text(read, test, features, cut):
    """Return X, y and X, y of the test set for sentences."""
    X, y = read(subset="train")
    X_test, y_test = read(subset=test)
    vectorizer = SequenceVectorizer()
    X = vectorizer.fit_transform(features.transform(X[cut]))
    X_test = vectorizer.transform(features.transform(X_test[cut]))
    return X, y[cut], X_test, y_test[cut]


def _names(y):
    """Return the distinct labels, sorted."""
    return np.unique(np.concatenate(y))


def parser(description):
    """Return a parser with the options of scripts that run on some of the tasks."""
    made = argparse.ArgumentParser(description=description.splitlines()[0])
    made.add_argument("--task", nargs="+", default=NAMES, choices=NAMES)
    made.add_argument("--first", type=int, help="number of sequences")
    made.add_argument("--quick", action="store_true", help="a trial on few sequences")
    return made


def problem(task):
    """Return the training problem of a task, for a solver."""
    names = _names(task.y)
    labels = np.searchsorted(names, np.concatenate(task.y)).astype(np.int32)
    return Problem(Chain(task.X, len(names)), labels, task.alpha)

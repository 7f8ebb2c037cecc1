"""Compare the seconds of `SequenceVectorizer` with CRFsuite, on CoNLL-2000.

``Trainer.append`` of python-crfsuite numbers features too. Both get the same items, as
lists of strings and as dicts, with one thread, in turns in the same run. The table has
the best seconds of the processor over the rounds. A second table has the peak memory of
``fit_transform`` beyond the data and its output, in a process of its own. This output
has no vocabulary: its dicts are made lazily.

    python examples/benchmarks/vectorizer_vs_crfsuite.py [--rounds 3]

needs python-crfsuite; the corpus is read from the folder SKCRF_SDCA_DATA or downloaded.
"""

import argparse
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from time import process_time

import numpy as np
import pycrfsuite

import runs
import tables
from handwritten import chunk_features
from skcrf_sdca import SequenceVectorizer
from skcrf_sdca.datasets import fetch_conll2000

TITLES = ["items", "append", "fit_transform", "ratio", "transform", "ratio"]
MEMORY_TITLES = ["items", "output MiB", "peak beyond it MiB"]


def as_dict(names):
    """Return the features of an item as {template: text}."""
    pairs = (name.split("=", 1) for name in names)
    # The keys are literals, as in a program.
    return {sys.intern(place): text for place, text in pairs}


FORMS = {"lists": list, "dicts": as_dict}


def items_of(sentences, form):
    """Return the items of sentences, with new strings that were never hashed."""
    return [
        [FORMS[form](names) for names in chunk_features(sentence)]
        for sentence in sentences
    ]


def append(X, y):
    """Pass all sequences to CRFsuite."""
    trainer = pycrfsuite.Trainer(verbose=False)
    for items, labels in zip(X, y, strict=True):
        trainer.append(items, labels)


def seconds(function, *arguments):
    """Return the seconds of the processor for a call."""
    begin = process_time()
    function(*arguments)
    return process_time() - begin


def one_round(sentences, y, form):
    """Return the seconds of append, fit_transform and transform."""
    vectorizer = SequenceVectorizer()
    return (
        seconds(append, items_of(sentences, form), y),
        seconds(vectorizer.fit_transform, items_of(sentences, form)),
        seconds(vectorizer.transform, items_of(sentences, form)),
    )


def memory(form):
    """Return the bytes of the output of fit_transform, and the peak beyond them."""
    sentences, _ = fetch_conll2000(return_X_y=True)
    X = items_of(sentences, form)
    vectorizer = SequenceVectorizer()
    before = runs.forget_peak()
    packed = vectorizer.fit_transform(X)
    output = size_of(packed)
    return output, None if before is None else runs.status("VmHWM") - before - output


def size_of(packed):
    """Return the bytes of packed rows."""
    rows = packed.X
    arrays = (rows.data, rows.indices, rows.indptr, packed.offsets)
    return sum(a.nbytes for a in arrays)


def main():
    """Measure in turns and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with ProcessPoolExecutor(
        mp_context=multiprocessing.get_context("spawn"), max_tasks_per_child=1
    ) as pool:
        sizes = [(form, *pool.submit(memory, form).result()) for form in FORMS]

    sentences, y = fetch_conll2000(return_X_y=True)
    rows = []
    for form in FORMS:
        measured = [one_round(sentences, y, form) for _ in range(arguments.rounds)]
        theirs, fit, transform = np.min(measured, axis=0)
        texts = [f"{s:.2f} s" for s in (theirs, fit, transform)]
        ratios = [f"{theirs / s:.1f}" for s in (fit, transform)]
        rows.append([form, texts[0], texts[1], ratios[0], texts[2], ratios[1]])
    tables.show([TITLES, *rows])
    print()
    tables.show([MEMORY_TITLES, *([f, *map(tables.size, s)] for f, *s in sizes)])


if __name__ == "__main__":
    main()

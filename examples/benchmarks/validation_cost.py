"""Compare the time to validate X and y with the time of the fit.

The data are CoNLL-2000 as packed sequences, and as lists of strings. For lists, the
time to vectorize is a separate number: it is no validation, but it checks every item on
the way. The table has medians of processor time over the rounds, with one thread. The
fit is SDCACRF with its default parameters. The last column is the fraction of all
checks, without the vectorizer.

    python examples/benchmarks/validation_cost.py [--rounds 3] [--first 500]

The corpus is read from the folder SKCRF_SDCA_DATA, for lists also downloaded.
"""

import argparse
from time import process_time

import numpy as np

import packed
import tables
from skcrf_sdca import SDCACRF, PackedSequences
from skcrf_sdca.data.input_formats import format_of
from skcrf_sdca.data.label_encoding import encode_labels
from skcrf_sdca.data.sequence_lists import as_sequence_list
from skcrf_sdca.estimators.base import training_data
from tasks import TEXTS

TITLES = ["input", "format of X", "rows of X", "features", "y", "fit", "share"]


def seconds(rounds, function, *arguments):
    """Return the median seconds of a call."""
    times = []
    for _ in range(rounds):
        begin = process_time()
        function(*arguments)
        times.append(process_time() - begin)
    return float(np.median(times))


def pack(X):
    """Return the rows after checks of their form and of finite values."""
    return PackedSequences(X.X, X.offsets)


def row(name, X, y, rounds):
    """Return the row of one input format: seconds, and the fraction of validation."""
    crf = SDCACRF(random_state=0)
    is_packed = isinstance(X, PackedSequences)
    data = training_data(crf, X, y, None).data
    form = seconds(rounds, lambda: format_of(as_sequence_list(X)))
    # The rows of packed sequences were checked when they were packed.
    rows = 0.0 if is_packed else seconds(rounds, pack, data)
    labels = seconds(rounds, encode_labels, y, data.lengths)
    everything = seconds(rounds, training_data, crf, X, y, None)
    features = 0.0 if is_packed else everything - form - rows - labels
    fit = seconds(1, crf.fit, X, y)
    times = [form, rows, features, labels, fit]
    share = (form + rows + labels) / fit
    return [name, *(f"{s:.3f} s" for s in times), f"{100 * share:.1f} %"]


def main():
    """Measure both formats and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--first", type=int, help="sequences to take; default all")
    arguments = parser.parse_args()
    first = slice(arguments.first)
    task = packed.load("conll2000")
    read, _, features_of = TEXTS["conll2000"]
    sentences, y = read(subset="train")
    X = features_of.fit_transform(sentences[first])
    forms = {"packed": (task.X[first], task.y[first]), "lists": (X, y[first])}
    rows = [row(name, *form, arguments.rounds) for name, form in forms.items()]
    tables.show([TITLES, *rows])


if __name__ == "__main__":
    main()

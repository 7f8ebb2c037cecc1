"""Compare the seconds of `TokenFeatures` and of a handwritten function.

The tasks are the chunks of CoNLL-2000 and the Dutch entities of CoNLL-2002. The table
has the processor seconds of both ways to make the feature strings of the training data,
of `SequenceVectorizer`, and of a fit. It also has the milliseconds for a single
sentence, as a service computes them. Both make the same strings, as
tests/text/test_text.py checks.
The fit uses one thread; each number is the best of the rounds.

    python examples/benchmarks/features_vs_handwritten.py [--rounds 3]

The corpora are read from the folder SKCRF_SDCA_DATA or downloaded.
"""

import argparse
from functools import partial
from time import process_time

import handwritten
import tables
from skcrf_sdca import SDCACRF, SequenceVectorizer
from tasks import TEXTS

TITLES = ["task", "by hand", "TokenFeatures", "ratio", "numbering", "numbering", "fit"]
TITLES += ["sentence by hand", "TokenFeatures"]
N_SINGLE = 300


def best(function, argument, rounds):
    """Return the least processor seconds of a call, and its result."""
    seconds = []
    for _ in range(rounds):
        result = None
        begin = process_time()
        result = function(argument)
        seconds.append(process_time() - begin)
    return min(seconds), result


def one_by_one(function, single):
    """Call a function for sentences one by one."""
    for X in single:
        function(X)


def number(X):
    """Return the packed features."""
    return SequenceVectorizer().fit_transform(X)


def measure(name, rounds):
    """Return the row of one task."""
    X, y = TEXTS[name][0](subset="train")
    single = [[sentence] for sentence in X[:N_SINGLE]]
    transform = TEXTS[name][2].transform

    def by_hand(X):
        return [handwritten.FEATURES[name](sentence) for sentence in X]

    seconds, numbering, singles = [], [], []
    for function in (by_hand, transform):
        duration, features = best(function, X, rounds)
        seconds.append(duration)
        duration, data = best(number, features, rounds)
        numbering.append(duration)
        del features
        singles.append(best(partial(one_by_one, function), single, rounds)[0])
    fit, _ = best(lambda y: SDCACRF(random_state=0).fit(data, y), y, 1)
    return [
        name,
        *(f"{s:.2f} s" for s in seconds),
        f"{seconds[0] / seconds[1]:.1f}",
        *(f"{s:.2f} s" for s in (*numbering, fit)),
        *(f"{1e3 * s / N_SINGLE:.2f} ms" for s in singles),
    ]


def main():
    """Measure both tasks and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    tables.show([TITLES, *(measure(name, rounds) for name in handwritten.FEATURES)])


if __name__ == "__main__":
    main()

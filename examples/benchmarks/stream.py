"""Measure the memory and the speed of `partial_fit` on a long stream.

Sentences are drawn from a hidden Markov model with 9 labels, whose words are numbers by
Zipf's law. A token has four feature strings: its word, the two beside it, and the first
digits. `SequenceHasher` turns them into 2^20 columns, so that nothing grows with the
stream. Each method learns from the chunks in a process of its own.

    python examples/benchmarks/stream.py [--tokens 10000000] [--quick]

The table has the resident memory after the first and after the last chunk, the peak,
and the peak when the weights were looked at, in MiB; the tokens of a second of the
processor, without those that draw the sentences; and the accuracy on the next chunk,
which no pass has learned. Reads /proc: Linux only.
"""

import argparse
import resource
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from time import process_time

import numpy as np

from skcrf_sdca import SGDCRF, PassiveAggressiveCRF, SequenceHasher
from skcrf_sdca.metrics import flat_accuracy_score

N_LABELS, N_WORDS, LENGTH, CHUNK = 9, 50_000, 20, 200
METHODS = {
    "PassiveAggressiveCRF": (PassiveAggressiveCRF, {}),
    **{
        f"SGDCRF, {method}": (SGDCRF, {"alpha": 1e-6, "method": method})
        for method in ("sgd", "asgd", "adagrad", "smd", "pegasos")
    },
}
ROW = "{:24}{:>10}{:>10}{:>10}{:>10}{:>14}{:>10}"


class Source:
    """A hidden Markov model that draws chunks of sentences."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        shares = self.rng.dirichlet(np.full(N_LABELS, 0.3), size=N_LABELS)
        self.transition = shares.cumsum(axis=1)
        frequency = 1.0 / np.arange(1, N_WORDS + 1)
        words = self.rng.permutation(N_WORDS) % N_LABELS
        # A word has one label mostly.
        weights = np.where(
            words == np.arange(N_LABELS)[:, None], frequency, 0.05 * frequency
        )
        self.words = (weights / weights.sum(axis=1, keepdims=True)).cumsum(axis=1)

    def chunk(self):
        """Return lists of feature strings, and labels."""
        labels = np.empty((CHUNK, LENGTH), dtype=np.intp)
        draws = self.rng.random((CHUNK, LENGTH, 2))
        labels[:, 0] = self.rng.integers(N_LABELS, size=CHUNK)
        for t in range(1, LENGTH):
            bounds = self.transition[labels[:, t - 1]]
            labels[:, t] = (draws[:, t, :1] > bounds).sum(axis=1)
        labels = np.minimum(labels, N_LABELS - 1)
        words = np.empty_like(labels)
        for k in range(N_LABELS):
            own = labels == k
            words[own] = np.searchsorted(self.words[k], draws[own, 1])
        return [_features(row) for row in words.astype(str).tolist()], labels.tolist()


def _features(words):
    """Return the feature strings of the tokens of a sentence."""
    padded = ["", *words, ""]
    return [
        (f"w={word}", f"p={before}", f"n={after}", f"d={word[:2]}")
        for before, word, after in zip(padded[:-2], words, padded[2:], strict=True)
    ]


def resident():
    """Return the resident memory of this process and its peak, in MiB."""
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    now = pages * resource.getpagesize() / 2**20
    # The system counts the peak with a delay.
    return now, max(now, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10)


def learned(name, n_tokens):
    """Return the row of a method."""
    estimator, parameters = METHODS[name]
    crf, hasher, source = estimator(**parameters), SequenceHasher(2**20), Source(0)
    seconds, seen, first = 0.0, 0, None
    while seen < n_tokens:
        X, y = source.chunk()
        begin = process_time()
        crf.partial_fit(hasher.transform(X), y, classes=range(N_LABELS))
        seconds += process_time() - begin
        seen += CHUNK * LENGTH
        first = first or resident()[0]
    last, peak = resident()
    X, y = source.chunk()
    accuracy = flat_accuracy_score(y, crf.predict(hasher.transform(X)))
    memory = (f"{value:.0f}" for value in (first, last, peak, resident()[1]))
    return ROW.format(name, *memory, f"{seen / seconds:.0f}", f"{accuracy:.4f}")


def main():
    """Print the row of each method."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=10_000_000)
    parser.add_argument("--method", choices=METHODS, action="append")
    parser.add_argument("--quick", action="store_true", help="a trial on little data")
    arguments = parser.parse_args()
    n_tokens = 20 * CHUNK * LENGTH if arguments.quick else arguments.tokens
    print(ROW.format("method", *"first last peak weights tokens/s accuracy".split()))
    for name in arguments.method or METHODS:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            print(pool.submit(learned, name, n_tokens).result(), flush=True)


if __name__ == "__main__":
    main()

"""Measure the requests per second of one model in many threads, as in a service.

Each request has some packed sequences. A pool of threads answers the requests with one
fitted SDCACRF. The table has requests per second, as medians over the rounds, and the
ratio to one thread. Small requests spend most time in Python, which runs one thread at
a time.

    python examples/benchmarks/serving.py [--rounds 5] [--threads 8]
"""

import argparse
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import numpy as np

import tables
from skcrf_sdca import SDCACRF, PackedSequences
from skcrf_sdca.datasets import make_chains

N_REQUESTS = 400


def requests(size):
    """Return a fitted model and requests of ``size`` sequences."""
    X, y = make_chains(1000, n_labels=20, n_features=50, length=25, random_state=0)
    crf = SDCACRF(max_iter=3, tol=1.0, random_state=0).fit(X, y)
    parts = [X[i : i + size] for i in range(0, len(X) - size + 1, size)]
    parts = [PackedSequences.from_sequences(part) for part in parts]
    return crf, [parts[i % len(parts)] for i in range(N_REQUESTS)]


def throughput(crf, parts, n_threads):
    """Return requests per second."""
    with ThreadPoolExecutor(n_threads) as threads:
        begin = perf_counter()
        list(threads.map(crf.predict_proba, parts))
        return len(parts) / (perf_counter() - begin)


def main():
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=8)
    arguments = parser.parse_args()
    rows = [
        ["sequences a request", "1 thread", f"{arguments.threads} threads", "ratio"]
    ]
    for size in (1, 10, 50, 250):
        crf, parts = requests(size)
        rates = [
            [throughput(crf, parts, n) for n in (1, arguments.threads)]
            for _ in range(arguments.rounds)
        ]
        one, many = np.median(rates, axis=0)
        rows.append([str(size), f"{one:,.0f}", f"{many:,.0f}", f"{many / one:.2f}"])
    tables.show(rows)


if __name__ == "__main__":
    main()

"""Measure models of many labels, few of whose transitions are allowed.

Two made corpora: "morphology" has the statistics of morphological tags, K = 500 tags of
frequencies by Zipf's law, 2 % of whose pairs follow each other, and 12,500 sentences of
200,000 tokens; "bioes" has names of 18 types in the scheme BIOES, K = 73, of whose
transitions 27 % are allowed. Both are made by a hidden Markov model: a word is drawn
given its tag, and its suffix says something of the tag.

``--observed`` gives weights to observed pairs of labels alone, and allows every one;
``--labels`` changes the number of tags.

Each fit is a process of its own. The table has the processor seconds of `fit` and of an
epoch, the peak memory of the process, and the accuracy on test sentences. ``--dense``
stores transitions as matrices, whatever is allowed. CRFsuite makes ``--iterations``
iterations of L-BFGS; it also has weights for observed features alone.
"""

import argparse
import multiprocessing
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from quiet_fits import seconds_of_fit

import tables
from skcrf_sdca import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF, PackedSequences
from skcrf_sdca._kernels.math import _transitions
from skcrf_sdca.text import repair_labels

ESTIMATORS = {
    "SDCA": (SDCACRF, {"dual_dtype": "float32", "random_state": 0}),
    "OEG": (OEGCRF, {"random_state": 0}),
    "SAG-NUS*": (SAGNUSCRF, {"random_state": 0}),
    "L-BFGS": (LBFGSCRF, {}),
}
RULES = {"morphology": "open", "bioes": "BIOES"}
SENTENCES = {"morphology": 12_500, "bioes": 4_000}
N_WORDS = 20_000
N_SUFFIXES = 400
TYPES = 18


def zipf(n, exponent=1.0):
    """Return probabilities by Zipf's law."""
    weights = 1.0 / np.arange(1, n + 1) ** exponent
    return weights / weights.sum()


def morphology(rng, n_labels=500, share=0.02):
    """Return start probabilities and a transition matrix with few entries."""
    frequency = zipf(n_labels)
    transition = np.zeros((n_labels, n_labels))
    # Of frequent tags more transitions: pairs by the product of the frequencies.
    scores = np.log(np.outer(frequency, frequency)) + rng.gumbel(size=(n_labels,) * 2)
    scores[np.arange(n_labels), 0] = scores[0] = np.inf
    n_pairs = int(share * n_labels**2)
    chosen = np.argpartition(-scores.ravel(), n_pairs)[:n_pairs]
    transition.ravel()[chosen] = rng.gamma(0.3, size=n_pairs) + 1e-3
    transition *= frequency
    transition[:, 0] += 1e-3
    return frequency, transition / transition.sum(axis=1, keepdims=True)


def bioes(rng, n_types=TYPES):
    """Return labels, start probabilities and the transition matrix of names."""
    names = ["O", *(f"{part}-T{t}" for t in range(n_types) for part in "BIES")]
    number = {name: k for k, name in enumerate(names)}
    shares = zipf(n_types)
    begins = np.zeros(len(names))
    begins[0] = 0.85
    for t in range(n_types):
        begins[number[f"B-T{t}"]] = 0.08 * shares[t]
        begins[number[f"S-T{t}"]] = 0.07 * shares[t]
    transition = np.zeros((len(names), len(names)))
    transition[0] = begins
    for t in range(n_types):
        b, i, e, s = (number[f"{part}-T{t}"] for part in "BIES")
        transition[e] = transition[s] = begins
        transition[b, [i, e]] = transition[i, [i, e]] = 0.3, 0.7
    return names, begins, transition


def corpus(rng, start, transition, n_sentences, mean_length=16):
    """Return the labels of all sentences as numbers, and where each begins."""
    n_labels = len(start)
    lengths = 1 + rng.poisson(mean_length - 1, size=n_sentences)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    cumulated = transition.cumsum(axis=1)
    labels = np.empty(offsets[-1], dtype=np.int64)
    for b, e in zip(offsets[:-1], offsets[1:], strict=True):
        labels[b] = rng.choice(n_labels, p=start)
        for t in range(b + 1, e):
            labels[t] = np.searchsorted(cumulated[labels[t - 1]], rng.random())
    np.minimum(labels, n_labels - 1, out=labels)
    return labels, offsets


class Lexicon:
    """Words of each label: a word has a main label, and some have a second one."""

    def __init__(self, rng, n_labels):
        self.main = rng.choice(n_labels, size=N_WORDS, p=zipf(n_labels, 0.7))
        self.main[:n_labels] = np.arange(n_labels)
        other = rng.choice(n_labels, size=N_WORDS, p=zipf(n_labels, 0.7))
        second = np.where(rng.random(N_WORDS) < 0.4, other, self.main)
        frequency = zipf(N_WORDS)[rng.permutation(N_WORDS)]
        words = np.concatenate([np.arange(N_WORDS)] * 2)
        self.by_label = sp.csr_array(
            (
                np.concatenate([frequency, 0.5 * frequency]),
                (np.concatenate([self.main, second]), words),
            ),
            shape=(n_labels, N_WORDS),
        )
        self.suffix = (self.main * 7919 + rng.integers(0, 3, N_WORDS)) % N_SUFFIXES

    def words(self, rng, labels):
        """Return a word for each label."""
        words = np.empty(len(labels), dtype=np.int64)
        for label in np.unique(labels):
            (at,) = np.nonzero(labels == label)
            own = slice(*self.by_label.indptr[label : label + 2])
            shares = self.by_label.data[own] / self.by_label.data[own].sum()
            words[at] = rng.choice(self.by_label.indices[own], size=len(at), p=shares)
        return words


def features(lexicon, words, offsets):
    """Return the packed features: words and suffixes at t - 1, t, t + 1."""
    blocks, first = [], np.zeros(len(words), dtype=bool)
    first[offsets[:-1]] = True
    last = np.zeros(len(words), dtype=bool)
    last[offsets[1:] - 1] = True
    for shift in (-1, 0, 1):
        outside = {-1: first, 0: np.zeros_like(first), 1: last}[shift]
        for values, count in ((words, N_WORDS), (lexicon.suffix[words], N_SUFFIXES)):
            moved = np.roll(values, -shift)
            (at,) = np.nonzero(~outside)
            shape = len(words), count
            blocks.append(
                sp.csr_array((np.ones(len(at)), (at, moved[at])), shape=shape)
            )
    return PackedSequences(sp.hstack(blocks, format="csr"), offsets)


def make(name, n_train, n_test, seed=0, n_labels=500):
    """Return X, y of training and test sentences, and the parameter `transitions`."""
    rng = np.random.default_rng(seed)
    if name == "bioes":
        names, start, transition = bioes(rng)
        names = np.array(names)
    else:
        start, transition = morphology(rng, n_labels, 0.02 * 500 / n_labels)
        names = np.array([f"tag{k:04d}" for k in range(len(start))])
    labels, offsets = corpus(rng, start, transition, n_train + n_test)
    lexicon = Lexicon(rng, len(start))
    packed = features(lexicon, lexicon.words(rng, labels), offsets)
    y = [names[labels[b:e]] for b, e in zip(offsets[:-1], offsets[1:], strict=True)]
    if name == "bioes":
        # The last name of a sentence may lack its end.
        y, _ = repair_labels([labels.tolist() for labels in y], "BIOES")
    return packed[:n_train], y[:n_train], packed[n_train:], y[n_train:]


def accuracy(found, y):
    """Return the share of right labels."""
    return np.mean(np.concatenate(found) == np.concatenate(y))


def peak_memory():
    """Return the peak of this process in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 2**10


def made(arguments):
    """Return the corpus that the arguments name."""
    n_train, n_labels = arguments.sentences, arguments.labels
    return make(arguments.task, n_train, 500, n_labels=n_labels)


def fit(arguments, name):
    """Return the row of one of our estimators."""
    if arguments.dense:
        _transitions.SPARSE = 0.0
    X, y, X_test, y_test = made(arguments)
    estimator, options = ESTIMATORS[name]
    before = peak_memory()
    rule = {"transitions": RULES[arguments.task]}
    crf = estimator(
        **({"label_pairs": "observed"} if arguments.observed else rule),
        features="observed",
        max_iter=arguments.epochs,
        tol=arguments.tol,
        verbose=arguments.verbose,
        **options,
    )
    seconds = seconds_of_fit(crf, X, y)
    peak = peak_memory()
    has_weight = np.isfinite(crf.transition_) & (crf.transition_ != 0.0)
    n_pairs = np.count_nonzero(has_weight)
    return [
        name,
        f"{len(crf.classes_)}",
        f"{n_pairs:,}",
        f"{crf.n_iter_}",
        f"{seconds:.1f}",
        f"{seconds / crf.n_iter_:.2f}",
        f"{crf.primal_objective_:.4f}",
        f"{crf.duality_gap_ / crf.primal_objective_:.1e}",
        f"{peak / 2**20:,.0f}",
        f"{(peak - before) / 2**20:,.0f}",
        f"{100 * accuracy(crf.predict(X_test), y_test):.2f}",
    ]


def lines_of(X):
    """Return the features of each sentence as lists of strings."""
    names = np.array([str(j) for j in range(X.X.shape[1])])
    rows = np.split(names[X.X.indices], X.X.indptr[1:-1])
    return [rows[b:e] for b, e in zip(X.offsets[:-1], X.offsets[1:], strict=True)]


def fit_crfsuite(arguments):
    """Return the row of CRFsuite after some iterations."""
    import pycrfsuite

    X, y, X_test, y_test = made(arguments)
    before = peak_memory()
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for rows, labels in zip(lines_of(X), y, strict=True):
        trainer.append([row.tolist() for row in rows], list(labels))
    trainer.set_params({"c1": 0.0, "c2": 0.5, "max_iterations": arguments.iterations})
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model")
        begin = time.process_time()
        trainer.train(model)
        seconds = time.process_time() - begin
        tagger = pycrfsuite.Tagger()
        tagger.open(model)
        found = [
            tagger.tag([row.tolist() for row in rows]) for rows in lines_of(X_test)
        ]
    last = trainer.logparser.iterations[-1]
    return [
        "CRFsuite",
        f"{len(set().union(*map(set, y)))}",
        tables.NONE,
        f"{last['num']}",
        f"{seconds:.1f}",
        f"{seconds / last['num']:.2f}",
        f"{last['loss'] / len(y):.4f}",
        tables.NONE,
        f"{peak_memory() / 2**20:,.0f}",
        f"{(peak_memory() - before) / 2**20:,.0f}",
        f"{100 * accuracy(found, y_test):.2f}",
    ]


HEADER = (
    "solver,K,transitions,epochs,fit (s),epoch (s),P,gap / P,peak (MiB),"
    "of fit (MiB),accuracy (%)"
).split(",")


def main():
    """Print the table of the fits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", choices=RULES, default="morphology")
    parser.add_argument("--solvers", nargs="*", default=list(ESTIMATORS))
    parser.add_argument("--sentences", type=int)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--dense", action="store_true")
    parser.add_argument("--labels", type=int, default=500, help="of morphology")
    parser.add_argument("--observed", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--quick", action="store_true", help="few sentences")
    parser.add_argument(
        "--iterations", type=int, default=0, help="of CRFsuite, 0 for none"
    )
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.sentences, arguments.epochs = 100, 2
    arguments.sentences = arguments.sentences or SENTENCES[arguments.task]
    context = multiprocessing.get_context("spawn")
    rows = [HEADER]
    calls = [(fit, arguments, name) for name in arguments.solvers]
    calls += [(fit_crfsuite, arguments)] * (arguments.iterations > 0)
    for call in calls:
        with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
            rows.append(pool.submit(*call).result())
        print(rows[-1], flush=True)
    tables.show(rows)


if __name__ == "__main__":
    main()

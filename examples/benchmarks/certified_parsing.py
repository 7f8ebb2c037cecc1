"""Train a CRF of dependency trees on a treebank up to a proven gap.

    python examples/benchmarks/certified_parsing.py [--projective | --siblings]
        [--sentences 2000]

The data and the templates are those of parsing.py; with --siblings those of second
order too, and trees are projective. Trees whose arcs cross are then left out of the
training data. Seconds are of the processor, from tokens to the model; --profile says
where they go, and --by-length prints what a pass of scores and marginals takes by the
length of sentences.
"""

import argparse
import cProfile
import pstats
import resource
import warnings
from time import process_time

import numpy as np
import parsing

import tables
from skcrf_sdca import DependencyCRF
from skcrf_sdca.data.heads import crossing
from skcrf_sdca.text import ArcFeatures

LENGTHS = 10, 20, 40, 80


def read(part, n_sentences=None, *, projective=False):
    """Return the tokens of sentences of English, and the heads of their words."""
    X, y = parsing.read("en_ewt", part, n_sentences)
    pairs = [(tokens, heads) for tokens, (heads, _) in zip(X, y, strict=True)]
    if projective:
        pairs = [pair for pair in pairs if crossing(np.array(pair[1])) is None]
    return list(zip(*pairs, strict=True))


def by_length(model, X):
    """Return rows of the milliseconds that the marginals of a sentence take."""
    rows = [("words", "sentences", "arcs", "ms")]
    for low, high in zip((0, *LENGTHS), (*LENGTHS, 1000), strict=True):
        own = [tokens for tokens in X if low < len(tokens) <= high][:300]
        if own:
            start = process_time()
            model.predict_proba(own)
            time = 1e3 * (process_time() - start) / len(own)
            arcs = np.mean([len(tokens) * (len(tokens) + 1) for tokens in own])
            figures = str(len(own)), f"{arcs:.0f}", f"{time:.2f}"
            rows.append((f"{low + 1}-{high}", *figures))
    return rows


def main():
    """Fit the model, and print its certificate and its scores."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--projective", action="store_true")
    parser.add_argument("--siblings", action="store_true", help="second order")
    parser.add_argument("--sentences", type=int, help="of the training data")
    parser.add_argument("--strength", type=float, default=10.0, help="alpha n")
    parser.add_argument("--bits", type=int, default=20, help="log2 of n_features")
    parser.add_argument("--epochs", type=int, default=20, help="at most")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--by-length", action="store_true")
    options = parser.parse_args()
    projective = options.projective or options.siblings
    X, y = read("train", options.sentences, projective=projective)
    features = ArcFeatures(
        parsing.TEMPLATES + parsing.SIBLINGS * options.siblings,
        columns=parsing.COLUMNS,
        n_features=2**options.bits,
    )
    model = DependencyCRF(
        options.strength / len(X),
        features=features,
        projective=projective,
        max_iter=options.epochs,
        verbose=1,
        random_state=0,
    )
    profile, start = cProfile.Profile(process_time), process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if options.profile:
            profile.runcall(model.fit, X, y)
        else:
            model.fit(X, y)
    seconds = process_time() - start
    gap, primal = model.duality_gap_, model.primal_objective_
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{len(X)} sentences: {seconds:.0f} s, {memory:.2f} GB, {model.n_iter_} epochs"
    )
    print(f"P {primal:.5f}, gap {gap / primal:.1e} P")
    if options.profile:
        pstats.Stats(profile).sort_stats("tottime").print_stats(12)
    if options.by_length:
        tables.show(by_length(model, X))
    rows = [("", "UAS")]
    for part in ("dev", "test"):
        X, y = read(part)
        found = model.predict(X)
        right = np.concatenate([np.equal(*p) for p in zip(found, y, strict=True)])
        rows.append((part, f"{100 * right.mean():.2f}"))
    tables.show(rows)


if __name__ == "__main__":
    main()

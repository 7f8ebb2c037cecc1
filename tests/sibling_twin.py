"""Twin of features of siblings: the trees of short sentences, with their features."""

import numpy as np
import tree_twin
from arc_twin import columns_of_sibling

from skcrf_sdca.text import ArcFeatures
from skcrf_sdca.text.features.arc_features import templates_of
from skcrf_sdca.text.features.token_arcs import TokenArcs

ARCS = ["h.word m.word", "m.tag", "h.tag between.tag m.tag"]
# Parts in any order; the numbers of columns are those of the arcs' order: word, tag.
SIBLINGS = ["s.word m.word", "h.tag s.tag m.tag", "m-1.tag s+1.word"]
PARTS = [
    [("m", 0, 0), ("s", 0, 0)],
    [("h", 0, 1), ("m", 0, 1), ("s", 0, 1)],
    [("m", -1, 1), ("s", 1, 0)],
]
COLUMNS = ("word", "tag")
N_FEATURES = 401
# A template of siblings may stand anywhere.
FEATURES = ArcFeatures(
    [*ARCS[:1], *SIBLINGS, *ARCS[1:]], columns=COLUMNS, n_features=N_FEATURES
)
OF_ARCS = ArcFeatures(ARCS, columns=COLUMNS, n_features=N_FEATURES)
LENGTHS = [3, 4, 1, 5, 2, 0, 4]


def made(seed=0, **kind):
    """Return sentences, and a projective tree of each."""
    rng = np.random.default_rng(seed)
    X = [
        [(str(rng.choice(list("abc"))), str(rng.choice(list("NV")))) for _ in range(n)]
        for n in LENGTHS
    ]
    y = []
    for n in LENGTHS:
        found = tree_twin.trees(n, projective=True, **kind) if n else [np.zeros(0, int)]
        y.append(found[rng.integers(len(found))].tolist())
    return X, y


def rows_of(words):
    """Return the features of all arcs, and a function of those of a tree."""
    (arcs,) = (own.toarray() for own in OF_ARCS.transform([words]))
    codes, n = TokenArcs(templates_of(OF_ARCS), [words]).codes, len(words)

    def of_tree(heads):
        found = arcs[np.array(heads) * n + np.arange(n)].sum(axis=0)
        for m, (h, s) in enumerate(
            zip(heads, tree_twin.siblings(heads), strict=True), start=1
        ):
            if h > 0:
                nodes = {"h": h, "m": m, "s": s}
                numbered = enumerate(PARTS, start=len(ARCS) + 1)
                own = columns_of_sibling(codes, list(numbered), nodes, N_FEATURES)
                np.add.at(found, own, 1.0)
        return found

    return of_tree


def scored(words, w, **kind):
    """Return the features of all trees, and their scores."""
    of_tree = rows_of(words)
    trees = tree_twin.trees(len(words), projective=True, **kind).tolist()
    rows = np.array([of_tree(heads) for heads in trees])
    return trees, rows, rows @ w

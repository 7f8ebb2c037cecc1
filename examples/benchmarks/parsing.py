"""Train a parser on all of a treebank, and print attachment scores and seconds.

    python examples/benchmarks/parsing.py [--projective [--siblings]] [--labelled]
        [--epochs 4] [--n-best 5] [--treebank tr_imst] [--predicted-tags]

UD English EWT, or Turkish IMST, is read from the folder that SKCRF_SDCA_DATA names:
words, with digits as 0, and gold tags, or those that a chain predicts from words; the
training data keep gold tags. All words count in the scores, punctuation too.
Seconds are of the processor; those of training are from the files in CoNLL-U to the
model, and those of prediction from tokens to trees, the fewest of three passes.
"""

import argparse
import os
import re
from pathlib import Path
from time import process_time

import tables
from skcrf_sdca import CRF, OnlineDependencyCRF, make_tagger
from skcrf_sdca.metrics import attachment_scores
from skcrf_sdca.text import (
    ArcFeatures,
    TokenFeatures,
    arc_templates,
    clean_trees,
    read_conllu,
)

COLUMNS = ("word", "upos", "xpos")
# These cost more than they give: three of the four templates with both words fill the
# table of weights, and coarse tags between do as well as fine ones.
LEFT_OUT = {
    "h.word h.xpos m.word m.xpos",
    "h.word m.word m.xpos",
    "h.word h.xpos m.word",
    "h.xpos between.xpos m.xpos",
}
# Those of McDonald et al. (2005) and the context of each token, and the pair of coarse
# tags and those between.
TEMPLATES = [
    *(t for t in arc_templates("word", "xpos", context=True) if t not in LEFT_OUT),
    "h.upos m.upos",
    "h.upos between.upos m.upos",
]
# Of second order: a word and its sibling, and the coarse tags of both and of the head.
SIBLINGS = [
    "m.word s.word",
    "m.xpos s.word",
    "m.word s.xpos",
    "m.xpos s.xpos",
    "h.upos m.upos s.upos",
]


def read(treebank, part, n_sentences=None):
    """Return the tokens of sentences, tuples, and their trees.

    Where a treebank has no fine tags, they are the coarse ones.
    """
    path = Path(os.environ["SKCRF_SDCA_DATA"]) / "ud" / f"{treebank}.{part}.conllu.gz"
    X, sentences = read_conllu(path, COLUMNS, label=None, return_sentences=True)
    digits = re.compile("[0-9]")
    X = [
        [
            (
                digits.sub("0", t["word"]),
                t["upos"],
                t["upos" if t["xpos"] == "_" else "xpos"],
            )
            for t in sentence
        ]
        for sentence in X[:n_sentences]
    ]
    return X, [sentence.tree for sentence in sentences[:n_sentences]]


def words_of(X):
    return [[word for word, *_ in sentence] for sentence in X]


def trained_tagger(X):
    """Return a chain that predicts the pair of tags of each word."""
    y = [["|".join(tags) for _, *tags in sentence] for sentence in X]
    return make_tagger(TokenFeatures(), CRF(random_state=0)).fit(words_of(X), y)


def retagged(tagger, X):
    """Return the tokens with the tags that a chain predicts."""
    words = words_of(X)
    return [
        [(word, *pair.split("|")) for word, pair in zip(own, pairs, strict=True)]
        for own, pairs in zip(words, tagger.predict(words), strict=True)
    ]


def row_of(model, treebank, part, tagger):
    """Return the figures of a part of the treebank."""
    X, y = read(treebank, part)
    faults = clean_trees(X, y)[2]
    if tagger is not None:
        X = retagged(tagger, X)
    seconds = []
    for _ in range(3):
        start = process_time()
        found = model.predict(X)
        seconds.append(process_time() - start)
    speed = len(X) / min(seconds)
    if not model.labelled:
        y = [heads for heads, _ in y]
    scores = attachment_scores(y, found)
    return (
        part,
        f"{100 * scores.uas:.2f}",
        "" if scores.las is None else f"{100 * scores.las:.2f}",
        f"{100 * scores.exact:.1f}",
        f"{speed:.0f}",
        f"{faults.crossing_arcs} of {len(X)}",
    )


def main():
    """Fit the parser, and print a table of its figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--treebank", default="en_ewt")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--projective", action="store_true")
    parser.add_argument("--siblings", action="store_true", help="second order")
    parser.add_argument("--predicted-tags", action="store_true")
    parser.add_argument("--labelled", action="store_true", help="relations too")
    parser.add_argument("--sentences", type=int, help="of the training data")
    parser.add_argument("--loss", default="hinge")
    parser.add_argument("--n-best", type=int, default=1, help="trees of a step")
    parser.add_argument("--C", type=float, default=0.01)
    parser.add_argument("--bits", type=int, default=21, help="log2 of n_features")
    options = parser.parse_args()
    model = OnlineDependencyCRF(
        options.C,
        features=ArcFeatures(
            TEMPLATES + SIBLINGS if options.siblings else TEMPLATES,
            columns=COLUMNS,
            n_features=2**options.bits,
        ),
        loss=options.loss,
        n_best=options.n_best,
        projective=options.projective,
        labelled=options.labelled,
        max_iter=options.epochs,
        random_state=0,
    )
    start = process_time()
    X, y = read(options.treebank, "train", options.sentences)
    faults = clean_trees(X, y)[2]
    if not options.labelled:
        y = [heads for heads, _ in y]
    reading = process_time() - start
    model.fit(X, y)
    training = process_time() - start
    print(f"{len(X)} sentences: {training:.1f} s, {reading:.1f} of them to read")
    print(f"{faults.crossing_arcs} with arcs that cross")
    tagger = trained_tagger(X) if options.predicted_tags else None
    rows = [("", "UAS", "LAS", "exact", "sentences/s", "crossing")]
    rows += [row_of(model, options.treebank, part, tagger) for part in ("dev", "test")]
    tables.show(rows)


if __name__ == "__main__":
    main()

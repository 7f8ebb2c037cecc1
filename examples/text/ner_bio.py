"""
Named entities with BIO constraints (CoNLL-2002)
================================================

This example recognises names of persons, organisations, places and other entities in
the Dutch text of the CoNLL-2002 shared task, from words and part-of-speech tags. It
prints precision, recall and F1 of whole names for each type. In BIO, a label such as
I-PER may follow only B-PER or I-PER. With ``transitions="BIO"`` all other paths have
probability zero, in training too. ``constrain("BIO")`` applies the constraint to a
model that was trained without it, which gives a slightly better F1 on this text.
``--output`` writes the predictions in the columns that ``conlleval`` reads.

The data are ``conll2002/ned.train.gz`` and ``ned.testb.gz``. They are read from the
folder that the environment variable ``SKCRF_SDCA_DATA`` names, or downloaded to
scikit-learn's data home. The example takes about twenty seconds::

    python examples/text/ner_bio.py [--output predicted.txt] [--figure names.png]
"""

import argparse
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from skcrf_sdca import SDCACRF, make_tagger
from skcrf_sdca.data.tagging_schemes import is_valid_pair
from skcrf_sdca.datasets import fetch_conll2002
from skcrf_sdca.metrics import span_precision_recall_fscore
from skcrf_sdca.text import (
    DEFAULT_TEMPLATES,
    Joint,
    Shape,
    TokenFeatures,
    Window,
    write_conll,
)

# %%
# Features
# --------
# The default templates use words, pairs of words, shapes, prefixes and suffixes. We add
# the tags around the token, and the word together with the shapes of its neighbours.

FEATURES = TokenFeatures(
    [
        *DEFAULT_TEMPLATES,
        Window("pos", 2),
        Window("pos", 2, n=2),
        Joint("word", Window(Shape(compact=True), 1)),
    ]
)

# %%
# Scores for each type
# --------------------
# A predicted name is correct if its type, its first token and its last token are
# correct.

ROW = "{:8}{:>11}{:>9}{:>9}{:>9}"
TYPES = ["LOC", "MISC", "ORG", "PER"]
COLORS = "#D55E00", "#0072B2", "#009E73"


def print_table(y, predicted):
    """Print the scores of each type and of all names together; return the F1."""
    print(ROW.format("", "precision", "recall", "F1", "names"))
    by_type = span_precision_recall_fscore(y, predicted, types=TYPES, average=None)
    overall = span_precision_recall_fscore(y, predicted)
    for name, *scores, support in [
        *zip(TYPES, *by_type, strict=True),
        ("all", *overall),
    ]:
        print(ROW.format(name, *(f"{score:.3f}" for score in scores), support))
    return [*by_type[2], overall[2]]


def n_invalid(predicted):
    """Return how many labels may not follow their predecessor."""
    pairs = (pair for labels in predicted for pair in pairwise([None, *labels]))
    return sum(not is_valid_pair(*pair, "BIO") for pair in pairs)


def report(title, predicted, y):
    """Print the scores and the number of invalid labels; return the F1."""
    print(f"\n{title}: {n_invalid(predicted)} labels violate BIO")
    return print_table(y, predicted)


# %%
# Plot the F1 of each type
# ------------------------
#
# .. image:: /images/examples/ner_bio.png


def draw(f1, output):
    """Draw the F1 of each type for each model."""
    figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
    x = np.arange(len(TYPES) + 1)
    for k, (title, color) in enumerate(zip(f1, COLORS, strict=True)):
        bars = ax.bar(x + 0.28 * (k - 1), f1[title], 0.26, color=color, label=title)
        ax.bar_label(bars, fmt="%.2f", fontsize="small")
    ax.set_xticks(x, [*TYPES, "all"])
    ax.set(ylabel="F1", ylim=(0.6, None))
    ax.legend(frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1))
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(output, dpi=110)


def main():
    """Train, predict, print the tables."""
    parser = argparse.ArgumentParser(description="Recognise Dutch names.")
    parser.add_argument("--output", help="file for words, tags, true and found labels")
    parser.add_argument("--figure", help="file for a picture")
    options = parser.parse_args()

    X, y = fetch_conll2002(return_X_y=True)
    X_test, y_test = fetch_conll2002(subset="testb", return_X_y=True)
    features = FEATURES.fit(X)
    free = make_tagger(features, SDCACRF(random_state=0)).fit(X, y)
    f1 = {}

    def take_down(title, predicted):
        f1[title] = report(title, predicted, y_test)

    take_down("trained without constraints", free.predict(X_test))
    predicted = free.constrain("BIO").predict(X_test)
    take_down("constrained after training", predicted)
    bound = make_tagger(features, SDCACRF(transitions="BIO", random_state=0))
    take_down("constrained in training", bound.fit(X, y).predict(X_test))
    if options.output is not None:
        write_conll(options.output, X_test, y_test, predicted)
    if options.figure is not None:
        draw(f1, options.figure)


if __name__ == "__main__":
    main()

# sphinx_gallery_thumbnail_path = 'images/examples/ner_bio.png'

"""
Dutch names, from columns of text to a table by type
====================================================

Whose name is it: of a person, an organisation, a place, or of something else? We train
a recogniser on the Dutch text of the CoNLL-2002 shared task, from words and their
part-of-speech tags, and print precision, recall and F1 of whole names for each type.
Labels such as I-PER only make sense after B-PER or I-PER. ``transitions="BIO"`` gives
everything else probability zero, in training too; ``constrain("BIO")`` does so in a
model that was trained with all paths, which on this text finds slightly more. The
predictions are written as columns, as ``conlleval`` reads them, if asked for.

It needs the data of the task, ``conll2002/ned.train.gz`` and ``ned.testb.gz``. They are
read from the folder that the environment variable ``SKCRF_SDCA_DATA`` names, or
downloaded to scikit-learn's data home. It takes about twenty seconds::

    python examples/ner_bio.py [--output predicted.txt] [--figure names.png]
"""

import argparse
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

from skcrf_sdca import SDCACRF
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
# The default templates look at words, pairs of words, shapes, prefixes and suffixes. We
# add the tags around, and which word is followed or preceded by a capital.

FEATURES = TokenFeatures(
    [
        *DEFAULT_TEMPLATES,
        Window("pos", 2),
        Window("pos", 2, n=2),
        Joint("word", Window(Shape(compact=True), 1)),
    ]
)

# %%
# The table
# ---------
# A name counts as found if its type, its first and its last word are right.

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
    """Return how many labels may not follow the one before."""
    pairs = (pair for labels in predicted for pair in pairwise([None, *labels]))
    return sum(not is_valid_pair(*pair, "BIO") for pair in pairs)


def report(title, predicted, y):
    """Print the scores of predictions, and whether they are valid; return the F1."""
    print(f"\n{title}: {n_invalid(predicted)} labels where BIO has none such")
    return print_table(y, predicted)


# %%
# The picture
# -----------
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
    free = make_pipeline(features, SDCACRF(random_state=0)).fit(X, y)
    f1 = {}

    def take_down(title, predicted):
        f1[title] = report(title, predicted, y_test)

    take_down("trained without constraints", free.predict(X_test))
    free[-1].constrain("BIO")
    predicted = free.predict(X_test)
    take_down("constrained after that", predicted)
    bound = make_pipeline(features, SDCACRF(transitions="BIO", random_state=0))
    take_down("constrained in training", bound.fit(X, y).predict(X_test))
    if options.output is not None:
        write_conll(options.output, X_test, y_test, predicted)
    if options.figure is not None:
        draw(f1, options.figure)


if __name__ == "__main__":
    main()

# sphinx_gallery_thumbnail_path = 'images/examples/ner_bio.png'

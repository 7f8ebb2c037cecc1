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

    python examples/ner_bio.py [--output predicted.txt]
"""

import argparse
from itertools import pairwise

from sklearn.pipeline import make_pipeline

from skcrf_sdca import SDCACRF
from skcrf_sdca.datasets import fetch_conll2002
from skcrf_sdca.metrics import span_precision_recall_fscore
from skcrf_sdca.spans import is_valid_pair
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


def print_table(y, predicted):
    """Print the scores of each type, and of all names together."""
    print(ROW.format("", "precision", "recall", "F1", "names"))
    by_type = span_precision_recall_fscore(y, predicted, types=TYPES, average=None)
    overall = span_precision_recall_fscore(y, predicted)
    for name, *scores, support in [
        *zip(TYPES, *by_type, strict=True),
        ("all", *overall),
    ]:
        print(ROW.format(name, *(f"{score:.3f}" for score in scores), support))


def n_invalid(predicted):
    """Return how many labels may not follow the one before."""
    pairs = (pair for labels in predicted for pair in pairwise([None, *labels]))
    return sum(not is_valid_pair(*pair, "BIO") for pair in pairs)


def report(title, predicted, y):
    """Print the scores of predictions, and whether they are valid."""
    print(f"\n{title}: {n_invalid(predicted)} labels where BIO has none such")
    print_table(y, predicted)


def main():
    """Train, predict, print the tables."""
    parser = argparse.ArgumentParser(description="Recognise Dutch names.")
    parser.add_argument("--output", help="file for words, tags, true and found labels")
    output = parser.parse_args().output

    X, y = fetch_conll2002(return_X_y=True)
    X_test, y_test = fetch_conll2002(subset="testb", return_X_y=True)
    features = FEATURES.fit(X)
    free = make_pipeline(features, SDCACRF(random_state=0)).fit(X, y)
    report("trained without constraints", free.predict(X_test), y_test)
    free[-1].constrain("BIO")
    predicted = free.predict(X_test)
    report("constrained after that", predicted, y_test)
    bound = make_pipeline(features, SDCACRF(transitions="BIO", random_state=0))
    report("constrained in training", bound.fit(X, y).predict(X_test), y_test)
    if output is not None:
        write_conll(output, X_test, y_test, predicted)


if __name__ == "__main__":
    main()

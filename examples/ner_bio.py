"""
Dutch names, from columns of text to a table by type
====================================================

Whose name is it: of a person, an organisation, a place, or of something else? We train
a recogniser on the Dutch text of the CoNLL-2002 shared task, from words and their
part-of-speech tags, and print precision, recall and F1 of whole names for each type.
The predictions are written as columns, as ``conlleval`` reads them, if asked for.

It needs the data of the task, ``conll2002/ned.train.gz`` and ``ned.testb.gz``. They are
read from the folder that the environment variable ``SKCRF_SDCA_DATA`` names, or
downloaded to scikit-learn's data home. It takes about ten seconds::

    python examples/ner_bio.py [--output predicted.txt]
"""

import argparse

from sklearn.pipeline import make_pipeline

from skcrf_sdca import SDCACRF
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


def main():
    """Train, predict, print the table."""
    parser = argparse.ArgumentParser(description="Recognise Dutch names.")
    parser.add_argument("--output", help="file for words, tags, true and found labels")
    output = parser.parse_args().output

    X, y = fetch_conll2002(return_X_y=True)
    X_test, y_test = fetch_conll2002(subset="testb", return_X_y=True)
    recogniser = make_pipeline(FEATURES, SDCACRF(random_state=0)).fit(X, y)
    predicted = recogniser.predict(X_test)

    crf = recogniser[-1]
    print(
        f"{len(X)} sentences, {crf.n_features_in_} features, {crf.n_iter_} epochs, "
        f"duality gap {crf.duality_gap_:.1e}\n"
    )
    print_table(y_test, predicted)
    if output is not None:
        write_conll(output, X_test, y_test, predicted)


if __name__ == "__main__":
    main()

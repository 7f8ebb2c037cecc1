"""
Chunking of English text (CoNLL-2000)
=====================================

A chunker finds the short phrases of a sentence: "[NP The board] [VP will approve]
[NP the sale]". This example trains a chunker on words and part-of-speech tags of the
CoNLL-2000 shared task. It prints the F1 score of whole phrases, shows the weights that
the model learnt, and chunks a new sentence.

The data are ``conll2000/train.txt.gz`` and ``test.txt.gz``. They are read from the
folder that the environment variable ``SKCRF_SDCA_DATA`` names, or downloaded to
scikit-learn's data home. The example takes about half a minute, and saves the figure as
``chunking.png``::

    python examples/text/chunking_conll2000.py
"""

import matplotlib.pyplot as plt

from skcrf_sdca import SDCACRF, make_tagger
from skcrf_sdca.datasets import fetch_conll2000
from skcrf_sdca.metrics import extract_spans, flat_accuracy_score, span_f1_score
from skcrf_sdca.plotting import TransitionDisplay
from skcrf_sdca.text import TokenFeatures, Window

# %%
# Features
# --------
# A feature is a string, such as "pos[-1]|pos[0]=DT|NN" for a noun after a determiner.
# The templates below make these features for every token: words and tags at most two
# tokens away, and n-grams of two words, two tags and three tags. An n-gram that does
# not fit into the sentence makes no feature.

FEATURES = TokenFeatures(
    [
        Window("word", 2),
        Window("word", 1, n=2),
        Window("pos", 2),
        Window("pos", 2, n=2),
        Window("pos", 2, n=3),
    ]
)


# %%
# Training and test scores
# ------------------------
# The estimator reads the feature strings directly. Its fit stops when the duality gap
# is at most ``tol`` times the objective.


def train_and_score():
    """Print the gap of every epoch and the test scores; return the tagger."""
    X, y = fetch_conll2000(return_X_y=True)
    X_test, y_test = fetch_conll2000(subset="test", return_X_y=True)
    tagger = make_tagger(FEATURES, SDCACRF(random_state=0, verbose=1)).fit(X, y)

    predicted = tagger.predict(X_test)
    print(f"\n{len(X)} sentences, {tagger[-1].n_features_in_} features")
    print(f"test accuracy by token  {flat_accuracy_score(y_test, predicted):.4f}")
    print(f"test F1 of phrases      {span_f1_score(y_test, predicted):.4f}")
    return tagger


# %%
# The weights of the model
# ------------------------
# ``transition_features`` and ``top_features`` return tables of the weights, with the
# names of labels and features. The figure shows that a label such as I-NP follows B-NP
# or I-NP:
#
# .. image:: /images/examples/chunking_conll2000.png


def print_weights(tagger, labels=("B-NP", "I-NP", "B-VP", "O"), n_features=4):
    """Print the strongest and weakest transitions, and features of some labels."""
    transitions = tagger.transition_features()
    print(f"\nstrongest transitions\n{transitions[:6]}")
    print(f"\nweakest transitions\n{transitions[-6:]}")
    features = tagger.top_features(n_features, labels)
    print(f"\nstrongest and weakest features\n{features}")


# %%
# Chunk a new sentence
# --------------------


def bracketed(words, labels):
    """Return the sentence with its phrases in brackets."""
    words = list(words)
    for phrase, start, stop in extract_spans(labels):
        words[start] = f"[{phrase} {words[start]}"
        words[stop - 1] += "]"
    return " ".join(words)


def main():
    """Train, look at the weights, chunk a sentence."""
    tagger = train_and_score()
    print_weights(tagger)

    words = "A small company in Basel will probably build the new engines .".split()
    tags = "DT JJ NN IN NNP MD RB VB DT JJ NNS .".split()
    sentence = [{"word": w, "pos": t} for w, t in zip(words, tags, strict=True)]
    (labels,) = tagger.predict([sentence])
    print("\n" + bracketed(words, labels))

    names = [
        f"{prefix}-{chunk}" for chunk in ("NP", "VP", "PP", "ADJP") for prefix in "BI"
    ]
    figure, ax = plt.subplots(figsize=(6.5, 5.5), layout="constrained")
    TransitionDisplay.from_estimator(tagger[-1], labels=[*names, "O"], ax=ax)
    figure.savefig("chunking.png", dpi=110)


if __name__ == "__main__":
    main()

# sphinx_gallery_thumbnail_path = 'images/examples/chunking_conll2000.png'

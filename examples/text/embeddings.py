"""
Word embeddings beside sparse features
======================================

Word vectors can be learnt from text without labels. They tell a model which known words
an unknown word is similar to. In this example, the vectors come from the Dutch text of
the CoNLL-2002 shared task without its labels: a singular value decomposition reduces
the counts of neighbouring words to 50 numbers for each word. Models are then trained to
recognise names with few labelled sentences, from features of the words, with and
without the vectors. ``SequenceUnion`` puts sparse and dense features into one matrix
and does not make the sparse ones dense. The fewer labels there are, the more the
vectors help.

The data are ``conll2002/ned.train.gz``, ``ned.testa.gz`` and ``ned.testb.gz``. They are
read from the folder that the environment variable ``SKCRF_SDCA_DATA`` names, or
downloaded to scikit-learn's data home. The example takes about ten seconds::

    python examples/text/embeddings.py --output embeddings.png
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize

from skcrf_sdca import SDCACRF, PerToken, SequenceUnion, SequenceVectorizer, make_tagger
from skcrf_sdca.datasets import fetch_conll2002
from skcrf_sdca.metrics import span_f1_score
from skcrf_sdca.text import TokenFeatures

N_LABELLED = (250, 1000, 4000)
N_COMPONENTS = 50
N_CONTEXTS = 5000

# %%
# Learn word vectors
# ------------------
# Each row of the matrix of counts is a word. Its columns are the most frequent words at
# each offset from the word. The matrix is decomposed after taking logarithms.


def train_vectors(sentences):
    """Return {word: row} and the vectors of all words of the sentences."""
    words, numbers = np.unique(np.concatenate(sentences), return_inverse=True)
    counts = np.bincount(numbers)
    column = np.full(len(words), -1)
    column[np.argsort(-counts, kind="stable")[:N_CONTEXTS]] = np.arange(N_CONTEXTS)
    sentence = np.repeat(np.arange(len(sentences)), [len(s) for s in sentences])
    blocks = []
    for place in (-2, -1, 1, 2):
        here = slice(max(0, -place), len(numbers) - max(0, place))
        there = slice(max(0, place), len(numbers) + min(0, place))
        context = column[numbers[there]]
        known = (context >= 0) & (sentence[here] == sentence[there])
        pairs = numbers[here][known], context[known]
        shape = len(words), N_CONTEXTS
        blocks.append(sp.csr_array((np.ones(known.sum()), pairs), shape=shape))
    contexts = sp.hstack(blocks).tocsr()
    contexts.data = np.log1p(contexts.data)
    svd = TruncatedSVD(N_COMPONENTS, random_state=0)
    vectors = normalize(svd.fit_transform(normalize(contexts)))
    return {word: row for row, word in enumerate(words.tolist())}, vectors


def vectors_of(sentences, rows, vectors):
    """Return one array for each sentence; words without a vector have zeros."""
    table = np.vstack([vectors, np.zeros(N_COMPONENTS)])
    return [table[[rows.get(word, -1) for word in words]] for words in sentences]


# %%
# Combine words and vectors
# -------------------------
# Each sequence is a pair (words, vectors), and each part has its own transformer. One
# number of a vector tells less than a word, and there are many of them. So their block
# has a weight below 1, which regularises its coefficients more.

WORDS = ("words", make_pipeline(TokenFeatures(), SequenceVectorizer()), 0)
VECTORS = ("vectors", PerToken(StandardScaler()), 1)
UNIONS = {
    "words": SequenceUnion([WORDS]),
    "and vectors": SequenceUnion(
        [WORDS, VECTORS], transformer_weights={"vectors": 0.2}
    ),
}


# %%
# Plot the F1 by the number of labelled sentences
# -----------------------------------------------
#
# .. image:: /images/examples/embeddings.png


def draw(scores, output):
    """Draw the F1 of each model by the number of sentences."""
    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    looks = ("s--", "#D55E00"), ("o-", "#0072B2")
    for (name, values), (style, color) in zip(scores.items(), looks, strict=True):
        ax.semilogx(N_LABELLED, values, style, color=color, label=name)
    ax.set_xticks(N_LABELLED, N_LABELLED)
    ax.minorticks_off()
    ax.set(xlabel="labelled sentences", ylabel="F1 of names")
    ax.legend(frameon=False)
    ax.grid(alpha=0.3)
    figure.savefig(output, dpi=110)


def main():
    """Train on more and more sentences; print and plot the F1 of names."""
    parser = argparse.ArgumentParser(description="Words with and without vectors.")
    parser.add_argument("--output", default="embeddings.png")
    output = parser.parse_args().output
    texts, labels = [], []
    for subset in ("train", "testa", "testb"):
        X, y = fetch_conll2002(subset=subset, return_X_y=True)
        texts.append([[token["word"] for token in sentence] for sentence in X])
        labels.append(y)
    embedding = train_vectors([words for text in texts for words in text])
    train, _, test = (
        list(zip(text, vectors_of(text, *embedding), strict=True)) for text in texts
    )
    y, _, y_test = labels
    # Neighbouring sentences are from the same article: sample from all articles.
    order = np.random.default_rng(0).permutation(len(train))
    scores = {name: [] for name in UNIONS}
    print("labelled sentences" + "".join(f"{name:>13}" for name in UNIONS))
    for n in N_LABELLED:
        chosen = order[:n].tolist()
        X_some, y_some = [train[i] for i in chosen], [y[i] for i in chosen]
        for name, union in UNIONS.items():
            model = make_tagger(union, SDCACRF(random_state=0))
            predicted = model.fit(X_some, y_some).predict(test)
            scores[name].append(span_f1_score(y_test, predicted))
        row = "".join(f"{values[-1]:13.3f}" for values in scores.values())
        print(f"{n:18}{row}", flush=True)
    draw(scores, output)


if __name__ == "__main__":
    main()

# sphinx_gallery_thumbnail_path = 'images/examples/embeddings.png'

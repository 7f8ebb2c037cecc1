"""
A network with a layer of trees
===============================

A small network scores the arcs from each word to each word of a sentence, and a layer
of projective dependency trees on top of it says which arcs make a tree. The layer gives
the network the gradient of the log likelihood of the true trees, so that both are
trained together. The network is written in NumPy, to show what passes between it and
the layer; for a network in PyTorch see :doc:`/networks`.

The treebank has 200 short sentences of English, of which 40 are for the test. To train
the network takes two seconds. You should see that the best tree of a sentence has far
more right heads than the best head of each word by itself, 95 in 100 against 75: the
network has learned which trees are right, and leaves it to the layer what is a tree.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from skcrf_sdca.data.trees import heads_of
from skcrf_sdca.structures.layers import dependency_layer
from skcrf_sdca.text import read_conllu

# %%
# Words as numbers
# ----------------
# Each word is known by the numbers of its form, of its tag, and of the tags beside it.
# The root is a word too, and stands in front. Number 0 is for forms that are new.

path = Path(sys.argv[0]).parent / "treebank.conllu"
tokens, tags, sentences = read_conllu(path, return_sentences=True)
forms = [[token["word"].lower() for token in own] for own in tokens]
heads = [np.array(sentence.tree[0]) for sentence in sentences]
is_test = np.arange(len(forms)) % 5 == 0


def numbers(names):
    """Return the number of each name, from 1."""
    return {name: k for k, name in enumerate(sorted(set(names)), 1)}


form_number = numbers(f for i, own in enumerate(forms) if not is_test[i] for f in own)
tag_number = numbers(tag for own in tags for tag in own)
ROOT, OUTSIDE = len(tag_number) + 1, 0


def codes_of(i):
    """Return the numbers of the root and the words of a sentence, (n + 1, 4)."""
    own = [OUTSIDE, ROOT, *(tag_number[tag] for tag in tags[i]), OUTSIDE]
    words = [0, *(form_number.get(form, 0) for form in forms[i])]
    return np.column_stack([words, own[:-2], own[1:-1], own[2:]])


# %%
# The network
# -----------
# Vectors of the four numbers are the vector of a word. The vectors of a head and of a
# word, and their distance, go through one layer of hidden units to the score of the
# arc. ``backward`` takes the gradient with respect to the scores of arcs.

SIZE, HIDDEN, FAR = 16, 64, 6
rng = np.random.default_rng(0)
n_numbers = len(form_number) + 1, ROOT + 1
weights = {
    "form": rng.normal(size=(n_numbers[0], SIZE)),
    "tag": rng.normal(size=(n_numbers[1], SIZE)),
    "head": rng.normal(size=(4 * SIZE, HIDDEN)) / np.sqrt(4 * SIZE),
    "word": rng.normal(size=(4 * SIZE, HIDDEN)) / np.sqrt(4 * SIZE),
    "distance": np.zeros((2 * FAR + 1, HIDDEN)),
    "score": rng.normal(size=HIDDEN) / np.sqrt(HIDDEN),
}


def arcs_of(batch):
    """Return the numbers of all words, and the head, the word and the distance of arcs.

    They are in the order of the layer: all words of the first head, the root, come
    first.
    """
    codes = [codes_of(i) for i in batch]
    first, ends = 0, []
    for own in codes:
        head, word = np.divmod(np.arange(len(own) * (len(own) - 1)), len(own) - 1)
        far = np.clip(word + 1 - head, -FAR, FAR) + FAR
        ends.append(np.stack([first + head, first + word + 1, far]))
        first += len(own)
    return np.concatenate(codes), np.concatenate(ends, axis=1)


def forward(codes, arcs):
    """Return the scores of arcs, and what `backward` needs."""
    head, word, far = arcs
    vectors = np.hstack([weights["form"][codes[:, 0]], *weights["tag"][codes[:, 1:].T]])
    above, below = vectors @ weights["head"], vectors @ weights["word"]
    hidden = np.tanh(above[head] + below[word] + weights["distance"][far])
    return hidden @ weights["score"], (codes, arcs, vectors, hidden)


def backward(of_scores, kept):
    """Return the gradient with respect to each array of weights."""
    codes, (head, word, far), vectors, hidden = kept
    inner = np.outer(of_scores, weights["score"]) * (1.0 - hidden**2)
    found = {name: np.zeros_like(own) for name, own in weights.items()}
    of_ends = np.zeros((2, len(codes), HIDDEN))
    np.add.at(of_ends[0], head, inner)
    np.add.at(of_ends[1], word, inner)
    np.add.at(found["distance"], far, inner)
    found["score"] = of_scores @ hidden
    found["head"], found["word"] = vectors.T @ of_ends[0], vectors.T @ of_ends[1]
    of_vectors = of_ends[0] @ weights["head"].T + of_ends[1] @ weights["word"].T
    of_form, *of_tags = np.split(of_vectors, 4, axis=1)
    np.add.at(found["form"], codes[:, 0], of_form)
    for column, own in enumerate(of_tags, 1):
        np.add.at(found["tag"], codes[:, column], own)
    return found


# %%
# Training
# --------
# Each batch makes a layer for the lengths of its sentences. The layer takes the scores
# of all arcs, one column for the one relation, and the labels of arcs, which are 1 for
# those of the tree. Adam moves the weights of the network.


def labels_of(i):
    """Return the labels of the arcs of a sentence: 1 for those in its tree."""
    n = len(heads[i])
    labels = np.zeros((n + 1, n), dtype=int)
    labels[heads[i], np.arange(n)] = 1
    return labels.ravel()


def layer_of(batch):
    """Return the layer of the trees of some sentences."""
    return dependency_layer([len(heads[i]) for i in batch], projective=True)


def adam(gradient, step, rate=0.005):
    """Move the weights."""
    for name, own in gradient.items():
        mean[name] += 0.1 * (own - mean[name])
        square[name] += 0.01 * (own**2 - square[name])
        size = np.sqrt(square[name] / (1.0 - 0.99**step)) + 1e-8
        weights[name] -= rate * mean[name] / (1.0 - 0.9**step) / size


mean, square = ({k: np.zeros_like(v) for k, v in weights.items()} for _ in range(2))
training, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
step, losses = 0, []
for _ in range(12):
    total = 0.0
    for batch in np.array_split(rng.permutation(training), 10):
        step += 1
        scores, kept = forward(*arcs_of(batch))
        labels = np.concatenate([labels_of(i) for i in batch])
        loss, (of_arcs,) = layer_of(batch).negative_log_likelihood(
            labels, scores[:, np.newaxis]
        )
        adam(backward(of_arcs[:, 0] / len(batch), kept), step)
        total += loss.sum()
    losses.append(total / len(training))
print(f"loss of the first epoch: {losses[0]:.2f}, of the last: {losses[-1]:.2f}")

# %%
# The test
# --------
# The best head of each word by itself does not depend on the heads of the other words.
# Such heads are seldom a tree.

one_by_one, in_trees = [], []
for i in test:
    scores, _ = forward(*arcs_of([i]))
    labels, _ = layer_of([i]).decode(scores[:, np.newaxis])
    one_by_one.append(scores.reshape(-1, len(heads[i])).argmax(axis=0))
    in_trees.append(heads_of(labels))
true = np.concatenate([heads[i] for i in test])
for name, found in (("one by one", one_by_one), ("in the best tree", in_trees)):
    print(f"right heads, {name}: {np.mean(np.concatenate(found) == true):.1%}")
n_trees = sum(map(np.array_equal, one_by_one, in_trees))
print(f"best heads that are the best tree: {n_trees} of {len(test)} sentences")

# %%
# Probabilities, with zeros or without
# ------------------------------------
# The gradient of log Z gives each arc a probability, and all of these are above 0. The
# probabilities of SparseMAP mix a few trees, so that most of them are exactly 0: the
# arcs that are left are those of an ambiguity. White is 0.

i = max(test, key=lambda i: len(heads[i]))
scores, _ = forward(*arcs_of([i]))
layer = layer_of([i])
figure, axes = plt.subplots(1, 2, figsize=(9, 4.5), sharey=True, layout="constrained")
for ax, method in zip(axes, (layer.log_partition, layer.sparse_marginals), strict=True):
    _, (proba,) = method(scores[:, np.newaxis])
    table = proba.reshape(-1, len(heads[i]))
    ax.imshow(np.where(table > 0.0, table, np.nan), cmap="viridis", vmin=0.0, vmax=1.0)
    words = [token["word"] for token in tokens[i]]
    ax.set_xticks(range(len(words)), words, rotation=90)
    ax.set_yticks(range(len(words) + 1), ["root", *words])
    ax.set_title(f"{method.__name__}: {np.mean(table > 0.0):.0%} above 0")
axes[0].set_ylabel("head")

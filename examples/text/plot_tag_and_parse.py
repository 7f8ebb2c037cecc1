"""
A tagger and a parser in one pipeline
=====================================

A parser reads the tags of words, which new text lacks: a tagger predicts them first.
The parser should be trained on tags that have the same mistakes. The tags of its
training sentences are therefore predicted by taggers of other sentences, fold by fold.

By default the sentences are made here, of a small grammar, in some seconds. With the
files of a treebank in CoNLL-U, for training and for test, it learns from these::

    python examples/text/plot_tag_and_parse.py [TRAIN.conllu TEST.conllu]
"""

import sys

import numpy as np
from sklearn.model_selection import KFold

from skcrf_sdca import OnlineDependencyCRF, PassiveAggressiveCRF, make_tagger
from skcrf_sdca.metrics import attachment_scores
from skcrf_sdca.plotting import DependencyTree
from skcrf_sdca.text import ArcFeatures, TokenFeatures, read_conllu

# %%
# Sentences
# ---------
# In the grammar "of" belongs to the noun before it, and "with" to the verb. A word such
# as "walks" may be a noun or a verb, and a third of the adjectives, nouns and verbs are
# words that no other sentence has: only the words beside them tell which they are.

WORDS = {
    "DET": "the a every".split(),
    "ADJ": "old small black".split(),
    "NOUN": "dogs cats children walks barks friends".split(),
    "VERB": "see walks barks like find".split(),
}


def drawn_word(rng, tag):
    """Return a word with this tag, perhaps one of random letters."""
    if tag == "DET" or rng.random() > 1 / 3:
        return str(rng.choice(WORDS[tag]))
    return "".join(rng.choice(list("abdegiklmnorstu"), 6))


def made(n, seed):
    """Return n sentences, their tags, and their trees."""
    rng = np.random.default_rng(seed)
    X, tags, trees = [], [], []
    for _ in range(n):
        words, rows = [], []  # a row is the tag, the head and the relation

        def noun_phrase(words, rows):
            kinds = ["DET"][: rng.integers(2)] + ["ADJ"] * rng.integers(3) + ["NOUN"]
            noun = len(words) + len(kinds)
            names = {"DET": "det", "ADJ": "amod"}
            for kind in kinds:
                words.append(drawn_word(rng, kind))
                rows.append([kind, noun, names.get(kind)])
            return noun

        subject = noun_phrase(words, rows)
        words.append(drawn_word(rng, "VERB"))
        verb = len(words)
        rows.append(["VERB", 0, "root"])
        rows[subject - 1][1:] = verb, "nsubj"
        last = noun_phrase(words, rows)
        rows[last - 1][1:] = verb, "obj"
        for preposition in rng.permutation(["of", "with"])[: rng.integers(3)]:
            words.append(str(preposition))
            rows.append(["ADP", 0, "case"])
            of_noun, adposition = preposition == "of", len(words)
            head, last = (last if of_noun else verb), noun_phrase(words, rows)
            rows[adposition - 1][1] = last
            rows[last - 1][1:] = head, "nmod" if of_noun else "obl"
        X.append(words)
        tags.append([tag for tag, _, _ in rows])
        trees.append(([head for _, head, _ in rows], [name for *_, name in rows]))
    return X, tags, trees


def read(path):
    """Return the same of a treebank."""
    X, tags, sentences = read_conllu(path, return_sentences=True)
    words = [[token["word"] for token in tokens] for tokens in X]
    return words, tags, [sentence.tree for sentence in sentences]


if len(sys.argv) == 3:
    (X, tags, trees), (X_test, tags_test, trees_test) = map(read, sys.argv[1:])
else:
    (X, tags, trees), (X_test, tags_test, trees_test) = made(400, 0), made(100, 1)

# %%
# Tags of the training sentences
# ------------------------------
# Each fifth is labelled by a tagger of the other four fifths.


def new_tagger():
    crf = PassiveAggressiveCRF(max_iter=5, random_state=0)
    return make_tagger(TokenFeatures(), crf)


def chosen(values, places):
    """Return some of the values of a list."""
    return [values[i] for i in places]


own_tags = [None] * len(X)
for others, fold in KFold(5, shuffle=True, random_state=0).split(X):
    tagger = new_tagger().fit(chosen(X, others), chosen(tags, others))
    for i, labels in zip(fold, tagger.predict(chosen(X, fold)), strict=True):
        own_tags[i] = labels

tagger = new_tagger().fit(X, tags)
print(f"accuracy of tags: {tagger.score(X_test, tags_test):.3f}")

# %%
# The parser
# ----------
# Its tokens are pairs of a word and a tag.


def pairs(X, tags):
    """Return sentences of (word, tag)."""
    return [list(zip(*both, strict=True)) for both in zip(X, tags, strict=True)]


def new_parser():
    features = ArcFeatures(columns=("word", "upos"), n_features=2**20)
    return OnlineDependencyCRF(
        features=features, labelled=True, projective=True, max_iter=5, random_state=0
    )


parser = new_parser().fit(pairs(X, own_tags), trees)
with_true_tags = new_parser().fit(pairs(X, tags), trees)
tokens = pairs(X_test, tagger.predict(X_test))
for name, model, own in (
    ("predicted tags, trained on predicted ones", parser, tokens),
    ("predicted tags, trained on true ones", with_true_tags, tokens),
    ("true tags", with_true_tags, pairs(X_test, tags_test)),
):
    scores = attachment_scores(trees_test, list(model.predict(own)))
    print(f"{name}: UAS {100 * scores.uas:.2f}, LAS {100 * scores.las:.2f}")

# %%
# A picture
# ---------
# The log loss has probabilities of arcs. Below the words are probable arcs that are not
# in the tree.

model = (
    new_parser()
    .set_params(loss="log_loss")
    .fit(pairs(X[:300], tags[:300]), trees[:300])
)
sentence = tokens[2]
(tree,), (proba,) = model.predict([sentence]), model.predict_proba([sentence])
words, shown_tags = zip(*sentence, strict=True)
DependencyTree(words, tree, proba=proba, tags=shown_tags, least=0.05)

"""
A tagger and a parser in one pipeline
=====================================

A parser reads the tags of words, which new text lacks: a tagger predicts them first.
The parser should be trained on tags that have the same mistakes. The tags of its
training sentences are therefore predicted by taggers of other sentences, fold by fold.

The treebank has 200 short sentences of English, which were written for this example. To
learn the tags and the trees of 160 takes two seconds. Of the words of the other 40, 93
in 100 then have the right tag, and 94 the right head; by a parser that was trained on
true tags 91 have. With the files of a larger treebank in CoNLL-U, for training and for
test, it learns from these::

    python examples/text/plot_tag_and_parse.py [TRAIN.conllu TEST.conllu]
"""

import sys
from pathlib import Path

from sklearn.model_selection import KFold

from skcrf_sdca import OnlineDependencyCRF, PassiveAggressiveCRF, make_tagger
from skcrf_sdca.metrics import attachment_scores
from skcrf_sdca.plotting import DependencyTree
from skcrf_sdca.text import ArcFeatures, TokenFeatures, read_conllu

# %%
# A treebank
# ----------
# A line of ``treebank.conllu`` has the number of a word, the word, its tag, the number
# of its head, and its relation to the head. Words such as "walks" and "light" are nouns
# in some sentences, and verbs or adjectives in others. Every fifth sentence is for the
# test.


def read(path):
    """Return the words of the sentences, their tags, and their trees."""
    X, tags, sentences = read_conllu(path, return_sentences=True)
    words = [[token["word"] for token in tokens] for tokens in X]
    return words, tags, [sentence.tree for sentence in sentences]


if len(sys.argv) == 3:
    (X, tags, trees), (X_test, tags_test, trees_test) = map(read, sys.argv[1:])
else:
    treebank = read(Path(sys.argv[0]).parent / "treebank.conllu")
    X_test, tags_test, trees_test = (own[::5] for own in treebank)
    X, tags, trees = ([own[i] for i in range(200) if i % 5] for own in treebank)
for row in zip(X[0], tags[0], *trees[0], strict=True):
    print(*row)

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
# in the tree. Here one of them is right: the garden belongs to the house, and not to
# the sale. Only more sentences could tell the parser.

model = new_parser().set_params(loss="log_loss").fit(pairs(X, own_tags), trees)
sentence = tokens[9]
(tree,), (proba,) = model.predict([sentence]), model.predict_proba([sentence])
words, shown_tags = zip(*sentence, strict=True)
DependencyTree(words, tree, proba=proba, tags=shown_tags, least=0.05)

# sphinx_gallery_thumbnail_path = 'images/dependency_tree.svg'

"""
Morphological tags that share the weights of their parts
========================================================

The tag of a Turkish word says more than its part of speech: *evlerden*, "from the
houses", is ``NOUN|Case=Abl|Number=Plur``. There are hundreds of such joint tags, and
most are rare; but their parts are not. With ``label_features`` features have weights of
parts. What *-den* says of the ablative is then learnt from the nouns of both numbers,
and a tag that no training sentence has can be predicted.

The sentences are made here, of stems and endings with vowel harmony. The example takes
some seconds, and saves the figure as ``label_features.png``::

    python examples/text/plot_label_features.py

:doc:`/many_labels` has the figures of a real treebank.
"""

import matplotlib.pyplot as plt
import numpy as np

from skcrf_sdca import OEGCRF

# %%
# Sentences of stems and endings
# ------------------------------
# A noun has a plural ending or none, and one for its case; a verb has one for its tense
# and one for its person. Endings take the kind of vowel that the stem has, back or
# front. The tag of an adverb has no parts but its part of speech.

CASES = {
    "Nom": ("", ""),
    "Acc": ("ı", "i"),
    "Dat": ("a", "e"),
    "Loc": ("da", "de"),
    "Abl": ("dan", "den"),
    "Gen": ("ın", "in"),
}
NUMBERS = {"Sing": ("", ""), "Plur": ("lar", "ler")}
TENSES = {"Past": ("dı", "di"), "Fut": ("acak", "ecek"), "Pres": ("ıyor", "iyor")}
PERSONS = {"1": ("ım", "im"), "2": ("sın", "sin"), "3": ("", "")}
CONSONANTS, BACK, FRONT = list("bcdgklmnprstvyz"), list("aıou"), list("eiöü")
ADVERBS = ["çok", "şimdi", "bugün", "yine", "hemen"]
rng = np.random.default_rng(0)


def new_stem(rng):
    """Return a stem of up to two syllables, and 0 for back vowels, 1 for front ones."""
    harmony = int(rng.integers(2))
    vowels = (BACK, FRONT)[harmony]
    syllables = [
        rng.choice(CONSONANTS) + rng.choice(vowels) for _ in range(rng.integers(1, 3))
    ]
    return "".join(syllables) + rng.choice(CONSONANTS), harmony


NOUNS = [new_stem(rng) for _ in range(300)]
VERBS = [new_stem(rng) for _ in range(150)]


def new_noun(rng):
    """Return a noun and its tag; some cases are rare."""
    stem, harmony = NOUNS[rng.integers(len(NOUNS))]
    case = rng.choice(list(CASES), p=[0.4, 0.2, 0.15, 0.1, 0.1, 0.05])
    number = rng.choice(list(NUMBERS), p=[0.8, 0.2])
    word = stem + NUMBERS[number][harmony] + CASES[case][harmony]
    return word, f"NOUN|Case={case}|Number={number}"


def new_verb(rng):
    """Return a verb and its tag."""
    stem, harmony = VERBS[rng.integers(len(VERBS))]
    tense = rng.choice(list(TENSES), p=[0.6, 0.15, 0.25])
    person = rng.choice(list(PERSONS), p=[0.2, 0.1, 0.7])
    word = stem + TENSES[tense][harmony] + PERSONS[person][harmony]
    return word, f"VERB|Person={person}|Tense={tense}"


def new_sentence(rng):
    """Return the words and the tags of nouns, perhaps an adverb, and a verb."""
    pairs = [new_noun(rng) for _ in range(rng.integers(1, 4))]
    if rng.random() < 0.4:
        pairs.append((rng.choice(ADVERBS), "ADV"))
    return zip(*pairs, new_verb(rng), strict=True)


def new_corpus(n):
    """Return n sentences, as words and tags."""
    return zip(*map(list, (new_sentence(rng) for _ in range(n))), strict=True)


X_train, y_train = map(list, new_corpus(430))
X_test, y_test = map(list, new_corpus(300))
print(*(f"{word}/{tag}" for word, tag in zip(X_test[0], y_test[0], strict=True)))

# %%
# One tag is left out of the training sentences: "in the houses", *evlerde*.

UNSEEN = "NOUN|Case=Loc|Number=Plur"
kept = [i for i, tags in enumerate(y_train) if UNSEEN not in tags][:400]
X_train, y_train = [X_train[i] for i in kept], [list(y_train[i]) for i in kept]

# %%
# Features: letters of a word
# ---------------------------
# What a word ends with, and every three letters of it: the ending of the plural stands
# before the ending of the case.


def features(words):
    """Return the endings of up to four letters of every word, and its trigrams."""
    return [
        [f"-{word[-n:]}" for n in range(1, 5)]
        + [word[t : t + 3] for t in range(len(word) - 2)]
        for word in words
    ]


train, test = list(map(features, X_train)), list(map(features, X_test))

# %%
# Joint tags with and without parts
# ---------------------------------
# ``"parts"`` says that a tag has the parts between its separators, and itself. A dict
# may have further tags, which no training sentence has: here all that the grammar can
# make, with their parts alone.

TAGS = ["ADV"]
TAGS += [f"NOUN|Case={case}|Number={number}" for case in CASES for number in NUMBERS]
TAGS += [f"VERB|Person={p}|Tense={tense}" for p in PERSONS for tense in TENSES]
WAYS = {
    "labels alone": None,
    "labels and parts": "parts",
    "parts, all tags known": {tag: tag.split("|") for tag in TAGS},
}
SIZES = [20, 40, 80, 160, 400]
right = np.concatenate([np.array(tags) for tags in y_test])
is_unseen = right == UNSEEN
accuracy = {name: [] for name in WAYS}
unseen = {name: [] for name in WAYS}
for n in SIZES:
    print(f"\n{n} sentences, {len(set().union(*y_train[:n]))} tags")
    for name, label_features in WAYS.items():
        crf = OEGCRF(label_features=label_features, random_state=0)
        found = np.concatenate(crf.fit(train[:n], y_train[:n]).predict(test))
        accuracy[name].append((found == right).mean())
        unseen[name].append((found == right)[is_unseen].mean())
        print(
            f"  {name:22} {accuracy[name][-1]:6.1%} right, "
            f"{unseen[name][-1]:4.0%} of {UNSEEN}"
        )

# %%
# What the endings say of the parts
# ---------------------------------
# ``coef_`` has a row for each part. The weights of endings can be read like a grammar,
# and each ending has weights of few parts.

crf = OEGCRF(label_features=WAYS["parts, all tags known"], random_state=0)
crf.fit(train, y_train)
print(crf.top_features(3, ["Case=Abl", "Number=Plur"]))
shown = ["Case=Nom", "Case=Acc", "Case=Dat", "Case=Loc", "Case=Abl", "Case=Gen"]
shown += ["Number=Sing", "Number=Plur", "Tense=Past", "Tense=Fut", "Tense=Pres"]
endings = ["-ı", "-a", "-da", "-den", "-ın", "ler", "lar", "-di", "cak", "iyo"]
rows = [crf.parts_.tolist().index(part) for part in shown]
names = crf.vectorizer_.get_feature_names_out().tolist()
columns = [names.index(ending) for ending in endings]
weights = crf.coef_[np.ix_(rows, columns)]

# %%
# Plot accuracy and weights
# -------------------------

BLUE, RED, GREY = "#1f5f99", "#c8102e", "#707070"
figure, (left, right_ax) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
for (name, values), color in zip(accuracy.items(), (GREY, BLUE, RED), strict=True):
    left.plot(SIZES, values, "o-", color=color, label=name)
    if any(unseen[name]):
        left.plot(
            SIZES, unseen[name], ".--", color=color, label="the same, of the new tag"
        )
left.set_xscale("log")
left.set_xticks(SIZES, map(str, SIZES))
left.minorticks_off()
left.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
left.set(xlabel="training sentences", ylabel="right tags of test words")
left.set_title("Tags that share parts need fewer sentences", weight="bold")
left.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.45, -0.12), ncols=2)
left.spines[["top", "right"]].set_visible(False)
left.grid(alpha=0.3)

size = abs(weights).max()
image = right_ax.imshow(weights, "RdBu_r", vmin=-size, vmax=size, aspect="auto")
right_ax.set_xticks(range(len(endings)), endings)
right_ax.set_yticks(range(len(shown)), shown)
right_ax.set_title("Weights of endings and parts", weight="bold")
figure.colorbar(image, ax=right_ax, label="weight")
figure.savefig("label_features.png", dpi=150)
if plt.get_backend().lower() != "agg":
    plt.show()

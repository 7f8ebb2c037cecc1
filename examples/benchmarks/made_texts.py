"""Make labelled texts that the corpora lack: noisy names, addresses, and short names.

`noisy_names` returns short messages with names of six types, as people write them
online: few names, most of them met once, in any case, and misspelt. `addresses` returns
lines of a few words, of which each is one of 28 parts of an address. `short_names` are
names of persons and companies, of 23 parts and 2.7 words in the mean, with 48 features
of a word, most of them rare, as programs that train by parserator have. All return
features, a dict for each token, and labels. Labels are drawn first, then the words, so
that words and labels have no more in common than real ones have.
"""

import numpy as np

SYLLABLES = [a + b for a in "bcdfghklmnprstvw" for b in "aeiou"]
MESSAGES, MESSAGE_LENGTH, N_WORDS = 3_400, 18, 15_000
NAME_TYPES = ("person", "location", "company", "product", "group", "work")
NAMES_OF_TYPE, CUES_OF_TYPE = 800, 12
# A token begins a name; a name follows a word that says its type; a name is a common
# word; a word is in lower case; a word is misspelt.
NAME, CUE, COMMON, LOWER, MISSPELT = 0.05, 0.3, 0.1, 0.4, 0.15
ADDRESSES, UNLIKELY = 17_838, 0.01
# A part of an address: its probability, the number of its different words, whether it
# is a number, and the most words that it takes.
PARTS = {
    "recipient": (0.12, 3_000, False, 3),
    "building": (0.06, 800, False, 2),
    "number_prefix": (UNLIKELY, 6, False, 1),
    "number": (0.8, 9_000, True, 1),
    "number_suffix": (0.02, 8, False, 1),
    "pre_modifier": (UNLIKELY, 6, False, 1),
    "pre_direction": (0.3, 12, False, 1),
    "pre_type": (0.05, 12, False, 1),
    "street": (0.85, 4_000, False, 2),
    "post_type": (0.75, 40, False, 1),
    "post_direction": (0.08, 12, False, 1),
    "post_modifier": (UNLIKELY, 6, False, 1),
    "corner": (0.02, 4, False, 1),
    "second_pre_direction": (UNLIKELY, 12, False, 1),
    "second_street": (0.02, 4_000, False, 2),
    "second_post_type": (0.02, 40, False, 1),
    "box_type": (0.06, 6, False, 2),
    "box": (0.06, 3_000, True, 1),
    "group_type": (UNLIKELY, 6, False, 1),
    "group": (UNLIKELY, 300, True, 1),
    "subaddress_type": (0.05, 10, False, 1),
    "subaddress": (0.05, 300, True, 1),
    "occupancy_type": (0.15, 12, False, 1),
    "occupancy": (0.15, 900, True, 1),
    "place": (0.5, 2_500, False, 2),
    "state": (0.5, 60, False, 1),
    "zip": (0.4, 20_000, True, 1),
    "country": (0.02, 5, False, 1),
}

# The same of names of persons, and of companies.
SHORT_NAMES, PERSON = 4_281, 0.6
PARTS_OF_PERSON = {
    "title": (0.08, 12, False, 1),
    "given": (0.9, 3_000, False, 1),
    "given_initial": (0.1, 26, False, 1),
    "middle": (0.15, 1_500, False, 1),
    "middle_initial": (0.25, 26, False, 1),
    "nickname": (0.03, 300, False, 1),
    "surname": (0.95, 6_000, False, 1),
    "surname_initial": (UNLIKELY, 26, False, 1),
    "generation": (0.04, 6, False, 1),
    "degree": (0.03, 12, False, 1),
    "and": (0.04, 2, False, 1),
}
PARTS_OF_COMPANY = {
    "article": (0.05, 2, False, 1),
    "short_form": (0.1, 300, False, 1),
    "company": (0.9, 4_000, False, 2),
    "organization": (0.25, 300, False, 1),
    "place": (0.1, 500, False, 1),
    "of": (0.1, 3, False, 1),
    "number": (0.05, 300, True, 1),
    "branch_type": (0.03, 12, False, 1),
    "branch": (0.03, 200, False, 1),
    "proxy": (UNLIKELY, 3, False, 1),
    "proxied": (UNLIKELY, 100, False, 1),
    "legal_form": (0.6, 12, False, 1),
}
LONGEST_AFFIX = 8


def words(rng, n, syllables=(1, 5)):
    """Return n words of less than syllables[1] syllables; some words are the same."""
    return [
        "".join(rng.choice(SYLLABLES, size))
        for size in rng.integers(*syllables, size=n)
    ]


def zipf(n):
    """Return probabilities by Zipf's law."""
    weights = 1.0 / np.arange(1, n + 1)
    return weights / weights.sum()


class Drawer:
    """Words with probabilities by Zipf's law."""

    def __init__(self, rng, words):
        self.rng, self.words = rng, words
        self.bounds = np.cumsum(zipf(len(words)))

    def __call__(self):
        """Return a word."""
        number = np.searchsorted(self.bounds, self.rng.random())
        return self.words[min(number, len(self.words) - 1)]


def written(rng, word):
    """Return a word as it is written in a hurry."""
    if rng.random() < MISSPELT:
        at = rng.integers(len(word))
        word = word[:at] + word[at : at + 1] * rng.integers(0, 3) + word[at + 1 :]
    return word.lower() if rng.random() < LOWER else word


def message(rng, common, names, cues):
    """Return the words and the labels of a message."""
    tokens, labels = [], []
    for _ in range(1 + rng.poisson(MESSAGE_LENGTH - 1)):
        if rng.random() >= NAME:
            tokens.append(written(rng, common()))
            labels.append("O")
            continue
        kind = rng.choice(NAME_TYPES)
        if rng.random() < CUE:
            tokens.append(cues[kind]())
            labels.append("O")
        for k in range(rng.integers(1, 4)):
            is_common = rng.random() < COMMON
            tokens.append(
                written(rng, (common if is_common else names[kind])().title())
            )
            labels.append(f"{'I' if k else 'B'}-{kind}")
    return tokens, labels


def features(tokens, i):
    """Return the features of a token, those of the tutorial without tags."""
    found = {"bias": 1.0}
    for k, name in ((-1, "-1:"), (0, ""), (1, "+1:")):
        if not 0 <= i + k < len(tokens):
            found["BOS" if k < 0 else "EOS"] = True
            continue
        token = tokens[i + k]
        found[f"{name}lower"] = token.lower()
        found[f"{name}title"] = token.istitle()
        found[f"{name}upper"] = token.isupper()
        found[f"{name}digit"] = token.isdigit()
    found["suffix3"], found["suffix2"] = tokens[i][-3:], tokens[i][-2:]
    return found


def featured(texts):
    """Return the features and the labels of texts."""
    X = [[features(tokens, i) for i in range(len(tokens))] for tokens, _ in texts]
    return X, [labels for _, labels in texts]


def noisy_names(n=MESSAGES, random_state=0):
    """Return features and labels of messages with names."""
    rng = np.random.default_rng(random_state)
    common = Drawer(rng, words(rng, N_WORDS))
    names = {
        kind: Drawer(rng, words(rng, NAMES_OF_TYPE, (2, 5))) for kind in NAME_TYPES
    }
    cues = {kind: Drawer(rng, words(rng, CUES_OF_TYPE)) for kind in NAME_TYPES}
    return featured([message(rng, common, names, cues) for _ in range(n)])


def drawers_of(rng, parts):
    """Return a Drawer for each part."""
    drawers = {}
    for part, (_, n_words, is_number, _) in parts.items():
        numbers = rng.integers(1, 10 * n_words, size=n_words)
        found = map(str, numbers) if is_number else words(rng, n_words)
        drawers[part] = Drawer(rng, list(found))
    return drawers


def composed(rng, parts, drawers):
    """Return the words of a text that has some of the parts, and their labels."""
    tokens, labels = [], []
    for part, (probability, _, _, most) in parts.items():
        if rng.random() < probability:
            for _ in range(rng.integers(1, most + 1)):
                tokens.append(drawers[part]().title())
                labels.append(part)
    return tokens, labels


def addresses(n=ADDRESSES, random_state=0):
    """Return features and labels of the words of addresses."""
    rng = np.random.default_rng(random_state)
    drawers = drawers_of(rng, PARTS)
    texts = []
    while len(texts) < n:
        tokens, labels = composed(rng, PARTS, drawers)
        if tokens:
            texts.append((tokens, labels))
    return featured(texts)


def spelling(word, where):
    """Return how a word is spelt, as features of a word beside it."""
    found = {f"{where}lower": word.lower(), f"{where}length": str(len(word))}
    for size in range(1, LONGEST_AFFIX + 1):
        found[f"{where}prefix{size}"] = word[:size]
        found[f"{where}suffix{size}"] = word[-size:]
    found[f"{where}digit"] = word.isdigit()
    found[f"{where}vowels"] = str(sum(letter in "aeiou" for letter in word.lower()))
    for k in range(len(word) - 2):
        found[f"{where}letters{k}"] = word[k : k + 3]
    return found


def short_names(n=SHORT_NAMES, random_state=0):
    """Return features and labels of names of persons and companies."""
    rng = np.random.default_rng(random_state)
    all_parts = PARTS_OF_PERSON, PARTS_OF_COMPANY
    all_drawers = [drawers_of(rng, parts) for parts in all_parts]
    X, y = [], []
    while len(y) < n:
        which = int(rng.random() >= PERSON)
        tokens, labels = composed(rng, all_parts[which], all_drawers[which])
        before, after = ["", *tokens], [*tokens[1:], ""]
        rows = [
            spelling(word, "")
            | (spelling(left, "-1:") if left else {"first": True})
            | (spelling(right, "+1:") if right else {"last": True})
            for left, word, right in zip(before, tokens, after, strict=False)
        ]
        if rows:
            X.append(rows)
            y.append(labels)
    return X, y

"""Make token features with handwritten loops, as programs for CRFsuite do.

The features have the same names as those that `skcrf_sdca.text.TokenFeatures` makes for
the chunks, entities and tags of tasks.py. They are the reference for its speed and its
results.
"""

# The first and the last offset of each window.
CHUNK_WINDOWS = {
    "word": [(-2, -2), (-1, -1), (0, 0), (1, 1), (2, 2), (-1, 0), (0, 1)],
    "pos": [(-2, -2), (-1, -1), (0, 0), (1, 1), (2, 2)]
    + [(-2, -1), (-1, 0), (0, 1), (1, 2)]
    + [(-2, 0), (-1, 1), (0, 2)],
}
ENTITY_WINDOWS = {field: places[:9] for field, places in CHUNK_WINDOWS.items()}
TAG_WINDOWS = {"word": CHUNK_WINDOWS["word"][:5]}


def chunk_features(sentence, windows=CHUNK_WINDOWS):
    """Return the list of feature strings of each token of a sentence."""
    features = [[] for _ in sentence]
    for field, places in windows.items():
        values = [token[field] for token in sentence]
        for first, last in places:
            name = "|".join(f"{field}[{k}]" for k in range(first, last + 1))
            for i in range(max(0, -first), len(values) - max(0, last)):
                window = "|".join(values[i + first : i + last + 1])
                features[i].append(f"{name}={window}")
    return features


def shape(word):
    """Return the word with letters as x or X and digits as d: "Xxxxx-dd"."""
    return "".join(
        "X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c
        for c in word
    )


def entity_features(sentence):
    """Return windows of words and tags, and features of the form of each word."""
    features = chunk_features(sentence, ENTITY_WINDOWS)
    for names, token in zip(features, sentence, strict=True):
        word = token["word"]
        names += [f"shape={shape(word)}", f"prefix3={word[:3]}", f"suffix3={word[-3:]}"]
        if word[0].isupper():
            names.append("is_capitalized")
        if word.isdigit():
            names.append("isdigit")
    return features


def tag_features(sentence):
    """Return windows of words, and the shape, prefixes and suffixes of each word."""
    features = chunk_features(sentence, TAG_WINDOWS)
    for names, token in zip(features, sentence, strict=True):
        word = token["word"]
        names.append(f"shape={shape(word)}")
        lengths = range(1, min(len(word), 4) + 1)
        names += [f"first={word[:length]}" for length in lengths]
        names += [f"last={word[-length:]}" for length in lengths]
    return features


FEATURES = {"conll2000": chunk_features, "ned": entity_features, "wsj": tag_features}

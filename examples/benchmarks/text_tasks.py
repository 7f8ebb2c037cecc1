"""From raw text to span F1: CoNLL-2000 chunks and the Dutch entities of CoNLL-2002.

For each task: sentences, features, epochs and the gap of SDCACRF with its default
parameters, seconds of making the feature strings, of numbering them and of the fit, and
span F1 on the test data beside the F1 that is promised.

    python examples/benchmarks/text_tasks.py [--task conll2000]

The corpora are read from the folder SKCRF_SDCA_DATA or downloaded. The features of the
tokens' windows are those of examples/chunking_conll2000.py.
"""

import argparse
import sys
from pathlib import Path
from time import perf_counter

from skcrf_sdca import SDCACRF
from skcrf_sdca.datasets import fetch_conll2000, fetch_conll2002
from skcrf_sdca.features import SequenceVectorizer
from skcrf_sdca.metrics import span_f1_score

sys.path.append(str(Path(__file__).resolve().parents[1]))
from chunking_conll2000 import WINDOWS, sentence_features

# As for chunking, without the trigrams of part-of-speech tags.
ENTITY_WINDOWS = {
    "word": WINDOWS["word"],
    "pos": [window for window in WINDOWS["pos"] if window[1] - window[0] < 2],
}


def shape(word):
    """Return the word with letters as x or X and digits as d: "Xxxxx-dd"."""
    return "".join(
        "X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c
        for c in word
    )


def entity_features(sentence):
    """Return windows of words and tags, and how each word itself is written."""
    features = sentence_features(sentence, ENTITY_WINDOWS)
    for names, token in zip(features, sentence, strict=True):
        word = token["word"]
        names += [f"shape={shape(word)}", f"first={word[:3]}", f"last={word[-3:]}"]
        names += ["capital"] * word[0].isupper() + ["number"] * word.isdigit()
    return features


# Of each task: how to fetch it, its test part, its features, the F1 promised.
TASKS = {
    "conll2000": (fetch_conll2000, "test", sentence_features, 0.936),
    "conll2002": (fetch_conll2002, "testb", entity_features, 0.765),
}
COLUMNS = "{:10}{:>10}{:>10}{:>7}{:>9}{:>9}{:>10}{:>8}{:>8}{:>9}"
TITLES = "task sentences features epochs gap strings numbers fit F1 promised"


def measure(name):
    """Print the row of one task."""
    fetch, test, features_of, promised = TASKS[name]
    X, y = fetch(return_X_y=True)
    X_test, y_test = fetch(subset=test, return_X_y=True)
    marks = [perf_counter()]
    strings = [features_of(sentence) for sentence in X]
    marks.append(perf_counter())
    vectorizer = SequenceVectorizer()
    packed = vectorizer.fit_transform(strings)
    marks.append(perf_counter())
    crf = SDCACRF(random_state=0).fit(packed, y)
    marks.append(perf_counter())
    predicted = crf.predict(vectorizer.transform(map(features_of, X_test)))
    seconds = [f"{b - a:.1f} s" for a, b in zip(marks, marks[1:], strict=False)]
    print(
        COLUMNS.format(
            name,
            len(X),
            crf.n_features_in_,
            crf.n_iter_,
            f"{crf.duality_gap_:.1e}",
            *seconds,
            f"{span_f1_score(y_test, predicted):.4f}",
            promised,
        ),
        flush=True,
    )


def main():
    """Measure the tasks asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=TASKS, action="append")
    arguments = parser.parse_args()
    print(COLUMNS.format(*TITLES.split()))
    for name in arguments.task or TASKS:
        measure(name)


if __name__ == "__main__":
    main()

"""Compare ways to use a list of names: features of whole spans, and marks of items.

    python examples/benchmarks/segment_lists.py [--sentences 1500]

The task is Dutch names (CoNLL-2002) with few sentences. The list has the names of the
other sentences of the training data, with their types. SegmentCRF looks up every span
(``segment_features``); for the chain, OEGCRF, a search from left to right for the
longest names marks items as the first or a later one of a name in the list. The table
has the span F1 on the test data and the seconds of the processor of each fit.

The corpus is read from the folder SKCRF_SDCA_DATA or downloaded.
"""

import argparse
from collections import defaultdict
from time import process_time

from skcrf_sdca import OEGCRF, SegmentCRF
from skcrf_sdca.metrics import extract_spans, span_f1_score
from tasks import TEXTS

MAX_LENGTH = 8


def names_in(sentences, y):
    """Return the types of each name in labelled sentences, by its words."""
    types = defaultdict(set)
    for words, labels in zip(sentences, y, strict=True):
        for span_type, begin, end in extract_spans(labels):
            types[tuple(item["word"] for item in words[begin:end])].add(span_type)
    return {name: sorted(found) for name, found in types.items()}


def with_words(sentences, X):
    """Return items whose first feature is the word, for spans to be looked up by."""
    return [
        [[item["word"], *own] for item, own in zip(words, items, strict=True)]
        for words, items in zip(sentences, X, strict=True)
    ]


def marked(sequence, types):
    """Return items with features of the longest names in the list, left to right."""
    words, marks = [item[0] for item in sequence], [[] for _ in sequence]
    begin = 0
    while begin < len(words):
        ends = range(min(begin + MAX_LENGTH, len(words)), begin, -1)
        end = next((e for e in ends if tuple(words[begin:e]) in types), None)
        for t in range(begin, end or begin):
            place = "first" if t == begin else "later"
            marks[t] = [f"{place}:{k}" for k in types[tuple(words[begin:end])]]
        begin = end or begin + 1
    return [[*item, *own] for item, own in zip(sequence, marks, strict=True)]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=1500)
    n = parser.parse_args().sentences
    read, test, features = TEXTS["ned"]
    sentences, y = read(subset="train")
    types = names_in(sentences[n:], y[n:])
    sentences_test, y_test = read(subset=test)
    X = with_words(sentences[:n], features.transform(sentences[:n]))
    X_test = with_words(sentences_test, features.transform(sentences_test))

    def listed(sequence, begin, end):
        return types.get(tuple(item[0] for item in sequence[begin:end]), [])

    def marked_all(sequences):
        return [marked(sequence, types) for sequence in sequences]

    segments = SegmentCRF(max_length=MAX_LENGTH, random_state=0)
    with_list = SegmentCRF(
        max_length=MAX_LENGTH, segment_features=listed, random_state=0
    )
    chain = OEGCRF(transitions="BIO", random_state=0)
    for name, crf, change in (
        ("OEGCRF", chain, list),
        ("OEGCRF, marks of the list", chain, marked_all),
        ("SegmentCRF", segments, list),
        ("SegmentCRF, spans in the list", with_list, list),
    ):
        own, own_test = change(X), change(X_test)
        start = process_time()
        crf.fit(own, y[:n])
        seconds = process_time() - start
        f1 = span_f1_score(y_test, crf.predict(own_test))
        print(f"{name:32}{f1:.4f}{seconds:8.1f} s", flush=True)


if __name__ == "__main__":
    main()

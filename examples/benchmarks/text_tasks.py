"""Measure the way from raw text to span F1, for CoNLL-2000 and CoNLL-2002 Dutch.

For each task, the table has the sentences, features, epochs and the gap of SDCACRF with
its default parameters. It has the seconds to make the feature strings, to vectorize
them, and to fit, and the span F1 on the test data beside the promised F1.

    python examples/benchmarks/text_tasks.py [--task conll2000]

The corpora are read from the folder SKCRF_SDCA_DATA or downloaded; tasks.py
makes the features.
"""

import argparse
from time import perf_counter

from skcrf_sdca import SDCACRF
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.metrics import span_f1_score
from tasks import TEXTS

PROMISES = {"conll2000": 0.936, "ned": 0.765}
COLUMNS = "{:10}{:>10}{:>10}{:>7}{:>9}{:>9}{:>10}{:>8}{:>8}{:>9}"
TITLES = "task sentences features epochs gap strings numbers fit F1 promised"


def measure(name):
    """Print the row of one task."""
    read, test, features = TEXTS[name]
    X, y = read(subset="train")
    X_test, y_test = read(subset=test)
    marks = [perf_counter()]
    strings = features.transform(X)
    marks.append(perf_counter())
    vectorizer = SequenceVectorizer()
    packed = vectorizer.fit_transform(strings)
    marks.append(perf_counter())
    crf = SDCACRF(random_state=0).fit(packed, y)
    marks.append(perf_counter())
    predicted = crf.predict(vectorizer.transform(features.transform(X_test)))
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
            PROMISES[name],
        ),
        flush=True,
    )


def main():
    """Measure the requested tasks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=PROMISES, action="append")
    arguments = parser.parse_args()
    print(COLUMNS.format(*TITLES.split()))
    for name in arguments.task or PROMISES:
        measure(name)


if __name__ == "__main__":
    main()

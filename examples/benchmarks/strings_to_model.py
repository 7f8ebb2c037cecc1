"""Compare the way from raw strings to a saved model with sklearn-crfsuite.

For CoNLL-2000, the Dutch names of CoNLL-2002 and the tags of a sample of the Wall
Street Journal (45 labels), both tools make their features, fit
``CRF(c1=0.1, c2=0.1)``, and save the model; all other parameters have the defaults of
each tool, and both run to their ends. The features have the same names: ours are made
by `TokenFeatures`, those for CRFsuite by loops as its users write them
(handwritten.py). ``all_possible_states`` is False, then True.

The table has the seconds of each piece, by the clock on the wall and by the clock of
the processor. CRFsuite writes its file within ``fit``. The score is F1 of the spans of
the test data, of tags the accuracy. P is the objective of `compat.CRF` divided by the
number of sequences, evaluated at both models.

    python examples/benchmarks/strings_to_model.py [--task ned] [--tool skcrf_sdca]

needs sklearn-crfsuite; the corpora are read from the folder SKCRF_SDCA_DATA or
downloaded. A fit of CRFsuite takes minutes.
"""

import argparse
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import sklearn_crfsuite

from handwritten import FEATURES
from skcrf_sdca.compat import CRF, from_crfsuite
from skcrf_sdca.metrics import flat_accuracy_score, span_f1_score
from skcrf_sdca.persistence import save_model
from tasks import TEXTS, WITH_SPANS

NAMES = ("conll2000", "ned", "wsj")
C1 = C2 = 0.1
WEIGHTS = ("coef_", "intercept_", "start_", "end_", "transition_")
COLUMNS = "{:10}{:>11}{:>7}" + "{:>15}" * 4 + "{:>8}{:>9}{:>8}"
TITLES = "task tool states features fit save all score P MiB"


class Ours:
    """`compat.CRF`, with features of `TokenFeatures`."""

    def __init__(self, task, states, path):
        self.features, self.path = TEXTS[task][2], path
        self.crf = CRF(c1=C1, c2=C2, all_possible_states=states)

    def items(self, sentences):
        """Return the feature strings of sentences."""
        return self.features.transform(sentences)

    def save(self):
        """Save the model."""
        save_model(self.crf, self.path)

    def estimator(self):
        """Return the model as an SDCACRF."""
        return self.crf.estimator_


class CRFsuite:
    """`sklearn_crfsuite.CRF`, with features of handwritten loops."""

    def __init__(self, task, states, path):
        self.features, self.path = FEATURES[task], path
        self.crf = sklearn_crfsuite.CRF(
            c1=C1, c2=C2, all_possible_states=states, model_filename=str(path)
        )

    def items(self, sentences):
        """Return the feature strings of sentences."""
        return [self.features(sentence) for sentence in sentences]

    def save(self):
        """Do nothing: fit has written the file."""

    def estimator(self):
        """Return the model as an SDCACRF."""
        return from_crfsuite(self.path, input_format="strings")


TOOLS = {"skcrf_sdca": Ours, "CRFsuite": CRFsuite}


def objective(estimator, X, y):
    """Return the objective at the weights of an estimator, for each sequence."""
    blocks = [np.asarray(dense(getattr(estimator, name))) for name in WEIGHTS]
    penalty = sum(C1 * np.abs(w).sum() + C2 * (w * w).sum() for w in blocks)
    return (penalty - estimator.log_likelihood(X, y).sum()) / len(X)


def dense(weights):
    """Return weights as an array; of a sparse matrix, those that are stored."""
    return weights if isinstance(weights, np.ndarray) else weights.data


def measure(task, tool, states):
    """Print the row of one fit."""
    read, test, _ = TEXTS[task]
    X, y = read(subset="train")
    X_test, y_test = read(subset=test)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        way = TOOLS[tool](task, states, path)
        marks = [clocks()]
        items = way.items(X)
        marks.append(clocks())
        way.crf.fit(items, y)
        marks.append(clocks())
        way.save()
        marks.append(clocks())
        size = path.stat().st_size / 2**20
        estimator = way.estimator()
    score = span_f1_score if task in WITH_SPANS else flat_accuracy_score
    scored = score(y_test, estimator.predict(way.items(X_test)))
    seconds = [*np.diff(marks, axis=0), np.subtract(marks[-1], marks[0])]
    texts = [f"{wall:.2f} ({processor:.2f})" for wall, processor in seconds]
    p = objective(estimator, items, y)
    figures = f"{scored:.4f}", f"{p:.4f}", f"{size:.1f}"
    print(COLUMNS.format(task, tool, str(states), *texts, *figures), flush=True)


def clocks():
    """Return the seconds of the wall and of the processor."""
    return perf_counter(), process_time()


def main():
    """Measure the requested tasks and tools."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=NAMES, action="append")
    parser.add_argument("--tool", choices=TOOLS, action="append")
    arguments = parser.parse_args()
    print("Seconds of the wall (of the processor)")
    print(COLUMNS.format(*TITLES.split()))
    for task in arguments.task or NAMES:
        for states in (False, True):
            for tool in arguments.tool or TOOLS:
                measure(task, tool, states)


if __name__ == "__main__":
    main()

"""Compare with chaine and with the search of Vowpal Wabbit on the names of CoNLL-2002.

All tools get the features of the tutorial of sklearn-crfsuite, for the first Dutch
sentences. chaine and sklearn-crfsuite make 100 iterations with c1 = c2 = 0.1, as the
tutorial says, and `CRF` fits to its certificate with its default penalty and the
constraint of BIO. Vowpal Wabbit learns to search a sequence from left to right in three
passes, which are better than ten or twenty. The table has the processor seconds
of the training, from dicts to a model, and F1 of the names of testb.

    python examples/benchmarks/other_tools.py [--first 2000] [--output FILE]

needs chaine, vowpalwabbit and sklearn-crfsuite; the corpus is read from the folder
SKCRF_SDCA_DATA or downloaded.
"""

import argparse
import re
import tempfile
from pathlib import Path
from time import process_time

import chaine
import sklearn_crfsuite
from as_people_run import load
from vowpalwabbit import Workspace

import tables
from skcrf_sdca import CRF
from skcrf_sdca.metrics import span_f1_score

PENALTY = {"c1": 0.1, "c2": 0.1, "max_iterations": 100}
SEARCH = "--search_task sequence --search_history_length 2 -b 22 --quiet"
PASSES = 3


def of_this_package(X, y, _):
    """Return the predictor of a fit to the certificate."""
    return CRF(transitions="BIO", random_state=0).fit(X, y).predict


def of_sklearn_crfsuite(X, y, _):
    """Return the predictor of 100 iterations."""
    return sklearn_crfsuite.CRF(**PENALTY).fit(X, y).predict


def of_chaine(X, y, folder):
    """Return the predictor of 100 iterations."""
    path = str(folder / "model.chaine")
    options = {"algorithm": "lbfgs", "verbose": 0, **PENALTY}
    return chaine.train(X, y, model_filepath=path, **options).predict


def of_search(X, y, folder):
    """Return the predictor of Vowpal Wabbit, which reads files of lines."""
    names = sorted({label for labels in y for label in labels})
    numbers = {name: f"{i} " for i, name in enumerate(names, 1)}
    model, data, out = (str(folder / name) for name in ("model", "data", "out"))

    def write(X, y):
        with open(data, "w", encoding="utf-8") as file:
            for own, labels in zip(X, y, strict=True):
                for token, label in zip(own, labels, strict=True):
                    words = (f"{k}={v}" for k, v in token.items())
                    text = " ".join(re.sub(r"[\s:|]", "_", word) for word in words)
                    file.write(f"{numbers.get(label, '')}| {text}\n")
                file.write("\n")

    def predict(X):
        write(X, [[None] * len(own) for own in X])
        Workspace(f"-t -i {model} -d {data} -p {out} --quiet").finish()
        found = [line.split() for line in Path(out).read_text().splitlines()]
        return [[names[int(k) - 1] for k in own] for own in found if own]

    write(X, y)
    cache = f"--cache_file {data}.cache -k --passes {PASSES} --holdout_off"
    options = f"--search {len(names)} {SEARCH} {cache}"
    Workspace(f"{options} -d {data} -f {model}").finish()
    return predict


TOOLS = {
    "CRF()": of_this_package,
    "sklearn-crfsuite": of_sklearn_crfsuite,
    "chaine": of_chaine,
    "Vowpal Wabbit, search": of_search,
}


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=2000, help="training sentences")
    parser.add_argument("--output", type=Path, help="a CSV file, for the docs")
    arguments = parser.parse_args()
    train, (X_test, y_test) = load("train", arguments.first), load("testb", None)
    rows = [["tool", "seconds", "F1"]]
    for name, tool in TOOLS.items():
        with tempfile.TemporaryDirectory() as folder:
            begin = process_time()
            predict = tool(*train, Path(folder))
            seconds = process_time() - begin
            f1 = span_f1_score(y_test, [list(own) for own in predict(X_test)])
        rows.append([name, f"{seconds:.2f}", f"{100 * f1:.1f}"])
        print(*rows[-1], flush=True)
    tables.show(rows)
    if arguments.output is not None:
        tables.write(rows, arguments.output)


if __name__ == "__main__":
    main()

"""
Save a tagger and serve it from another process
===============================================

Features, vocabulary and weights form one scikit-learn Pipeline, which joblib saves in
one file. The process that serves the tagger needs this file and the package, but no
code of the training. This example trains a chunker of plain words on a part of the
CoNLL-2000 task and saves it. A second Python process loads the chunker, reads sentences
as lines of text, and answers with lines of JSON.

The data are those of ``chunking_conll2000.py``. The example takes some seconds::

    python examples/text/serve_tagger.py

Loading a joblib file can run any code, so load only files that you trust.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import joblib

from skcrf_sdca import SDCACRF, SequenceVectorizer, make_tagger
from skcrf_sdca.datasets import fetch_conll2000
from skcrf_sdca.text import TokenFeatures

N_SENTENCES = 2000

# %%
# Train and save
# --------------
# The default templates of ``TokenFeatures`` need words only. If you add your own
# functions to the templates, put them into a module that both processes can import.
# Functions of the script and lambdas cannot be loaded by another process.


def train(path):
    """Train a chunker, and save it."""
    X, y = fetch_conll2000(return_X_y=True)
    words = [[token["word"] for token in sentence] for sentence in X[:N_SENTENCES]]
    tagger = make_tagger(
        TokenFeatures(), SequenceVectorizer(min_freq=2), SDCACRF(random_state=0)
    )
    joblib.dump(tagger.fit(words, y[:N_SENTENCES]), path, compress=3)


# %%
# Load and answer
# ---------------
# The features of a sentence are computed once, for the labels and for their
# probabilities. The largest probability at a token is the certainty of its label.


def serve(path, lines, answers):
    """Answer each line of words with a line of JSON."""
    *_, crf = tagger = joblib.load(path)
    for line in lines:
        encoded = tagger[:-1].transform([line.split()])
        (labels,), (proba,) = crf.predict(encoded), crf.predict_proba(encoded)
        answer = {"labels": labels, "certainty": proba.max(axis=1).round(3).tolist()}
        print(json.dumps(answer), file=answers, flush=True)


# %%
# Run both processes
# ------------------
# The answer to the last sentence is::
#
#     Nobody     B-NP     0.960
#     knows      B-VP     0.594
#     .          O        1.000
#
#     the last one took 1.2 ms

SENTENCES = [
    "A small company in Basel will probably build the new engines .",
    "Shares rose sharply after the bank said profits had doubled .",
    "Nobody knows .",
]


def demonstrate():
    """Train in this process, and print the answers of a second process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tagger.joblib"
        train(path)
        print(f"{path.name}: {path.stat().st_size / 2**20:.1f} MiB\n")
        command = [sys.executable, __file__, "--serve", path]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, **pipes) as server:
            for sentence in SENTENCES:
                answer, seconds = ask(server, sentence)
                print_answer(sentence.split(), answer)
            print(f"the last one took {1e3 * seconds:.1f} ms")
            server.stdin.close()


def ask(server, sentence):
    """Return the answer to a sentence and its seconds."""
    begin = perf_counter()
    print(sentence, file=server.stdin, flush=True)
    return json.loads(server.stdout.readline()), perf_counter() - begin


def print_answer(words, answer):
    """Print one line for each word, with its label and the certainty."""
    labels, certainty = answer["labels"], answer["certainty"]
    for word, label, probability in zip(words, labels, certainty, strict=True):
        print(f"{word:10} {label:8} {probability:.3f}")
    print()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A tagger in a process of its own.")
    parser.add_argument("--serve", type=Path, help="a saved tagger, to answer lines")
    model = parser.parse_args().serve
    if model is None:
        demonstrate()
    else:
        serve(model, sys.stdin, sys.stdout)

# sphinx_gallery_thumbnail_path = 'images/examples/chunking_conll2000.png'

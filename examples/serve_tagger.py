"""
A tagger that another process uses
==================================

Features, vocabulary and weights are one scikit-learn Pipeline, and the Pipeline is one
pickle: the process that answers needs the file, this package, and nothing that was
written for the training. We train a chunker that reads plain words on a part of the
CoNLL-2000 task, save it, start a second Python that loads it, send it sentences as
lines of text, and read its answers as lines of JSON.

It needs the data of the task, see ``chunking_conll2000.py``. It takes some seconds::

    python examples/serve_tagger.py

A file is loaded as any pickle, that is, as a program that is run: load only those that
you trust.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import joblib
from sklearn.pipeline import make_pipeline

from skcrf_sdca import SDCACRF, SequenceVectorizer
from skcrf_sdca.datasets import fetch_conll2000
from skcrf_sdca.text import TokenFeatures

N_SENTENCES = 2000

# %%
# The process that trains
# -----------------------
# Without arguments the templates of ``TokenFeatures`` need words alone. Functions of
# your own among them belong in a module that both processes import; a function of the
# script itself, or a lambda, cannot be loaded elsewhere.


def train(path):
    """Train a chunker, and save it."""
    X, y = fetch_conll2000(return_X_y=True)
    words = [[token["word"] for token in sentence] for sentence in X[:N_SENTENCES]]
    tagger = make_pipeline(
        TokenFeatures(), SequenceVectorizer(min_freq=2), SDCACRF(random_state=0)
    )
    joblib.dump(tagger.fit(words, y[:N_SENTENCES]), path, compress=3)


# %%
# The process that answers
# ------------------------
# The features of a sentence are made once, for the labels and for the probability of
# every label, which says how certain the chosen ones are.


def serve(path, lines, answers):
    """Answer each line of words by a line of JSON."""
    *_, crf = tagger = joblib.load(path)
    for line in lines:
        encoded = tagger[:-1].transform([line.split()])
        (labels,), (proba,) = crf.predict(encoded), crf.predict_proba(encoded)
        answer = {"labels": labels, "certainty": proba.max(axis=1).round(3).tolist()}
        print(json.dumps(answer), file=answers, flush=True)


# %%
# Both together
# -------------
# The last sentence is answered so::
#
#     Nobody     B-NP     0.962
#     knows      B-VP     0.588
#     .          O        1.000
#
#     the last one took 5.2 ms

SENTENCES = [
    "A small company in Basel will probably build the new engines .",
    "Shares rose sharply after the bank said profits had doubled .",
    "Nobody knows .",
]


def demonstrate():
    """Train here, ask a second process, print what it answers."""
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
    """Return the answer to a sentence, and the seconds it took."""
    begin = perf_counter()
    print(sentence, file=server.stdin, flush=True)
    return json.loads(server.stdout.readline()), perf_counter() - begin


def print_answer(words, answer):
    """Print a word a line, with its label and how certain that is."""
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

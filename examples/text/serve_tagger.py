"""
Save a tagger and serve it from another process
===============================================

Features, vocabulary and weights form one tagger, which ``save_model`` writes to one
file. The process that serves the tagger needs this file and the package, but no code of
the training. ``load_model`` never runs code from a file. This example trains a chunker
of plain words on a part of the CoNLL-2000 task and saves it. A second Python process
loads the chunker, reads sentences as lines of text, and answers with lines of JSON.

The data are the same as in ``chunking_conll2000.py``. The example takes some seconds::

    python examples/text/serve_tagger.py
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from skcrf_sdca import SDCACRF, load_model, make_tagger, save_model
from skcrf_sdca.datasets import fetch_conll2000
from skcrf_sdca.text import TokenFeatures

N_SENTENCES = 2000

# %%
# Train and save
# --------------
# The default templates of ``TokenFeatures`` need words only. The l1 part of the penalty
# makes most weights 0, and ``prune`` removes the features that are left without one, so
# that the file is small.


def train(path):
    """Train a chunker, and save it."""
    X, y = fetch_conll2000(return_X_y=True)
    words = [[token["word"] for token in sentence] for sentence in X[:N_SENTENCES]]
    crf = SDCACRF(l1_ratio=0.5, random_state=0)
    tagger = make_tagger(TokenFeatures(), crf).fit(words, y[:N_SENTENCES])
    save_model(tagger.prune(), path)


# %%
# Load and answer
# ---------------
# The largest probability at a token is the certainty of its label.


def serve(path, lines, answers):
    """Answer each line of words with a line of JSON."""
    tagger = load_model(path)
    for line in lines:
        X = [line.split()]
        (labels,), (proba,) = tagger.predict(X), tagger.predict_proba(X)
        answer = {"labels": labels, "certainty": proba.max(axis=1).round(3).tolist()}
        print(json.dumps(answer), file=answers, flush=True)


# %%
# Run both processes
# ------------------
# The answer to the last sentence is::
#
#     Nobody     B-NP     0.971
#     knows      B-VP     0.578
#     .          O        1.000

SENTENCES = [
    "A small company in Basel will probably build the new engines .",
    "Shares rose sharply after the bank said profits had doubled .",
    "Nobody knows .",
]


def demonstrate():
    """Train in this process, and print the answers of a second process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chunks.model"
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

# sphinx_gallery_thumbnail_path = 'images/examples/serve_tagger.svg'

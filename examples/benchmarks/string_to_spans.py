"""Compare four ways from a string to its spans, each in fresh processes.

python-crfsuite and `skcrf_sdca.compat.pycrfsuite` cut the string by a regular
expression, make handwritten features, and gather the labels to spans with their
characters. `Predictor.tag` and `Tagger.tag` do so themselves, with the probability of
each span. The features are the same: windows of words, shapes and affixes, of Dutch
names. All models are trained for a short time.

The table has the processor milliseconds of the imports, those until the first string is
answered, the peak of the memory in MiB, all beyond Python itself, and the microseconds
of a string of 5, 25 and 100 tokens. Each is the least of some processes or calls, since
other work on the machine can only add to it. The last column says whether the program
runs where NumPy is the only other package. It needs Linux.

    python examples/benchmarks/string_to_spans.py [--calls 2000]

needs python-crfsuite and the data of CoNLL-2002, in the folder SKCRF_SDCA_DATA or
downloaded.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from quiet_fits import fitted

import tables
from skcrf_sdca import SDCACRF, make_tagger, save_model
from skcrf_sdca.compat import pycrfsuite as compat
from skcrf_sdca.datasets import fetch_conll2002
from skcrf_sdca.text import Prefix, Shape, Suffix, TokenFeatures, Window, tokenize

# Programs in fresh processes, and those in which NumPy is the only other package.
sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))
from numpy_alone import printed

LENGTHS = 5, 25, 100
PROCESSES = 5
TEMPLATES = [Window("word", 2), Shape(), Prefix(3), Suffix(3)]
# What a program for CRFsuite has of its own.
HANDWRITTEN = r"""
import re

TOKEN = re.compile(r"\w+|[^\w\s]")


def shape(word):
    return "".join(
        "X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c
        for c in word
    )


def features(words):
    found = [
        [f"shape={shape(w)}", f"prefix3={w[:3]}", f"suffix3={w[-3:]}"] for w in words
    ]
    for k in range(-2, 3):
        for i in range(max(0, -k), len(words) - max(0, k)):
            found[i].append(f"word[{k}]={words[i + k]}")
    return found


def spans_of(text):
    places = [match.span() for match in TOKEN.finditer(text)]
    labels = tagger.tag(features([text[begin:end] for begin, end in places]))
    found = []
    for label, (begin, end) in zip(labels, places):
        if label.startswith("I-") and found and found[-1][3]:
            found[-1][2] = end
            continue
        if found:
            found[-1][3] = False
        if label != "O":
            found.append([label[2:], begin, end, True])
    return [(kind, begin, end, text[begin:end]) for kind, begin, end, _ in found]
"""
OURS = """
def spans_of(text):
    return [(s.type, s.begin, s.end, s.text) for s in tagger.tag(text).spans]
"""
# A way: what is imported, how its file is opened, and what else it needs.
OPENED = "tagger = pycrfsuite.Tagger(); tagger.open(path)"
WAYS = {
    "Python itself": ("", "", "def spans_of(text): return []"),
    "import numpy": ("import numpy", "", "def spans_of(text): return []"),
    "python-crfsuite": ("import pycrfsuite", OPENED, HANDWRITTEN),
    "compat.pycrfsuite": (
        "from skcrf_sdca.compat import pycrfsuite",
        OPENED,
        HANDWRITTEN,
    ),
    "Predictor": (
        "from skcrf_sdca.serving import Predictor",
        "tagger = Predictor.load(path)",
        OURS,
    ),
    "Tagger": (
        "from skcrf_sdca import load_model",
        "tagger = load_model(path)",
        OURS,
    ),
}
SCRIPT = """
import json
import sys
import time
from timeit import repeat

path, texts, calls = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
begin = time.process_time()
{imports}
imported = time.process_time()
{opened}
{functions}
spans_of(texts[0])
answered = time.process_time()
(peak,) = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
figures = [1e3 * (imported - begin), 1e3 * (answered - begin)]
figures.append(int(peak.split()[1]) / 1024)
for text in texts:
    figures.append(1e6 * min(repeat(lambda: spans_of(text), number=1, repeat=calls)))
print(json.dumps([figures, sum(len(spans_of(text)) for text in texts)]))
"""


def trained(n_sentences, folder):
    """Write the models of the ways, and return their paths by names of ways."""
    X, y = fetch_conll2002(subset="train", return_X_y=True)
    X = [[token["word"] for token in own] for own in X[:n_sentences]]
    y, ours = y[:n_sentences], folder / "ours"
    tagger = make_tagger(TokenFeatures(TEMPLATES), SDCACRF(max_iter=5, random_state=0))
    save_model(fitted(tagger, X, y), ours)
    program = {}
    exec(HANDWRITTEN, program)
    items = [program["features"](words) for words in X]
    given = tagger[0].transform(X[:20])
    assert list(map(sorted, given[3])) == list(map(sorted, items[3]))
    theirs = folder / "crfsuite"
    trainer = compat.Trainer(verbose=False)
    trainer.set_params({"max_iterations": 30})
    for own, labels in zip(items, y, strict=True):
        trainer.append(own, labels)
    trainer.train(str(theirs))
    return {name: ours if way[2] == OURS else theirs for name, way in WAYS.items()}


def texts_of(lengths):
    """Return strings of so many tokens."""
    X = fetch_conll2002(subset="testa", return_X_y=True)[0]
    text = " ".join(token["word"] for sentence in X[1:40] for token in sentence)
    _, offsets = tokenize(text)
    return [text[: offsets[length - 1][1]] for length in lengths]


def measure(way, *arguments):
    """Return the least figures of processes, if NumPy is enough, and how many spans."""
    imports, opened, functions = way
    script = SCRIPT.format(imports=imports, opened=opened, functions=functions)
    runs = [
        json.loads(printed(script, *arguments, alone=False)) for _ in range(PROCESSES)
    ]
    figures = [min(column) for column in zip(*(run[0] for run in runs), strict=True)]
    try:
        printed(script, *arguments)
    except AssertionError:
        return figures, "no", runs[0][1]
    return figures, "yes", runs[0][1]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=2000, help="to train on")
    parser.add_argument("--calls", type=int, default=1000)
    arguments = parser.parse_args()
    lengths = [f"{length} tokens, us" for length in LENGTHS]
    rows = [["way", "import, ms", "first answer, ms", "MiB", *lengths, "NumPy alone"]]
    texts = json.dumps(texts_of(LENGTHS))
    with tempfile.TemporaryDirectory() as folder:
        paths = trained(arguments.sentences, Path(folder))
        bare = 0.0, 0.0, 0.0
        for name, way in WAYS.items():
            found, alone, n_spans = measure(
                way, str(paths[name]), texts, str(arguments.calls)
            )
            if not way[0]:
                bare = found[:3]
                continue
            beyond = [a - b for a, b in zip(found, bare, strict=False)]
            cells = [f"{own:.0f}" for own in [*beyond, *found[3:]]]
            if not way[1]:
                cells[3:] = [tables.NONE] * len(LENGTHS)
            rows.append([name, *cells, alone])
            print(f"{name}: {n_spans} spans", flush=True)
    tables.show(rows)


if __name__ == "__main__":
    main()

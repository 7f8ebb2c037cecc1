"""Compare the microseconds to label one sentence with python-crfsuite, on CoNLL-2000.

All models are trained for a short time on the same sentences. The features are from
handwritten.py, as lists of strings and as dicts; or the program has tokens, of which
`skcrf_sdca.text.TokenFeatures` makes the features, and beside it handwritten.py the
same for python-crfsuite. The sentences have 1, 5, 25 and 100 tokens, from the test
data. The first table has the least time of a call, since other work on the machine can
only add to it: of `Tagger.tag`, of `skcrf_sdca.serving.Predictor`, and of `predict`.

The second table has what a fresh process needs to import each, load the model and label
one sentence: the processor milliseconds, the least of some processes, and the peak of
the memory, both beyond Python itself. It needs Linux.

    python examples/benchmarks/one_sentence_vs_crfsuite.py [--calls 3000]

needs python-crfsuite and the data of CoNLL-2000, in the folder SKCRF_SDCA_DATA or
downloaded.
"""

import argparse
import subprocess
import sys
import tempfile
from functools import partial
from itertools import chain
from pathlib import Path
from timeit import repeat

import pycrfsuite
from predict_vs_crfsuite import crfsuite_tagger, trained_sdca

import tables
from handwritten import chunk_features
from skcrf_sdca import make_tagger, save_model
from skcrf_sdca.datasets import fetch_conll2000
from skcrf_sdca.serving import Predictor
from tasks import TEXTS

LENGTHS = 1, 5, 25, 100
PROCESSES = 7
# What a process does; {path} is the model, {x} a sentence.
PROGRAMS = {
    "Python itself": "",
    "import numpy": "import numpy",
    "python-crfsuite": "import pycrfsuite; tagger = pycrfsuite.Tagger(); "
    "tagger.open({crfsuite!r}); tagger.tag({x})",
    "Predictor": "from skcrf_sdca.serving import Predictor; "
    "Predictor.load({ours!r}).predict_one({x})",
    "load_model": "from skcrf_sdca import load_model; "
    "load_model({ours!r}).predict([{x}])",
}
SCRIPT = """
import time
begin = time.process_time()
{program}
seconds = time.process_time() - begin
(peak,) = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(seconds, peak.split()[1])
"""


def as_dicts(sequence):
    """Return lists of strings "name=value" as dicts {name: value}."""
    return [dict(feature.partition("=")[::2] for feature in item) for item in sequence]


def microseconds(function, n_calls):
    """Return the least time of a call."""
    return 1e6 * min(repeat(function, number=1, repeat=n_calls))


def models(name, sentences, y):
    """Return python-crfsuite's way to tag tokens, and an estimator, with its items."""
    if name == "tokens":
        tag, crf, _ = models("strings", sentences, y)
        tagger = make_tagger(TEXTS["conll2000"][2], crf)
        return lambda x: tag(chunk_features(x)), tagger.fit(sentences, y), list
    form = {"strings": list, "dicts": as_dicts}[name]
    X = [form(chunk_features(s)) for s in sentences]
    tagger = crfsuite_tagger(map(pycrfsuite.ItemSequence, X), y, 30)
    return tagger.tag, trained_sdca(X, y, 5), lambda x: form(chunk_features(x))


def latencies(sentences, y, tokens, n_calls):
    """Print the first table."""
    rows = [["features", "tokens", "Tagger.tag", "Predictor", "predict"]]
    for name in ("strings", "dicts", "tokens"):
        tag, estimator, items_of = models(name, sentences, y)
        predictor = Predictor.from_estimator(estimator)
        for length in LENGTHS:
            x = items_of(tokens[:length])
            calls = partial(tag, x), partial(predictor.predict_one, x)
            calls = *calls, partial(estimator.predict, [x])
            times = [microseconds(call, n_calls) for call in calls]
            rows.append([name, str(length), *(f"{time:.1f}" for time in times)])
    tables.show(rows)


def in_a_process(program):
    """Return the processor milliseconds of a program, and its memory in MiB."""
    command = [sys.executable, "-P", "-c", SCRIPT.format(program=program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, kibibytes = map(float, done.stdout.split())
    return 1e3 * seconds, kibibytes / 1024


def fresh_processes(sentences, y):
    """Print the second table."""
    X = [chunk_features(s) for s in sentences]
    rows = [["process", "ms", "MiB"]]
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: str(Path(folder) / name) for name in ("crfsuite", "ours")}
        crf = trained_sdca(X, y, 5)
        save_model(crf, paths["ours"])
        crfsuite_tagger(map(pycrfsuite.ItemSequence, X), y, 30, paths["crfsuite"])
        for name, program in PROGRAMS.items():
            text = program.format(x=X[0], **paths)
            found = [in_a_process(text) for _ in range(PROCESSES)]
            least = [min(column) for column in zip(*found, strict=True)]
            if not program:
                bare = least
            beyond = (a - b for a, b in zip(least, bare, strict=True))
            rows.append([name, *(f"{number:.0f}" for number in beyond)])
    print(f"{crf.n_features_in_:,} features, {len(crf.classes_)} labels")
    tables.show(rows)


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=2000, help="to train on")
    parser.add_argument("--calls", type=int, default=3000)
    arguments = parser.parse_args()
    X, y = fetch_conll2000(return_X_y=True)
    X, y = X[: arguments.sentences], y[: arguments.sentences]
    tokens = chain.from_iterable(fetch_conll2000(subset="test", return_X_y=True)[0])
    tokens = [next(tokens) for _ in range(max(LENGTHS))]
    latencies(X, y, tokens, arguments.calls)
    fresh_processes(X, y)


if __name__ == "__main__":
    main()

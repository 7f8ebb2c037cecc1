"""Raise every integer of model files to large sizes, in a process of little memory.

    python size_fuzz.py NAME ...

makes a file of each of these models, and reads it with one number raised: an integer of
the document, all of its integers that are equal, a size in the header of an array, or
one in the records of the archive. Both readers must refuse it, or return a model that
answers or raises a documented error, in little more memory than the file takes. It
prints as JSON how many files did what, and ends with the error of the first that did
anything else.
"""

import collections
import contextlib
import faulthandler
import io
import json
import pathlib
import re
import resource
import sys
import warnings

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from model_fuzz import members, write
from skcrf_sdca import (
    CRF,
    LBFGSCRF,
    OEGCRF,
    SAGNUSCRF,
    SDCACRF,
    SGDCRF,
    DependencyCRF,
    GraphCRF,
    OnlineDependencyCRF,
    PassiveAggressiveCRF,
    PerToken,
    SegmentCRF,
    SequenceHasher,
    SequenceVectorizer,
    TreeCRF,
    compat,
    load_model,
    make_tagger,
    save_model,
)
from skcrf_sdca.features import ImageWindow, SequenceWindow
from skcrf_sdca.persistence import ModelFormatError
from skcrf_sdca.selection import TunedSpans
from skcrf_sdca.serving import Predictor
from skcrf_sdca.text import ArcFeatures, TokenFeatures

SIZES = (10**3, 10**9, 2**31 - 1, 2**31, 2**62, 2**63)
# Of integers at one place.
FIRST = 12
# Beyond what the same file, unchanged, takes.
MEMORY = 2**27
REFUSED = (TypeError, ValueError, NotImplementedError)

DICTS = [[{"w": "a", "n": 0.5}, {"w": "b", "v": np.ones(2)}], [{"w": "a"}]] * 2
STRINGS = [[["a", "b"], ["b"]], [["a"]]] * 2
ROWS = [np.eye(3)[[0, 2]], np.eye(3)[[1]]] * 2
WORDS = [["the", "dog"], ["dogs"]] * 2
Y = [["O", "B-X"], ["B-X"]] * 2
GRAPHS = [(own, [[0, 1]] if len(own) > 1 else np.zeros((0, 2), int)) for own in ROWS]
TREES = [(own, [-1, 0][: len(own)]) for own in ROWS]
TOKENS = [[("dogs", "N"), ("bark", "V")], [("go", "V"), ("home", "A")]] * 2
HEADS = [[2, 0], [0, 1]] * 2
PAIRS = [([2, 0], ["nsubj", "root"]), ([0, 1], ["root", "advmod"])] * 2
IMAGES, PIXELS = [np.eye(2, 3), np.ones((1, 2))], [list("ababab"), list("ab")]
FILLED = PerToken(make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()))
ARCS = ArcFeatures(["h.word m.word"], columns=("word", "tag"), n_features=64)


def is_long(sequence, begin, end):
    """Return a feature of segments."""
    return {"long": end - begin > 1}


NEW = {"max_iter": 3, "tol": 1.0, "random_state": 0}
# Name -> (estimator, X, y), of every type, and with every part that files have.
MODELS = {
    "dicts": (SDCACRF(**NEW), DICTS, Y),
    "table": (OEGCRF(**NEW), np.eye(3), list("aba")),
    "rows": (LBFGSCRF(), ROWS, Y),
    "tuples": (CRF(order=3, **NEW), STRINGS, Y),
    "edges": (SDCACRF(edge_features="all", **NEW), ROWS, Y),
    "parts": (SAGNUSCRF(label_features=list, **NEW), STRINGS, Y),
    "arow": (PassiveAggressiveCRF(loss="hinge", update="arow"), STRINGS, Y),
    "smd": (SGDCRF(method="smd", eta0=0.1), STRINGS, Y),
    "segments": (SegmentCRF(segment_features=is_long, **NEW), STRINGS, Y),
    "graphs": (GraphCRF(**NEW), GRAPHS, Y),
    "trees": (TreeCRF(**NEW), TREES, Y),
    "compat": (compat.CRF(max_iterations=3), STRINGS, Y),
    "hasher": (make_pipeline(SequenceHasher(64), SDCACRF(**NEW)), STRINGS, Y),
    "tagger": (make_tagger(TokenFeatures(), CRF(**NEW)), WORDS, Y),
    "arcs": (DependencyCRF(features=ARCS, **NEW), TOKENS, HEADS),
    "arcs first": (make_pipeline(ARCS, DependencyCRF(**NEW)), TOKENS, HEADS),
    "parser": (OnlineDependencyCRF(features=ARCS), TOKENS, HEADS),
    "labelled": (OnlineDependencyCRF(features=ARCS, labelled=True), TOKENS, PAIRS),
    "spans": (TunedSpans(SDCACRF(**NEW).fit(STRINGS, Y)), STRINGS, Y),
    "hasher alone": (SequenceHasher(64), STRINGS, Y),
    "vectorizer": (SequenceVectorizer(), DICTS, Y),
    "templates": (TokenFeatures(), WORDS, Y),
    "arc features": (ARCS, TOKENS, HEADS),
    "signals": (
        make_tagger(FILLED, SequenceWindow(1, span=2), SDCACRF(**NEW)),
        ROWS,
        Y,
    ),
    "images": (make_pipeline(ImageWindow(1), GraphCRF(**NEW)), IMAGES, PIXELS),
    "filled": (FILLED, ROWS, Y),
    "window": (SequenceWindow(1, span=2, differences=True), ROWS, Y),
    "window of images": (ImageWindow(1, span=2), IMAGES, PIXELS),
}
# Those with the state of a stream, and with sparse weights of features.
STREAMS = {"arow", "smd", "parser"}
SPARSE = {"rows", "edges", "hasher", "tagger", "arcs", "arcs first", "labelled"}


def fitted(name):
    """Return a fitted estimator."""
    estimator, X, y = MODELS[name]
    if name in STREAMS:
        return estimator.partial_fit(X, y)
    estimator.fit(X, y)
    if name in SPARSE:
        getattr(estimator, "steps", [(None, estimator)])[-1][1].sparsify()
    return estimator


def raised_documents(data):
    """Yield documents in which one integer, or all that are equal, are larger."""
    places = collections.defaultdict(list)
    for path, number in integers(json.loads(data)):
        places[number].append(path)
    for own in places.values():
        for paths in [own, *([path] for path in own if len(own) > 1)]:
            for size in SIZES:
                document = json.loads(data)
                for *above, last in paths:
                    part = document
                    for key in above:
                        part = part[key]
                    part[last] = size
                yield json.dumps(document).encode()


def integers(value, path=()):
    """Yield the path and the value of the integers in an object of JSON.

    Of many at one place, as in a vocabulary, these are the first ones.
    """
    if type(value) is int:
        yield path, value
    if isinstance(value, list):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        own = [key for key, part in value.items() if type(part) is int]
        for key in value.keys() - own[FIRST:]:
            yield from integers(value[key], (*path, key))


def raised_files(data):
    """Yield the bytes of files in which numbers are larger."""
    contents = members(io.BytesIO(data))
    for document in raised_documents(contents["model.json"]):
        yield sealed({**contents, "model.json": document})
    for name in contents.keys() - {"model.json"}:
        for number in re.finditer(rb"\d+(?=,|\))", contents[name][10:128]):
            begin, end = 10 + number.start(), 10 + number.end()
            for size in SIZES:
                array = contents[name][:begin] + b"%d" % size + contents[name][end:]
                yield sealed({**contents, name: array})
    # The compressed size, the size, and the offset of a member.
    for record, offsets in ((b"PK\3\4", (18, 22)), (b"PK\1\2", (20, 24, 42))):
        for found in re.finditer(record, data):
            for offset in offsets:
                for size in SIZES[:4]:
                    place = found.start() + offset
                    size = min(size, 2**32 - 1).to_bytes(4, "little")
                    yield data[:place] + size + data[place + 4 :]


def sealed(contents):
    """Return the bytes of an archive."""
    write(file := io.BytesIO(), contents)
    return file.getvalue()


def outcome(name, read, data):
    """Read a file, and use the model; return what became of it."""
    try:
        model = read(data)
    except ModelFormatError:
        return "refused"
    try:
        use(model, *MODELS[name][1:])
    except REFUSED:
        return "raised"
    except MemoryError as error:
        # It was refused before it was allocated.
        if "would take" not in str(error):
            raise
        return "raised"
    return "answered"


def use(model, X, y):
    """Ask a model for answers, and go on with a stream."""
    if isinstance(model, Predictor):
        for x in X:
            model.predict_one(x)
            model.marginals(x)
        return
    getattr(model, "predict", getattr(model, "transform", None))(X)
    if vars(model).get("_warm_state") is not None:
        model.partial_fit(X, y)


def main(names):
    faulthandler.enable()
    warnings.simplefilter("ignore")
    counts = collections.Counter()
    for name in names:
        save_model(fitted(name), file := io.BytesIO())
        data = file.getvalue()
        for read in (load_model, Predictor.load):
            # The threads and tables that all need.
            outcome(name, read, data)
        with limited_memory():
            for changed in raised_files(data):
                for read in (load_model, Predictor.load):
                    counts[outcome(name, read, changed)] += 1
    print(json.dumps(counts))


@contextlib.contextmanager
def limited_memory():
    """Let this process have little more memory than it has."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    n_pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
    limit = n_pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


if __name__ == "__main__":
    main(sys.argv[1:])

"""Fuzz load_model: a file is refused, or the model predicts and can be saved again.

The first byte of an input says how the others are read. After "R" they are the file,
byte by byte. After "S" they are its members, which get correct checksums, as an
attacker would write them: these inputs reach the document and the arrays.
"""

import atexit
import pathlib
import shutil
import tempfile

import atheris
import numpy as np
from scipy.sparse import csr_array
from sklearn.pipeline import Pipeline, make_pipeline

from harness import run
from model_fuzz import changed_members, members, write
from skcrf_sdca import (
    LBFGSCRF,
    OEGCRF,
    SAGNUSCRF,
    SDCACRF,
    PackedSequences,
    SequenceVectorizer,
)
from skcrf_sdca.compat import CRF
from skcrf_sdca.persistence import ModelFormatError, load_model, save_model
from skcrf_sdca.text import (
    Apply,
    At,
    Joint,
    Prefix,
    Shape,
    Suffix,
    TokenFeatures,
    Window,
    has_digit,
)

RAW, SEALED = b"R", b"S"
# Separators: between members, and between the name and the content of a member.
NEXT, COLON = b"\n\0\n", b"\n"
FOLDER = tempfile.mkdtemp()
atexit.register(shutil.rmtree, FOLDER)
FILE = pathlib.Path(FOLDER, "model.zip")
AGAIN = pathlib.Path(FOLDER, "again.zip")


def joined(contents):
    """Return the input that stands for an archive of these members."""
    parts = (name.encode("latin-1") + COLON + contents[name] for name in contents)
    return SEALED + NEXT.join(parts)


def parted(data):
    """Return {name: content} of an input that stands for an archive."""
    parts = (part.partition(COLON) for part in data[1:].split(NEXT))
    return {name.decode("latin-1"): content for name, _, content in parts}


def mutated(data, max_size, seed):
    """Change the document as JSON, or any bytes as libFuzzer would."""
    rng = np.random.default_rng(seed)
    if data[:1] == SEALED and rng.random() < 0.5:
        try:
            return joined(changed_members(parted(data), rng))[:max_size]
        except (ValueError, LookupError, RecursionError):
            pass  # The bytes are not JSON any more.
    return atheris.Mutate(data, max_size)


def target(data):
    """Load a file, save and load the model, and compare the two."""
    if data[:1] == SEALED:
        write(FILE, parted(data))
    else:
        FILE.write_bytes(data[1:])
    try:
        model = load_model(FILE)
    except ModelFormatError:
        return
    expected = answers(model)
    save_model(model, AGAIN)
    np.testing.assert_equal(answers(load_model(AGAIN)), expected)


def answers(model):
    """Return the predictions of a loaded model, or its error."""
    repr(model)
    model = without_compat(model)
    features, vectorizer, crf = parts(model)
    if features is not None:
        X = tokens_for(features)
    elif vectorizer is None:
        X = rows_for(crf)
    else:
        assert len(vectorizer.get_feature_names_out()) == vectorizer.n_features_out_
        X = items_for(vectorizer)
    try:
        if crf is None:
            answer = model.transform(X)
            return answer if vectorizer is None else answer.X.toarray()
        # A file may say that its loss has none.
        proba = model.predict_proba(X) if hasattr(crf, "predict_proba") else []
    except ValueError as error:
        return str(error)
    for p in [proba] if isinstance(proba, np.ndarray) and proba.ndim == 2 else proba:
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0, atol=1e-9)
    predicted = model.predict(X).tolist()
    flat = predicted if crf._input_format == "table" else sum(predicted, [])
    assert len(flat) == 3
    assert set(flat) <= set(crf.classes_.tolist())
    return predicted, [p.tobytes() for p in proba]


def without_compat(model):
    """Return a model with the SDCACRF inside a compat.CRF, which has predict_proba."""
    if isinstance(model, Pipeline):
        return Pipeline([(name, without_compat(step)) for name, step in model.steps])
    return model.estimator_ if isinstance(model, CRF) else model


def parts(model):
    """Return the TokenFeatures, vectorizer and CRF of a model, or None if missing."""
    steps = list(model) if isinstance(model, Pipeline) else [model]
    found = {type(step): step for step in steps}
    features = found.pop(TokenFeatures, None)
    vectorizer = found.pop(SequenceVectorizer, None)
    crf = next(iter(found.values()), None)
    return features, vectorizer or getattr(crf, "vectorizer_", None), crf


def tokens_for(features):
    """Return three tokens with a text in every column."""
    texts = ("Ab-3", "", "\u00e9\ud800")
    a, b, c = (dict.fromkeys(features.columns, text) for text in texts)
    return [[a, b], [], [c]]


def rows_for(crf):
    """Return three rows of few numbers, however many features there are."""
    d = crf.n_features_in_
    columns = sorted({0, d // 2, d - 1}) if d else []
    rows = csr_array(
        (np.ones(len(columns)), columns, [0, 0, len(columns), len(columns)]), (3, d)
    )
    if crf._input_format == "table":
        return rows
    return PackedSequences(rows, [0, 2, 2, 3])


def items_for(vectorizer):
    """Return three items made of features of the vocabulary."""
    known = vectorizer.vocabulary_
    names = list(known["numeric"])[:5]
    if vectorizer.input_format_ == "strings":
        return [[names, []], [], [["unseen"]]]
    words = {key: list(table)[:5] for key, table in known["categorical"].items()}
    vectors = {key: np.ones(len(numbers)) for key, numbers in known["vectors"].items()}
    numbers = dict.fromkeys(names, 0.5)
    return [[numbers, words], [], [{**vectors, "unseen": 1.0}]]


def seeds():
    """Yield models of every type, as files and as members."""
    for model in models():
        save_model(model, FILE)
        load_model(FILE)
        yield RAW + FILE.read_bytes()
        yield joined(members(FILE))


def models():
    """Yield fitted estimators of various label types and input formats."""
    dicts = [[{"w": "the", "n": 0.5}, {"w": "dog"}], [{"v": np.array([1.0, 2.0])}]]
    strings = [[["a", "b"], ["c"]], [["\ud800"]]]
    arrays = [np.eye(2), np.ones((1, 2))]
    rows = PackedSequences(csr_array(np.eye(3)), [0, 2, 3])
    y = [["B-X", "I-X"], ["O"]]
    yield SDCACRF(max_iter=1, transitions="BIO").fit(dicts, y)
    yield OEGCRF(max_iter=1, random_state=0).fit(strings, [[True, False], [True]])
    yield SAGNUSCRF(max_iter=1, tol=1e9).fit(arrays, [[0, 1], [2**40]])
    yield LBFGSCRF(max_iter=1).fit(rows, [[b"a", b""], [b"\xff"]])
    yield SDCACRF(max_iter=1).fit(np.eye(2), np.array([0, 2], dtype=np.float32))
    yield SequenceVectorizer(min_freq=1, dtype=np.float32).fit(dicts)
    yield make_pipeline(SequenceVectorizer(), SDCACRF(max_iter=1)).fit(strings, y)
    mask = np.ones((3, 3), dtype=bool)
    crf = SDCACRF(max_iter=1, transitions=mask).fit(dicts, y)
    crf.coef_ = csr_array(crf.coef_)
    yield crf
    yield CRF(max_iterations=1, tol=1e9).fit(strings, y, strings, y)
    templates = [
        *("word", Shape(), Prefix(2), Suffix(1), Apply(has_digit), At("word", 1)),
        *(Window(Apply(str.lower), 1), Joint("word", Window(Shape(compact=True), 1))),
    ]
    features = TokenFeatures(templates, pad=("<", ">"))
    yield features
    words = [["The", "dog"], ["4-x"]]
    yield make_pipeline(features, SDCACRF(max_iter=1)).fit(words, y)
    numbers = SequenceVectorizer(min_freq=2)
    yield make_pipeline(features, numbers, SDCACRF(max_iter=1)).fit(words, y)


if __name__ == "__main__":
    run(target, seeds(), custom_mutator=mutated)

"""Damaged model files, and what comes of them.

They are refused, give the same predictions, give other predictions, or raise another
error. "raw" damages bytes, as disks and networks do; "sealed" changes the content and
corrects the checksums, as an attacker would: then other predictions are no failure.
"""

import collections
import io
import json
import struct
import zipfile

import numpy as np

from skcrf_sdca.persistence import ModelFormatError, load_model

X = [
    [{"word": "the", "n": 0.5}, {"word": "dog"}],
    [{"word": "new", "v": np.array([1.0, 2.0])}],
]
# The values that replace a number of a document.
ODD = (
    *(None, True, False, -1, 0, 1, 2, 3, 7, 2**31, 2**63, 10**30, 0.5, 1e300),
    *("", "inf", "nan", "SDCACRF", "Pipeline", "dicts", "packed", "\ud800", "int64"),
    *([], {}, [0], {"a": 0}, ["a"]),
)


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, contents):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(zipfile.ZipInfo(name), content)


def answers(model):
    return [proba.tobytes() for proba in model.predict_proba(X)]


def damaged(data, rng):
    """Return bytes cut short, or with 1 to 8 of them flipped."""
    if rng.random() < 0.25:
        return data[: rng.integers(len(data))]
    data = bytearray(data)
    for position in rng.integers(len(data), size=rng.integers(1, 9)):
        data[position] ^= int(rng.integers(1, 256))
    return bytes(data)


def changed(value, rng):
    """Return a JSON value with one of its parts replaced, removed or doubled."""
    if not isinstance(value, (dict, list)) or not value or rng.random() < 0.1:
        return ODD[rng.integers(len(ODD))]
    keys = list(value) if isinstance(value, dict) else range(len(value))
    key = keys[rng.integers(len(keys))]
    value = value.copy()
    action = rng.random()
    if action < 0.1:
        del value[key]
    elif action < 0.2 and isinstance(value, dict):
        value[str(ODD[rng.integers(len(ODD))])] = value[key]
    elif action < 0.2:
        value.append(value[key])
    else:
        value[key] = changed(value[key], rng)
    return value


def changed_members(contents, rng):
    contents = dict(contents)
    name = list(contents)[rng.integers(len(contents))]
    action = rng.random()
    if action < 0.6:
        document = json.loads(contents["model.json"])
        for _ in range(rng.integers(1, 3)):
            document = changed(document, rng)
        contents["model.json"] = json.dumps(document).encode()
    elif action < 0.9:
        contents[name] = damaged(contents[name], rng)
    elif action < 0.95:
        del contents[name]
    else:
        others = list(contents)
        contents[name] = contents[others[rng.integers(len(others))]]
    return contents


def damage(original, target, way, rng):
    if way == "raw":
        target.write_bytes(damaged(original.read_bytes(), rng))
    else:
        write(target, changed_members(members(original), rng))


def outcome(path, expected):
    try:
        model = load_model(path)
    except ModelFormatError:
        return "refused"
    try:
        return "same" if answers(model) == expected else "other"
    except (ValueError, TypeError, AttributeError):
        # Another type of model: one fitted on arrays, or a vectorizer alone.
        return "other"


def outcomes(original, way, n, rng):
    """Return how many of n damaged files had which outcome, or raise another error."""
    counts = collections.Counter()
    target, expected = original.with_name("damaged.zip"), answers(load_model(original))
    for _ in range(n):
        damage(original, target, way, rng)
        counts[outcome(target, expected)] += 1
    return counts


def change_model(path, change):
    """Apply a function to the model in the document of a file."""
    contents = members(path)
    document = json.loads(contents["model.json"])
    change(document["model"])
    contents["model.json"] = json.dumps(document).encode()
    write(path, contents)


def names_in(units):
    """Return {name: number} of one table of the array of names."""
    data, numbers, begin = units.tobytes(), {}, 8
    while begin < len(data):
        form, number = struct.unpack_from("<Ii", data, begin)
        end = begin + 8 + (form >> 2)
        code = ("latin-1", "utf-16-le", "utf-32-le")[form & 3]
        numbers[data[begin + 8 : end].decode(code, "surrogatepass")] = number
        begin = end + -end % 8
    assert len(numbers) == units[0]
    return numbers


def as_version_2(path):
    """Move the names of a CRF, or of a vectorizer, into the document of its file."""
    contents = members(path)
    document = json.loads(contents["model.json"])
    model = document["model"]
    vocabulary = model.get("vectorizer", model)["vocabulary"]
    units = np.load(io.BytesIO(contents.pop("names.npy")))
    n, by_key = vocabulary["numeric"], vocabulary["categorical"]
    *tables, rest = np.split(units, np.cumsum([n, *by_key.values()]))
    assert not len(rest)
    numeric, *tables = map(names_in, tables)
    by_key = dict(zip(by_key, tables, strict=True))
    vocabulary |= {"numeric": numeric, "categorical": by_key}
    document["format_version"] = 2
    contents["model.json"] = json.dumps(document).encode()
    write(path, contents)


# What only another fit would use, and a Predictor does not read.
NOT_READ = {"parameters", "stream"}


def places(value, path=()):
    """Yield the paths of the parts of a document, of lists the first two."""
    if path:
        yield path
    if isinstance(value, list):
        value = dict(enumerate(value[:2]))
    if isinstance(value, dict):
        for key in value.keys() - NOT_READ:
            yield from places(value[key], (*path, key))


def with_changes(document):
    """Yield copies of a document with one part replaced, removed or added."""
    text = json.dumps(document)
    for *above, last in places(document):
        for odd in (
            None,
            -1,
            2**63,
            0.5,
            "odd",
            "packed",
            [],
            {},
            [None],
            "gone",
            "one",
        ):
            changed = json.loads(text)
            part = changed
            for key in above:
                part = part[key]
            if odd == "gone":
                del part[last]
            elif odd == "one":
                part[last if isinstance(last, int) else "one"] = part[last]
            else:
                part[last] = odd
            yield changed


def is_refused(read, contents):
    write(file := io.BytesIO(), contents)
    try:
        read(file.getvalue())
    except ModelFormatError:
        return True
    return False

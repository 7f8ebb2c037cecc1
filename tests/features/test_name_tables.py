"""The names of features in an array, which a table reads where it lies."""

import pickle
from collections import Counter

import numpy as np
import pytest

from skcrf_sdca._kernels.features._encoder import Encoder, Lookup

NAMES = [
    f"name {j}" * (j % 3) + "\u00e9\u4e2d\U0001f600"[: j % 4] + str(j)
    for j in range(60)
]
VOCABULARY = {
    "numeric": {name: j for j, name in enumerate(NAMES)},
    "categorical": {"key": {name: 60 + j for j, name in enumerate(NAMES)}},
    "vectors": {"v": [120, -1]},
}
ITEM = {"key": NAMES[1], NAMES[2]: 1.0, "unseen": 2.0, "v": np.array([3.0, 4.0])}


def numbers_in(lookup, item):
    encoder = Encoder(lookup, grows=False, dtype=np.float64)
    encoder.add_dicts([item])
    return encoder.take_rows()[1].tolist()


def test_a_pickle_reads_the_names_where_they_lie():
    rebuild, (units, sizes) = Lookup(VOCABULARY).__reduce__()
    units.flags.writeable = False
    lookup = rebuild(units, sizes)
    assert numbers_in(lookup, ITEM) == [2, 61, 120]
    units.flags.writeable = True
    # The record of NAMES[2]: the only one with its number.
    (place,) = np.flatnonzero(units[: sizes["numeric"]] >> 32 == 2)
    units[place] += 5 << 32
    assert numbers_in(lookup, ITEM) == [7, 61, 120]


@pytest.mark.parametrize("protocol", [2, 5])
def test_a_pickle_has_the_same_vocabulary(protocol):
    lookup = pickle.loads(pickle.dumps(Lookup(VOCABULARY), protocol))
    assert lookup == Lookup(VOCABULARY)
    assert lookup.vocabulary == VOCABULARY
    wanted = np.zeros(121, dtype=np.uint8)
    wanted[[1, 61, 120]] = True
    names = {1: NAMES[1], 61: f"key:{NAMES[1]}", 120: "v[0]"}
    assert lookup.names_of(wanted) == names


def test_a_table_that_lies_elsewhere_grows_as_its_own():
    lookup = pickle.loads(pickle.dumps(Lookup(VOCABULARY)))
    encoder = Encoder(lookup, grows=True, dtype=np.float64, n_features=121)
    encoder.add_dicts([{"new": 1.0, "key": "new", **{NAMES[3]: 1.0}}])
    assert encoder.take_rows()[1].tolist() == [3, 121, 122]
    assert lookup.vocabulary["categorical"]["key"]["new"] == 122
    assert len(lookup.vocabulary["numeric"]) == 61


def said_by(lookup):
    try:
        lookup.names_of(np.ones(121, dtype=np.uint8))
    except ValueError as error:
        return str(error).partition(":")[0]
    return ""


@pytest.mark.survives
def test_names_that_others_change_are_found_wrong_or_refused():
    rng, errors = np.random.default_rng(0), Counter()
    items = [{name: 1.0, "key": name} for name in NAMES]
    for _ in range(200):
        rebuild, (units, sizes) = Lookup(VOCABULARY).__reduce__()
        lookup = rebuild(units, sizes)
        places = rng.integers(len(units), size=rng.integers(1, 9))
        units[places] = rng.integers(-(2**62), 2**62, size=len(places))
        for item in items:
            assert len(numbers_in(lookup, item)) <= 2
        errors[said_by(lookup)] += 1
    assert 50 < errors["a name in a table is damaged"] < 200

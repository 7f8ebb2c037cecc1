"""The choice of a batch from a pool."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skcrf_sdca import LBFGSCRF, PackedSequences, SequenceVectorizer, make_tagger
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.selection import select_uncertain as select
from skcrf_sdca.structures.uncertainty import MEASURES

X, Y = make_chains(n_sequences=30, random_state=0)
X = list(X)


@pytest.fixture(scope="module")
def crf():
    return LBFGSCRF().fit(X[:10], Y[:10])


@pytest.mark.parametrize("measure", MEASURES)
def test_the_least_sure_come_first(crf, measure):
    found = select(crf, X, 7, measure=measure)
    assert_array_equal(found, np.argsort(-crf.uncertainty(X, measure=measure))[:7])
    packed = PackedSequences.from_sequences(X)
    assert_array_equal(select(crf, packed, 7, measure=measure), found)


def test_copies_are_chosen_last(crf):
    first, second = select(crf, X, 2)
    pool = [X[first], X[second], X[first], X[first]]
    assert select(crf, pool, 2).tolist() == [0, 1]
    assert select(crf, pool, 9).tolist() == [0, 1, 2, 3]


def test_a_part_of_the_pool_is_drawn(crf):
    found = select(crf, X, 5, part=0.4, random_state=0)
    assert_array_equal(found, select(crf, X, 5, part=0.4, random_state=0))
    assert found.tolist() != select(crf, X, 5).tolist()
    values = crf.uncertainty(X)[found]
    assert (np.diff(values) <= 0).all()
    # A part that is smaller than the batch is as large as the batch.
    assert len(select(crf, X, 20, part=0.1, random_state=0)) == 20
    assert sorted(select(crf, X, 99, part=0.1)) == list(range(len(X)))


def test_of_a_tagger_and_an_empty_pool(crf):
    dicts = [[{"x": float(v)} for v in x[:, 0]] for x in X]
    tagger = make_tagger(SequenceVectorizer(), LBFGSCRF()).fit(dicts, Y)
    assert_array_equal(
        select(tagger, dicts, 3), np.argsort(-tagger.uncertainty(dicts))[:3]
    )
    assert select(crf, [], 3).shape == (0,)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n must be"),
        ({"part": 0.0}, "part must be in"),
        ({"measure": "doubt"}, r"measure must be one of \['entropy'"),
        ({"measure": ["entropy"]}, "measure must be one of"),
    ],
)
def test_errors_name_the_argument(crf, options, message):
    with pytest.raises(ValueError, match=message):
        select(crf, X, **{"n": 3} | options)

"""Which columns of tokens tell the label."""

import random

import pytest

from skcrf_sdca.text.core.answers import answers


def made(seed=0, n=400):
    """Return columns of words, of types of words, and labels of these."""
    rng = random.Random(seed)
    words = [rng.randrange(100) for _ in range(n)]
    labels = ["B-PER" if word < 20 else "O" for word in words]
    noisy = ["NNP" if (w < 20) != (rng.random() < 0.1) else "NN" for w in words]
    return [f"w{word}" for word in words], noisy, labels


@pytest.mark.parametrize(
    ("own", "labels", "why"),
    [
        # The fine labels, the inner spans and the links of HIPE and GermEval.
        (["B-loc.adm.town", "O"], ["B-loc", "O"], "same types"),
        (["O", "B-PER", "O"], ["B-PER", "O", "O"], "same types"),
        (["_", "B-per", "_"], ["B-PER", "O", "O"], "same types"),
        (["B-PER", "O"], ["NNP", "VBD"], "is none of these"),
        (["Q64", "_", "Q64"] * 40, ["B-LOC", "O", "I-LOC"] * 40, "tells the label"),
        (["x", "y"] * 60, ["NN", "VB"] * 60, "tells the label"),
    ],
)
def test_columns_of_answers_are_found(own, labels, why):
    ((name, found),) = answers({"a": own}, labels)
    assert name == "a"
    assert why in found


@pytest.mark.parametrize(
    ("own", "labels"),
    [
        # The chunks of CoNLL-2003, whose types are others.
        (["B-NP", "B-VP", "O"], ["B-PER", "O", "O"]),
        (["O", "O"], ["B-PER", "O"]),
        # Lemmas, of which each has one label.
        ([f"l{k}" for k in range(200)], ["NN", "VB"] * 100),
        (["NNP", "VBD"], ["B-PER", "O"]),
        # In few sentences every tag may have one label.
        (["NNP", "VBD"] * 50, ["B-PER", "O"] * 50),
    ],
)
def test_other_columns_are_features(own, labels):
    assert not list(answers({"a": own}, labels))


def test_a_column_of_noisy_types_is_a_feature():
    words, noisy, labels = made()
    assert not list(answers({"noisy": noisy}, labels))
    found = dict(answers({"words": words, "labels": labels}, labels))
    assert set(found) == {"words", "labels"}

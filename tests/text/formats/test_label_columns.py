"""Labels that are one attribute of a column: what is written is what is read."""

import pytest

from skcrf_sdca.text.formats.label_columns import value_of, with_value


@pytest.mark.parametrize("value", ["B-PER", "_"])
@pytest.mark.parametrize(
    ("misc", "others"),
    [
        ("_", []),
        ("NER=O", []),
        ("Gloss=a|NER=O|SpaceAfter=No", ["Gloss=a", "SpaceAfter=No"]),
        # The first is the value; another one would be read where that is taken away.
        ("NER=O|Gloss=a|NER=X", ["Gloss=a"]),
    ],
)
def test_an_attribute_that_is_written_is_read_again(misc, others, value):
    row = {"word": "Ann", "misc": misc}
    written = with_value(row, "misc:NER", value)
    assert value_of(written, "misc:NER") == value
    left = [
        own for own in written["misc"].split("|") if own not in ("_", f"NER={value}")
    ]
    assert left == others
    assert row["misc"] == misc


def test_an_attribute_is_written_in_its_place():
    row = {"misc": "Gloss=a|NER=O|SpaceAfter=No|NER=X"}
    written = with_value(row, "misc:NER", "B-PER")
    assert written == {"misc": "Gloss=a|NER=B-PER|SpaceAfter=No"}
    assert with_value(written, "misc:New", "x")["misc"].endswith("|New=x")

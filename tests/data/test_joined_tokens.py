"""The text of neighbouring tokens."""

import pytest

from skcrf_sdca.data.joined_tokens import joined


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ([], ""),
        (["New", "York"], "New York"),
        (["北", "京", "大学"], "北京大学"),
        (["北京", "Olympics"], "北京 Olympics"),
        (["ありが", "トウ"], "ありがトウ"),
        (["ประเทศ", "ไทย"], "ประเทศไทย"),
        (["서울", "시"], "서울 시"),
        (["a", "", "b"], "a b"),
    ],
)
def test_blanks_between_words_of_scripts_that_have_them(tokens, text):
    assert joined(tokens) == text

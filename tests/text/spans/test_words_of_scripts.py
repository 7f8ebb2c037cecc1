"""Words of texts in any script, and the characters that people see."""

import sys
from unicodedata import category, normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs import in_one_test
from skcrf_sdca.text import is_punctuation, read_corpus, tokenize
from skcrf_sdca.text.spans.words import unspaced_scripts

MARKS = {"Mn", "Mc", "Me", "Cf"}
# Each word stands between blanks.
TEXTS = {
    "Hindi": "हिन्दी में लिखा",
    "Bengali": "বাংলা ভাষা",
    "Gujarati": "ગુજરાતી ભાષા",
    "Punjabi": "ਪੰਜਾਬੀ ਭਾਸ਼ਾ",
    "Oriya": "ଓଡ଼ିଆ ଭାଷା",
    "Tamil": "தமிழ் மொழி",
    "Telugu": "తెలుగు భాష",
    "Kannada": "ಕನ್ನಡ ಭಾಷೆ",
    "Malayalam": "മലയാളം ഭാഷ",
    "Sinhala": "සිංහල ශ්\u200dරී",
    "Nepali": "क्षत्रिय र\u094d\u200dयाले",
    "Thai": "สวัสดี โลก",
    "Lao": "ສະບາຍດີ ໂລກ",
    "Burmese": "မြန်မာ စာ",
    "Khmer": "ខ្មែរ ភាសា",
    "Arabic": "مُعالَجَةِ النص",
    "Persian": "می\u200cخواهم بروم",
    "Syriac": "ܫܠܳܡܳܐ ܥܰܠ",
    "Divehi": "ދިވެހި ބަސް",
    "Hebrew": "שָׁלוֹם עולם צה\"ל ג'ירפה צ׳ק",
    "Armenian": "Ինչպե՞ս ես",
    "Georgian": "გამარჯობა მსოფლიო",
    "Amharic": "ሰላም ዓለም",
    "Mongolian": "ᠮᠣᠩᠭᠣᠯ ᠬᠡᠯᠡ",
    "Korean": "한국어 사람",
    "Jamo": normalize("NFD", "한국어 사람"),
    "Vietnamese": normalize("NFD", "Việt Nữ"),
    "decomposed": "Mu\u0308ller cafe\u0301 A\u030angstro\u0308m",
    "soft hyphens": "Silben\u00adtrennung Wort\u2060verbund",
    "Adlam": "𞤀𞤣𞤤𞤢𞤥 𞤆𞤵𞤤𞤢𞤪",
    "numbers": "3.5 1,000.50 ٣٫٥ ١٬٠٠٠ १२.५ 2020-01-05",
    "abbreviations": "e.g U.S.A l'eau d’un Hawai‘i col·lecció SARS‐CoV‐2",
    "families": "👨\u200d👩\u200d👧\u200d👦 👩🏽\u200d⚕\ufe0f",
    "joined": "❤\ufe0f\u200d🔥 🏳\ufe0f\u200d🌈",
    "flags": "🇨🇭 🇩🇪 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "emoji": "👍🏽 1\ufe0f\u20e3 #\ufe0f\u20e3 ☺\ufe0e ≠\u0338",
}


@in_one_test("text", TEXTS.values())
def test_what_stands_between_blanks_is_one_token(text):
    assert tokenize(text)[0] == text.split()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("👍🏽👍🇨🇭🇩🇪🇫", "👍🏽 👍 🇨🇭 🇩🇪 🇫"),
        ("ភាសា\u200bខ្មែរ។", "ភាសា ខ្មែរ ។"),
        ("བོད་སྐད།", "བོད ་ སྐད །"),
        ("我住在iPhone旁。", "我 住 在 iPhone 旁 。"),
        ("カタカナとひガギ", "カタカナ と ひ ガギ"),
        ("ﾊﾟﾝ・パン", "ﾊﾟﾝ ・ パン"),
        ("BTSสยาม๒๕ปี", "BTS สยาม ๒๕ ปี"),
        ('"שלום"', '" שלום "'),
        ("हिन्दी। लिखा-पढ़ी", "हिन्दी । लिखा-पढ़ी"),
        ("a.1 x:y 3,a 5. -b", "a . 1 x : y 3 , a 5 . - b"),
        ("a\u0301-b\u0301 a\u0301- 1\u0301.5", "a\u0301-b\u0301 a\u0301 - 1\u0301.5"),
        ("\u0301a \u0301b", "\u0301 a \u0301 b"),
    ],
)
def test_words_end_where_the_script_or_the_sign_does(text, tokens):
    assert tokenize(text)[0] == tokens.split()


texts = st.text(st.one_of(st.characters(), st.sampled_from("".join(TEXTS.values()))))


@pytest.mark.parametrize("pattern", ["words", "characters"])
@given(texts)
def test_no_mark_begins_a_token_and_only_blanks_are_between(pattern, text):
    tokens, offsets = tokenize(text, pattern)
    ends = [(0, 0), *offsets]
    begins = [*offsets, (len(text), len(text))]
    gaps = [text[end:begin] for (_, end), (begin, _) in zip(ends, begins, strict=True)]
    assert not "".join(gaps).replace("\u200b", "").strip()
    assert text == gaps[0] + "".join(map("".join, zip(tokens, gaps[1:], strict=True)))
    begin_of_run = [True, *map(bool, gaps[1:])]
    for token, is_first in zip(tokens, begin_of_run, strict=False):
        assert is_first or category(token[0]) not in MARKS


def test_every_mark_belongs_to_the_character_before_it():
    marks = [c for c in map(chr, range(sys.maxunicode + 1)) if category(c) in MARKS]
    marks.remove("\u200b")
    for word in ("a{}b", "1{}1", "א{}א", ".{}", "ก{}ก", "カ{}カ", "漢{}"):
        assert not [c for c in marks if len(tokenize(word.format(c))[0]) != 1]


def equivalents():
    """Yield characters and what they are made of."""
    for c in map(chr, range(sys.maxunicode + 1)):
        parts = normalize("NFD", c) if category(c) != "Cs" else c
        if parts != c and not "가" < c <= "힣":
            yield c, parts


@pytest.mark.parametrize("pattern", ["words", "characters"])
def test_composed_and_decomposed_texts_have_as_many_tokens(pattern):
    wrong = [
        c
        for c, parts in equivalents()
        for form in ("a{}b", "1{}2", " {} ", "न{}.", "カ{}カ")
        if len(tokenize(form.format(c), pattern)[0])
        != len(tokenize(form.format(parts), pattern)[0])
    ]
    assert not wrong


@pytest.mark.parametrize("pattern", ["words", "characters"])
@given(texts)
def test_normal_forms_have_as_many_tokens(pattern, text):
    lengths = {
        len(tokenize(normalize(form, text), pattern)[0]) for form in ("NFC", "NFD")
    }
    assert len(lengths) == 1


PLAIN = "ab1²½é_ßΑяЀ .,;:·\u0387\u037e'’‘‐‑-\u2027\u2024⁄!“\xa0\u2003★→\t\n"


@given(st.text(PLAIN, max_size=20))
def test_latin_text_has_the_same_tokens_beside_other_scripts(text):
    for pattern in ("words", "characters"):
        tokens = tokenize(text, pattern)[0]
        assert tokenize(f"{text} 漢", pattern)[0] == [*tokens, "漢"]


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        ("हिन्दी क्षत्रिय", "हि न्दी क्ष त्रि य"),
        ("น้ำ", "น้ำ"),
        ("한글", "한 글"),
        (normalize("NFD", "한글"), normalize("NFD", "한 글")),
        ("\u1100\u1100가\u11a8 \u1100\u1100", "\u1100\u1100가\u11a8 \u1100\u1100"),
        ("e\u0301te\u0301", "e\u0301 t e\u0301"),
        ("👩🏽\u200d⚕\ufe0f🇨🇭🇩🇪", "👩🏽\u200d⚕\ufe0f 🇨🇭 🇩🇪"),
    ],
)
def test_characters_are_what_people_see(text, characters):
    assert tokenize(text, "characters")[0] == characters.split()


def test_scripts_without_blanks_are_named():
    names = {name: unspaced_scripts(text) for name, text in TEXTS.items()}
    assert {name: own for name, own in names.items() if own} == {
        name: [name] for name in ("Thai", "Lao", "Burmese", "Khmer")
    }
    assert unspaced_scripts("カナ, 漢字とབོད") == [
        "Katakana",
        "Han",
        "Hiragana",
        "Tibetan",
    ]


THAI = {"text": "สวัสดี", "label": [[0, 6, "LOC"]]}
LATIN = {"text": "Anna", "label": []}


@pytest.mark.parametrize("options", [{"tokens": "words"}, {"tokens": "characters"}])
def test_texts_without_blanks_between_words_are_named_unless_tokens_are(options):
    with pytest.warns(UserWarning, match="have Thai, without blanks.*tokens='words'"):
        assert read_corpus([THAI], "json")[1] == [["B-LOC"]]
    y = read_corpus([THAI], "json", **options)[1]
    assert len(y[0]) == len(tokenize(THAI["text"], *options.values())[0])


def test_a_name_of_another_script_is_no_reason_to_warn():
    assert len(read_corpus([THAI, *9 * [LATIN]], "json")[0]) == 10


@pytest.mark.parametrize(
    ("word", "expected"),
    [("...", True), ("\u3001", True), ("$", False), ("e.g.", False), ("", False)],
)
def test_punctuation_of_any_script_is_no_symbol(word, expected):
    assert is_punctuation(word) is expected

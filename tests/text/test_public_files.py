"""Public kinds of files: each is read right, or a message says what to do.

Of 123 kinds of files and data 106 are read right by one call, of which 71 need no
options; 2 are read by at most three lines; and 15 are not read right, but refused or
warned of. Where options are needed, the call without them is refused or warned of too,
or its labels are as they stand in the file.
"""

import re
import warnings

from public_files import KINDS
from public_files.sentences import words_of, written

from pairs import in_one_test
from skcrf_sdca.text import ReadingWarning, read_corpus


def attempted(read, *arguments, **options):
    """Return words and labels, or None, and all messages of what reads them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ReadingWarning)
        try:
            X, y = read(*arguments, **options)
        except ValueError as error:
            return None, [str(error)]
    return (words_of(X), y), [str(warning.message) for warning in caught]


@in_one_test("kind", KINDS.values())
def test_what_is_read_is_what_is_written(kind, tmp_path_factory):
    source = written(kind, tmp_path_factory.mktemp("kind"))
    read = kind.read or read_corpus
    if kind.labels is not None:
        found, messages = attempted(read, source, **kind.options)
        assert found == (kind.words, kind.labels), messages
        assert bool(messages) == (kind.warns is not None)
        assert all(re.search(kind.warns, message) for message in messages)


@in_one_test("kind", KINDS.values())
def test_what_is_guessed_is_right_or_said(kind, tmp_path_factory):
    found, messages = attempted(
        read_corpus, written(kind, tmp_path_factory.mktemp("kind"))
    )
    if kind.says is None:
        assert messages == []
        assert found == (kind.words, kind.bare or kind.labels)
    else:
        assert re.search(kind.says, " ".join(messages)), messages


def test_the_numbers_above_are_those_of_the_kinds():
    kinds = [(kind.labels, kind.read, kind.options) for kind in KINDS.values()]
    n_refused = sum(labels is None for labels, *_ in kinds)
    n_longer = sum(read is not None for _, read, _ in kinds)
    n_plain = sum(not options for _, _, options in kinds) - n_refused - n_longer
    n_by_one = len(kinds) - n_longer - n_refused
    numbers = [len(kinds), n_by_one, n_plain, n_longer, n_refused]
    assert numbers == list(map(int, re.findall(r"\d+", __doc__)))

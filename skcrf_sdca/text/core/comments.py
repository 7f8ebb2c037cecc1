"""Comments in files of columns, where "#" may also be a word, and marks of documents.

A line such as "# text = a" is a comment if it has not the columns of the other lines.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from skcrf_sdca._utils.messages import counted
from skcrf_sdca.text.core.files import place
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.core.rows import Block, Numbered, without_ends

DOCUMENT = "-DOCSTART-"
_COMMENT = re.compile(r"#+[ \t]|##|#(begin|end) document\b")
# The part of speech of the word "#" in the Penn Treebank, and of no other word.
_TAG = "#"


def without_comments(
    numbered: Iterable[Numbered], comment: str | None, marked: list[int] | None = None
) -> Iterator[Numbered]:
    """Yield the numbered lines but comments; where a document begins, a blank one.

    The numbers of lines that begin with "#" are added to `marked`.
    """
    if comment == "":
        raise ValueError("comment='' begins every line; comment=None has no comments.")
    marked = [] if marked is None else marked
    for number, line in numbered:
        if comment is not None and line.startswith(comment):
            continue
        first = line[:1]
        if first == "#":
            marked.append(number)
        elif first == "-" and line.startswith(DOCUMENT):
            line = ""
        yield number, line


class Comments:
    """The comments of a file, which are guessed if it is not known how they begin."""

    def __init__(self, file: Any, reading: Reading, comment: str | None) -> None:
        self._file, self._reading, self._comment = file, reading, comment
        self._marked: list[int] = []
        self._has_tabs = False
        self._n_left_out, self._first_left_out = 0, 0
        # The labels of lines that begin with "#", and those of all lines after these.
        self._first_kept = 0
        self._of_kept: set[str | None] = set()
        self._others: set[str | None] = set()

    def without(self, numbered: Iterable[Numbered]) -> Iterator[Numbered]:
        """Yield the numbered lines but comments; where a document begins, a blank one.

        Lines that only seem to be comments are still among them.
        """
        return without_comments(numbered, self._comment, self._marked)

    def after_first(
        self, blocks: Iterable[Block]
    ) -> tuple[list[Numbered], Iterator[Block]]:
        """Return the first numbered lines of tokens, up to a blank one, and all blocks.

        What these lines have between columns, tokens have.
        """
        waiting, lines = [], []
        for block in blocks:
            waiting.append(block)
            numbered = zip(block[0], block[1], strict=True)
            lines = [(k, text) for k, text in numbered if not self._seems(text)]
            if lines:
                break
        if not lines and waiting:
            lines = list(zip(*waiting[0][:2], strict=True))
        self._has_tabs = any("\t" in line for _, line in lines)
        return lines, chain(waiting, blocks)

    def left_out(self, block: Block, n: int) -> Block:
        """Return a block without the comments, none of which has n columns."""
        last = block[0][-1]
        if not self._marked or self._marked[0] > last:
            return block
        del self._marked[: bisect_right(self._marked, last)]
        found = []
        for number, text, row in zip(*block, strict=True):
            if self._seems(text) and not self._is_token(text, row, n):
                self._n_left_out += 1
                self._first_left_out = self._first_left_out or number
            else:
                found.append((number, text, row))
                if text[0] == "#":
                    self._first_kept = self._first_kept or number
        numbers, texts, rows = zip(*found, strict=True) if found else ((), (), ())
        return numbers, texts, rows

    def keep(self, block: Block) -> None:
        """Keep lines that seem to be comments, where tokens have any columns."""
        for number, text, _ in zip(*block, strict=True):
            if not self._first_kept and self._seems(text):
                self._first_kept = number

    def _seems(self, line):
        return self._comment is None and _COMMENT.match(line) is not None

    def _is_token(self, line, row, n):
        return ("\t" in line) == self._has_tabs and len(without_ends(row, n)) == n

    def ask(
        self, texts: Sequence[str], rows: Sequence[Sequence[str]], at: int | None
    ) -> None:
        """Keep the labels of lines, to ask later whether some are comments.

        `at` is the column of the label, or None.
        """
        if self._first_kept and self._comment is None and at is not None:
            for text, row in zip(texts, rows, strict=True):
                (self._of_kept if text[0] == "#" else self._others).add(row[at])

    def tell(self) -> None:
        """Tell the reading which comments were left out, and which may be some."""
        if self._n_left_out:
            n = counted(self._n_left_out, "line")
            first = place(self._file, self._first_left_out)
            self._reading.take("comments", f"{n}, first {first}", option="comment")
        if self._others and self._of_kept.isdisjoint(self._others | {_TAG}):
            self._reading.odd(
                f"{place(self._file, self._first_kept)}: is it a comment? No other "
                "line has a label that lines with '#' have; say with "
                f"{self._reading.option('comment')} how comments begin."
            )

"""The sentences of all kinds of files, and what a kind is."""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

# Words with tag, chunk and label.
ROWS = [
    [tuple(token.split("|")) for token in sentence.split()]
    for sentence in (
        "Anna|NNP|B-NP|B-PER Meier|NNP|I-NP|I-PER lives|VBZ|B-VP|O in|IN|B-PP|O "
        "Basel|NNP|B-NP|B-LOC .|.|O|O",
        "The|DT|B-NP|O Rhine|NNP|I-NP|B-LOC flows|VBZ|B-VP|O through|IN|B-PP|O "
        "Basel|NNP|B-NP|B-LOC .|.|O|O",
        "On|IN|B-PP|O Monday|NNP|B-NP|O Peter|NNP|B-NP|B-PER met|VBD|B-VP|O "
        "Anna|NNP|B-NP|B-PER .|.|O|O",
        "Yes|UH|B-INTJ|O !|.|O|O",
        "Meier|NNP|B-NP|B-PER paid|VBD|B-VP|O the|DT|B-NP|O bill|NN|I-NP|O "
        "in|IN|B-PP|O May|NNP|B-NP|O .|.|O|O",
    )
]
WORDS, POS, CHUNKS, LABELS = (
    [[row[k] for row in own] for own in ROWS] for k in range(4)
)
TEXTS = [
    "Anna Meier lives in Basel.",
    "The Rhine flows through Basel.",
    "On Monday Peter met Anna.",
    "Yes!",
    "Meier paid the bill in May.",
]
# Spans by characters of the texts, and by tokens.
SPANS = [
    [(0, 10, "PER"), (20, 25, "LOC")],
    [(4, 9, "LOC"), (24, 29, "LOC")],
    [(10, 15, "PER"), (20, 24, "PER")],
    [],
    [(0, 5, "PER")],
]
TOKEN_SPANS = [
    [(0, 2, "PER"), (4, 5, "LOC")],
    [(1, 2, "LOC"), (4, 5, "LOC")],
    [(2, 3, "PER"), (4, 5, "PER")],
    [],
    [(0, 1, "PER")],
]
# All texts as one, and its spans.
BODY = "".join(f"{text}\n" for text in TEXTS)
STARTS = [0, *accumulate(len(text) + 1 for text in TEXTS)]
BODY_SPANS = [
    (begin + start, end + start, kind)
    for start, own in zip(STARTS, SPANS, strict=False)
    for begin, end, kind in own
]


class Kind(NamedTuple):
    """A kind of files or of data, and how it is read.

    Parameters
    ----------
    source : dict of str, or data
        The contents of files by their names: the first is read, or the folder of all if
        this is called "folder".
    options : dict
        What `read_corpus` needs.
    read : callable
        Reads the file in at most three lines, where `read_corpus` alone does not.
    says : str
        What `read_corpus` refuses or warns of without the options, a pattern; None if
        it reads what the file says.
    warns : str
        What it warns of with the options.
    words, labels : list of lists
        What is read; the labels are None if nothing reads them.
    bare : list of lists
        The labels as they stand in the file, if the options write them in another form.
    """

    source: Any
    options: Mapping[str, Any] = {}
    says: str | None = None
    labels: Sequence[Sequence[Any]] | None = LABELS
    words: Sequence[Sequence[Any]] = WORDS
    bare: Sequence[Sequence[Any]] | None = None
    read: Callable[[Any], Any] | None = None
    warns: str | None = None

    @property
    def is_files(self):
        """Whether these are files, not data in memory."""
        return isinstance(self.source, dict)


def in_form(change):
    """Return the labels in another form."""
    return [[change(label) for label in own] for own in LABELS]


def lines(form, *, between="\n", labels=LABELS, start=""):
    """Return a line for each token, of a form with names of fields in braces."""
    sentences = []
    for s, (own, found, text) in enumerate(zip(ROWS, labels, TEXTS, strict=True)):
        head = start.format(s=s, text=text)
        rows = [
            form.format(n=n, m=n - 1, s=s, word=w, pos=p, chunk=c, label=x)
            for n, ((w, p, c, _), x) in enumerate(zip(own, found, strict=True), 1)
        ]
        sentences.append(head + "".join(f"{row}\n" for row in rows))
    return between.join([*sentences, ""])


def sentence_lines(form):
    """Return a line for each sentence, whose tokens have a form."""
    return [
        " ".join(form.format(word=w, pos=p, label=x) for w, p, _, x in own) + "\n"
        for own in ROWS
    ]


def of_texts(record):
    """Return a record for each text, made of the text and its spans."""
    return [record(*own) for own in zip(TEXTS, SPANS, strict=True)]


def of_sentences(record, parts=LABELS):
    """Return a record for each sentence, made of its words, and of labels or so."""
    return [record(*own) for own in zip(WORDS, parts, strict=True)]


def jsonl(records):
    """Return a line of JSON for each record."""
    return "".join(f"{json.dumps(record)}\n" for record in records)


def written(kind, folder):
    """Return the path of a kind of files, written into a folder; or its data."""
    if not kind.is_files:
        return kind.source
    for name, content in kind.source.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    first = folder / next(iter(kind.source))
    return folder / "folder" if (folder / "folder").exists() else first


def words_of(X):
    """Return the words of tokens, or the features that they have instead."""
    return [
        [token["word"] if "word" in token else list(token) for token in own]
        for own in X
    ]

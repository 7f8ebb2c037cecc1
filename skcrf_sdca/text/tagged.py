"""Raw text, cut as the texts of the training were, with what a model says of it."""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from skcrf_sdca._utils.messages import described

from .core.passages import cut_text
from .features.values import WORD
from .spans.offsets import Offsets, char_spans, check_pattern


class TextSpan(NamedTuple):
    """A span of a text, with its probability.

    Parameters
    ----------
    type : str
    begin, end : int
        Its characters, ``text[begin:end]``.
    probability : float or None
        None after a fit with a loss that gives none, such as the hinge loss.
    text : str

    Examples
    --------
    >>> from skcrf_sdca.text import TextSpan
    >>> TextSpan("LOC", 3, 8, 0.98, "Basel")._asdict()
    {'type': 'LOC', 'begin': 3, 'end': 8, 'probability': 0.98, 'text': 'Basel'}
    """

    type: str
    begin: int
    end: int
    probability: float | None
    text: str


class TaggedSentence(NamedTuple):
    """The tokens of a sentence, and their labels.

    Parameters
    ----------
    tokens : list of str
    offsets : list of (begin, end)
        The characters of each token in the whole text.
    labels : list

    Examples
    --------
    >>> from skcrf_sdca.text import TaggedSentence
    >>> sentence = TaggedSentence(["In", "Basel"], [(0, 2), (3, 8)], ["O", "B-LOC"])
    >>> list(zip(sentence.tokens, sentence.labels))
    [('In', 'O'), ('Basel', 'B-LOC')]
    """

    tokens: list[str]
    offsets: Offsets
    labels: list[Any]


class TaggedText(NamedTuple):
    """What a model says of a text.

    Parameters
    ----------
    spans : list of TextSpan, or None
        The spans of all sentences, in order. None if the labels are in no tagging
        scheme, such as those of parts of speech.
    sentences : list of TaggedSentence
        A sentence is a line of the text that has tokens.
    pattern : str
        What the tokens are, as in `tokenize`.

    See Also
    --------
    skcrf_sdca.estimators.tagger.Tagger.tag : Returns it.
    skcrf_sdca.serving.Predictor.tag : Returns it with NumPy alone.

    Examples
    --------
    >>> from skcrf_sdca.text import TaggedText, TextSpan
    >>> tagged = TaggedText([TextSpan("LOC", 3, 8, 0.98, "Basel")], [], "words")
    >>> [span.text for span in tagged.spans if span.probability > 0.5]
    ['Basel']
    """

    spans: list[TextSpan] | None
    sentences: list[TaggedSentence]
    pattern: str


def check_reads_words(columns: Collection[str], read: Collection[str]) -> None:
    """Raise ValueError if templates read more of a token than a text has: its words.

    ``columns`` are the names of the columns of tokens, of which ``read`` are read.
    """
    of_text = {WORD} if len(columns) > 1 else {WORD, *columns}
    if not set(read) <= of_text:
        raise ValueError(
            f"the templates of the model read the columns {', '.join(read)} of each "
            "token, and a text has words alone: give tokens with these columns to "
            "predict."
        )


def tagged_text(
    text: str, pattern: str, answer: Callable[[list[list[str]]], tuple[Any, Any]]
) -> TaggedText:
    """Cut a text, and return what a model says of it.

    ``answer(sentences)`` returns the labels of lists of tokens, and their spans (type,
    begin, end, probability), or None.
    """
    if not isinstance(text, str):
        raise TypeError(
            f"text is {described(text)}; it must be a str. predict takes tokens."
        )
    check_pattern(pattern)
    offsets = cut_text(text, pattern)
    words = [[text[begin:end] for begin, end in own] for own in offsets]
    labels, found = answer(words)
    if found is not None:
        found = [
            TextSpan(span_type, begin, end, proba, text[begin:end])
            for own, places in zip(found, offsets, strict=True)
            for span_type, begin, end, proba in char_spans(own, places)
        ]
    sentences = map(TaggedSentence, words, offsets, labels)
    return TaggedText(found, list(sentences), pattern)

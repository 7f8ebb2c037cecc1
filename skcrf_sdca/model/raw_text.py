"""`TagsText`: the method of a Tagger that takes raw text, cut as in its training."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.availability import available_if
from skcrf_sdca._utils.typing import SpanScheme
from skcrf_sdca.data.label_names import named_lists, names_of_classes
from skcrf_sdca.data.label_reading import scheme_of
from skcrf_sdca.data.spans import extract_spans, scheme_of_readable
from skcrf_sdca.text.features.token_features import TokenFeatures
from skcrf_sdca.text.spans.offsets import TOKEN
from skcrf_sdca.text.tagged import TaggedText, check_reads_words, tagged_text


def _no_tag(tagger):
    """Return why a Tagger cannot tag text, None if it can."""
    last = type(tagger._last_step)
    if hasattr(last, "predict_spans"):
        return None
    return (
        f"{type(tagger).__name__!r} object has no attribute 'tag': its last step, of "
        f"type {last.__name__}, lacks 'predict_spans'."
    )


@lru_cache(maxsize=8)
def _scheme_of_names(names, first):
    """Return the first scheme that can read the names of labels, or None."""
    return scheme_of_readable([names], first)


class TagsText:
    """A pipeline that knows how the texts of its training were cut into tokens."""

    # Those that were pickled before there was the parameter do not know.
    tokens: str | None = None
    # Of a Tagger.
    _last_step: Any
    _transformers: Callable[[], list[Any]]
    _through_steps: Callable[[Any], Any]

    @available_if(_no_tag)
    def tag(
        self, text: str, *, tokens: str | None = None, scheme: SpanScheme | None = None
    ) -> TaggedText:
        r"""Return the spans and the labels of a text, which is cut as in the training.

        Parameters
        ----------
        text : str
            Each line is a sentence. The first step takes lists of words, as a
            ``TokenFeatures`` does.
        tokens : {"words", "characters", "blanks"} or str, default=None
            What the tokens are, as in :func:`skcrf_sdca.text.tokenize`. By default as
            the parameter ``tokens`` of the Tagger says, and "words" if it is None: then
            it is not known how the texts of the training were cut.
        scheme : str, default=None
            As in ``predict_spans``. By default the scheme that the parameter
            ``transitions`` names, or else the first that can read all labels.

        Returns
        -------
        tagged : TaggedText
            Its ``spans`` are named tuples (type, begin, end, probability, text), where
            begin and end are characters of the text. Its ``sentences`` have the tokens,
            their offsets and their labels, and ``pattern`` says what cut the text.

        Raises
        ------
        AttributeError
            If the last step has no ``predict_spans``: it is no chain and no
            `SegmentCRF`.
        ValueError, TypeError
            If the templates read other columns than words, ``tokens`` cuts no text, or
            the labels are not of the `scheme`.

        See Also
        --------
        skcrf_sdca.serving.Predictor.tag : The same with NumPy alone, and faster.

        Examples
        --------
        >>> from skcrf_sdca import SDCACRF, make_tagger
        >>> from skcrf_sdca.text import TokenFeatures
        >>> X, y = [["in", "Basel"], ["left", "."]] * 9, [["O", "B-LOC"], ["O"] * 2] * 9
        >>> tagger = make_tagger(TokenFeatures(), SDCACRF(random_state=0)).fit(X, y)
        >>> tagged = tagger.tag("They  left.\nNow in Basel.")
        >>> [(span.type, span.begin, span.end, span.text) for span in tagged.spans]
        [('LOC', 19, 24, 'Basel')]
        >>> tagged.sentences[0].tokens, tagged.sentences[0].labels
        (['They', 'left', '.'], ['O', 'O', 'O'])
        """
        # That of all steps takes as long as to label a sentence.
        check_is_fitted(self._last_step)
        first = next(iter(self._transformers()), None)
        if isinstance(first, TokenFeatures):
            check_reads_words(first.columns, first.read_columns())
        pattern = self.tokens if tokens is None else tokens
        answer = partial(self._answers_to_words, scheme)
        return tagged_text(text, TOKEN if pattern is None else pattern, answer)

    def _answers_to_words(self, scheme, sentences):
        """Return the labels of lists of words, and their spans."""
        crf = self._last_step
        is_of_scheme = hasattr(crf, "scheme_")
        # A model of segments was fitted in a scheme, and answers in no other.
        if scheme is None and not is_of_scheme:
            # Those of compat.CRF are a list, and it has no such parameter.
            names = tuple(names_of_classes(crf, np.asarray(crf.classes_)))
            first = scheme_of(getattr(crf, "transitions", None))
            scheme = _scheme_of_names(names, first)
        has_spans = is_of_scheme or scheme is not None
        if not sentences:
            return [], [] if has_spans else None
        X = self._through_steps(sentences)
        labels = crf.predict(X).tolist()
        if not has_spans:
            return labels, None
        if hasattr(crf, "predict_spans"):
            return labels, crf.predict_spans(X, scheme=scheme).tolist()
        found = extract_spans(named_lists(crf, labels), scheme)
        return labels, [[(*span, None) for span in own] for own in found]

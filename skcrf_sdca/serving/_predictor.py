"""Predictor: a fitted model that labels one sequence at a time."""

from collections.abc import Iterable
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._utils.messages import check_count, described
from skcrf_sdca._utils.typing import FilePath, SpanScheme, SupportsRead
from skcrf_sdca.persistence._archive import opened_to_read, read_archive
from skcrf_sdca.persistence._entries import RELATIONS
from skcrf_sdca.serving._explanation import ExplanationMixin
from skcrf_sdca.serving._graphs import ServedGraphs
from skcrf_sdca.serving._likelihood import LikelihoodMixin
from skcrf_sdca.serving._model import Model, model_from
from skcrf_sdca.serving._structures import (
    ServedChain,
    ServedParts,
    ServedSegments,
    ServedTuples,
)
from skcrf_sdca.serving._trees import ServedParser, ServedTrees
from skcrf_sdca.structures.mixed_scores import with_entropy
from skcrf_sdca.text.core.tokens import Tokens
from skcrf_sdca.text.features.sentences import SentenceFeatures
from skcrf_sdca.text.features.templates import checked_features
from skcrf_sdca.text.spans.offsets import TOKEN
from skcrf_sdca.text.tagged import TaggedText, check_reads_words, tagged_text

# What the stream of an online estimator goes on from is not of use here.
NOT_READ = ["stream_", f"{RELATIONS}stream_"]
# What a model of each structure is served by.
SERVED: dict[str, Any] = {
    "chain": ServedChain,
    "label_parts": ServedParts,
    "tuples": ServedTuples,
    "segments": ServedSegments,
    "trees": ServedTrees,
    "parser": ServedParser,
    "graphs": ServedGraphs,
}


class Predictor(ExplanationMixin, LikelihoodMixin):
    """A fitted model that labels one sequence at a time, with NumPy alone.

    `load` reads the file of `skcrf_sdca.persistence.save_model`, and `from_estimator`
    takes a fitted estimator. A sequence is what the estimator took: a list of dicts or
    of lists of str, after a `TokenFeatures` the tokens, or rows of numbers, an array or
    a sparse matrix (T, n_features). Parsers take a sentence: its tokens, or its arcs.
    Models of graphs take one graph. The answers are the answers of the estimator, for
    this one sequence. Features that are not in the model are ignored.

    Threads may share a Predictor: calls share no memory that they write to. It can be
    pickled, and copied to other processes.

    Parameters
    ----------
    model : Model
        Call `load` or `from_estimator` instead.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        The labels.

    See Also
    --------
    skcrf_sdca.persistence.load_model : Returns the estimator, of every type.

    Examples
    --------
    >>> import io
    >>> from skcrf_sdca import SDCACRF, save_model
    >>> from skcrf_sdca.serving import Predictor
    >>> X, y = [[["w=the"], ["w=Rhine"]]] * 9, [["O", "B-LOC"]] * 9
    >>> crf = SDCACRF(random_state=0).fit(X, y)
    >>> save_model(crf, file := io.BytesIO())
    >>> predictor = Predictor.load(file.getvalue())
    >>> predictor.predict_one([["w=unseen"], ["w=Rhine"]])
    ['O', 'B-LOC']
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._served = SERVED[model.structure](model)
        self._features = None
        if templates := model.items and model.items.templates:
            features = checked_features(**templates)
            self._features = SentenceFeatures(features, templates["pad"])

    @classmethod
    def load(cls, path: FilePath | SupportsRead | bytes) -> Self:
        """Read a file of `save_model`. No file can make it run code.

        Parameters
        ----------
        path : str, path-like, binary file object or bytes
            As for `skcrf_sdca.persistence.load_model`.

        Returns
        -------
        predictor : Predictor

        Raises
        ------
        ModelFormatError
            If the file is damaged, is not a model, or holds a model that only
            `load_model` reads: of a table without lengths, of graphs with
            tree-reweighted sums, or with features of segments. The message says why.
            The error is a ValueError. The parameters and the stream that only another
            fit would use are not read.
        TypeError, MemoryError, OSError
            As `load_model`.
        """
        with opened_to_read(path) as file:
            return cls(read_archive(file, model_from, leave=NOT_READ))

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Return the Predictor of a fitted estimator, with copies of its weights.

        Parameters
        ----------
        estimator : CRF, Pipeline or Tagger
            What `skcrf_sdca.persistence.save_model` takes.

        Returns
        -------
        predictor : Predictor

        Raises
        ------
        TypeError, ValueError
            As `save_model`, and ModelFormatError as `load`.

        Examples
        --------
        >>> from skcrf_sdca import SDCACRF
        >>> from skcrf_sdca.serving import Predictor
        >>> crf = SDCACRF(random_state=0).fit([[["a"], ["b"]]] * 9, [["B", "I"]] * 9)
        >>> Predictor.from_estimator(crf).predict_one([["a"], ["b"]])
        ['B', 'I']
        """
        # Only here: it imports all estimators.
        from skcrf_sdca.persistence._document import describe

        document, arrays = describe(estimator)

        def array(name, dtype, shape):
            return np.array(arrays[name], dtype=dtype, order="C").reshape(shape)

        return cls(model_from(document, array))

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels."""
        return self._model.classes

    def predict_one(self, sequence: Iterable[Any]) -> list[Any]:
        """Return the most probable labels of one sequence.

        Parameters
        ----------
        sequence : list of T items
            Dicts, lists of str, the tokens that a `TokenFeatures` takes, or rows of
            numbers. A parser takes one sentence, as its estimator does.

        Returns
        -------
        labels : list of T labels
            A parser returns the heads of the words, a list, or if it has relations the
            pair (heads, relations).

        Raises
        ------
        TypeError, ValueError
            If an item is of another form, or has a value that the estimator refuses;
            the message names the item. Also if the transitions of the model allow no
            path of this length.
        """
        if self._features is not None:
            sequence = self._prepared(sequence)
        return self._served.predict(sequence)

    def marginals(self, sequence: Iterable[Any]) -> NDArray[np.float64]:
        """Return the probability of every label at every position.

        Parameters
        ----------
        sequence : as for `predict_one`

        Returns
        -------
        proba : ndarray of shape (T, n_labels)
            In the order of `classes_`, as by ``predict_proba``; that of a parser is of
            [head, word].

        Raises
        ------
        TypeError, ValueError
            As `predict_one`, and ValueError after a fit with the hinge loss.

        Examples
        --------
        >>> from skcrf_sdca import SDCACRF
        >>> from skcrf_sdca.serving import Predictor
        >>> crf = SDCACRF(random_state=0).fit([[["a"], ["b"]]] * 9, [["B", "I"]] * 9)
        >>> Predictor.from_estimator(crf).marginals([["a"]]).shape
        (1, 2)
        """
        node, log_z = self._scores(sequence, proba=True).node_marginals()
        self._check_possible(log_z[0], node)
        return self._served.rows(node)

    def spans(
        self, sequence: Iterable[Any], *, scheme: SpanScheme | None = None
    ) -> list[tuple[str, int, int, float]]:
        """Return the spans of the most probable labels, with their probabilities.

        Parameters
        ----------
        sequence : as for `predict_one`
        scheme : str, default=None
            "BIO", "IOB1", "IO", "BIOES" or "BILOU". By default the scheme that the
            parameter ``transitions`` of the estimator names, and else "BIO".

        Returns
        -------
        spans : list of (type, begin, end, probability)
            In order, as by ``predict_spans``.

        Raises
        ------
        TypeError, ValueError
            As `marginals`, and if the labels are not of the scheme.

        Examples
        --------
        >>> from skcrf_sdca import SDCACRF
        >>> from skcrf_sdca.serving import Predictor
        >>> X, y = [[["w=the"], ["w=Rhine"]]] * 9, [["O", "B-LOC"]] * 9
        >>> predictor = Predictor.from_estimator(SDCACRF(random_state=0).fit(X, y))
        >>> [(kind, begin, end, _)] = predictor.spans([["w=the"], ["w=Rhine"]])
        >>> kind, begin, end
        ('LOC', 1, 2)
        """
        scores = self._scores(sequence, proba=True)
        return self._served.spans(self._path(scores), scores, scheme)

    def tag(
        self, text: str, *, tokens: str | None = None, scheme: SpanScheme | None = None
    ) -> TaggedText:
        """Return the spans and the labels of a text, which is cut as in the training.

        Parameters
        ----------
        text : str
            Each line is a sentence.
        tokens : {"words", "characters", "blanks"} or str, default=None
            What the tokens are, as in :func:`skcrf_sdca.text.tokenize`. By default as
            in the file, which has the parameter `tokens` of a `Tagger`, and "words" if
            it has none.
        scheme : str, default=None
            As for `spans`; by default also the first scheme that can read all labels.

        Returns
        -------
        tagged : TaggedText
            As of `skcrf_sdca.estimators.tagger.Tagger.tag`.

        Raises
        ------
        TypeError, ValueError
            As `skcrf_sdca.estimators.tagger.Tagger.tag`, and if there is no
            ``TokenFeatures``.

        Examples
        --------
        >>> from skcrf_sdca import SDCACRF, make_tagger
        >>> from skcrf_sdca.serving import Predictor
        >>> from skcrf_sdca.text import TokenFeatures
        >>> X, y = [["in", "Basel"], ["left", "."]] * 9, [["O", "B-LOC"], ["O"] * 2] * 9
        >>> tagger = make_tagger(TokenFeatures(), SDCACRF(random_state=0)).fit(X, y)
        >>> (span,) = Predictor.from_estimator(tagger).tag("Now in  Basel.").spans
        >>> span.type, span.begin, span.end, span.text
        ('LOC', 8, 13, 'Basel')
        """
        model = self._model
        if model.structure == "graphs":
            raise ValueError("a text has no graphs: call predict_one")
        templates = model.items and model.items.templates
        if self._features is None or templates is None:
            raise ValueError(
                "the model has no TokenFeatures, and takes no words: make the features "
                "of the tokens of a text, and call predict_one."
            )
        check_reads_words(templates["columns"], self._features.read)
        has_spans = scheme is not None or self._served.is_readable
        scheme = self._served.readable if scheme is None else scheme
        pattern = model.tokens if tokens is None else tokens
        answer = partial(self._answers_to_words, scheme, has_spans)
        return tagged_text(text, TOKEN if pattern is None else pattern, answer)

    def _answers_to_words(self, scheme, has_spans, sentences):
        """Return the labels of lists of words, and their spans."""
        labels, spans, has_proba = [], [], self._model.temperature > 0.0
        for words in sentences:
            scores = self._scores(words)
            path = self._path(scores)
            labels.append(self._served.answer(path))
            if has_spans:
                given = scores if has_proba else None
                spans.append(self._served.spans(path, given, scheme))
        return labels, spans if has_spans else None

    def _path(self, scores):
        """Return the labelling by the decoding of the model; it must be possible."""
        path, values = self._served.decode(scores)
        self._check_possible(values[0], path)
        return path

    def n_best(self, sequence: Iterable[Any], n: int) -> list[tuple[list[Any], float]]:
        """Return the n most probable label paths, exactly.

        Parameters
        ----------
        sequence : as for `predict_one`
        n : int
            At least 1.

        Returns
        -------
        paths : list of (labels, probability)
            Best first, fewer than n if there are not as many; (labels, score) after a
            fit with the hinge loss. As by ``predict_n_best``.

        Raises
        ------
        TypeError, ValueError
            As `predict_one`, and ValueError if n is not an integer of at least 1.
        MemoryError
            If the paths clearly do not fit into memory.

        Examples
        --------
        >>> from skcrf_sdca import SDCACRF
        >>> from skcrf_sdca.serving import Predictor
        >>> crf = SDCACRF(random_state=0).fit([[["a"], ["b"]]] * 9, [["B", "I"]] * 9)
        >>> [labels for labels, _ in Predictor.from_estimator(crf).n_best([["a"]], 2)]
        [['B'], ['I']]
        """
        check_count("n", n)
        scores = self._scores(sequence)
        has_proba = self._model.temperature > 0.0
        find = scores.n_best_probabilities if has_proba else scores.n_best
        (paths,), (values,) = find(n)
        self._check_possible(0.0 if len(values) else -np.inf, scores.local)
        found = [self._served.answer(path) for path in paths]
        return list(zip(found, values.tolist(), strict=True))

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what it is made of, for pickles."""
        return type(self), (self._model,)

    def _scores(self, sequence, *, proba=False):
        """Return the Scores of one sequence."""
        if proba and not self._model.temperature:
            raise ValueError(
                "The model was fitted with a loss that gives scores, and no "
                'probabilities; fit with loss="softmax_margin" or "log_loss".'
            )
        scores = self._served.scores(self._prepared(sequence))
        return with_entropy(scores, self._model.entropy_index)

    def _prepared(self, sequence):
        """Return a sequence as its structure takes it."""
        if self._features is None:
            return sequence
        return self._served.with_items(self._features_of, sequence)

    def _features_of(self, tokens):
        if tokens is None or isinstance(tokens, (str, bytes)):
            raise TypeError(
                f"sequence must be a list of tokens, got {described(tokens)}; tag "
                "takes a text, and cuts it into tokens"
            )
        columns = self._model.items.templates["columns"]
        own = Tokens([tokens], columns, self._features.read)
        (features,) = self._features.of(own)
        return features

    def _check_possible(self, score, positions):
        if len(positions) and score == -np.inf:
            raise self._served.impossible(len(positions))

"""`TokenFeatures` turns sequences of tokens into feature strings of each token."""

from collections.abc import Collection, Iterable
from itertools import pairwise
from typing import Any, overload
from weakref import WeakKeyDictionary

import numpy as np

from skcrf_sdca.data.graphs import nodes_and_rests
from skcrf_sdca.features.transformer import StatelessTransformer
from skcrf_sdca.text.core.tokens import Token, Tokens

from .patterns import numbered_strings
from .sentences import SentenceFeatures
from .templates import DEFAULT_TEMPLATES, Template, check_types, checked_features

# So few tokens take less time sentence by sentence.
FEW = 150


class TokenFeatures(StatelessTransformer):
    """Turn tokens into tuples of feature strings with readable names.

    A feature is a string such as ``"pos[-1]|pos[0]=DT|NN"`` for a noun after a
    determiner. `SequenceVectorizer` and the estimators take these tuples directly.
    Templates define the features:

    ===================================== ============================================
    template                              features
    ===================================== ============================================
    ``"word"``                            ``word=Dogs``
    ``Shape()``                           ``shape=Xxxx``
    ``Prefix(2)``, ``Suffix(2)``          ``prefix2=Do``, ``suffix2=gs``
    ``Apply(str.lower)``                  ``lower=dogs``
    ``Apply(is_capitalized)``             ``is_capitalized``
    ``At("word", 1)``                     ``word[1]=bark``
    ``Window("word", 1)``                 ``word[-1]=...``, ``word[0]=Dogs``,
                                          ``word[1]=bark``
    ``Window("pos", (0, 1), n=2)``        ``pos[0]|pos[1]=NNS|VBP``
    ``Window(Shape(), 1)``                ``shape[-1]=...`` and so on
    ``Joint("word", At("pos", 1))``       ``word|pos[1]=Dogs|VBP``
    ``LabelPairs("word")``                ``b:word=Dogs``, for pairs of labels too
    ===================================== ============================================

    Parameters
    ----------
    templates : list or tuple of templates, or None, default=DEFAULT_TEMPLATES
        Templates of the features, in their order. The default, or None, makes features
        of the column ``"word"``: neighbouring words and pairs of words, shapes,
        prefixes and suffixes. An empty list makes no features: an estimator then learns
        from the labels alone.
    columns : list or tuple of str, default=("word",)
        Names of the columns, if tokens are tuples. In dicts the keys are the names.
        Tokens need the columns alone that templates read: tuples have all of `columns`,
        or these alone in the same order, and a str is the one that is read.
    pad : tuple of two str, default=None
        Value of all columns, and of functions of them, before and after the sequence,
        for example ``("BOS", "EOS")``. By default there is no feature if its template
        reaches beyond an end of the sequence. An estimator represents the ends by its
        weights ``start_`` and ``end_`` already.

    Raises
    ------
    TypeError, ValueError
        In `fit` and `transform`, if a parameter is not valid, two features have the
        same name, or the names of all features have too many characters.

    See Also
    --------
    skcrf_sdca.SequenceVectorizer : Numbers the feature strings. Estimators call it
        themselves, so that it is needed only for its options.

    Notes
    -----
    If a column contains "|", two runs may give the same feature: ``a|b`` next to ``c``,
    and ``a`` next to ``b|c``.

    Examples
    --------
    >>> from skcrf_sdca import SDCACRF, make_tagger
    >>> from skcrf_sdca.text import Apply, Suffix, TokenFeatures, Window
    >>> X, y = [["the", "dogs", "bark"], ["a", "dog"]], [["D", "N", "V"], ["D", "N"]]
    >>> features = TokenFeatures([Window("word", (-1, 0)), Suffix(1)])
    >>> features.transform(X)[1]
    [('word[0]=a', 'suffix1=a'), ('word[-1]=a', 'word[0]=dog', 'suffix1=g')]
    >>> tagger = make_tagger(features, SDCACRF(random_state=0)).fit(X, y)
    >>> tagger.predict([["a", "bark"]]).tolist()
    [['D', 'N']]

    Tokens with several columns are tuples or dicts:

    >>> features = TokenFeatures([Window("pos", 1, n=2)], columns=("word", "pos"))
    >>> features.transform([[("the", "DT"), ("dogs", "NNS")]])
    [[('pos[0]|pos[1]=DT|NNS',), ('pos[-1]|pos[0]=DT|NNS',)]]
    """

    def __init__(
        self,
        templates: Collection[Template] | None = DEFAULT_TEMPLATES,
        *,
        columns: Collection[str] = ("word",),
        pad: tuple[str, str] | None = None,
    ) -> None:
        self.templates = templates
        self.columns = columns
        self.pad = pad

    def _check_parameters(self):
        self._of_sentences()

    @overload
    def transform(
        self, X: Iterable[Iterable[Token]]
    ) -> list[list[tuple[str, ...]]]: ...

    @overload
    def transform(self, X: Iterable[Any]) -> list[Any]: ...

    def transform(self, X: Iterable[Any]) -> list[Any]:
        """Return the features of all tokens.

        Parameters
        ----------
        X : iterable of sequences
            Each sequence is a list, tuple or one-dimensional array of tokens, and may
            be empty. All tokens are str, all are tuples of str, or all are dicts of
            str. A data frame has a row for each token. Or each is a graph, a tuple as
            `GraphCRF` and `TreeCRF` take it, whose nodes are tokens; templates see
            these in their order.

        Returns
        -------
        list of lists of tuples of str
            Features of each sequence and token, in the order of the templates. Equal
            features are the same str object. Of graphs, tuples of such a list and what
            follows the tokens.

        Raises
        ------
        TypeError, ValueError
            If `X` is not of this form, a parameter is not valid, or a column is
            missing; the message names the sequence and the item.
        """
        of_sentences = self._of_sentences()
        X, rests = nodes_and_rests(X)
        tokens = Tokens(X, self.columns, of_sentences.read)
        found = self._of_tokens(of_sentences, tokens)
        if rests is None:
            return found
        return [(own, *rest) for own, rest in zip(found, rests, strict=True)]

    def _of_tokens(self, of_sentences, tokens):
        """Return the features of each sequence."""
        if len(tokens) <= FEW:
            return _shared(of_sentences.of(tokens))
        strings, numbers, offsets = numbered_strings(
            of_sentences.features, tokens, self.pad
        )
        bounds = np.append(0, tokens.lengths.cumsum()).tolist()
        return [
            _cut(strings, numbers, offsets[first : last + 1])
            for first, last in pairwise(bounds)
        ]

    def template_names(self) -> list[str]:
        """Return what the templates are called: the part of a feature before "=".

        Returns
        -------
        list of str

        Raises
        ------
        TypeError, ValueError
            If a parameter is not valid.

        Examples
        --------
        >>> from skcrf_sdca.text import Shape, TokenFeatures, Window
        >>> TokenFeatures([Window("word", 1), Shape()]).template_names()
        ['word[-1]', 'word[0]', 'word[1]', 'shape']
        """
        return [feature.name for feature in self._of_sentences().features]

    def read_columns(self) -> list[str]:
        """Return the names of the columns that the templates read.

        A model reads these columns of a token, and no others.

        Returns
        -------
        list of str
            In the order of the templates.

        Raises
        ------
        TypeError, ValueError
            If a parameter is not valid.

        Examples
        --------
        >>> from skcrf_sdca.text import Shape, TokenFeatures, Window
        >>> features = TokenFeatures([Shape()], columns=("word", "pos", "label"))
        >>> features.read_columns()
        ['word']
        >>> features.transform([["Anna"]]) == features.transform([[("Anna", "N", "")]])
        True
        """
        return list(self._of_sentences().read)

    def get_feature_names_out(self, input_features: object = None) -> None:
        """Return None: which features there are is known from data alone.

        A later step knows their names: `SequenceVectorizer`, or the ``vectorizer_`` of
        an estimator. ``tagger[:-1]`` of a fitted `Tagger` returns them.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        None

        Examples
        --------
        >>> from skcrf_sdca import SDCACRF, make_tagger
        >>> from skcrf_sdca.text import TokenFeatures
        >>> tagger = make_tagger(TokenFeatures(["word"]), SDCACRF(random_state=0))
        >>> _ = tagger.fit([["the", "dog"]], [["D", "N"]])
        >>> tagger[:-1].get_feature_names_out()
        array(['word=the', 'word=dog'], dtype=object)
        """

    def _of_sentences(self):
        """Check all parameters; return the SentenceFeatures.

        They are made once, as they take longer than the features of a sentence.
        """
        templates = DEFAULT_TEMPLATES if self.templates is None else self.templates
        parameters = templates, self.columns, self.pad
        check_types(*parameters)
        # Templates are immutable, but lists are not.
        made_of = tuple(part if part is None else tuple(part) for part in parameters)
        known, found = _MADE.get(self, (None, None))
        if known != made_of:
            found = SentenceFeatures(checked_features(*parameters), self.pad)
            _MADE[self] = made_of, found
        return found


# The SentenceFeatures of each TokenFeatures, with the parameters they were made of.
_MADE: WeakKeyDictionary[TokenFeatures, tuple[Any, SentenceFeatures]]
_MADE = WeakKeyDictionary()


def _shared(sentences):
    """Return lists of strings as tuples, in which equal ones are the same object."""
    same: dict[str, str] = {}
    return [
        [tuple(map(same.setdefault, row, row)) for row in rows] for rows in sentences
    ]


def _cut(strings, numbers, offsets):
    """Return the tuples of the tokens of one sequence."""
    offsets = offsets.tolist()
    begin = offsets[0]
    # The garbage collector does not track tuples of str, slices of tuples included.
    row = tuple(strings[numbers[begin : offsets[-1]]].tolist())
    return [row[a - begin : b - begin] for a, b in pairwise(offsets)]

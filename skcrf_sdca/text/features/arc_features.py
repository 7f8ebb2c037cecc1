"""`ArcFeatures` turns tokens into hashed features of the arcs between them.

A template joins columns of the tokens at and around the head and the word of an arc.
Each gives two features: with the direction of the arc, and with its length too
[McDonald, Crammer, Pereira, "Online large-margin training of dependency parsers", ACL
2005]. The columns are made by the compiled ArcRows, when they are needed.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from numbers import Integral
from operator import itemgetter

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._kernels.features._arc_rows import ArcRows
from skcrf_sdca._kernels.features._made_rows import MadeRows
from skcrf_sdca._kernels.features._sibling_rows import SiblingRows
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.sklearn_private import Interval, validates_parameters
from skcrf_sdca._utils.typing import Sequences
from skcrf_sdca.data.dependencies import number_of_positions
from skcrf_sdca.features.transformer import StatelessTransformer
from skcrf_sdca.text.core.tokens import Tokens

from .relation_features import relation_rows

# A part of a template: a column at the head h, the word m or its sibling s, or near it;
# or between.
_PART = re.compile(r"(?P<at>h|m|s|between)(?P<shift>[+-]1)?\.(?P<column>\S+)")
_FORM = (
    'a template joins parts by spaces, such as "h.word m.upos": h is the head and m '
    "the word, s the word's sibling, h-1, h+1, m-1 and m+1 their neighbours, and "
    "between each token between head and word"
)
_NO_COLUMNS = np.zeros(0, dtype=np.intc)
# The nodes of templates of siblings, in the order of their parts.
_NODES = "hms"
_BYTES = 12
# Templates of a word w and a tag t, by what they are of.
_ARCS = [
    *(part.format(at) for at in "hm" for part in ("{0}.w {0}.t", "{0}.w", "{0}.t")),
    "h.w h.t m.w m.t",
    "h.t m.w m.t",
    "h.w m.w m.t",
    "h.w h.t m.t",
    "h.w h.t m.w",
    "h.w m.w",
    "h.t m.t",
    "h.t between.t m.t",
    "h.t h+1.t m-1.t m.t",
    "h-1.t h.t m-1.t m.t",
    "h.t h+1.t m.t m+1.t",
    "h-1.t h.t m.t m+1.t",
    "h.t h+1.t m.t",
    "h-1.t h.t m.t",
    "h.t m-1.t m.t",
    "h.t m.t m+1.t",
]
_AROUND = [
    "{0}-1.t {0}.t {0}+1.t",
    "{0}-1.w {0}.t",
    "{0}.t {0}+1.w",
    "{0}-1.t {0}.w",
    "{0}.w {0}+1.t",
]
_CONTEXT = [part.format(at) for at in "hm" for part in _AROUND]
_SIBLINGS = ["m.w s.w", "m.t s.w", "m.w s.t", "m.t s.t", "h.t m.t s.t"]


def arc_templates(
    word: str = "word",
    tag: str = "upos",
    *,
    context: bool = False,
    siblings: bool = False,
) -> list[str]:
    """Return the templates of McDonald et al. (2005) for two columns of tokens.

    Words and tags of head and word, alone and together, tags around them, and each tag
    between them.

    Parameters
    ----------
    word, tag : str
        The names of the columns.
    context : bool, default=False
        If True, ten more templates join the head alone, or the word alone, to the words
        and tags next to it. They are made once for each token, not for each arc, so
        that they take hardly any time; on English EWT a parser has 0.6 points more UAS
        with them.
    siblings : bool, default=False
        If True, five more templates join the word and its sibling, and the tags of
        both and of the head [1]_, for a parser with ``projective=True``. On English EWT
        :class:`~skcrf_sdca.OnlineDependencyCRF` has 0.9 points more UAS with them, and
        takes twice the time.

    Returns
    -------
    templates : list of str

    References
    ----------
    .. [1] McDonald, Pereira, "Online learning of approximate dependency parsing
       algorithms", EACL 2006.

    Examples
    --------
    >>> from skcrf_sdca.text import arc_templates
    >>> arc_templates()[:4]
    ['h.word h.upos', 'h.word', 'h.upos', 'm.word m.upos']
    >>> arc_templates(siblings=True)[-1]
    'h.upos m.upos s.upos'
    """
    templates = [*_ARCS, *_CONTEXT * context, *_SIBLINGS * siblings]
    names = {"w": word, "t": tag}
    return [
        re.sub(r"\.([wt])\b", lambda part: f".{names[part[1]]}", template)
        for template in templates
    ]


class ArcFeatures(StatelessTransformer):
    """Turn sentences of tokens into features of all their arcs, for `DependencyCRF`.

    Parameters
    ----------
    templates : list or tuple of str, default=None
        Each joins columns by spaces: ``"h.word m.upos"`` is the word of the head and
        the tag of the word. Columns are those of the head h and the word m, of their
        neighbours h-1, h+1, m-1 and m+1, and of each token ``between`` them. By default
        :func:`arc_templates` of the columns "word" and "upos". Each template gives two
        features: with the direction of an arc, and with its direction and length.

        A template may also have parts of the sibling s: of the words between h and m
        that have the head h too, the one nearest to m. Its features have the distance
        from s to m in place of the length, and a value of their own where there is no
        such word; words below the root have none. Parsers with ``projective=True``
        take these, as their parameter ``features``.
    columns : list or tuple of str, default=("word",)
        Names of the columns, if tokens are tuples, or of the one column, if they are
        str. In dicts, as of `read_conllu`, the keys are the names. Tuples may have
        those columns alone that templates name, in the same order.
    n_features : int, default=2**20
        Number of columns of the result. The hash of a feature is its column; several
        features may share one.

    Raises
    ------
    ValueError
        In `fit` and `transform`, if a template has not this form; in `transform`, if it
        is of a sibling, which is no feature of a single arc.

    See Also
    --------
    skcrf_sdca.DependencyCRF : Learns from these features.

    Notes
    -----
    `transform` stores all rows: with the default templates about 0.5 kB for each of the
    n (n + 1) arcs of a sentence, 10 GB for a treebank of 200,000 words. The parameter
    ``features`` of :class:`~skcrf_sdca.DependencyCRF` and
    :class:`~skcrf_sdca.OnlineDependencyCRF` has the rows made at each visit.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from skcrf_sdca import DependencyCRF
    >>> from skcrf_sdca.text import ArcFeatures
    >>> X = [[("dogs", "NOUN"), ("bark", "VERB")], [("go", "VERB"), ("home", "ADV")]]
    >>> features = ArcFeatures(columns=("word", "upos"), n_features=2**12)
    >>> parser = make_pipeline(features, DependencyCRF(random_state=0))
    >>> parser.fit(X, [[2, 0], [0, 1]]).predict([[("cats", "NOUN"), ("go", "VERB")]])
    array([list([2, 0])], dtype=object)
    """

    _parameter_constraints = {
        "templates": [list, tuple, None],
        "columns": [list, tuple],
        "n_features": [Interval(Integral, 1, np.iinfo(np.int32).max, closed="both")],
    }

    def __init__(
        self,
        templates: Collection[str] | None = None,
        *,
        columns: Collection[str] = ("word",),
        n_features: int = 2**20,
    ) -> None:
        self.templates = templates
        self.columns = columns
        self.n_features = n_features

    @validates_parameters
    def fit(self, X: object = None, y: object = None) -> "ArcFeatures":
        """Check the parameters; nothing is learnt.

        Parameters
        ----------
        X, y : None
            Ignored.

        Returns
        -------
        self : ArcFeatures
        """
        self._read_templates()
        return self

    def transform(self, X: Sequences) -> list[sp.csr_array]:
        """Return the features of the arcs of each sentence.

        Parameters
        ----------
        X : list of n sentences
            Lists of tokens, which are str, tuples or dicts.

        Returns
        -------
        arcs : list of n csr_array
            Of shape (n_words (n_words + 1), n_features): row h * n_words + m is the arc
            from head h, 0 for the root, to word m + 1. Rows of a word as its own head
            are empty.

        Raises
        ------
        TypeError, ValueError
            If tokens lack a column, or have another form; the message names the
            sentence and the token.
        MemoryError
            If the features do not fit.
        """
        self._validate_params()
        arcs = TokenArcs(self, X)
        n_arcs = float(arcs.n_positions)
        check_fits(
            2 * _BYTES * len(self._read_templates()) * n_arcs,
            f"the features of {n_arcs:.0f} arcs",
            "take fewer or shorter sentences, or fewer templates",
        )
        rows = arcs.rows()
        return [
            _arcs(rows, i, n_arcs, self.n_features)
            for i, n_arcs in enumerate(arcs.lengths.tolist())
        ]

    def read_columns(self) -> list[str]:
        """Return the names of the columns that the templates read.

        Returns
        -------
        list of str
            In the order of the templates.

        Raises
        ------
        ValueError
            If a template is not valid.

        Examples
        --------
        >>> from skcrf_sdca.text import ArcFeatures
        >>> ArcFeatures(["h.word m.upos", "h.word"]).read_columns()
        ['word', 'upos']
        """
        parts = chain.from_iterable(self._read_templates())
        return list(dict.fromkeys(column for _, _, column in parts))

    def _read_templates(self):
        """Return the parts (at, shift, column) of each template, or raise."""
        templates = arc_templates() if self.templates is None else self.templates
        return [_read(template) for template in templates]


def _read(template):
    """Return the parts of a template, or raise ValueError."""
    matches = [_PART.fullmatch(part) for part in str(template).split()]
    if not matches or None in matches:
        raise ValueError(f"templates: {template!r} is none; {_FORM}")
    parts = [(m["at"], int(m["shift"] or 0), m["column"]) for m in matches]
    between = [part for part in parts if part[0] == "between"]
    if len(between) > 1 or any(shift for _, shift, _ in between):
        raise ValueError(f"templates: {template!r} has tokens between twice; {_FORM}")
    if between and _has_sibling(parts):
        raise ValueError(f"templates: {template!r} has s and between; {_FORM}")
    return parts


def has_siblings(features):
    """Return whether ArcFeatures have templates of siblings."""
    return any(map(_has_sibling, features._read_templates()))


def _has_sibling(parts):
    """Return whether a template is of a sibling."""
    return any(at == "s" for at, _, _ in parts)


def _codes(values):
    """Return a hash of each text, uint64: the same in every process."""
    number = {text: i for i, text in enumerate(dict.fromkeys(values))}
    codes = np.fromiter(map(_code, number), dtype=np.uint64, count=len(number))
    numbers = map(number.__getitem__, values)
    return codes[np.fromiter(numbers, dtype=np.intp, count=len(values))]


@lru_cache(2**15)
def _code(text):
    """Return a hash of a text; those of a treebank are met again and again."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


class TokenArcs:
    """The arcs of sentences of tokens: the codes of these, and no rows.

    It is in the place of PackedSequences whose positions are arcs, and the siblings of
    a sentence behind its arcs if there are templates of these. It makes rows when they
    are needed.

    Parameters
    ----------
    features : ArcFeatures
    X : list of n sentences
        As in `ArcFeatures.transform`, whose errors are raised.
    takes_siblings : bool, default=False
        If False, ValueError for templates of siblings.
    """

    def __init__(self, features, X, *, takes_siblings=False):
        features._validate_params()
        templates = features._read_templates()
        self.has_siblings = any(map(_has_sibling, templates))
        if self.has_siblings and not takes_siblings:
            raise ValueError(
                "templates: those with s are of two arcs, to a word and to its "
                "sibling, and no features of one; a parser with projective=True takes "
                "them as its parameter features"
            )
        names = features.read_columns()
        tokens = Tokens(X, features.columns, names)
        codes = [_codes(tokens.column(name)) for name in names]
        # Of each column in the order in which templates name them.
        self.codes = np.array(codes, dtype=np.uint64).reshape(len(names), len(tokens))
        self._templates = [
            _layout(parts, names) for parts in templates if not _has_sibling(parts)
        ]
        self._siblings = [
            _sibling_layout(parts, names) for parts in templates if _has_sibling(parts)
        ]
        self.n_features = int(features.n_features)
        self.n_words = tokens.lengths
        self.lengths = number_of_positions(self.n_words, siblings=self.has_siblings)
        self.offsets = np.append(0, np.cumsum(self.lengths))
        self.word_offsets = np.append(0, np.cumsum(self.n_words)).astype(np.intp)
        self._known_sizes = None, None

    stores_rows = False
    is_sparse = True
    feature_names = None

    def __len__(self):
        """Return the number of sentences."""
        return len(self.lengths)

    @property
    def X(self):
        """The rows of all positions, an ArcMatrix."""
        return ArcMatrix(self)

    def check_source(self):
        """Check nothing: codes are in memory."""

    def feature_rows(self):
        """Return the rows as the kernels take them."""
        return MadeRows(self.X)

    def row_norms(self):
        """Return the norms of all rows."""
        return self._sizes(None)[2]

    def feature_sizes(self, weight):
        """Return weighted sums of squares of features, and of where they are not 0."""
        return self._sizes(weight)[:2]

    def _sizes(self, weight):
        """Return the `MadeRows.sizes`, which take the time of an epoch.

        None stands for any weights.
        """
        known, found = self._known_sizes
        if found is None or not (weight is None or np.array_equal(weight, known)):
            known = np.full(len(self), 1.0 / len(self)) if weight is None else weight
            found = self.feature_rows().sizes(known)
            self._known_sizes = known, found
        return found

    @property
    def n_positions(self):
        """The number of all arcs, and siblings."""
        return int(self.offsets[-1])

    def relation_rows(self, heads):
        """Return the features of words given their heads, end to end: a csr_array."""
        return relation_rows(self.codes, self.n_words, heads)

    def rows(self, begin=0, end=None):
        """Return the ArcRows of some sentences, which one thread alone may use."""
        end = len(self) if end is None else end
        ends = self.word_offsets[begin : end + 1]
        codes = np.ascontiguousarray(self.codes[:, ends[0] : ends[-1]])
        return ArcRows(codes, ends - ends[0], self._templates, self.n_features)

    def sibling_rows(self, rows):
        """Return the SiblingRows of the sentences of ArcRows, None without templates.

        Raise MemoryError if the scores of the longest sentence do not fit.
        """
        if not self.has_siblings:
            return None
        check_fits(
            # In nats, and as weights or marginals.
            16.0 * rows.longest**3 / 3.0,
            f"the scores of siblings in a sentence of {rows.longest} words",
            "cut long sentences, or take templates without s",
        )
        return SiblingRows(rows, self._siblings)


class ArcMatrix:
    """The rows of all positions of TokenArcs as a matrix, of which parts are made.

    Parameters
    ----------
    arcs : TokenArcs
    """

    def __init__(self, arcs):
        self._arcs = arcs
        self.shape = arcs.n_positions, arcs.n_features
        self.offsets = arcs.offsets

    def arc_rows(self):
        """Return the ArcRows of all sentences, which one thread alone may use."""
        return self._arcs.rows()

    def sibling_rows(self, rows):
        """Return the SiblingRows of the same, or None."""
        return self._arcs.sibling_rows(rows)

    def __getitem__(self, key):
        """Return rows as a csr_array."""
        positions, rows = np.arange(self.shape[0])[key], MadeRows(self)
        sentence = np.searchsorted(self.offsets, positions, side="right") - 1
        places = (positions - self.offsets[sentence]).tolist()
        columns = [
            rows.columns(i, place)
            for i, place in zip(sentence.tolist(), places, strict=True)
        ]
        bounds = np.append(0, np.cumsum([len(own) for own in columns]))
        return _of_columns(np.concatenate([_NO_COLUMNS, *columns]), bounds, self.shape)


def _layout(parts, names):
    """Return a template as ArcRows takes it, with the numbers of columns."""
    own = [
        (at == "h", shift, names.index(column))
        for at, shift, column in parts
        if at != "between"
    ]
    between = [names.index(column) for at, _, column in parts if at == "between"]
    return own, between[0] if between else -1


def _sibling_layout(parts, names):
    """Return a template as SiblingRows takes it, with the numbers of columns."""
    own = [
        (_NODES.index(at), shift, names.index(column)) for at, shift, column in parts
    ]
    return sorted(own, key=itemgetter(0))


def _arcs(rows, i, n_arcs, n_features):
    """Return the features of the arcs of sentence i, a csr_array."""
    bounds, columns = rows.rows(i)
    return _of_columns(columns, bounds, (n_arcs, n_features))


def _of_columns(columns, bounds, shape):
    """Return the csr_array of the columns of rows that begin at bounds."""
    shape = len(bounds) - 1, shape[1]
    found = sp.csr_array((np.ones(len(columns)), columns, bounds), shape=shape)
    # Features that share a column count twice.
    found.sum_duplicates()
    return found

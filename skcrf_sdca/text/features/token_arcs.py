"""The arcs of sentences of tokens, whose rows the compiled ArcRows make when needed."""

from functools import lru_cache
from hashlib import blake2b

import numpy as np

from skcrf_sdca._kernels.features._arc_rows import ArcRows
from skcrf_sdca._kernels.features._made_rows import MadeRows
from skcrf_sdca._kernels.features._sibling_rows import SiblingRows
from skcrf_sdca._utils.words import in_words
from skcrf_sdca.data.trees import number_of_positions
from skcrf_sdca.text.core.tokens import Tokens

from .relation_features import relation_rows

_NO_COLUMNS = np.zeros(0, dtype=np.intc)


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
    templates : ArcTemplates
    X : list of n sentences
        As in `ArcFeatures.transform`, whose errors are raised.
    takes_siblings : bool, default=False
        If False, ValueError for templates of siblings.
    """

    def __init__(self, templates, X, *, takes_siblings=False):
        self.templates = templates
        self.has_siblings = bool(templates.siblings)
        if self.has_siblings and not takes_siblings:
            raise ValueError(
                "templates: those with s are of two arcs, to a word and to its "
                "sibling, and no features of one; a parser with projective=True takes "
                "them as its parameter features"
            )
        with in_words(item="token", position="token"):
            tokens = Tokens(X, templates.columns, templates.read)
            codes = [_codes(tokens.column(name)) for name in templates.read]
        # Of each column in the order in which templates name them.
        self.codes = np.array(codes, dtype=np.uint64).reshape(len(codes), len(tokens))
        self.n_features = templates.n_features
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
        """Return the norms of all rows; they take the time of an epoch."""
        norms = np.empty(self.n_positions)
        self.feature_rows().sizes(np.zeros(len(self)), norms)
        return norms

    def sizes(self, weight, rows=None):
        """Return the `MadeRows.sizes`, which take the time of an epoch."""
        known, found = self._known_sizes
        if found is None or not np.array_equal(weight, known):
            rows = self.feature_rows() if rows is None else rows
            found = rows.sizes(weight)
            self._known_sizes = weight, found
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
        return ArcRows(codes, ends - ends[0], self.templates.arcs, self.n_features)

    def sibling_rows(self, rows):
        """Return the SiblingRows of the same sentences, None without templates."""
        if not self.has_siblings:
            return None
        return SiblingRows(rows, self.templates.siblings)


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
        return csr_of(np.concatenate([_NO_COLUMNS, *columns]), bounds, self.shape)


def csr_of(columns, bounds, shape):
    """Return the csr_array of the columns of rows that begin at bounds."""
    # Only here: a server makes rows of arcs without SciPy.
    from scipy.sparse import csr_array

    shape = len(bounds) - 1, shape[1]
    found = csr_array((np.ones(len(columns)), columns, bounds), shape=shape)
    # Features that share a column count twice.
    found.sum_duplicates()
    return found

"""`ArcFeatures` turns tokens into hashed features of the arcs between them.

A template joins columns of the tokens at and around the head and the word of an arc.
Each gives two features: with the direction of the arc, and with its length too
[McDonald, Crammer, Pereira, "Online large-margin training of dependency parsers", ACL
2005]. All arcs of a sentence are made at once, as arrays [head, word].
"""

import re
from collections.abc import Collection
from hashlib import blake2b
from numbers import Integral

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.sklearn_private import Interval, validates_parameters
from skcrf_sdca._utils.typing import Sequences
from skcrf_sdca.features.transformer import StatelessTransformer

from ._tokens import Tokens

# A part of a template: a column at the head h or the word m, or near it; or between.
_PART = re.compile(r"(?P<at>h|m|between)(?P<shift>[+-]1)?\.(?P<column>\S+)")
_FORM = (
    'a template joins parts by spaces, such as "h.word m.upos": h is the head and m '
    "the word, h-1, h+1, m-1 and m+1 their neighbours, and between each token "
    "between them"
)
# Odd numbers of 64 bits, whose products mix all bits.
_PRIMES = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
# Arcs of up to 5 words have their length, then there are 6 to 10, and more.
_LENGTHS = np.array([0, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6, 7])
_BYTES = 12


def arc_templates(word="word", tag="upos"):
    """Return the templates of McDonald et al. (2005) for two columns of tokens.

    Words and tags of head and word, alone and together, tags around them, and each tag
    between them.

    Parameters
    ----------
    word, tag : str
        The names of the columns.

    Returns
    -------
    templates : list of str

    Examples
    --------
    >>> from skcrf_sdca.text import arc_templates
    >>> arc_templates()[:4]
    ['h.word h.upos', 'h.word', 'h.upos', 'm.word m.upos']
    """
    single = ["{0}.w {0}.t", "{0}.w", "{0}.t"]
    templates = [part.format(at) for at in "hm" for part in single]
    templates += [
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
    columns : list or tuple of str, default=("word",)
        Names of the columns, if tokens are tuples, or of the one column, if they are
        str. In dicts, as of `read_conllu`, the keys are the names.
    n_features : int, default=2**20
        Number of columns of the result. The hash of a feature is its column; several
        features may share one.

    Raises
    ------
    ValueError
        In `fit` and `transform`, if a template has not this form.

    See Also
    --------
    skcrf_sdca.DependencyCRF : Learns from these features.

    Notes
    -----
    All rows are stored: with the default templates about 0.5 kB for each of the n (n +
    1) arcs of a sentence, 10 GB for a treebank of 200,000 words. Learn from a part of
    it.

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
        templates = self._read_templates()
        tokens = Tokens(X, list(self.columns))
        n_arcs = float(tokens.lengths @ (tokens.lengths + 1))
        check_fits(
            2 * _BYTES * len(templates) * n_arcs,
            f"the features of {n_arcs:.0f} arcs",
            "take fewer or shorter sentences, or fewer templates",
        )
        names = {column for parts in templates for _, _, column in parts}
        codes = {name: _codes(tokens.column(name)) for name in sorted(names)}
        bounds, found = np.append(0, np.cumsum(tokens.lengths)), []
        for first, last in zip(bounds, bounds[1:], strict=False):
            own = {name: code[first:last] for name, code in codes.items()}
            found.append(_arcs(own, templates, int(last - first), self.n_features))
        return found

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
    return parts


def _codes(values):
    """Return a hash of each text, uint64: the same in every process."""
    known = {}
    for text in values:
        if text not in known:
            digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8)
            known[text] = int.from_bytes(digest.digest(), "little")
    return np.array([known[text] for text in values], dtype=np.uint64)


def _mix(code, other):
    """Return a hash of two: of arrays that broadcast."""
    code = (code ^ other) * _PRIMES[0]
    return (code ^ (code >> np.uint64(29))) * _PRIMES[1]


def _arcs(codes, templates, n, n_features):
    """Return the features of the arcs of one sentence, a csr_array.

    ``codes`` are the hashes of the columns of its n tokens.
    """
    head, word = np.ogrid[: n + 1, 1 : n + 1]
    length = np.minimum(abs(head - word), len(_LENGTHS) - 1)
    direction = np.where(head < word, np.uint64(1), np.uint64(2))
    context = direction, direction + np.uint64(4) * _LENGTHS[length].astype(np.uint64)
    places = np.flatnonzero((head != word).ravel())
    rows, columns = [], []
    for t, parts in enumerate(templates):
        for code, is_there in _of_template(parts, codes, n, np.uint64(t + 1)):
            at = places if is_there is None else places[is_there.ravel()[places]]
            for kind in context:
                hashed = np.broadcast_to(_mix(code, kind), (n + 1, n)).ravel()[at]
                rows.append(at)
                # The last bits of a product are the worst ones.
                columns.append((hashed >> np.uint64(20)) % np.uint64(n_features))
    none = np.zeros(0, dtype=np.uint64)
    rows, columns = (
        np.concatenate([none, *own]).astype(np.int32) for own in (rows, columns)
    )
    shape = n * (n + 1), n_features
    return sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


def _of_template(parts, codes, n, code):
    """Yield hashes [head, word] of a template, and where it is there: None if always.

    A template of tokens between gives one for each of their values.
    """
    column = next((column for at, _, column in parts if at == "between"), None)
    for at, shift, name in parts:
        if at != "between":
            own = _near(codes[name], shift)
            code = _mix(code, own[:, np.newaxis] if at == "h" else own[np.newaxis, 1:])
    if column is None:
        yield code, None
        return
    head, word = np.ogrid[: n + 1, 1 : n + 1]
    low, high = np.minimum(head, word), np.maximum(head, word)
    for value in np.unique(codes[column]):
        # How many of the first tokens have it; the root is none of them.
        count = np.append(0, np.cumsum(codes[column] == value))
        yield _mix(code, value), count[np.maximum(high - 1, 0)] > count[low]


def _near(codes, shift):
    """Return the code at, before or after the root and each token, (n + 1,)."""
    root, begin, end = (np.uint64(value) for value in (1, 2, 3))
    padded = np.concatenate([[begin, root], codes, [end]]).astype(np.uint64)
    first = 1 + shift
    return padded[first : first + len(codes) + 1]

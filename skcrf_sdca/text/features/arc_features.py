"""`ArcFeatures` turns tokens into hashed features of the arcs between them."""

from collections.abc import Collection
from numbers import Integral

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.sklearn_private import Interval
from skcrf_sdca._utils.typing import Sequences
from skcrf_sdca.features.transformer import StatelessTransformer

from .arc_templates import COLUMNS, N_FEATURES, ArcTemplates
from .token_arcs import TokenArcs, csr_of

_BYTES = 12


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
        columns: Collection[str] = COLUMNS,
        n_features: int = N_FEATURES,
    ) -> None:
        self.templates = templates
        self.columns = columns
        self.n_features = n_features

    def _check_parameters(self):
        self._read()

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
        arcs = TokenArcs(templates_of(self), X)
        n_arcs = float(arcs.n_positions)
        check_fits(
            2 * _BYTES * len(arcs.templates.arcs) * n_arcs,
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
        return self._read().read

    def _read(self):
        """Return the ArcTemplates, or raise."""
        return ArcTemplates.of(self.templates, self.columns, self.n_features)


def templates_of(features):
    """Return the ArcTemplates of ArcFeatures, or raise an error of their parameters."""
    features._validate_params()
    return features._read()


def _arcs(rows, i, n_arcs, n_features):
    """Return the features of the arcs of sentence i, a csr_array."""
    bounds, columns = rows.rows(i)
    return csr_of(columns, bounds, (n_arcs, n_features))

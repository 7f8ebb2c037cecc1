"""DependencyCRF: trees of heads over the words of sentences.

A fit is the Problem of the other estimators on another structure, solved by the same
solvers. data/dependencies.py reads arcs and heads, and the methods of a fitted model
are in dependency_answers.py.
"""

from collections.abc import Callable
from dataclasses import field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skcrf_sdca._utils.label_estimator import fits
from skcrf_sdca.data.dependencies import read_dependencies, read_made_dependencies
from skcrf_sdca.estimators.base import BaseFit
from skcrf_sdca.estimators.parameters import DependencyOptions, parameters
from skcrf_sdca.estimators.solver_choice import SolverByName
from skcrf_sdca.model.dependency_answers import DependencyAnswers
from skcrf_sdca.structures.dependency.structure import SiblingTrees


@parameters(max_iter=1000)
class DependencyCRF(DependencyOptions, SolverByName, DependencyAnswers, BaseFit):
    """CRF of dependency trees: a head for each word, exact and with a certificate.

    The trees are all those that have every word below the root; with ``projective``
    those in which no arcs cross. The fit minimises, over all weights w (``coef_``,
    ``intercept_``)::

        P(w) = alpha/2 ||w||^2 + 1/n sum_i L_i(w),
        L_i(w) = -log p(y_i | x_i; w)    with the default loss,

        score(x, y) = sum over words m of coef_ . x[y_m, m]

    where x[h, m] are the features of the arc from head h to word m; with relations,
    ``coef_`` has a row for each, and ``intercept_`` a number. The sum over all trees is
    that of the matrix-tree theorem [1]_, computed without a subtraction, so that it is
    accurate for weights of any size; the sum over projective trees is computed over
    spans of words [2]_. The fit stops on the certificate of the other estimators:
    ``duality_gap_`` bounds the distance of P(w) from its minimum.

    With templates of siblings in `features` and ``projective=True``, the score of a
    tree also has ``coef_ . x[h, m, s]`` for each word m with a head h that is not the
    root: s is the nearest word between h and m that has the head h too, or none [3]_.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        The relations, sorted; without relations the one "dep", which all arcs have.
    n_features_in_ : int
        Number of features of an arc.
    coef_ : ndarray or csr_array of shape (n_labels, n_features_in_)
        Weights of features.
    intercept_ : ndarray of shape (n_labels,)
        Weights of relations; near 0 if there is one alone.
    {solver_}
    {fit_}

    See Also
    --------
    TreeCRF : Labels of words, given the tree.

    Notes
    -----
    Of a sentence of n words all n (n + 1) arcs are scored. Sums over trees and the best
    tree take O(n^3) steps, 2 to 10 seconds for 1,500 words, and memory for some 11
    numbers of each arc. Sentences of more than 10,000 words are refused. A sentence has
    (n^3 - n) / 3 siblings; a fit keeps 12 bytes of each, or 20 with a smaller `tol`.

    References
    ----------
    .. [1] Koo, Globerson, Carreras, Collins, "Structured prediction models via the
       matrix-tree theorem", EMNLP-CoNLL 2007.
    .. [2] Eisner, "Three new probabilistic models for dependency parsing: an
       exploration", COLING 1996.
    .. [3] McDonald, Pereira, "Online learning of approximate dependency parsing
       algorithms", EACL 2006.

    Examples
    --------
    Arcs with two features: whether they are from the root, and to the next word.

    >>> import numpy as np
    >>> from skcrf_sdca import DependencyCRF
    >>> def arcs(n):
    ...     head, word = np.mgrid[0 : n + 1, 1 : n + 1]
    ...     return np.stack([head == 0, word == head + 1], axis=2).astype(float)
    >>> X, y = [arcs(3), arcs(2)], [[0, 1, 2], [0, 1]]
    >>> crf = DependencyCRF(alpha=0.01, random_state=0).fit(X, y)
    >>> crf.predict([arcs(4)])
    array([list([0, 1, 2, 3])], dtype=object)
    >>> (proba,) = crf.predict_proba([arcs(4)])
    >>> proba.shape, proba.sum(axis=0).round(9).tolist()
    ((5, 4), [1.0, 1.0, 1.0, 1.0])
    """

    solver_: str = field(init=False)

    _dual = "sdca"

    @fits
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: Any | Callable[[], Any] | None = None,
        y_val: Any | None = None,
        init: "DependencyCRF | None" = None,
        prior: "DependencyCRF | None" = None,
    ) -> Self:
        """Fit the model to sentences with their trees.

        Parameters
        ----------
        X : list of n sentences
            A sentence of n words is the features of its arcs: an array of shape (n + 1,
            n, n_features), where [h, m] is the arc from head h to word m + 1, and head
            0 is the root. Or n (n + 1) rows, row h * n + m that of the same arc: a
            scipy sparse matrix or an array of shape (n (n + 1), n_features), or a list
            of dicts or of lists of str, as items of sequences are for `SDCACRF`. Rows
            of a word as its own head are not used.
            A tuple (arcs, allowed) says which arcs may be in a tree, by bools of shape
            (n + 1, n).
            With `features` a sentence is a list of tokens, which are str, tuples or
            dicts, as `skcrf_sdca.text.ArcFeatures` reads them.
        y : list of n heads
            The head of each word, integers as in CoNLL-U: **words are counted from 1,
            and 0 is the root.** With ``labelled=True`` pairs (heads, relations), and
            relations are a list of str.
        sample_weight : array-like of shape (n,), default=None
            Weight of each sentence, not negative.
        X_val, y_val : as X and y, default=None
            Held-out data, on which the model of every epoch is scored; X_val may be a
            function of no argument that returns the sentences. With `patience` the fit
            ends, and the model is that of the best epoch.
        init : estimator, default=None
            A fitted DependencyCRF to start from; features and relations are matched as
            for `SDCACRF`.
        prior : estimator, default=None
            A fitted DependencyCRF that the weights shall stay near, see `SDCACRF.fit`.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError, TypeError
            If arcs are not of this form or NaN or infinite, a word has no allowed head,
            heads form a cycle, are out of range or not allowed, a word is its own head,
            two words are below the root with ``single_root=True``, or arcs cross with
            ``projective=True``; the message names the sentence and the word, counted
            from 1. If a sentence has more than 10,000 words.

        {above_tol}

        Examples
        --------
        Sentences of two words, whose arcs are described by strings:

        >>> from skcrf_sdca import DependencyCRF
        >>> words = ["dogs", "bark"]
        >>> X = [[[h + ">" + m] for h in ["root", *words] for m in words]]
        >>> crf = DependencyCRF(random_state=0).fit(X, [[2, 0]])
        >>> crf.predict(X)
        array([list([2, 0])], dtype=object)
        """
        return self._fit(X, y, X_val, y_val, init, prior, sample_weight=sample_weight)

    def _read(self, X, y, known, lengths=None):
        """Return the ArcData of X and y."""
        options = {"labelled": self.labelled, "rules": self._rules}
        if self.features is None:
            return read_dependencies(X, y, known, **options)
        if self.labelled and self._rules.siblings:
            raise ValueError(
                "features: templates with s, of siblings, have no weights of "
                "relations: set labelled=False, or leave these templates out"
            )
        return read_made_dependencies(self._arcs, X, y, known, **options)

    def _counts_pairs(self, training=None):
        """Return False: all relations have weights for all features."""
        return False

    def _structure_options(self, training):
        structure = SiblingTrees.name if self._rules.siblings else self._structure
        return structure, {"rules": self._rules}

    def _new_loss(self, training):
        loss = super()._new_loss(training)
        if loss.cost is None:
            return loss
        # A wrong arc costs once: the right one that lacks does not count again.
        cost = self.margin * (1.0 - np.eye(len(training.attributes["classes_"]) + 1))
        cost[1:, 0] = 0.0
        return replace(loss, cost=cost)

    def _takes_tables(self):
        return False

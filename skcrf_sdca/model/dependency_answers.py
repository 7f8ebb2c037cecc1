"""DependencyAnswers: what a fitted model of dependency trees answers."""

from collections.abc import Iterable
from functools import partial
from operator import methodcaller
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from skcrf_sdca._kernels.features._features import FeatureRows
from skcrf_sdca._utils.availability import available_if
from skcrf_sdca._utils.messages import lacking
from skcrf_sdca._utils.typing import Decoding
from skcrf_sdca._utils.words import words
from skcrf_sdca.data.dependencies import split_arcs
from skcrf_sdca.data.heads import (
    checked_word,
    labels_of_known_heads,
    named_as_arcs,
    read_known_trees,
)
from skcrf_sdca.data.sample_weights import checked_weight
from skcrf_sdca.data.tree_sizes import check_sentences
from skcrf_sdca.data.trees import TreeFormat, TreeRules, sizes_of, words_of
from skcrf_sdca.model.answers import Answers
from skcrf_sdca.model.compression import TrimmingMixin
from skcrf_sdca.model.explanation import Explanation, explanation_of_heads
from skcrf_sdca.model.fitted import fitted_weights, no_probabilities
from skcrf_sdca.model.inspection import Inspection
from skcrf_sdca.structures.dependency.parameters import ArcParameters
from skcrf_sdca.structures.dependency.scores import ArcScores
from skcrf_sdca.structures.dependency.tree_terms import tree_terms
from skcrf_sdca.structures.form import dense_coef
from skcrf_sdca.text.features.arc_features import ArcFeatures, templates_of
from skcrf_sdca.text.features.token_arcs import TokenArcs


class PackedArcs(NamedTuple):
    """The arcs of sentences that a fitted model predicts, validated and packed."""

    data: Any  # PackedSequences of arcs
    input_format: TreeFormat
    allowed: NDArray[np.uint8] | None


class TreeAnswers(Answers, TrimmingMixin):
    """What estimators of dependency trees answer, whatever their arcs are.

    One adds `_pack`, which returns PackedArcs, and `_scores_of`.
    """

    features: ArcFeatures | None

    _structure = "dependency"
    _data_words = "single_root and projective"
    _named = staticmethod(named_as_arcs)

    labelled: bool
    single_root: bool
    projective: bool

    @property
    def _rules(self):
        features = self._arc_features()
        siblings = features is not None and bool(templates_of(features).siblings)
        return TreeRules(self.single_root, self.projective, siblings)

    @property
    def _rules_of_y(self):
        """The TreeRules of trees that y may have where heads are compared alone."""
        return self._rules._replace(projective=False)

    def _arc_features(self):
        """Return the ArcFeatures that make the features of arcs, None without any."""
        return self.features

    def _arcs(self, X):
        """Return the TokenArcs of X."""
        rules = self._rules
        if rules.siblings and not rules.projective:
            raise ValueError(
                "features: templates with s, of siblings, need projective=True."
            )
        arcs = TokenArcs(templates_of(self._arc_features()), X, takes_siblings=True)
        check_sentences(arcs.n_words, rules)
        return arcs

    def _check_width(self, arcs):
        """Raise ValueError if the features have another number of columns."""
        if arcs.n_features != self.n_features_in_:
            raise ValueError(
                f"features has n_features={arcs.n_features}, but the model has "
                f"{self.n_features_in_}: set it as in `fit`."
            )

    def _tree_format(self, *, labelled):
        return TreeFormat(labelled=labelled, siblings=self._rules.siblings)

    def _blocks(self):
        return ArcParameters.blocks

    def _held_out(self, X, y, allowed):
        packed = self._pack(X, None)
        self._evaluation_labels(packed, y)
        return packed, y

    @named_as_arcs
    def _evaluation_labels(self, packed, y, sample_weight=None):
        """Return the labels of arcs, and their weights, 0 for arcs not in the tree."""
        labels, in_tree = read_known_trees(
            y,
            packed.data.offsets,
            packed.allowed,
            self.classes_,
            labelled=packed.input_format.labelled,
            rules=self._rules_of_y,
        )
        weight = checked_weight(sample_weight, packed.data)
        counts = in_tree.astype(np.float64)
        if weight is not None:
            counts *= np.repeat(weight, packed.data.lengths)
        return labels, counts

    def predict(
        self, X: Any, *, decoding: Decoding | None = None, known: Any | None = None
    ) -> NDArray[np.object_]:
        """Return the tree of every sentence.

        Parameters
        ----------
        X : as in `fit`
        decoding : {"viterbi", "posterior"}, default=None
            By default the parameter of this name decides. "viterbi" is the most
            probable tree. "posterior" is the tree with the largest expected number of
            right arcs.
        known : list of n lists of heads, default=None
            Heads that are known and kept, None where the head of a word is free.

        Returns
        -------
        y : ndarray of shape (n,)
            An object array of the heads of each sentence, a list: 0 is the root, and m
            the m-th word. With ``labelled=True`` it has pairs (heads, relations).

        Raises
        ------
        ValueError
            If `decoding` is unknown, the allowed arcs of a sentence have no tree, or no
            tree has the heads in `known`.

        Examples
        --------
        >>> from skcrf_sdca import DependencyCRF
        >>> words = ["dogs", "bark"]
        >>> X = [[[h + ">" + m] for h in ["root", *words] for m in words]]
        >>> crf = DependencyCRF(random_state=0).fit(X, [[2, 0]])
        >>> crf.predict(X)
        array([list([2, 0])], dtype=object)
        >>> crf.predict(X, known=[[0, None]])
        array([list([0, 1])], dtype=object)
        """
        return self._predict(self._packed(X), decoding, known)

    @named_as_arcs
    def _known_labels(self, packed, known):
        """Return the label 0 of other arcs into words whose head is known, -1 else."""
        siblings = self._rules.siblings
        return labels_of_known_heads(known, packed.data.lengths, siblings=siblings)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of words whose head is predicted right: UAS.

        With ``labelled=True`` the relation must be right too: LAS. All words count,
        punctuation among them.

        Parameters
        ----------
        X, y : as in `fit`
        sample_weight : array-like of shape (n,), default=None
            Weight of each sentence.

        Returns
        -------
        score : float
            In [0, 1].

        Examples
        --------
        >>> from skcrf_sdca import DependencyCRF
        >>> words = ["dogs", "bark"]
        >>> X = [[[h + ">" + m] for h in ["root", *words] for m in words]]
        >>> DependencyCRF(random_state=0).fit(X, [[2, 0]]).score(X, [[0, 1]])
        0.0
        """
        return self._score(self._packed(X), y, sample_weight)

    @available_if(lambda self: f"{type(self).__name__} has no pairs of neighbours")
    def predict_edge_proba(self, X: Any) -> NDArray[Any]:
        """Raise AttributeError: arcs have no neighbours.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        proba : ndarray
        """
        raise lacking(self, "predict_edge_proba")


class DependencyAnswers(TreeAnswers, Inspection):
    """Answers of an estimator of trees whose arcs have rows of features."""

    @named_as_arcs
    def _pack(self, X, allowed, lengths=None):
        if isinstance(X, PackedArcs):
            # Held-out data.
            return X
        own = self._tree_format(labelled=self.labelled)
        if self.features is not None:
            arcs = self._arcs(X)
            self._check_width(arcs)
            return PackedArcs(arcs, own, None)
        rows, allowed = split_arcs(X)
        data, *_ = super()._pack(rows, None)
        check_sentences(sizes_of(data.lengths), self._rules)
        if allowed is not None:
            self._check_has_trees(allowed, data.offsets)
        return PackedArcs(data, own, allowed)

    def _check_has_trees(self, allowed, offsets):
        """Raise ValueError, with the sentence, if the allowed arcs have no tree."""
        local = np.zeros((len(allowed), 2))
        scores = ArcScores(local, np.zeros(0), offsets, allowed, self._rules)
        lacking = scores.log_partition() == -np.inf
        if lacking.any():
            raise ValueError(
                f"{words().X}: sentence {int(lacking.argmax())} has no tree of the "
                f"arcs that are allowed, with single_root={self.single_root} and "
                f"projective={self.projective}"
            )

    def _scores_of(self, packed):
        parameters = ArcParameters(0, len(self.classes_))
        parameters, X = parameters.for_rows(fitted_weights(self), packed.data.X)
        rows = FeatureRows(X) if packed.data.stores_rows else packed.data.feature_rows()
        return partial(
            parameters.scores,
            rows,
            packed.data.offsets,
            allowed=packed.allowed,
            rules=self._rules,
            temperature=self.temperature_ or 1.0,
        )

    def explain(
        self,
        sentence: Any,
        word: int,
        *,
        labels: Iterable[int] | None = None,
        reference: int | None = None,
        feature_names: Iterable[str] | None = None,
    ) -> Explanation:
        """Return what features contribute to the heads of a word.

        As `SDCACRF.explain` does for positions, it compares trees: for every head the
        best tree in which the word has it. The terms are those of the arcs, and the
        siblings, in which these trees differ: each feature that is not zero, and the
        intercept.

        Parameters
        ----------
        sentence : one sentence as in `fit`
        word : int
            The number of the word, counted from 1.
        labels : list of int, default=None
            Heads to explain. By default the predicted one and the reference.
        reference : int, default=None
            The head that the others are compared with. By default the one of the best
            tree in which the word does not have the predicted head.
        feature_names : array-like of str of shape (n_features_in_,), default=None
            As for `state_features`.

        Returns
        -------
        explanation : Explanation
            Its labels are heads, its positions words, and its paths the heads of all
            words. A term ``[2>1] near`` is that of a feature of the arc from head 2 to
            word 1, and ``[4>1, sibling 3]`` or ``[4>1, no sibling]`` begins that of a
            feature of siblings.

        Raises
        ------
        IndexError
            If the sentence has no such word.
        ValueError, TypeError
            If no tree has one of the heads, feature_names has another length, or the
            sentence is none.

        Examples
        --------
        >>> from skcrf_sdca import DependencyCRF
        >>> words = ["dogs", "bark"]
        >>> X = [[[h + ">" + m] for h in ["root", *words] for m in words]]
        >>> crf = DependencyCRF(solver="lbfgs", tol=1e-10).fit(X, [[2, 0]])
        >>> explanation = crf.explain(X[0], 1)
        >>> explanation.label, explanation.reference, explanation.paths
        (2, 0, {2: [2, 0], 0: [0, 1]})
        >>> sorted(explanation.features)
        ['[0>1] root>dogs', '[0>2] root>bark', '[1>2] dogs>bark', '[2>1] bark>dogs']
        """
        packed, rules = self._packed([sentence]), self._rules
        n = words_of(packed.data.n_positions, siblings=rules.siblings)
        word = checked_word(word, n, "word")
        names, marginals = self._weight_names(feature_names), None
        if no_probabilities(self) is None:
            marginals = self._over(lambda own, *_: own.node_marginals()[0], packed)

        def tree_with(heads):
            best = methodcaller("best_with_heads", word, heads)
            return self._over(lambda own, *_: best(own), packed, proba=False)

        def terms_of(trees):
            weighted = partial(self._features_at, packed.data.X, names)
            return tree_terms(trees, weighted, self.intercept_, rules)

        return explanation_of_heads(
            word, n, tree_with, terms_of, marginals, labels=labels, reference=reference
        )

    def _features_at(self, X, names, places):
        """Yield the features of some rows as `tree_terms` takes them."""
        for place in places:
            row = sp.coo_array(X[[place]])
            columns = row.coords[1]
            yield names[columns], row.data, dense_coef(self.coef_[:, columns]).T

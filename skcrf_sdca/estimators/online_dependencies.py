"""OnlineDependencyCRF: dependency trees of large treebanks, learned visit by visit.

The rows of arcs are made at the visit, by the compiled TokenArcs.rows, and never
stored. A fit is the Problem of TreesOfHeads, whose solver is that of
`PassiveAggressiveCRF`: see _tree_item.pyx for what is about trees.
"""

from dataclasses import field
from functools import partial
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._kernels.visits._tree_item import best_heads
from skcrf_sdca._utils.label_estimator import fits
from skcrf_sdca._utils.messages import names_class
from skcrf_sdca._utils.parallel import over_ranges
from skcrf_sdca._utils.ragged import split_rows
from skcrf_sdca._utils.random import as_generator
from skcrf_sdca._utils.sklearn_private import validates_parameters
from skcrf_sdca.data.heads import check_trees, named_as_arcs, split_labels
from skcrf_sdca.data.input_formats import ARRAYS
from skcrf_sdca.data.sample_weights import checked_weight
from skcrf_sdca.data.tree_sizes import check_sentences
from skcrf_sdca.data.trees import UNSPECIFIED
from skcrf_sdca.estimators.arc_relations import (
    check_relations,
    labelled_trees,
    learned_relations,
    read_relations,
    right_words,
)
from skcrf_sdca.estimators.base import BaseFit, model_attributes
from skcrf_sdca.estimators.parameters import OnlineDependencyOptions, parameters
from skcrf_sdca.model.answers import accuracy
from skcrf_sdca.model.dependency_answers import PackedArcs, TreeAnswers
from skcrf_sdca.model.fitted import set_fitted
from skcrf_sdca.objective.losses import new_loss
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.objective.targets import Heads
from skcrf_sdca.solvers.dca import DCA
from skcrf_sdca.solvers.monitor import LossMonitor
from skcrf_sdca.structures.dependency.parameters import MadeArcParameters
from skcrf_sdca.structures.dependency.scores import inference_on_trees
from skcrf_sdca.structures.dependency.structure import TreesOfHeads
from skcrf_sdca.structures.form import dense_coef
from skcrf_sdca.structures.scores import LARGEST_SCORE, VITERBI
from skcrf_sdca.text import ArcFeatures


@parameters
class OnlineDependencyCRF(OnlineDependencyOptions, TreeAnswers, BaseFit):
    """Parser that learns dependency trees online: all of a treebank in seconds.

    A visit to a sentence makes the features of its arcs, finds the best tree, and moves
    the weights just as far as its loss requires [1]_::

        w <- w - step grad L_i(w),    step = min(C, L_i(w) / ||grad L_i(w)||^2)

    No features are stored. A few passes give a good parser, and the model is the
    average of the weights after all visits. It is not the minimum of an objective, and
    has no certificate: see `DependencyCRF` for that.

    With ``n_best`` above 1 a visit learns from the n best trees at once: the nearest
    weights, up to C, that put the right tree before all of these by their costs [2]_.

    With templates of siblings in `features` and ``projective=True``, trees have scores
    of pairs of arcs too, from one head to two neighbours on one side. The best tree is
    found among all [3]_, and with the losses that give probabilities, sums are over all
    trees.

    With ``labelled=True`` the same steps then learn the relation of each word given the
    tree: a linear classifier, whose features are made of the head of the word, of that
    head's own head, and of the children and the neighbours of the word in the tree.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (1,)
        The one relation "dep", which all arcs have in ``coef_``.
    n_features_in_ : int
        Number of columns of the features of an arc.
    coef_ : ndarray of shape (1, n_features_in_)
        Weights of features. Visits keep them in single precision.
    intercept_ : ndarray of shape (1,)
        0.
    relations_ : PassiveAggressiveCRF
        The classifier of relations; ``relations_.classes_`` are their names. Only with
        ``labelled=True``.
    n_nonzero_ : int
        Number of weights that are not 0.
    alpha_ : float
        1 / (n C): the strength of the objective that steps of a length of C follow.
    n_iter_ : int
        Number of epochs of `fit`. Not after `partial_fit`, as ``history_``.
    n_visits_ : int
        Sentences visited so far, counted by the average.
    loss_ : float
        Mean loss of the visits of the last epoch or chunk, each sentence at the weights
        before its visit. It is 0 too where a tree of y that may not be predicted, for
        arcs cross and ``projective=True``, has a higher score than those that may be.
    history_ : dict of ndarrays of shape (n_iter_,)
        One value per epoch: epoch, updates (visits that changed the weights) and
        oracle_calls (divided by n), seconds, loss.

    See Also
    --------
    DependencyCRF : The optimum of an objective, with a certificate.
    skcrf_sdca.text.ArcFeatures : The features.

    Notes
    -----
    Trees of y may have arcs that cross, with ``projective=True`` too: predicted trees
    have none then.

    `predict` and `score` are about heads and relations, all other methods about heads
    alone. The columns that features of relations are made of are the first two that
    the templates name, a word and a tag, and the last one.

    A visit and a prediction take O(n^3) steps for n words, 2 to 10 seconds for 1,500.
    Sentences of more than 10,000 words are refused, and with `n_best` those whose trees
    take as many steps.

    References
    ----------
    .. [1] Martins et al., "Learning Structured Classifiers with Dual Coordinate
       Ascent", CMU-ML-10-109, 2010.
    .. [2] McDonald, Crammer, Pereira, "Online large-margin training of dependency
       parsers", ACL 2005.
    .. [3] McDonald, Pereira, "Online learning of approximate dependency parsing
       algorithms", EACL 2006.
    .. [4] Shamir, Zhang, "Stochastic Gradient Descent for Non-smooth Optimization:
       Convergence Results and Optimal Averaging Schemes", ICML 2013, with eta = 3.

    Examples
    --------
    >>> from skcrf_sdca import OnlineDependencyCRF
    >>> from skcrf_sdca.text import ArcFeatures
    >>> X = [[("dogs", "NOUN"), ("bark", "VERB")], [("go", "VERB"), ("home", "ADV")]]
    >>> features = ArcFeatures(columns=("word", "upos"))
    >>> parser = OnlineDependencyCRF(features=features, random_state=0)
    >>> parser.fit(X, [[2, 0], [0, 1]]).predict([[("cats", "NOUN"), ("go", "VERB")]])
    array([list([2, 0])], dtype=object)
    """

    _solver_name = "dca"
    _input_format = ARRAYS.name
    _monitor = LossMonitor

    n_visits_: int = field(init=False)
    loss_: float = field(init=False)

    @fits
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model to sentences with their trees.

        Parameters
        ----------
        X : list of n sentences
            Lists of tokens, which are str, tuples or dicts, as `features` reads them.
        y : list of n heads
            The head of each word, integers as in CoNLL-U: **words are counted from 1,
            and 0 is the root.** With ``labelled=True`` pairs (heads, relations), and
            relations are a list of str.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError, TypeError
            If tokens lack a column, heads form a cycle or are out of range, a word is
            its own head, or two words are below the root with ``single_root=True``; the
            message names the sentence and the word. If `features` have templates of
            siblings without ``projective=True``, or `n_best` is above 1 with another
            loss than the hinge. If the trees of a sentence take more than 10^12 steps.
        MemoryError
            If the `n_best` trees of a sentence clearly do not fit.
        """
        arcs, heads, relations = self._read_trees(X, y)
        solver = self._new_learner(arcs, heads, goes_on=self.warm_start)
        attributes = self._known_before("fit", arcs, heads, relations)
        return self._run(solver, attributes, X=X, y=y, metadata=None)

    @names_class
    @validates_parameters
    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn from more sentences: a single pass in the order of X.

        After a `fit` it goes on from its weights, with a new average, unless
        ``warm_start=True`` kept the old one.

        Parameters
        ----------
        X, y : as in `fit`

        Returns
        -------
        self : object

        Raises
        ------
        ValueError, TypeError
            As in `fit`, and if `features` has another number of columns than the model.
            The model is then as it was before.
        """
        arcs, heads, relations = self._read_trees(X, y)
        solver = self._new_learner(arcs, heads, goes_on=True, shuffle=False)
        attributes = self._known_before("partial_fit", arcs, heads, relations)
        monitor = self._monitor(solver, max_iter=1, tol=self.tol).run()
        attributes |= model_attributes(monitor) | self._attributes_of_run(solver, {})
        return set_fitted(self, {**attributes, "_warm_state": _state_of(solver)})

    @named_as_arcs
    def _read_trees(self, X, y):
        """Return the TokenArcs of X, and the heads and the relations of all words."""
        arcs = self._arcs(X)
        if not len(arcs):
            raise ValueError("X has 0 sentences: there is nothing to learn.")
        check_sentences(arcs.n_words, self._rules, self.n_best)
        if self.labelled:
            heads, relations = read_relations(y, arcs.n_words)
        else:
            (heads, _), relations = split_labels(y, arcs.n_words, labelled=False), None
        check_trees(heads, None, arcs.offsets, self._rules_of_y)
        return arcs, np.concatenate(heads).astype(np.intc), relations

    def _known_before(self, method, arcs, heads, relations):
        """Return the fitted attributes that are known before the visits."""
        attributes = {
            "classes_": np.array([UNSPECIFIED], dtype=object),
            "n_features_in_": arcs.n_features,
        }
        if relations is not None:
            rows = arcs.relation_rows(heads)
            attributes["relations_"] = learned_relations(self, method, rows, relations)
        return attributes

    def _arc_features(self):
        return ArcFeatures() if self.features is None else self.features

    def _new_learner(self, arcs, heads, *, goes_on, **options):
        """Return the solver of sentences, which may go on from the model so far."""
        trees = TreesOfHeads(arcs, 1, rules=self._rules, n_jobs=self.n_jobs)
        # The cost is that of one wrong head.
        loss = new_loss(self.loss, self.temperature, self.margin)
        problem, state = Problem(trees, Heads(heads), "auto", loss=loss), None
        if goes_on and "coef_" in vars(self):
            self._check_width(arcs)
            own = {"w": self._single_weights(), "total": None}
            state = _scaled(vars(self).get("_warm_state", own), 1.0 / loss.scale)
        options = {**self._options_of(DCA), "state": state, **options}
        return DCA(problem, as_generator(self.random_state), **options)

    def _attributes_of_run(self, solver, fitted):
        state = {"_warm_state": _state_of(solver)} if self.warm_start else {}
        # That of the objective whose steps these are, as for chains.
        return {**state, "alpha_": solver.problem.alpha / self.C}

    def _single_weights(self):
        """Return the weights in single precision."""
        coef = self.coef_
        if sp.issparse(coef):
            # Zeros take no memory before they are written to.
            coef = coef.astype(np.float32)
        return dense_coef(coef)[0].astype(np.float32, copy=False)

    @named_as_arcs
    def _pack(self, X, allowed, lengths=None):
        arcs = self._arcs(X)
        self._check_width(arcs)
        return PackedArcs(arcs, self._tree_format(labelled=False), None)

    def _predict(self, packed, decoding, known):
        if self.labelled:
            self._check_own_form()
        arcs, heads = packed.data, None
        decoding = self._decoding(decoding)
        if known is None and decoding == VITERBI:
            heads = self._best_heads(arcs)
        # Scores that are no numbers are named there.
        if heads is None:
            heads = super()._predict(packed, decoding, known)
            heads = np.concatenate([[], *heads]).astype(np.intc)
        if self.labelled:
            return labelled_trees(self.relations_, arcs, heads)
        return split_rows(heads.tolist(), arcs.word_offsets)

    def _best_heads(self, arcs):
        """Return the heads of the best trees, end to end; None if scores are none."""
        w, largest = self._single_weights(), LARGEST_SCORE * (self.temperature_ or 1.0)

        def found(begin, end):
            rows = arcs.rows(begin, end)
            offsets = arcs.offsets[begin : end + 1] - arcs.offsets[begin]
            inference = inference_on_trees(self._rules, offsets, 2, None)
            return best_heads(rows, inference, w, largest, arcs.sibling_rows(rows))

        parts = over_ranges(found, arcs.offsets, self.n_jobs)
        if any(part is None for part in parts):
            return None
        return np.concatenate([np.zeros(0, dtype=np.intc), *parts])

    def _evaluation_labels(self, packed, y, sample_weight=None):
        n_words = packed.data.n_words
        heads, _ = self._named(split_labels)(y, n_words, labelled=self.labelled)
        return super()._evaluation_labels(packed, heads, sample_weight)

    def _score(self, packed, y, sample_weight):
        if not self.labelled:
            return super()._score(packed, y, sample_weight)
        arcs = packed.data
        heads, relations = read_relations(y, arcs.n_words)
        self._named(check_trees)(heads, None, arcs.offsets, self._rules_of_y)
        weight = self._named(checked_weight)(sample_weight, arcs)
        if weight is not None:
            weight = np.repeat(weight, arcs.n_words)
        found = self._predict(packed, None, None)
        is_right = right_words(found, heads, relations)
        return self._named(accuracy)(is_right, np.ones_like(is_right), weight)

    def _scores_of(self, packed):
        arcs = packed.data
        parameters = MadeArcParameters(arcs.n_features, self._single_weights())
        return partial(
            parameters.scores,
            arcs.feature_rows(),
            arcs.offsets,
            allowed=None,
            rules=self._rules,
            temperature=self.temperature_ or 1.0,
        )

    def _check_own_form(self):
        if self.labelled:
            check_relations(vars(self).get("relations_"))

    def _takes_tables(self):
        return False


def _state_of(solver):
    """Return the state of a solver, of weights for scores over no temperature."""
    return _scaled(solver.state(), solver.problem.loss.scale)


def _scaled(state, factor):
    """Return a state whose weights are a factor times those of another."""
    if factor == 1.0:
        return state
    names = [name for name in ("w", "total") if state[name] is not None]
    return state | {name: factor * state[name] for name in names}

"""Tagger: a Pipeline with all methods of its last step; make_tagger builds one.

Owns the rules by which a method of the last step is called for the data that the first
step takes. It finds the methods on the last step itself: it has no list of them.
"""

import warnings
from collections.abc import Iterator
from functools import cache, partial, wraps
from inspect import ismethod, signature
from itertools import chain
from types import MethodType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.availability import available_if
from skcrf_sdca._utils.doc_links import HasDocLink
from skcrf_sdca._utils.given_estimators import check_tagger
from skcrf_sdca._utils.step_cache import cached_steps
from skcrf_sdca._utils.version_stamps import VersionStamped
from skcrf_sdca._utils.words import in_words, one_alone
from skcrf_sdca.data.containers import PART, holds_sequences, parts_of
from skcrf_sdca.data.input_formats import PACKED
from skcrf_sdca.features.hasher import SequenceHasher
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.model.fitted import fitted_format, names_of_fit
from skcrf_sdca.model.raw_text import TagsText
from skcrf_sdca.text import LabelPairs, TokenFeatures
from skcrf_sdca.text.spans.offsets import check_pattern

if TYPE_CHECKING:
    from skcrf_sdca.model.sequence_answers import ChainAnswers

    # Type checkers and editors cannot see what `__getattr__` finds.
    class _Pipeline(ChainAnswers, Pipeline):
        """A pipeline with the methods of a CRF."""
else:
    _Pipeline = Pipeline

__all__ = ["Tagger", "make_tagger"]


# Attributes of the last step that a Tagger has too.
_OF_FIT = frozenset(
    {
        *("history_", "n_iter_", "duality_gap_", "gap_target_"),
        *("primal_objective_", "dual_objective_", "solver_"),
    }
)


def _no_predict(tagger):
    """Return why a Tagger has no `predict`, None if its last step has one."""
    step = tagger._last_step
    if hasattr(step, "predict"):
        return None
    return (
        f"{type(tagger).__name__!r} object has no attribute 'predict', which its last "
        f"step, of type {type(step).__name__}, lacks."
    )


class Tagger(VersionStamped, HasDocLink, TagsText, _Pipeline):
    """Pipeline that has all public methods of its last step, a CRF.

    A Pipeline of scikit-learn has ``predict``, ``predict_proba`` and ``score`` of its
    last step, and no method that scikit-learn does not know. A Tagger has them all:

    * In a method that takes X, or one sequence, sentence or graph (``explain``), the
      steps before the last transform it. All other arguments go to the last step as
      they are.
    * A method that takes names of features (``explain``, ``top_features``,
      ``state_features``) gets the names of the steps before, unless you pass others or
      the last step knows them itself.
    * A method that returns the last step (``constrain``, ``prune``, ``sparsify``,
      ``densify``) changes the last step, and returns the Tagger.
    * ``fit`` takes the arguments of the last step's ``fit``, such as ``init``,
      ``prior`` and ``sample_weight``, and its held-out data, which it transforms too.
    * It has what the fit of the last step says of itself: ``history_``, ``n_iter_``,
      ``duality_gap_``, ``gap_target_``, ``primal_objective_``, ``dual_objective_``, and
      of a `CRF` ``solver_``.

    The help of a method, ``help(tagger.explain)``, comes from the last step. Everything
    else that a Pipeline has itself, such as ``set_params``, metadata routing and
    slices, is as in a Pipeline. The steps have the fitted attributes:
    ``tagger[-1].coef_``.

    Parameters
    ----------
    steps : list of tuples
        ``(name, step)``: transformers, and last a CRF.
    tokens : {"words", "characters", "blanks"} or str, default=None
        How the texts of the training were cut into tokens, as in
        :func:`skcrf_sdca.text.tokenize`, for `tag`: ``reading.tokens`` of
        :func:`skcrf_sdca.text.read_corpus`. It is a part of the model, and of its file.
        None says that this is not known.
    transform_input : list of str, default=None
        As in a Pipeline: metadata of ``fit`` that the steps transform as they do X.
    memory : str or joblib.Memory, default=None
        Folder for the fitted transformers and what they return, compressed if it is a
        str. It may be removed at any time.
    verbose : bool, default=False
        Whether to print the time of each step of a fit.

    Raises
    ------
    AttributeError
        If the last step does not have the method; ``hasattr(tagger, name)`` is False.

    See Also
    --------
    skcrf_sdca.make_tagger : Names the steps by their types.

    Examples
    --------
    >>> from skcrf_sdca import SDCACRF, SequenceVectorizer
    >>> from skcrf_sdca.estimators.tagger import Tagger
    >>> X = [[{"word": "the"}, {"word": "Rhine"}], [{"word": "Basel"}]]
    >>> y = [["O", "LOC"], ["LOC"]]
    >>> tagger = Tagger([("features", SequenceVectorizer()), ("crf", SDCACRF())])
    >>> tagger.set_params(crf__random_state=0).fit(X, y).log_partition(X).round(1)
    array([1.8, 0.9])
    """

    def __init__(
        self,
        steps: Any,
        *,
        tokens: str | None = None,
        transform_input: list[str] | None = None,
        memory: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            steps, transform_input=transform_input, memory=memory, verbose=verbose
        )
        self.tokens = tokens

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit all steps.

        Parameters
        ----------
        X : as the first step takes it
        y : as the last step takes it
        **params : dict
            As in a Pipeline; and the arguments of the last step's ``fit``, under their
            names: ``init`` and ``prior``, which may be Taggers, ``sample_weight``,
            ``lengths``, and the held-out data ``X_val`` and ``y_val`` (``X_dev`` and
            ``y_dev`` of `compat.CRF`). The steps before transform ``X_val`` as they do
            X. With metadata routing, the last step must request all of them, such as by
            ``crf.set_fit_request(X_val=True, y_val=True)``.

        Returns
        -------
        self : object

        Raises
        ------
        TypeError
            If the last step takes tables, no sequences; and what the steps raise.

        Warns
        -----
        UserWarning
            If templates have ``LabelPairs``, and the last step no ``edge_features``.

        Examples
        --------
        >>> from skcrf_sdca import SDCACRF, SequenceVectorizer, make_tagger
        >>> X, y = [[["a"], ["b"]]] * 9, [["B", "I"]] * 9
        >>> tagger = make_tagger(SequenceVectorizer(), SDCACRF(random_state=0))
        >>> tagger.fit(X[1:], y[1:], X_val=X[:1], y_val=y[:1])[-1].best_val_score_
        1.0

        A later fit begins at the weights of this one:

        >>> from sklearn.base import clone
        >>> clone(tagger).fit(X, y, init=tagger).predict(X[:1])
        array([list(['B', 'I'])], dtype=object)
        """
        if hasattr(self._last_step, "predict"):
            check_tagger(self._last_step, name="the last step")
        if self.tokens is not None:
            check_pattern(self.tokens)
        self._check_label_pairs()
        with cached_steps(self):
            return super().fit(X, y, **self._of_steps(params))

    # Type checkers know it from `ChainAnswers`.
    if not TYPE_CHECKING:

        @available_if(_no_predict)
        def predict(self, X: Any, **params: Any) -> NDArray[Any]:
            """Return the labels, by ``predict`` of the last step.

            If the steps before it make the features of each sequence by itself, a long
            list goes through the steps in parts of 1,000 sequences, and so does a
            generator: the features of all of them are never in memory.

            Parameters
            ----------
            X : as the first step takes it
            **params : dict
                Arguments of ``predict`` of the last step; with metadata routing as in a
                Pipeline.

            Returns
            -------
            y : as the last step returns it

            Raises
            ------
            NotFittedError, TypeError, ValueError
                As the steps do.

            Examples
            --------
            >>> from skcrf_sdca import SDCACRF, SequenceVectorizer, make_tagger
            >>> X, y = [[["a"], ["b"]]] * 9, [["B", "I"]] * 9
            >>> tagger = make_tagger(SequenceVectorizer(), SDCACRF(random_state=0))
            >>> tagger.fit(X, y).predict(X[:1])
            array([list(['B', 'I'])], dtype=object)
            """
            if get_config()["enable_metadata_routing"]:
                return super().predict(X, **params)
            if "lengths" not in params and self._comes_in_parts(X):
                return _joined(self._predicted_parts(X, params))
            # Each step checks that it is fitted. The check of a Pipeline takes as long
            # as to label a sentence.
            return self._last_step.predict(self._through_steps(X), **params)

        def _comes_in_parts(self, X):
            """Return whether `predict` of parts of X, one by one, is that of X."""
            is_long = isinstance(X, (list, tuple)) and len(X) > PART
            if not (is_long or isinstance(X, Iterator)):
                return False
            steps = self._transformers()
            return bool(steps) and all(type(step) in _BY_SEQUENCE for step in steps)

        def _predicted_parts(self, X, params):
            """Yield what `predict` of the last step returns for parts of X."""
            for begin, part in parts_of(X, PART):
                with in_words(begin=begin):
                    yield self._last_step.predict(self._through_steps(part), **params)

    def _check_label_pairs(self):
        """Warn of templates for pairs of labels that the last step takes for others."""
        templates = chain.from_iterable(
            getattr(step, "templates", None) or () for step in self._transformers()
        )
        asked = getattr(self._last_step, "edge_features", None)
        if asked is None and any(isinstance(own, LabelPairs) for own in templates):
            warnings.warn(
                "the templates have LabelPairs, but the last step no edge_features: "
                "these features have weights for single labels alone. Chains take "
                'edge_features=["b:*"].',
                stacklevel=3,
            )

    def _of_steps(self, params):
        """Return the parameters of fit as a Pipeline takes them."""
        routed = get_config()["enable_metadata_routing"]
        fit, taken = getattr(self._last_step, "fit", None), {}
        of_last = {*_HELD_OUT, *(() if fit is None else signature(fit).parameters)}
        for name, value in params.items():
            is_X = name in _HELD_OUT and name.startswith("X") and value is not None
            if is_X and name not in (self.transform_input or ()):
                # Not transformed before the steps are fitted.
                value = partial(self._through_steps, value)
            is_of_last = name in of_last and not routed
            taken[f"{self.steps[-1][0]}__{name}" if is_of_last else name] = value
        return taken

    def __getitem__(self, ind: Any) -> Any:
        """Return a step, or a Tagger of some steps."""
        found = super().__getitem__(ind)
        if isinstance(ind, slice) and found.steps == self.steps[:-1]:
            found._vectorizer = getattr(self._last_step, "vectorizer_", None)
        return found

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features that the last step takes.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the features of the first step, where it needs them.

        Returns
        -------
        names : ndarray of str, or None
            None if no step has learnt names.

        Raises
        ------
        AttributeError
            If a step has no such method: call it of ``tagger[:-1]``.

        Examples
        --------
        >>> from skcrf_sdca import CRF, make_tagger
        >>> from skcrf_sdca.text import TokenFeatures
        >>> tagger = make_tagger(TokenFeatures(["word"]), CRF(random_state=0))
        >>> tagger.fit([["the", "dog"]], [["D", "N"]])[:-1].get_feature_names_out()
        array(['word=the', 'word=dog'], dtype=object)
        """
        names = super().get_feature_names_out(input_features)
        vectorizer = vars(self).get("_vectorizer")
        if names is None and vectorizer is not None:
            return vectorizer.get_feature_names_out()
        return names

    def __getattr__(self, name: str) -> Any:
        """Return the method of the last step, for the data that the first step takes.

        Of the attributes of the last step, return the figures of its fit.

        Raises
        ------
        AttributeError
            If the last step does not have such a method, or figure.
        """
        if name in _OF_FIT:
            return getattr(self._last_step, name)
        method = self._method_of_last_step(name)
        if method is None:
            if not name.startswith("_") and name in dir(type(self._last_step)):
                # Raises the error of the last step, which says why.
                getattr(self._last_step, name)
            # Raises the error of Pipeline, which says why.
            return super().__getattribute__(name)

        @wraps(method.__func__)
        def passed_on(self, *args, **kwargs):
            return self._call_last_step(method, args, kwargs)

        # Not a plain function: a method can be pickled, for other processes.
        return MethodType(passed_on, self)

    def __dir__(self):
        """Return the names of all attributes; completion shows them."""
        own = dir(self._last_step)
        passed_on = filter(self._method_of_last_step, own)
        return sorted({*super().__dir__(), *passed_on, *_OF_FIT.intersection(own)})

    @property
    def _last_step(self):
        """The last step; None if the steps are not in the form that `fit` checks."""
        try:
            return vars(self)["steps"][-1][1]
        except (LookupError, TypeError):
            return None

    def _method_of_last_step(self, name):
        """Return a public method that the last step has and a Pipeline does not.

        Otherwise return None.
        """
        # A name of the class is here only if Pipeline refused it, for a reason.
        if name.startswith("_") or hasattr(type(self), name):
            return None
        method = getattr(self._last_step, name, None)
        return method if ismethod(method) else None

    def _call_last_step(self, method, args, kwargs):
        call = _signature(method.__func__).bind(method.__self__, *args, **kwargs)
        taken = [name for name in _TRANSFORMED if name in call.arguments]
        # The first chunk of a stream needs only the steps before to be fitted.
        needs_fit = taken and method.__name__ != "partial_fit"
        # The check itself takes longer than to label a sentence: it copies tags.
        if needs_fit and not self.__sklearn_is_fitted__():
            check_is_fitted(self)
        for name in taken:
            call.arguments[name] = _TRANSFORMED[name](self, call.arguments[name])
        takes_names = "feature_names" in call.signature.parameters
        if takes_names and call.arguments.get("feature_names") is None:
            call.arguments["feature_names"] = self._feature_names()
        result = method.__func__(*call.args, **call.kwargs)
        return self if result is self._last_step else result

    def _transformers(self):
        steps = [step for _, step in self.steps[:-1]]
        return [step for step in steps if step is not None and step != "passthrough"]

    def _through_steps(self, X):
        """Return X, or what a function returns, as the last step takes it."""
        X = X() if callable(X) else X
        for step in self._transformers():
            X = step.transform(X)
        return X

    def _transformed_sequence(self, sequence):
        """Return one sequence as the last step takes it."""
        step = self._last_step
        input_format = fitted_format(step) if hasattr(step, "_input_format") else PACKED
        X = input_format.as_X(sequence)
        # A table, and PackedSequences, are an X themselves.
        with one_alone("sequence", holds_sequences(sequence, depth=1)):
            transformed = self._through_steps(X)
        return transformed if X is sequence else transformed[0]

    def _transformed_graph(self, graph):
        """Return one graph as the last step takes it."""
        is_list = isinstance(graph, list) and holds_sequences(graph, depth=1)
        with one_alone("graph", is_list):
            return self._through_steps([graph])[0]

    def _transformed_sentence(self, sentence):
        """Return one sentence of a parser as the last step takes it."""
        return self._through_steps([sentence])[0]

    def _feature_names(self):
        """Return the names of the features, None if the last step has its own."""
        step = self._last_step
        if hasattr(step, "vectorizer_") or names_of_fit(step) is not None:
            return None
        check_is_fitted(self)
        names = None
        # Unlike Pipeline: a function may come first, which has no names.
        for step in self._transformers():
            find = getattr(step, "get_feature_names_out", None)
            names = None if find is None else find(names)
        return names


# Of a function; it takes longer to find than to label a sentence.
_signature = cache(signature)


def _joined(parts):
    """Return the answers for parts of X as the answer for X."""
    first, *others = parts
    if isinstance(first, np.ndarray):
        return np.concatenate([first, *others])
    return type(first)(chain(first, *others))


# The steps through which parts of X, one by one, go as all of it does.
_BY_SEQUENCE = (TokenFeatures, SequenceVectorizer, SequenceHasher)

# Held-out data, which `fit` takes under the names of the last step.
_HELD_OUT = {"X_val", "y_val", "X_dev", "y_dev"}

# The arguments that the steps before the last transform, by their names.
_TRANSFORMED = {
    "X": Tagger._through_steps,
    "sequence": Tagger._transformed_sequence,
    "xseq": Tagger._transformed_sequence,
    "graph": Tagger._transformed_graph,
    "sentence": Tagger._transformed_sentence,
}


def make_tagger(
    *steps: Any,
    tokens: str | None = None,
    transform_input: list[str] | None = None,
    memory: Any = None,
    verbose: bool = False,
) -> Tagger:
    """Return a Tagger: a Pipeline that has all methods of its last step, a CRF.

    It is called as :func:`sklearn.pipeline.make_pipeline`: the types of the steps, in
    small letters, are their names.

    Parameters
    ----------
    *steps : estimators
        Transformers, and last a CRF.
    tokens : {"words", "characters", "blanks"} or str, default=None
        How the texts of the training were cut into tokens: see `Tagger`.
    transform_input : list of str, default=None
        As in a Pipeline: metadata of ``fit`` that the steps transform as they do X.
    memory : str or joblib.Memory, default=None
        Folder for the fitted transformers and what they return, compressed if it is a
        str. It may be removed at any time.
    verbose : bool, default=False
        Whether to print the time of each step of a fit.

    Returns
    -------
    tagger : Tagger

    See Also
    --------
    skcrf_sdca.estimators.tagger.Tagger : Says how the methods are called.

    Examples
    --------
    >>> from skcrf_sdca import SDCACRF, SequenceVectorizer, make_tagger
    >>> from skcrf_sdca.text import Shape, TokenFeatures
    >>> X = [["the", "Rhine"], ["in", "Basel"]] * 9
    >>> y = [["O", "B-LOC"], ["O", "B-LOC"]] * 9
    >>> features = TokenFeatures(["word", Shape()])
    >>> tagger = make_tagger(features, SequenceVectorizer(), SDCACRF(random_state=0))
    >>> new = [["near", "Bern"]]
    >>> ((span,),) = tagger.fit(X, y).predict_spans(new, tokens=new)
    >>> span[0], span[-1]
    ('LOC', 'Bern')
    >>> tagger.top_features(1, ["O"])
    O
    feature      weight
    <start>      +0.533
    shape=Xxxxx  -0.488
    """
    named = make_pipeline(*steps).steps
    return Tagger(
        named,
        tokens=tokens,
        transform_input=transform_input,
        memory=memory,
        verbose=verbose,
    )

"""Each parameter of the estimators, written once: type, default, constraints and text.

A parameter is a field of a class with `parameters`. The string below it is its entry in
docstrings: the type in words, and what it does. An estimator inherits the classes of
its parameters, the last in its signature first. Constraints that no entry of
`parameter` gives are derived from the type, or taken from the same parameter of a base.
"""

import inspect
import sys
from ast import AnnAssign, ClassDef, Expr, FunctionDef, iter_child_nodes, parse
from collections import ChainMap
from collections.abc import Callable, Hashable, Mapping
from dataclasses import field, fields
from functools import cache, partial
from itertools import pairwise
from numbers import Integral, Real
from os import PathLike
from textwrap import indent
from types import NoneType
from typing import Any, Literal, TypeVar, dataclass_transform, get_args, overload

from skcrf_sdca._utils.checked_parameters import Choices
from skcrf_sdca._utils.constructors import constructed
from skcrf_sdca._utils.shared_docs import shared_docs
from skcrf_sdca._utils.sklearn_private import Interval
from skcrf_sdca._utils.typing import (
    Acceleration,
    Alpha,
    ClassWeight,
    Cost,
    Decoding,
    DualSampling,
    EdgeFeatures,
    Features,
    FilePath,
    GraphInference,
    GraphSolver,
    LabelFeatures,
    LabelNames,
    LabelPairs,
    LossName,
    OnlineLossName,
    RandomState,
    Scoring,
    SDCASampling,
    SegmentFeatures,
    SolverName,
    SpanScheme,
    Transitions,
)
from skcrf_sdca.data.tagging_schemes import TAGGING_SCHEMES
from skcrf_sdca.metrics import SCORERS
from skcrf_sdca.model.attribute_docs import ATTRIBUTES
from skcrf_sdca.objective.losses import LOSSES, ONLINE_LOSSES
from skcrf_sdca.solvers.samplers import SchemeNames
from skcrf_sdca.solvers.sgd_methods import METHODS
from skcrf_sdca.structures.chain.constraints import FROM_DATA
from skcrf_sdca.structures.chain.label_parts import BY_NAME
from skcrf_sdca.structures.chain.tuples import MOST_ORDER
from skcrf_sdca.text import ArcFeatures

T = TypeVar("T")

CONSTRAINTS = "constraints"
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
SHARE = Interval(Real, 0, 1, closed="both")
PART = Interval(Real, 0, 1, closed="right")
COUNT = Interval(Integral, 1, None, closed="left")


def parameter(*constraints: Any, default: Any, kw_only: bool = True) -> Any:
    """Return the field of a parameter.

    Parameters
    ----------
    *constraints
        Allowed values, as in ``_parameter_constraints`` of scikit-learn.
    default : object
    kw_only : bool, default=True
        Whether it is passed by name only.

    Returns
    -------
    field : dataclasses.Field
    """
    metadata = {CONSTRAINTS: list(constraints)}
    return field(default=default, kw_only=kw_only, metadata=metadata)


@overload
def parameters(cls: type[T], /) -> type[T]: ...
@overload
def parameters(**defaults: Any) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(
    eq_default=False, kw_only_default=True, field_specifiers=(parameter, field)
)
def parameters(cls=None, /, **defaults):
    """Make the annotated attributes of a class, and of its bases, its parameters.

    The class gets the constructor and the ``_parameter_constraints``; in its docstrings
    ``{parameters}`` is replaced by their entries, and other markers by those of
    `ATTRIBUTES`. Classes without this decorator do not take part. The fitted attributes
    of one that has it are ``field(init=False)``.

    Parameters
    ----------
    cls : type
    **defaults : object
        The default of the class, by the name of a parameter of its bases:
        ``@parameters(max_iter=1000)``.

    Returns
    -------
    cls : type
        The same; a decorator for it if defaults are given.

    Raises
    ------
    TypeError
        If no base has a parameter of the name of a default.
    """
    if cls is None:
        return partial(_with_parameters, defaults=defaults)
    return _with_parameters(cls, {})


def _with_parameters(cls, defaults):
    _take_defaults(cls, defaults)
    doc = cls.__doc__
    known = ChainMap(*(vars(c).get("_parameter_constraints", {}) for c in cls.__mro__))
    made: Any = constructed(cls, kw_only=True)
    made.__doc__ = doc  # A dataclass makes one where there is none.
    shared_docs({**ATTRIBUTES, "parameters": _entries(cls)})(made)
    made._parameter_constraints = {
        f.name: f.metadata.get(CONSTRAINTS) or known.get(f.name) or _of_type(cls, f)
        for f in fields(made)
        if f.init
    }
    return cls


def _take_defaults(cls, defaults):
    """Repeat the fields of the bases that have another default in a class."""
    known = ChainMap(*(vars(c).get("__dataclass_fields__", {}) for c in cls.__mro__))
    for name, default in defaults.items():
        if name not in known:
            raise TypeError(f"No base of {cls.__name__} has a parameter {name}.")
        of_base = known[name]
        cls.__annotations__[name] = of_base.type
        setattr(cls, name, field(default=default, kw_only=of_base.kw_only))


OF_TYPES = {bool: ["boolean"], NoneType: [None], Hashable: "no_validation"}


def _of_type(cls, own):
    """Return the constraints that the type of a field says.

    It is bool, a Literal of texts, None, or a union of these; TypeError otherwise.
    """

    def constraints(option):
        options = get_args(option)
        if options and all(isinstance(text, str) for text in options):
            return [Choices(set(options))]
        if not options and option not in OF_TYPES:
            raise TypeError(
                f"{cls.__name__}.{own.name}: the type {own.type} does not say which "
                "values are allowed; name them, parameter(..., default=...)."
            )
        if not options:
            return OF_TYPES[option]
        return [constraint for part in options for constraint in constraints(part)]

    return constraints(own.type)


def _entries(cls):
    """Return the entries of a docstring for the parameters of a class, in order."""
    entries = []
    for name, argument in inspect.signature(cls).parameters.items():
        owners = (c for c in cls.__mro__ if name in inspect.get_annotations(c))
        found = (_texts(c.__module__).get((c.__qualname__, name)) for c in owners)
        types, _, text = next(filter(None, found), "object").partition("\n\n")
        default = argument.default
        shown = f'"{default}"' if isinstance(default, str) else repr(default)
        types = types.replace("\n", " ")
        entries += [f"{name} : {types}, default={shown}", indent(text, "    ")]
    return "\n".join(entries)


@cache
def _texts(module):
    """Return the strings below the fields of a module's classes, by class and field."""
    try:
        source = inspect.getsource(sys.modules[module])
    except (OSError, TypeError):  # There is the compiled file alone, or no file.
        return {}
    return {
        (name, first.target.id): inspect.cleandoc(second.value.value)
        for name, body in _classes(parse(source))
        for first, second in pairwise(body)
        if isinstance(first, AnnAssign) and isinstance(second, Expr)
    }


def _classes(tree, within=""):
    """Yield the qualified names of classes in a syntax tree, and their statements."""
    for node in iter_child_nodes(tree):
        name = f"{within}{getattr(node, 'name', '')}"
        if isinstance(node, ClassDef):
            yield name, node.body
            yield from _classes(node, f"{name}.")
        elif isinstance(node, FunctionDef):
            yield from _classes(node, f"{name}.<locals>.")


@parameters
class StrengthOptions:
    """How strong the penalty is."""

    alpha: Alpha = parameter(POSITIVE, Choices({"auto"}), default="auto", kw_only=False)
    """float or "auto"

    Strength of the penalty; "auto" is 1/n, or 1 over the sum of the sample weights. For
    sequences in which most features are not 0, such as recordings, this is multiplied
    by the mean run of equal labels, or by the square root of the mean length if that is
    smaller, see :doc:`/alpha`. In the terms of CRFsuite, ``c2 = n * alpha / 2``.
    """


@parameters
class LossOptions:
    """The loss of an objective."""

    loss: LossName = parameter(Choices(LOSSES.keys()), default="log_loss")
    """{"log_loss", "softmax_margin", "hinge", "sparsemap", "smooth_hinge", "entmax15"}

    "log_loss" is the negative log-likelihood. "softmax_margin" adds to the score of
    every label path the cost of its wrong labels (Gimpel and Smith, NAACL 2010)::

        L_i(w) = T log sum_y exp((score(x_i, y) + cost_i(y)) / T)
                 - score(x_i, y_i)

    with the temperature T: a path that costs more must have a lower score. "hinge" is
    the loss of the structural SVM, the limit at T = 0::

        L_i(w) = max_y (score(x_i, y) + cost_i(y)) - score(x_i, y_i)

    `SDCACRF`, `SGDCRF` and ``solver="sdca"`` minimise it. Graphs and segments also take
    "oeg", and both are then block-coordinate Frank-Wolfe. The model has scores, and no
    probabilities: it has no methods such as ``predict_proba``.

    "sparsemap" gives a probability to few labellings, which `support` lists (Niculae et
    al., ICML 2018), and "smooth_hinge" is the same with the cost. With u_t(p) the
    probabilities of labels at position t, and p those of labellings::

        L_i(w) = max_p sum_t T/2 (1 - ||u_t(p)||^2)
                       + sum_y p(y) (score(x_i, y) + cost_i(y)) - score(x_i, y_i)

    The solvers of the hinge minimise both, except for `SGDCRF`. `LBFGSCRF` does so too,
    and finds the optimum of tables. The loss of longer sequences may have kinks, at
    which `LBFGSCRF` stops with a gap.

    "entmax15" is for a table, a 2-D X and a 1-D y, and for `LBFGSCRF` or ``CRF``. It
    gives a probability to few labels, but to more than "sparsemap" (Peters et al., ACL
    2019). With p the probabilities of the labels k of a row::

        L_i(w) = max_p 4 T/3 (1 - sum_k p_k^1.5) + sum_k p_k score(x_i, k)
                 - score(x_i, y_i)
    """


@parameters
class MarginOptions:
    """What a loss takes beside labels."""

    temperature: float = parameter(POSITIVE, default=1.0)
    """float

    T > 0. The probabilities of the model belong to score / T. A small T comes near
    to the hinge loss. Losses that give no probabilities ignore it.
    """
    margin: float = parameter(NOT_NEGATIVE, default=1.0)
    """float

    Factor of the cost; "log_loss" ignores it.
    """


@parameters
class CostOptions(MarginOptions):
    """The cost of wrong labels, and what else a loss with costs takes."""

    cost: Cost | None = parameter("array-like", dict, None, default=None)
    """array-like of shape (n_labels, n_labels) or dict

    The cost[y, k] of label k where y is right, in the order of ``classes_``, or a dict
    {(y, k): cost} in which pairs that are left out cost 1. By default every wrong label
    costs 1 (the Hamming cost).
    """
    class_weight: ClassWeight | None = parameter(
        Choices({"balanced"}), dict, None, default=None
    )
    """"balanced", dict {label: weight} or None

    Weights of labels, so that it costs more to miss a rare one; labels that a dict
    leaves out weigh 1. With a loss that has a cost, the weight of the right label is a
    factor of the cost. With "log_loss" the loss of a sequence is multiplied by the mean
    weight of its labels, as by a sample weight: a single row has the weight of its
    label. "balanced" is n_positions / (n_labels * positions of the label), where a
    position counts as much as the sample weight of its sequence.
    """


@parameters
class PenaltyOptions:
    """The penalty beside its strength."""

    l1_ratio: float = parameter(SHARE, default=0.0)
    """float in [0, 1]

    Part of the l1 norm in the penalty, of the elastic net
    alpha ((1 - l1_ratio) / 2 ||w||^2 + l1_ratio ||w||_1). Above 0, most weights are
    exactly 0; 1 is the l1 norm alone. In the terms of CRFsuite, c1 = n * alpha *
    l1_ratio and c2 = n * alpha * (1 - l1_ratio) / 2.
    """


@parameters
class EpochOptions:
    """When a fit stops."""

    max_iter: int = parameter(COUNT, default=100)
    """int

    Maximum number of epochs; an epoch visits n sequences, or is one iteration of
    L-BFGS.
    """
    tol: float = parameter(NOT_NEGATIVE, default=1e-3)
    """float

    The fit stops when the duality gap is at most tol * primal: by default, when the
    objective is proven to be within 0.1 % of its minimum. It also stops where rounding
    lets no smaller gap be certified, and warns of it.
    """


@parameters
class ScoringOptions:
    """The use of held-out data."""

    patience: int | None = parameter(COUNT, None, default=None)
    """int

    With ``X_val`` and ``y_val`` in `fit`: end the fit after this number of epochs
    without a better score on them, and return the model of the epoch with the best
    score, also if the fit ends otherwise. With None the score is only recorded, and the
    model is the one of the last epoch.
    """
    scoring: Scoring | None = parameter(
        Choices(set(SCORERS)), callable, None, default=None
    )
    """str or callable

    The score on ``X_val`` and ``y_val``, the larger the better: a name that
    :func:`skcrf_sdca.metrics.get_scorer` takes, or a function of (estimator, X, y) that
    returns a number. By default the micro-averaged F1 of spans if a tagging scheme of
    the labels is given by its name, else the accuracy, which ``score`` returns. For a
    table without ``lengths`` it is the accuracy. The F1 of spans needs every label; the
    accuracy leaves out unknown ones.
    """


@parameters
class FeatureOptions:
    """Which features have weights."""

    features: Features = "all"
    """{"auto", "all", "observed"}

    Which pairs of a feature and a label have a weight. "observed" are those that occur
    in the training data, as CRFsuite chooses by default: the model is much smaller, and
    ``coef_`` a sparse array. Positions whose label is not known observe nothing.
    "auto", the default of `CRF`, is "observed" where all pairs of sparse features are
    more than 50 million, or more than 5 million where `label_pairs` would be
    "observed" by the numbers, else "all".
    """
    min_count: float | None = parameter(POSITIVE, None, default=None)
    """float > 0

    With ``features="observed"``: a pair has a weight only if the values of the feature
    at positions with the label sum to at least this, as with ``feature.minfreq`` of
    CRFsuite. A value of 1 counts once. A position that has one of several labels counts
    for each of them, one with soft labels by their probabilities. None keeps every pair
    that occurs.
    """


@parameters
class PairWeightOptions:
    """Which pairs of labels have weights."""

    label_pairs: LabelPairs = "all"
    """{"auto", "all", "observed"}

    Which pairs of labels have a weight in ``transition_``. "observed" are those that
    follow each other in y, as CRFsuite and Wapiti choose by default: every label may
    still follow every label that `transitions` allows, with the weight 0. A visit then
    takes n_labels operations for each position, and one for each of these pairs, in
    place of n_labels^2, and the solvers store as many numbers: for hundreds of labels.
    Where a label is one of several, all possible pairs are observed; with `prior` its
    pairs have weights too. With ``order=2`` and more there are weights of the labels
    that stand in a row in y, and edge features have weights of the pairs in y. "auto",
    the default of `CRF`, is "observed" where n_labels^(order + 1) numbers for each
    sequence are more than 100 million, or as many for each position more than 30
    billion, else "all"; it is "all" with `edge_features` and ``order=1``.
    """


@parameters
class LabelFeatureOptions:
    """Which weights labels share."""

    label_features: LabelFeatures | None = parameter(
        Choices({BY_NAME}), callable, Mapping, None, default=None
    )
    """{"parts"}, callable or dict

    Which parts a label has, such as "NOUN" and "Case=Nom" of "NOUN|Case=Nom". Then
    features have weights of parts, and the score of a label is the sum over its parts
    of x_t . W_p, with the same penalty on W; so labels that share a part share its
    weights. Intercept, start and end are weights of parts too, and transitions are
    weights of labels.

    * "parts": what is between the separators | of the label, and the label itself, with
      the name of the label after a =.
    * a function of a label, or of its name (`label_names`), that returns its parts: a
      list of str, or a dict of str to a factor of the weights. The label itself is a
      part if it is in the list.
    * a dict of labels to such lists or dicts. It may have labels that y does not have:
      the model predicts these too, by the weights of their parts.

    ``parts_`` are the names of the parts, and ``label_features_`` says which label has
    which part. For chains of ``order=1`` without `edge_features`, and `transitions`
    that let every label begin and end a sequence; there is no `partial_fit` then.
    """


@parameters
class ContextOptions:
    """What weights of several labels depend on."""

    order: int = parameter(Interval(Integral, 1, MOST_ORDER, closed="both"), default=1)
    """int

    How many labels before it a label depends on, 1 to 62. A chain of order 2 has a
    weight for every three labels in a row, ``higher_transitions_[0]``, beside the ones
    for two in ``transition_``; and so on. A visit takes n_labels^(order+1) operations
    for each position, for tuples with allowed transitions: with `transitions` there
    are fewer. `SDCACRF`, `OEGCRF` and `SAGNUSCRF` store numbers for as many tuples;
    `LBFGSCRF`, `SGDCRF` and `PassiveAggressiveCRF` store none.
    """
    edge_features: EdgeFeatures | None = parameter(
        "array-like", Choices({"all"}), None, default=None
    )
    """{"all"}, list of str or array of int

    The features that have a weight for every transition to the position too, in
    ``edge_coef_``: names, in which "*" stands for any characters, such as
    ``["word=*"]``, or numbers of features. With ``features="observed"`` they have
    weights of the transitions alone that they are observed with, where both labels are
    known or are one of several, and count as `min_count` says, by the product of both.
    A visit then takes n_labels^3 operations for each position, as for ``order=2``. In a
    stream, a name may match features that come later.
    """


@parameters
class LabelOptions:
    """The rules and names of labels of sequences."""

    transitions: Transitions | None = parameter(
        Choices({*TAGGING_SCHEMES, *FROM_DATA}), "array-like", None, default=None
    )
    """str, ndarray or list of pairs

    Which label may follow which; by default every label may follow every label.
    Forbidden transitions have probability 0, in training and in prediction.

    * "BIO" (or "IOB2"), "IOB1", "IO", "BIOES" ("IOBES") or "BILOU" ("BILUO"), in
      capitals or small letters: those that the tagging scheme allows, for labels such
      as "B-PER" and "O". The scheme also determines which labels may begin and end a
      sequence.
    * "observed": only transitions, first labels and last labels that occur in y.
    * "open": these, and the transitions from and to the open labels, which may also
      begin and end a sequence. Open are the most frequent labels, that make up half of
      y. Every length of a sequence is possible, and so is every label at every position
      but the first and the last.
    * a bool array of shape (n_labels, n_labels), [from, to], in the order of
      ``classes_``: True means allowed.
    * a list of allowed pairs (from, to) of labels. If it has pairs (None, label), only
      their labels may begin a sequence; if it has pairs (label, None), only their
      labels may end one. Pairs with labels that do not occur in y are ignored.

    It is an error if y itself has a forbidden transition.
    """
    label_names: LabelNames | None = parameter(list, tuple, dict, None, default=None)
    """list of str or dict {label: str}

    Names such as "B-PER" of labels that are ids: ``label_names[i]`` names label i.
    A tagging scheme, in `transitions` and of spans, reads the names; ``classes_`` and
    predictions are the ids.
    """


@parameters
class UnknownOptions:
    """How labels that are not known are marked."""

    unknown_label: Hashable = None
    """label

    The label in y that stands for labels that are not known, beside None, as -100 in
    data of Hugging Face. The known labels alone, and sets with the right label, train
    the model with the loss

        L_i(w) = -log sum_{y that agree with y_i} p(y | x_i; w),

    which is not convex: a sequence of convex problems is solved. The objective never
    rises, and the certificate bounds how far the next convex problem could lower it. A
    sequence without a known label has the weight 0, and does not count in n. For
    the default loss only.
    """


@parameters
class RunOptions:
    """How a fit runs, and how its model decides."""

    decoding: Decoding = "viterbi"
    """{"viterbi", "posterior"}

    The labelling that `predict` returns, and whose errors are counted, if a call names
    no other. "viterbi" is the most probable labelling, or tree: the one that is most
    often right as a whole. "posterior" has the largest expected number of right labels,
    or arcs, which `score` counts. Take it for frames of signals, see :doc:`/decoding`.
    The weights do not depend on it, and ``set_params`` may change it after `fit`.
    """
    warm_start: bool = False
    """bool

    Keep the state of the solver, with the dual variables if it has some, and start the
    next fit from it. Solvers that keep more than weights need the same sequences, and
    all of them the same model; alpha, for example, may differ.
    """
    n_jobs: int | None = parameter(Integral, None, default=None)
    """int

    Number of threads; None means one. They make certificates, passes over all data and
    predictions. Of solvers of the dual, SDCA, OEG and Frank-Wolfe, and of SAG, each
    thread also visits the sequences of its own shard, of at least 64 sequences (for
    SAG, not where dense features are preconditioned). The last bits of the result then
    depend on the number of threads, but not on their timing.
    """
    random_state: RandomState = parameter("random_state", default=None)
    """int, RandomState instance or None

    Determines the order of the visits. Pass an int to get the same bits at every fit.
    """
    verbose: int = parameter("verbose", default=0)
    """int

    1 prints a line every epoch.
    """


@parameters
class ChainOptions(
    UnknownOptions,
    LabelOptions,
    ContextOptions,
    LabelFeatureOptions,
    PairWeightOptions,
    FeatureOptions,
    ScoringOptions,
    EpochOptions,
    PenaltyOptions,
    CostOptions,
    LossOptions,
    StrengthOptions,
):
    """The problem of a chain, and when its fit stops."""


@parameters
class SolverOptions:
    """The solver of a chain, by its name."""

    solver: SolverName = "auto"
    """{"auto", "sdca", "oeg", "sag", "lbfgs"}

    The solver. ``loss="hinge"`` is for "sdca", which "auto" takes then; with `l1_ratio`
    above 0 it takes "sdca" or "oeg", by the number of labels.
    """


@parameters
class AccelerationOptions:
    """How epochs of dual solvers are made fewer."""

    acceleration: Acceleration = "auto"
    """{"auto", "proximal_point"} or None

    For SDCA, OEG and the hinge; other solvers do not use it. "proximal_point" solves a
    sequence of problems with the squared distance from the last weights added, one
    epoch each. Weights of frequent features count more in the distance. This saves half
    of the epochs, and more where the L2 part of the penalty, alpha * (1 - l1_ratio), is
    small. "auto" does the same. But with fewer than 10 sequences, and for the hinge
    with fewer than 128 or with l1_ratio > 0.5, it does so only if the L2 part is
    smaller than 0.15 / n. None never does so, and refuses ``l1_ratio=1``.
    """


@parameters
class DualOptions(AccelerationOptions):
    """What all solvers of the dual take."""

    sampling: SDCASampling = parameter(Choices(SchemeNames("sdca")), default="gap")
    """{"gap", "window", "gap_importance", "importance", "uniform", "max", "residual"}

    Distribution from which the next sequence is sampled: proportional to the duality
    gap of the sequence at its last visit ("gap"), the same among the sequences in a
    window ("window", for data in a file: neighbours enter it block by block, in a new
    order in each epoch, and a fifth of the data are inside), to its importance, which
    grows with the squared norm of its features ("importance"), to the product of both
    ("gap_importance"), or uniform. "max" always takes the sequence with the largest
    gap. "residual", on tables only, is proportional to the l1 distance of
    the row's dual variables from its probabilities, times the square root of its
    importance [LePriol18]_ (eq. 49).
    """
    sampling_mix: float = parameter(SHARE, default=0.8)
    """float in [0, 1]

    Probability of sampling from this distribution; otherwise the next sequence is
    sampled uniformly.
    """


@parameters
class CheckpointOptions:
    """Where a fit that was killed goes on."""

    checkpoint: FilePath | None = parameter(str, PathLike, None, default=None)
    """str or path

    File for the state of the solver, such as its dual variables, which is written after
    every epoch. With ``warm_start=True`` a fit begins with the state in this file, if
    there is one: so a fit goes on that was killed. `DistributedCRF` writes weights
    alone, for ``fit(..., resume=True)``. If the file cannot be written, as on a full
    disk, the fit goes on with a warning.
    """


@parameters
class MemoryOptions(CheckpointOptions):
    """What may be in memory."""

    memory: float | str | None = parameter(POSITIVE, str, None, default="auto")
    """"auto", float, str or None

    Memory for the dual variables and for data in a file: "auto" is four fifths of what
    is available, a number is bytes, a text a size such as "2GB" or "500 MiB". If they
    take more, the dual variables lie in unnamed files in the folder of ``tempfile``,
    which the environment variable TMPDIR names, and ``sampling="gap"`` becomes
    "window", whose window has the part of the data that fits. The model ends at the
    same optimum, and ``history_["window"]`` says what part that is. With None they are
    always in memory. Solvers without dual variables ignore it. For `DistributedCRF` it
    is the memory of each partition.
    """


@parameters
class SDCAOptions(MemoryOptions, DualOptions):
    """What SDCA takes."""

    line_search: Literal["newton", "fixed"] = "newton"
    """{"newton", "fixed"}

    Exact line search by Newton's method, or the same `step` at every visit.
    """
    line_search_tol: float = parameter(
        Interval(Real, 0, 1, closed="neither"), default=1e-3
    )
    """float

    The line search ends when the step changes by less than this.
    """
    step: float | None = parameter(PART, None, default=None)
    """float in (0, 1]

    The step of ``line_search="fixed"``; ignored otherwise.
    """
    init_smoothing: float = parameter(PART, default=1e-6)
    """float in (0, 1]

    Weight of the uniform distribution over the allowed label paths in the initial
    marginals; the correct labels have the remaining weight. A larger value starts
    further from the optimum.
    """
    dual_dtype: Literal["auto", "float32", "float64"] = "auto"
    """{"auto", "float32", "float64"}

    Precision of the stored edge marginals, which take most of the memory. The
    certificate is exact with both, but rounding in float32 keeps the gap above about
    1e-15 / (n * alpha) nats per position: "auto" is float32 for n * alpha >= 1e-3.
    """


@parameters
class OEGOptions(MemoryOptions, DualOptions):
    """What online exponentiated gradient takes."""

    sampling: DualSampling = parameter(Choices(SchemeNames("oeg")), default="gap")
    """{"gap", "window", "gap_importance", "importance", "uniform", "max"}

    Distribution from which the next sequence is sampled: proportional to the duality
    gap of the sequence at its last visit, the same among the sequences in a window (for
    data in a file, see `SDCACRF`), to its importance, which grows with the squared norm
    of its features, to the product of both, or uniform. "max" always takes the sequence
    with the largest gap.
    """
    step_init: float = parameter(PART, default=0.7)
    """float in (0, 1]

    First step size of every sequence. A visit halves the step size until the dual does
    not fall, and the next visit starts from one that is 5 % larger [2]_.
    """
    init_score: float = parameter(NOT_NEGATIVE, default=14.0)
    """float

    Initial natural parameter of the correct label at each position; the other labels
    have 0.
    """


@parameters
class SAGOptions:
    """What SAG takes."""

    sampling: Literal["lipschitz", "uniform"] = parameter(
        Choices(SchemeNames("sag")), default="lipschitz"
    )
    """{"lipschitz", "uniform"}

    "lipschitz" is SAG-NUS*: each sequence has a Lipschitz constant, and sequences that
    were visited before are sampled in proportion to theirs. "uniform" is SAG: one
    constant for all sequences, and uniform sampling.
    """
    sampling_mix: float = parameter(Interval(Real, 0, 1, closed="left"), default=0.5)
    """float in [0, 1)

    Probability of sampling by the constants; otherwise the next sequence is sampled
    uniformly.
    """
    line_search_skipping: bool = True
    """bool

    Whether to skip the next 2^(r - 1) line searches of a sequence after r searches in a
    row that did not change its constant.
    """
    saga: bool = False
    """bool

    Whether to make the unbiased updates of SAGA, with the draws and the step size of
    SAG. Of frequent features, several threads take the mean of their unbiased parts.
    """


@parameters
class SGDOptions:
    """What the stochastic gradient methods take."""

    method: Literal["svrg", "sgd", "asgd", "adagrad", "smd", "pegasos", "hybrid"] = (
        parameter(Choices(METHODS.keys()), default="svrg")
    )
    """{"svrg", "sgd", "asgd", "adagrad", "smd", "pegasos", "hybrid"}

    The steps:

    * "svrg": the gradient of the sequence is corrected by the full gradient, which is
      computed once an epoch [1]_. The first epoch is one of "sgd". Where the objective
      has risen in an epoch, the epoch is undone, and the step halved. It converges
      linearly to the optimum, and does not take the hinge loss.
    * "sgd": stochastic gradient with one step size for all weights.
    * "asgd": the same, and the model is the mean of the weights, in which those after t
      visits count t times [2]_.
    * "adagrad": each weight has the step eta0 / sqrt(G), G the sum of its squared
      gradients [3]_.
    * "smd": stochastic meta-descent [6]_. Each weight has a gain of its own, first
      `eta0`, which grows while gradients agree and falls while they alternate, by a
      factor of 2 at most. A visit takes four marginalisations. It is for L2 and smooth
      losses.
    * "pegasos": stochastic gradient with the steps 1 / (alpha t), or `eta0` / t [4]_,
      for an `l1_ratio` below 1.
    * "hybrid": L-BFGS on random batches, from 10 sequences to all, each larger than the
      last by a tenth [5]_. An epoch is the steps on batches of n sequences together; a
      step takes two passes or more over its batch, one or more if that is all
      sequences. It is for L2 and smooth losses.
    """
    learning_rate: Literal[
        "auto",
        "adaptive",
        "optimal",
        "invscaling",
        "constant",
        "inverse",
        "inverse_sqrt",
        "inverse_epochs",
    ] = "auto"
    """{"auto", "adaptive", "optimal", "invscaling", "constant", "inverse", \
    "inverse_sqrt", "inverse_epochs"}

    How the step size falls with the number t of visits so far, for "sgd" and "asgd":

    * "constant": eta0.
    * "adaptive": eta0, halved at every certificate where the objective has not fallen.
    * "optimal": eta0 / (1 + eta0 alpha t).
    * "invscaling": eta0 / (1 + eta0 alpha t)^0.75.
    * "inverse_sqrt": eta0 / sqrt(1 + t).
    * "inverse_epochs": eta0 / (1 + t / n), which a stream does not have.
    * "inverse": eta0 / (1 + t), for "pegasos" alone.

    "auto" is "optimal" for "asgd", "adaptive" for "sgd", "inverse" for "pegasos", and
    "constant" for the others. "adagrad" also takes "adaptive", and "pegasos" takes
    "optimal"; "smd", "svrg" and "hybrid" have no choice.
    """
    eta0: float | Literal["auto"] = parameter(
        POSITIVE, Choices({"auto"}), default="auto"
    )
    """float or "auto"

    The first step size. "auto" visits a random sample of up to 600 sequences with
    several step sizes, longer or shorter ones while the objective on the sample falls,
    and takes the best. The objective is the median of those after each third of the
    sample. For "adagrad" it then goes on to the step size of the regret bound [7]_ for
    the distances that weights have in the sample: the best one for a single pass is too
    small for more. "pegasos" begins with 1 / alpha, and "hybrid" has no choice.
    """
    average: bool | Literal["auto"] = "auto"
    """bool or "auto"

    Whether the model is the mean of the weights: "auto" is True for "asgd", "adagrad",
    "smd" and "pegasos"; "sgd" can do it too. The mean of "smd", "adagrad" and "pegasos"
    begins anew in the epochs 2, 3, 5, 9, 17, ..., or when the visits of a stream have
    doubled. For "smd" and "adagrad" the weights at the end of each quarter of an epoch,
    or of a chunk, count for all its visits.
    """
    certify_every: int = parameter(COUNT, default=1)
    """int

    Epochs from one certificate to the next. The fit can stop, and ``history_`` has a
    value, after these epochs only. A certificate takes a full pass.
    """


@parameters
class PairOptions:
    """The pairs of labels that weights of edges belong to."""

    directed: bool = False
    """bool

    Whether an edge has a direction: the weights are of pairs of labels [from, to]. By
    default pairs have no order, and their weights are symmetric; the two of a pair are
    one weight in the penalty.
    """


@parameters
class InferenceOptions:
    """How graphs are summed over."""

    inference: GraphInference = "exact"
    """{"exact", "trw"}

    "exact" sums over all labellings by a junction tree, and refuses graphs that are too
    wide. "trw" takes graphs of any width. It replaces log Z by an upper bound, the
    tree-reweighted log Z: the objective of the fit is a surrogate, convex and at least
    P(w), and so are the certificate and all probabilities.
    """


@parameters
class GraphSolverOptions:
    """The solver of graphs or dependency trees, by its name."""

    solver: GraphSolver = "auto"
    """{"auto", "oeg", "sdca", "sag", "sgd", "lbfgs"}

    "auto" takes the one that suits the data, see :ref:`which-solver`. "oeg" is online
    exponentiated gradient with gap sampling, see `OEGCRF`. "sdca" is dual coordinate
    ascent, see `SDCACRF`: of graphs with an exact line search, and it keeps the tables
    of all graphs; of dependency trees with a lower bound of the entropy, which has no
    closed form. "sag" is SAG-NUS*, see `SAGNUSCRF`, "sgd" is SVRG, the default method
    of `SGDCRF`, and "lbfgs" is L-BFGS, or OWL-QN with `l1_ratio` above 0, see
    `LBFGSCRF`.
    """


@parameters
class GraphOptions(
    RunOptions,
    ScoringOptions,
    EpochOptions,
    AccelerationOptions,
    InferenceOptions,
    GraphSolverOptions,
    UnknownOptions,
    PairOptions,
    FeatureOptions,
    PenaltyOptions,
    CostOptions,
    LossOptions,
    StrengthOptions,
):
    """All parameters of `GraphCRF`."""


@parameters
class RelationOptions:
    """Whether dependency trees have relations."""

    labelled: bool = False
    """bool

    Whether arcs have relations: y is pairs (heads, relations).
    """


@parameters
class ArcOptions:
    """What the features of arcs are made of."""

    features: ArcFeatures | None = parameter(ArcFeatures, None, default=None)
    """ArcFeatures

    The templates and columns that features of arcs are made of, and how many there are.
    They are made of the tokens anew at each visit, and are not stored, so that a whole
    treebank can be learned. With None, `OnlineDependencyCRF` takes ``ArcFeatures()``,
    and `DependencyCRF` reads the features of arcs from X.
    """


@parameters
class TreeConstraintOptions:
    """Which dependency trees there are."""

    single_root: bool = True
    """bool

    Whether one word alone has the root as its head, as in Universal Dependencies.
    """
    projective: bool = False
    """bool

    Whether no arcs cross: all words between a head and its word are then below that
    head, for the root too. In many languages few sentences have arcs that cross (2 % in
    English). There are fewer projective trees, so that fewer sentences suffice to learn
    them.
    """


@parameters
class DependencyOptions(
    RunOptions,
    ScoringOptions,
    EpochOptions,
    AccelerationOptions,
    GraphSolverOptions,
    ArcOptions,
    TreeConstraintOptions,
    RelationOptions,
    PenaltyOptions,
    MarginOptions,
    LossOptions,
    StrengthOptions,
):
    """All parameters of `DependencyCRF`."""


@parameters
class SpanOptions:
    """The form of segments, and the solver of a fit."""

    max_length: int | None = parameter(COUNT, None, default=None)
    """int

    The largest number of items of a segment. None takes the longest segment in the
    training data, in the sequences whose labels are all known. Lengths above 1000 are
    kept up to the longest sequence of X only, or the length of a prior.
    """
    scheme: SpanScheme | None = parameter(
        Choices(set(TAGGING_SCHEMES)), None, default="BIO"
    )
    """str or None

    The tagging scheme of the labels: "BIO" ("IOB2"), "IO", "BIOES" ("IOBES") or "BILOU"
    ("BILUO"), in capitals or small letters. Each of its prefixes has weights of its
    own. With None, for signals, every label is a type, and its maximal runs are the
    segments: no type follows itself.
    """
    segment_features: SegmentFeatures | None = parameter(callable, None, default=None)
    """callable

    Features of whole segments, such as whether a span is in a list of names:
    ``segment_features(sequence, begin, end)`` returns the features of the items begin
    <= t < end of a sequence of X, a dict or a list of str, as for an item. It is called
    for each segment of at most `max_length` items. Each feature has a weight for each
    type; ``features`` and ``min_count`` are about items.
    """
    solver: Literal["auto", "oeg", "sag", "sgd", "lbfgs"] = "auto"
    """{"auto", "oeg", "sag", "sgd", "lbfgs"}

    The solver of `OEGCRF`, `SAGNUSCRF`, `SGDCRF` or `LBFGSCRF`, with their default
    parameters; "auto" takes the one that suits the data, see :ref:`which-solver`.
    """


@parameters
class SegmentOptions(
    RunOptions,
    UnknownOptions,
    FeatureOptions,
    ScoringOptions,
    EpochOptions,
    PenaltyOptions,
    AccelerationOptions,
    SpanOptions,
    CostOptions,
    LossOptions,
    StrengthOptions,
):
    """All parameters of `SegmentCRF`."""


@parameters
class OnlineLossOptions:
    """The loss of passive-aggressive steps."""

    loss: OnlineLossName = parameter(Choices(ONLINE_LOSSES.keys()), default="log_loss")
    """{"log_loss", "softmax_margin", "hinge", "sparsemap", "smooth_hinge", "entmax15", "perceptron"}

    The first three are the same as in `SDCACRF`; the next three are refused here. With
    "hinge" a visit is one of 1-best MIRA, the passive-aggressive algorithm PA-I: other
    labels, or other trees, are to have a score that is lower by their cost. With
    "perceptron" it is the averaged structured perceptron: a step `C` where the
    prediction is wrong. These two give scores, and no probabilities. For trees, the
    cost is `margin` for each wrong head. Visits with "hinge" and "perceptron" touch the
    features of wrong arcs only. The gradients of "log_loss" and "softmax_margin" have
    all arcs, and their visits take two to four times as long.
    """  # noqa: E501


@parameters
class StepOptions:
    """What passive-aggressive steps take."""

    C: float = parameter(POSITIVE, default=1.0, kw_only=False)
    """float

    Aggressiveness: the longest step, or with "perceptron" each step. That is
    1 / (n * alpha) in the terms of `SDCACRF`.
    """
    n_best: int = parameter(COUNT, default=1)
    """int

    With "hinge": a visit looks at this number of labellings or trees, the highest
    scores with their costs first, and moves the weights just so far that none of these
    has a loss, as far as `C` allows, which bounds the sum of the multipliers of all of
    them. This is k-best MIRA [2]_, and with 1 it is 1-best MIRA. A visit with more of
    them takes longer, since they are searched and compared. Other losses take 1 only.
    """


@parameters
class UpdateOptions:
    """Which labelling a passive-aggressive step moves away from."""

    update: Literal["max_loss", "prediction", "arow"] = "max_loss"
    """{"max_loss", "prediction", "arow"}

    With "hinge" and ``n_best=1``: the labelling that a visit moves away from. It is the
    one of the largest loss, best with its cost, or the prediction, best without it
    [3]_. The losses of both include the cost. The loss of the prediction is 0 where the
    model is right, and never the larger one. "arow" also moves away from it, by steps
    of AROW [5]_: each weight has a variance, 1 at first, which falls with the squares
    of its gradients, and moves in proportion to it::

        w <- w - L Sigma g / (<g, Sigma g> + 1 / C)
        1 / Sigma <- 1 / Sigma + C g^2

    No step has a bound then: `C` is the ratio of the first variance of a weight to the
    r of [5]_.
    """


@parameters
class VisitOptions:
    """The order of visits, and what the model has of them."""

    average: bool | Literal["polynomial", "uniform"] = True
    """bool or {"polynomial", "uniform"}

    Whether the model is the average of the weights after every visit, or has the last
    weights. In the average "polynomial", the same as True, the weights of the
    first v of m visits have the share (v / m)^4 [4]_, so that early ones are soon
    forgotten. In "uniform" all have the same share, as in the usual averaged
    perceptron.
    """
    shuffle: bool = True
    """bool

    Whether each epoch of `fit` visits the sequences in a new random order.
    """


@parameters(max_iter=10)
class PassOptions(EpochOptions):
    """When passes of an online algorithm end."""

    tol: float = 0.0
    """float

    The fit ends before `max_iter` epochs if the mean loss of the visits of an epoch is
    at most this: with the hinge and 0.0, if no visit has a loss.
    """


@parameters
class PassiveAggressiveOptions(
    RunOptions,
    LabelOptions,
    ContextOptions,
    LabelFeatureOptions,
    PairWeightOptions,
    FeatureOptions,
    ScoringOptions,
    PassOptions,
    VisitOptions,
    UpdateOptions,
    StepOptions,
    CostOptions,
    OnlineLossOptions,
):
    """All parameters of `PassiveAggressiveCRF`."""


@parameters(C=0.03, loss="hinge")
class OnlineDependencyOptions(
    RunOptions,
    PassOptions,
    VisitOptions,
    ArcOptions,
    TreeConstraintOptions,
    RelationOptions,
    StepOptions,
    OnlineLossOptions,
    MarginOptions,
):
    """All parameters of `OnlineDependencyCRF`."""


@parameters
class PartitionOptions(MemoryOptions):
    """How partitions work together."""

    method: Literal["lbfgs", "dual"] = "lbfgs"
    """{"lbfgs", "dual"}

    "lbfgs" is L-BFGS; each sum of gradients over the partitions takes one round of
    communication, whatever their number. "dual" is CoCoA+ [1]_ with exponentiated
    gradient in each partition. With sparse features and a few partitions it needs fewer
    passes over the data; more partitions need more passes.
    """
    n_rounds: int = parameter(COUNT, default=4)
    """int

    Rounds of communication per epoch of the dual method.
    """
    checkpoint_every: int = parameter(COUNT, default=10)
    """int

    Number of epochs between two checkpoints.
    """


@parameters
class DistributedOptions(
    RunOptions,
    PartitionOptions,
    LabelOptions,
    FeatureOptions,
    EpochOptions,
    StrengthOptions,
):
    """All parameters of `DistributedCRF`."""

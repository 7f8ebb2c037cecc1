"""Weights of a fitted model of graphs for other graphs: `init` and `prior` of a fit.

What starting_model.py and prior.py are for chains: features and labels are matched by
name, features of edges by number.
"""

from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from skcrf_sdca._utils.messages import described
from skcrf_sdca.estimators.fitted import check_form
from skcrf_sdca.estimators.graph_prediction import GraphPrediction
from skcrf_sdca.estimators.prior import Prior, PriorWeights
from skcrf_sdca.estimators.starting_model import starting_weights
from skcrf_sdca.structures.chain.label_weights import selected


def check_graph_model(model, name):
    """Raise TypeError or ValueError if an argument of fit is no fitted graph model.

    Parameters
    ----------
    model : object
    name : str
        That of the argument.
    """
    if not isinstance(model, GraphPrediction):
        raise TypeError(
            f"{name} must be a fitted GraphCRF or TreeCRF, got {described(model)}."
        )
    if "classes_" not in vars(model):
        raise NotFittedError(
            f"{name}: this {type(model).__name__} is not fitted; call its fit first."
        )
    check_form(model)


def pair_weights(model, label, fitted, *, directed, name):
    """Return the weights of pairs of labels, (n_edge_features, K, K).

    Those of labels that the model does not know are 0.

    Parameters
    ----------
    model : GraphCRF
    label : ndarray of shape (K,)
        What `label_numbers` returns.
    fitted : dict
        Attributes of a fit.
    directed : bool
        Whether the fit has weights of pairs [from, to].
    name : str
        That of the argument, for messages.

    Raises
    ------
    ValueError
        If the model has another number of features of edges, or edges with a direction
        that those of the fit do not have.
    """
    width, own = fitted["n_edge_features_in_"], model.edge_coef_
    if len(own) != width:
        raise ValueError(
            f"{name} has {len(own)} features of each edge, but X has "
            f"{width}; features of edges are matched by their number."
        )
    if not directed and not np.array_equal(own, own.swapaxes(1, 2)):
        raise ValueError(
            f"{name} has weights of edges with a direction; set directed=True, or take "
            "a model whose edges have none."
        )
    pairs, known = np.zeros((width, len(label), len(label))), label >= 0
    pairs[:, *np.ix_(known, known)] = own[:, *np.ix_(label[known], label[known])]
    return pairs


class GraphWeights(NamedTuple):
    """Weights of graphs by labels and features.

    The names and shapes are those of the attributes of `GraphCRF`.
    """

    coef_: Any
    intercept_: NDArray[np.float64]
    edge_coef_: NDArray[np.float64]

    @classmethod
    def matched(cls, model, training, label, feature, *, directed, name):
        """Return the weights of a model of graphs as those of a fit; what is new has 0.

        Parameters
        ----------
        model : GraphCRF
        training : GraphTraining
        label, feature : ndarrays of int
            As of `LabelWeights.matched`.
        directed, name
            As of `pair_weights`.
        """
        pairs = pair_weights(
            model, label, training.attributes, directed=directed, name=name
        )
        intercept = np.append(model.intercept_, 0.0)[label]
        return cls(selected(model.coef_, label, feature), intercept, pairs)

    def without_forbidden(self, constraints=None):
        """Return the weights: none is forbidden."""
        return self

    def of_features(self, columns):
        """Return the weights of some features alone, or of all for None."""
        return self if columns is None else self._replace(coef_=self.coef_[:, columns])


def starting_graph_weights(model, training, problem, name="init"):
    """Return the weights of a fitted model of graphs as a solver's first weights.

    The arguments and errors are those of `starting_weights`, and of
    `check_graph_model`.
    """
    check_graph_model(model, name)
    matched = partial(
        GraphWeights.matched, directed=problem.structure.directed, name=name
    )
    return starting_weights(model, training, problem, name, matched)


class GraphPrior(Prior):
    """A fitted model of graphs: its features and labels, which those of data extend.

    Parameters
    ----------
    model : GraphCRF
        Not changed.
    directed : bool
        Whether the fit has weights of pairs [from, to].
    """

    def __init__(self, model, directed):
        check_graph_model(model, "prior")
        self.model, self.directed = model, directed

    def weights(self, training):
        """Return the GraphPriorWeights of the labels and features of GraphTraining."""
        return GraphPriorWeights(self.model, training, self.directed)


class GraphPriorWeights(PriorWeights):
    """Weights of a prior as those of the labels and features of a fit to graphs.

    Parameters
    ----------
    model : GraphCRF
    training : GraphTraining
    directed : bool
    """

    _of_features: ClassVar[tuple[str, ...]] = ("coef_",)

    def __init__(self, model, training, directed):
        self.directed = directed
        super().__init__(model, training)

    def _matched(self, model, training, label, feature):
        return GraphWeights.matched(
            model, training, label, feature, directed=self.directed, name="prior"
        )

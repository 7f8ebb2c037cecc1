"""Weights of a fitted model of graphs for other graphs: `init` and `prior` of a fit.

What starting_model.py and prior.py are for chains: features and labels are matched by
name, features of edges by number.
"""

import numpy as np
from sklearn.exceptions import NotFittedError

from skcrf_sdca._kernels._features import FeatureRows
from skcrf_sdca._utils.messages import described
from skcrf_sdca.estimators.fitted import check_form
from skcrf_sdca.estimators.graph_prediction import GraphPrediction
from skcrf_sdca.estimators.prior import Prior, PriorWeights
from skcrf_sdca.estimators.starting_model import (
    feature_numbers,
    label_numbers,
    set_coef,
)
from skcrf_sdca.structures.chain.parameters import dense_coef
from skcrf_sdca.structures.graph.parameters import WEIGHTS, GraphParameters
from skcrf_sdca.structures.structure import FixedScores


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


def set_tied(parameters, pairs):
    """Write weights (n_edge_features, K, K) to GraphParameters."""
    tied = parameters.tied.reshape(len(pairs), -1)
    tied[:, parameters.place.ravel()] = pairs.reshape(len(pairs), -1)


def starting_graph_weights(model, training, problem, name="init"):
    """Return the weights of a fitted model of graphs as a solver's first weights.

    The arguments and errors are those of `starting_weights`.
    """
    check_graph_model(model, name)
    structure, fitted = problem.structure, training.attributes
    label = label_numbers(model, fitted["classes_"])
    feature = feature_numbers(model, fitted, name)
    if training.columns is not None:
        feature = feature[training.columns]
    parameters = structure.new_parameters()
    known = label >= 0
    parameters.intercept[known] = model.intercept_[label[known]]
    pairs = pair_weights(model, label, fitted, directed=structure.directed, name=name)
    set_tied(parameters, pairs)
    set_coef(parameters, model.coef_, feature, label)
    parameters.w /= problem.loss.scale
    return parameters.w


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

    _weights = WEIGHTS

    def __init__(self, model, training, directed):
        self.directed = directed
        super().__init__(model, training)

    def _set_pairs(self, model, label, training):
        """Take the weights of pairs of labels."""
        self.edge_coef = pair_weights(
            model, label, training.attributes, directed=self.directed, name="prior"
        )

    def fixed_scores(self, graphs, scale):
        """Return the FixedScores of graphs, over the scale of a loss."""
        X = graphs.data.X
        parameters = GraphParameters(X.shape[1], len(self.edge_coef), graphs.place)
        coef = self.coef if self.columns is None else self.coef[:, self.columns]
        parameters.coef[:] = dense_coef(coef).T
        parameters.intercept[:] = self.intercept
        set_tied(parameters, self.edge_coef)
        parameters.w /= scale
        n = len(graphs.data)
        scores = parameters.scores(FeatureRows(X), graphs.trees, graphs.offsets, 0, n)
        return FixedScores(scores.local, scores.tied)

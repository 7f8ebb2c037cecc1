"""A chain of labels on top of a network, whose outputs are the emissions.

`ChainLayer` has the weights between labels. Given the emissions of any network it
decodes, and returns the loss with its gradients, which the network goes on with. It
knows no framework: emissions and gradients are arrays of NumPy.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skcrf_sdca._utils.typing import Transitions
from skcrf_sdca.structures.chain import decoding, oracle
from skcrf_sdca.structures.chain.constraints import read_constraints
from skcrf_sdca.structures.chain.marginals import edge_ends
from skcrf_sdca.structures.chain.oracle import as_chains
from skcrf_sdca.structures.layer import as_known_labels, as_weight

__all__ = ["ChainLayer", "LayerGradient"]


class LayerGradient(NamedTuple):
    """Gradient of a sum over chains with respect to emissions and weights.

    Parameters
    ----------
    emissions : ndarray of shape (n_positions, n_labels)
    start, end : ndarrays of shape (n_labels,)
    transition : ndarray of shape (n_labels, n_labels)

    Examples
    --------
    >>> import numpy as np
    >>> from skcrf_sdca.structures.chain.layer import ChainLayer
    >>> log_z, gradient = ChainLayer.zeros(2).log_partition(np.zeros((3, 2)), [0, 3])
    >>> gradient.emissions[0].tolist(), float(gradient.transition.sum())
    ([0.5, 0.5], 2.0)
    """

    emissions: NDArray[np.float64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    transition: NDArray[np.float64]


class ChainLayer(NamedTuple):
    """The weights of a linear chain, to be used with emissions of a network.

        score(y) = start[y_0] + sum_t emissions[t, y_t]
                   + sum_t transition[y_t, y_{t + 1}] + end[y_T]

    All methods take the emissions of many sequences end to end, (n_positions,
    n_labels), with sequence i at ``offsets[i]:offsets[i + 1]``; without ``offsets`` the
    rows are one sequence. ``logits[mask]`` of a padded batch has this form. A weight of
    -inf forbids.

    Parameters
    ----------
    start, end : ndarrays of shape (n_labels,)
        Scores of the first and of the last label.
    transition : ndarray of shape (n_labels, n_labels)
        Scores of two labels in a row, [from, to].

    See Also
    --------
    skcrf_sdca.structures.layers.chain_layer :
        A layer without weights of its own, as there are for every structure.
    skcrf_sdca.structures.chain.oracle.typed_span_probabilities :
        Takes what `scores` returns, as the other functions of its module do.

    Examples
    --------
    >>> import numpy as np
    >>> from skcrf_sdca.structures.chain.layer import ChainLayer
    >>> layer = ChainLayer.zeros(3).constrain("BIO", ["B-PER", "I-PER", "O"])
    >>> logits = np.log([[0.2, 0.1, 0.7], [0.1, 0.6, 0.3]])
    >>> logits.argmax(axis=1)
    array([2, 1])
    >>> layer.decode(logits)
    array([2, 2], dtype=int32)
    """

    start: NDArray[np.float64]
    end: NDArray[np.float64]
    transition: NDArray[np.float64]

    @classmethod
    def zeros(cls, n_labels: int) -> Self:
        """Return the layer whose weights are all 0, which joins no labels.

        Parameters
        ----------
        n_labels : int
        """
        return cls(*(np.zeros(s) for s in (n_labels, n_labels, (n_labels, n_labels))))

    @classmethod
    def from_torchcrf(cls, crf: Any) -> Self:
        """Return the weights of a ``torchcrf.CRF``, of the package pytorch-crf.

        Parameters
        ----------
        crf : module
            With ``start_transitions``, ``end_transitions`` and ``transitions``, [from,
            to], on any device.
        """
        names = "start_transitions", "end_transitions", "transitions"
        tensors = (getattr(crf, name).detach().cpu() for name in names)
        return cls(*(np.asarray(tensor.numpy(), np.float64) for tensor in tensors))

    def to_torchcrf(self, crf: Any) -> Any:
        """Write the weights into a ``torchcrf.CRF``, and return it.

        Parameters
        ----------
        crf : module
            Its parameters keep their type and device.
        """
        parameters = crf.start_transitions, crf.end_transitions, crf.transitions
        for parameter, array in zip(parameters, self, strict=True):
            if tuple(parameter.shape) != array.shape:
                raise ValueError(
                    f"crf has parameters of shape {tuple(parameter.shape)} where this "
                    f"layer has {array.shape}: make it with {len(self.start)} labels"
                )
            parameter.data.copy_(parameter.data.new_tensor(array.tolist()))
        return crf

    def constrain(self, transitions: Transitions, labels: list[Any]) -> "ChainLayer":
        """Return the layer that forbids what a scheme, a mask or pairs do not allow.

        Parameters
        ----------
        transitions : str, mask or pairs
            As the parameter of `SDCACRF`, but for "observed" and "open": "BIO",
            "BIOES" ..., a mask (n_labels, n_labels), or pairs of labels.
        labels : list of n_labels labels
            The label of each column of the emissions.

        Raises
        ------
        ValueError, TypeError
            If `transitions` is malformed, or does not fit the labels.
        """
        labels = list(labels)
        classes = np.fromiter(labels, dtype=object, count=len(labels))
        none = np.empty(0, np.int64)
        found = read_constraints(transitions, classes, none, np.zeros(1, np.int64))
        if found is None:
            return self
        return ChainLayer(
            *(
                np.where(allowed, weights, -np.inf)
                for allowed, weights in zip(
                    (found.start, found.end, found.transition), self, strict=True
                )
            )
        )

    def scores(
        self, emissions: ArrayLike, offsets: ArrayLike | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
        """Return node scores, transition scores and offsets, as the oracle takes them.

        Parameters
        ----------
        emissions : array-like of shape (n_positions, n_labels)
            In nats: log probabilities, or logits.
        offsets : array-like of shape (n + 1,), default=None

        Raises
        ------
        ValueError
            If shapes do not agree, a score is NaN or +inf, or offsets are not such.
        """
        chains = as_chains(emissions, self.transition, offsets)
        offsets, node_scores = chains.offsets, chains.node_scores.copy()
        n_labels = node_scores.shape[1]
        if self.start.shape != (n_labels,) or self.end.shape != (n_labels,):
            raise ValueError(
                f"start and end have shapes {self.start.shape} and {self.end.shape}; "
                f"emissions with {n_labels} labels need {(n_labels,)}"
            )
        filled = np.diff(offsets) > 0
        node_scores[offsets[:-1][filled]] += self.start
        node_scores[offsets[1:][filled] - 1] += self.end
        return node_scores, chains.transition, offsets

    def decode(
        self, emissions: ArrayLike, offsets: ArrayLike | None = None
    ) -> NDArray[np.int32]:
        """Return the label sequences of highest score, end to end.

        Parameters
        ----------
        emissions, offsets : as for `scores`
        """
        return oracle.viterbi(*self.scores(emissions, offsets))[0]

    def n_best(
        self, emissions: ArrayLike, offsets: ArrayLike | None = None, *, n: int = 1
    ) -> tuple[list[NDArray[np.int32]], list[NDArray[np.float64]]]:
        """Return the n best label sequences of each, and their scores.

        Parameters
        ----------
        emissions, offsets : as for `scores`
        n : int, default=1

        Returns
        -------
        paths, scores : lists
            As :func:`skcrf_sdca.structures.chain.decoding.n_best`.
        """
        return decoding.n_best(*self.scores(emissions, offsets), n=n)

    def marginals(
        self, emissions: ArrayLike, offsets: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Return the probability of each label at each position.

        Parameters
        ----------
        emissions, offsets : as for `scores`
        """
        return oracle.node_marginals(*self.scores(emissions, offsets))[0]

    def log_partition(
        self,
        emissions: ArrayLike,
        offsets: ArrayLike | None = None,
        *,
        weight: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> tuple[NDArray[np.float64], LayerGradient]:
        """Return log Z of each sequence, and the gradient of their sum.

        Parameters
        ----------
        emissions, offsets : as for `scores`
        weight : array-like of shape (n,), default=None
            Factors of the terms of the sum; ones by default.
        n_jobs : int, default=None
            Threads.

        Returns
        -------
        log_partition : ndarray of shape (n,)
        gradient : LayerGradient
            Of sum_i weight_i log Z_i: the marginals, times the weights.
        """
        node_scores, transition, offsets = self.scores(emissions, offsets)
        weight = as_weight(weight, len(offsets) - 1)
        chains = as_chains(node_scores, transition, offsets, n_jobs=n_jobs)
        node, pairs, log_z = chains.expectations(weight)
        return log_z, _gradient(node, pairs, offsets, weight)

    def negative_log_likelihood(
        self,
        emissions: ArrayLike,
        labels: ArrayLike,
        offsets: ArrayLike | None = None,
        *,
        weight: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> tuple[NDArray[np.float64], LayerGradient]:
        """Return -log p(labels) of each sequence, and the gradient of their sum.

        Parameters
        ----------
        emissions, offsets, weight, n_jobs : as for `log_partition`
        labels : array-like of int of shape (n_positions,)
            The columns of the true labels.

        Returns
        -------
        loss : ndarray of shape (n,)
            inf where the labels are forbidden.
        gradient : LayerGradient
            Of sum_i weight_i loss_i: the marginals less the true labels.

        Raises
        ------
        ValueError
            As `scores`, and if there is not one label, from 0 to n_labels - 1, for each
            position.

        Examples
        --------
        >>> from skcrf_sdca.structures.chain.layer import ChainLayer
        >>> loss, gradient = ChainLayer.zeros(2).negative_log_likelihood(
        ...     [[0.0, 0.0]], [1]
        ... )
        >>> gradient.emissions
        array([[ 0.5, -0.5]])
        """
        node_scores, transition, offsets = self.scores(emissions, offsets)
        weight = as_weight(weight, len(offsets) - 1)
        true = as_known_labels(labels, *node_scores.shape)
        chains = as_chains(node_scores, transition, offsets, n_jobs=n_jobs)
        node, pairs, log_z = chains.expectations(weight)
        scores = chains.path_scores(true)
        loss = np.full(len(scores), np.inf)
        np.subtract(log_z, scores, out=loss, where=scores > -np.inf)
        node[np.arange(len(true)), true] -= 1.0
        to = edge_ends(offsets)
        of_edges = np.repeat(weight, np.diff(offsets))[to]
        np.subtract.at(pairs, (true[to - 1], true[to]), of_edges)
        return np.maximum(loss, 0.0), _gradient(node, pairs, offsets, weight)


def _gradient(node, pairs, offsets, weight):
    """Return the gradient of a weighted sum, given that of each item for its nodes."""
    emissions = node * np.repeat(weight, np.diff(offsets))[:, np.newaxis]
    filled = np.diff(offsets) > 0
    start = emissions[offsets[:-1][filled]].sum(axis=0)
    end = emissions[offsets[1:][filled] - 1].sum(axis=0)
    return LayerGradient(emissions, start, end, pairs)

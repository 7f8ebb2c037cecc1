"""The likelihood of one sequence, by which a service watches what it is given."""

from collections.abc import Iterable
from typing import Any

from skcrf_sdca._utils.words import in_words
from skcrf_sdca.structures.entropy import SHANNON


class LikelihoodMixin:
    """Log Z and log p(y | x) of one sequence.

    A class adds `_scores`, which returns the Scores of one sequence.
    """

    _model: Any
    _served: Any
    _scores: Any

    def _log_linear(self, sequence):
        """Return the Scores of one sequence, whose probabilities have a log Z."""
        if self._model.entropy_index != SHANNON:
            raise ValueError(
                "The model was fitted with a loss that gives most labellings the "
                "probability 0, and has no log Z: take n_best."
            )
        return self._scores(sequence, proba=True)

    def log_partition(self, sequence: Iterable[Any]) -> float:
        """Return log Z of one sequence: of the sum of exp(score(x, y)).

        Parameters
        ----------
        sequence : as for `predict_one`

        Returns
        -------
        log_partition : float
            In nats, as by ``log_partition`` of the estimator; 0 for an empty sequence.

        Raises
        ------
        TypeError, ValueError
            As `marginals`.

        Examples
        --------
        >>> from skcrf_sdca import SDCACRF
        >>> from skcrf_sdca.serving import Predictor
        >>> crf = SDCACRF(random_state=0).fit([[["a"], ["b"]]] * 9, [["B", "I"]] * 9)
        >>> round(Predictor.from_estimator(crf).log_partition([["a"], ["b"]]), 1)
        2.8
        """
        (value,) = self._log_linear(sequence).log_partition().tolist()
        return value

    @in_words(y="labels")
    def log_likelihood(self, sequence: Iterable[Any], labels: Iterable[Any]) -> float:
        """Return log p(y | x) of the labels of one sequence: score(x, y) - log Z.

        Parameters
        ----------
        sequence : as for `predict_one`
        labels : list of T labels
            None where a label is not known: it is log p of those that are. For a parser
            the heads of all words, or the pair (heads, relations), as its estimator
            takes them.

        Returns
        -------
        log_likelihood : float
            In nats, as by ``log_likelihood`` of the estimator: -inf for labels that the
            model does not have, or a forbidden transition.

        Raises
        ------
        TypeError, ValueError
            As `marginals`, and if there are not as many labels as items, or labels are
            of another type. Also if the heads are no tree.

        Examples
        --------
        >>> from skcrf_sdca import SDCACRF
        >>> from skcrf_sdca.serving import Predictor
        >>> crf = SDCACRF(random_state=0).fit([[["a"], ["b"]]] * 9, [["B", "I"]] * 9)
        >>> predictor = Predictor.from_estimator(crf)
        >>> predictor.log_likelihood([["a"]], ["never seen"])
        -inf
        """
        scores = self._log_linear(sequence)
        codes, known = self._served.codes_of(labels, scores)
        (value,) = scores.log_likelihood(codes, known).tolist()
        return value

"""Sequences whose labels are exact samples from a known linear-chain CRF."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from skcrf_sdca._utils.random import as_generator
from skcrf_sdca._utils.typing import RandomState

# Numbers in memory while labels are sampled (32 MiB of doubles).
_BATCH_SIZE = 2**22
# Of transition weights: what underflows is then far below the rounding of the sum.
_LARGEST_SPAN = 600.0


def make_chains(  # noqa: PLR0913 - the options are the interface
    n_sequences: int = 100,
    *,
    n_labels: int = 3,
    n_features: int = 5,
    length: int | tuple[int, int] = (5, 15),
    density: float = 1.0,
    weight_scale: float = 1.0,
    transition_scale: float = 1.0,
    random_state: RandomState = None,
    return_model: bool = False,
    model: Any = None,
) -> Any:
    r"""Generate sequences from a random linear-chain conditional random field.

    Features are independent standard normal variables (those that are not zero, if
    ``density < 1``). Given the features :math:`x` of a sequence of length :math:`T`,
    its labels are an exact sample, by forward filtering and backward sampling, from
    :math:`p(y|x) \propto \exp(\mathrm{score}(x, y))` with

    .. math::

        \mathrm{score}(x, y) = \sum_t \left( x_t^\top \mathrm{coef}_{:, y_t}
        + \mathrm{intercept}_{y_t} \right) + \mathrm{start}_{y_0}
        + \mathrm{end}_{y_{T-1}} + \sum_{t > 0} \mathrm{transition}_{y_{t-1}, y_t}.

    Parameters
    ----------
    n_sequences : int, default=100
        Number of sequences.
    n_labels : int, default=3
        Number of labels K.
    n_features : int, default=5
        Number of features d.
    length : int or tuple (low, high), default=(5, 15)
        Length of every sequence, or the smallest and the largest length, between which
        lengths are uniformly distributed.
    density : float in (0, 1], default=1.0
        Fraction of features that are not zero. Below 1, sequences are sparse.
    weight_scale : float, default=1.0
        Standard deviation of the weights in ``coef``, ``intercept``, ``start`` and
        ``end``.
    transition_scale : float, default=1.0
        Standard deviation of the weights in ``transition``; 0 makes the labels of
        a sequence independent given the features.
    random_state : int, RandomState instance or None, default=None
        Seed of weights, features and labels. Pass an int for reproducible output.
    return_model : bool, default=False
        Whether to return the weights too.
    model : :class:`~sklearn.utils.Bunch`, default=None
        Weights that an earlier call returned, to sample more sequences from the same
        model with another ``random_state``. `n_labels`, `n_features` and the scales are
        then ignored.

    Returns
    -------
    X : list of n_sequences arrays of shape (T, n_features)
        Features: ndarrays, or CSR arrays if ``density < 1``.
    y : list of n_sequences lists of int
        Labels in ``0 .. n_labels - 1``.
    model : :class:`~sklearn.utils.Bunch`
        Only if ``return_model=True``: the weights ``coef`` (n_features, n_labels),
        ``intercept``, ``start``, ``end`` (n_labels,) and ``transition``
        (n_labels, n_labels), which is indexed [from, to].

    Raises
    ------
    ValueError
        If a size or a length is below 1, ``density`` is outside (0, 1], or a scale
        is negative.

    References
    ----------
    Lafferty, McCallum, Pereira, "Conditional random fields: probabilistic models
    for segmenting and labeling sequence data", ICML 2001.

    Examples
    --------
    >>> from skcrf_sdca.datasets import make_chains
    >>> X, y, model = make_chains(4, length=6, random_state=0, return_model=True)
    >>> len(X), X[0].shape, len(y[0])
    (4, (6, 5), 6)
    >>> model.coef.shape, model.transition.shape
    ((5, 3), (3, 3))
    >>> X_test, y_test = make_chains(2, random_state=1, model=model)
    """
    low, high = _length_bounds(length)
    _check_arguments(n_sequences, n_labels, n_features, density)
    rng = as_generator(random_state, bound=2**31 - 1)
    if model is None:
        model = _draw_model(rng, n_labels, n_features, weight_scale, transition_scale)
    n_features = len(model.coef)
    lengths = rng.integers(low, high, size=n_sequences, endpoint=True)
    features = _draw_features(rng, int(lengths.sum()), n_features, density)
    labels = _draw_labels(rng, features @ model.coef, lengths, model)

    ends = np.cumsum(lengths)
    X = [features[end - n : end] for n, end in zip(lengths, ends, strict=True)]
    y = [part.tolist() for part in np.split(labels, ends[:-1])]
    return (X, y, model) if return_model else (X, y)


def _length_bounds(length):
    low, high = (length, length) if np.isscalar(length) else length
    if not 1 <= low <= high:
        raise ValueError(
            f"length must be at least 1, or bounds 1 <= low <= high; got {length!r}."
        )
    return low, high


def _check_arguments(n_sequences, n_labels, n_features, density):
    sizes = {"n_sequences": n_sequences, "n_labels": n_labels, "n_features": n_features}
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} must be at least 1; got {size!r}.")
    if not 0 < density <= 1:
        raise ValueError(f"density must be in (0, 1]; got {density!r}.")


def _draw_model(rng, n_labels, n_features, weight_scale, transition_scale):
    return Bunch(
        coef=rng.normal(scale=weight_scale, size=(n_features, n_labels)),
        intercept=rng.normal(scale=weight_scale, size=n_labels),
        start=rng.normal(scale=weight_scale, size=n_labels),
        end=rng.normal(scale=weight_scale, size=n_labels),
        transition=rng.normal(scale=transition_scale, size=(n_labels, n_labels)),
    )


def _draw_features(rng, n_rows, n_features, density):
    if density == 1:
        return rng.standard_normal((n_rows, n_features))
    n_cells = n_rows * n_features
    cells = rng.choice(
        n_cells, size=round(density * n_cells), replace=False, shuffle=False
    )
    cells.sort()
    rows, columns = np.divmod(cells, n_features)
    values = rng.standard_normal(cells.size)
    return sparse.csr_array(
        (values, (rows, columns)), shape=(n_rows, n_features), dtype=np.float64
    )


def _draw_labels(rng, feature_scores, lengths, model):
    """Sample the concatenated labels of all sequences, in batches of similar length."""
    n_labels = model.intercept.size
    starts = np.cumsum(lengths) - lengths
    labels = np.empty(lengths.sum(), dtype=np.intp)
    cells = lengths.size * n_labels * max(int(lengths.max()), n_labels)
    n_batches = min(lengths.size, -(-cells // _BATCH_SIZE))
    for batch in np.array_split(np.argsort(lengths, kind="stable"), n_batches):
        position = np.arange(lengths[batch].max())
        inside = position < lengths[batch, None]
        rows = (starts[batch, None] + position)[inside]
        scores = np.zeros((*inside.shape, n_labels))
        scores[inside] = feature_scores[rows] + model.intercept
        scores[:, 0] += model.start
        scores[np.arange(batch.size), lengths[batch] - 1] += model.end
        paths = _sample_paths(rng, scores, lengths[batch], model.transition)
        labels[rows] = paths[inside]
    return labels


def _sample_paths(rng, scores, lengths, transition):
    """Sample a label path for each sequence of padded scores (n, T, K)."""
    # forward[t, k] = scores[t, k] + log sum_j exp(forward[t-1, j] + transition[j, k])
    forward = scores.copy()
    for t in range(1, scores.shape[1]):
        forward[:, t] += _log_sums(forward[:, t - 1], transition)

    # p(y_t | y_{t+1}, x) is proportional to exp(forward[t] + transition[:, y_{t+1}])
    paths = np.zeros(scores.shape[:2], dtype=np.intp)
    for t in reversed(range(scores.shape[1])):
        logits = forward[:, t] + rng.gumbel(size=forward[:, t].shape)
        if t + 1 < scores.shape[1]:
            followed = (t + 1 < lengths)[:, None]
            logits += followed * transition[:, paths[:, t + 1]].T
        paths[:, t] = logits.argmax(axis=1)
    return paths


def _log_sums(scores, transition):
    """Return log sum_j exp(scores[:, j] + transition[j, k]) for each k."""
    if np.ptp(transition) > _LARGEST_SPAN:
        return np.logaddexp.reduce(scores[:, :, None] + transition, axis=1)
    rows, top = scores.max(axis=1, keepdims=True), transition.max()
    return rows + top + np.log(np.exp(scores - rows) @ np.exp(transition - top))

"""The frames around each frame of a signal as features of it: ``SequenceWindow``."""

from collections.abc import Iterable
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.sklearn_private import StrOptions, validates_parameters
from skcrf_sdca._utils.typing import Sequences
from skcrf_sdca._utils.words import words
from skcrf_sdca.data.feature_names import FeatureNames, check_same_names
from skcrf_sdca.data.input_formats import check_has_items, cut_table, is_table, not_cut
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.data.sequence_lists import as_sequence_list
from skcrf_sdca.features.frames import NEAREST, ZERO, FrameWindow
from skcrf_sdca.features.transformer import SequenceTransformer

__all__ = ["SequenceWindow"]


class SequenceWindow(SequenceTransformer):
    """Give each frame of a signal the frames before and after it as features.

    A frame is a row of an array, and the arrays are sequences. Frames of one sequence
    are never features of another one. What `Window` does for the words of a text, this
    transformer does for numbers.

    Parameters
    ----------
    places : int or tuple (first, last), default=2
        First and last place of the window, relative to the frame; k stands for
        (-k, k). (-4, 0) uses no frame of the future.
    differences : bool, default=False
        Whether each frame also has its differences from the frame before it, 0 in the
        first frame.
    span : int or tuple (first, last), default=None
        Places over which the running mean and the standard deviation of each feature
        are taken too, of those that are in the sequence. None for neither.
    padding : {"nearest", "zero"}, default="nearest"
        What stands at places of the window outside of the sequence: its first or last
        frame, or zeros.

    Attributes
    ----------
    n_features_in_, n_features_out_ : int
        Number of features of a frame before and after the transformation.

    See Also
    --------
    skcrf_sdca.PerToken : Applies a transformer of scikit-learn to all frames.
    skcrf_sdca.text.Window : The same for the columns of a text.

    Notes
    -----
    The output is one array, since the solvers read the features of a frame from
    contiguous memory: a window of w places takes w times the memory of X. float32
    stays float32, and sparse rows stay sparse. Means and deviations are summed in
    double precision; they need dense rows.

    The differences are sums of features that a window has already. They change what
    the penalty of the weights prefers, and not what a model can express. Deviations add
    what a linear model lacks.

    Examples
    --------
    >>> import numpy as np
    >>> from skcrf_sdca.features import SequenceWindow
    >>> X = [np.array([[1.0], [2.0], [4.0]]), np.array([[8.0]])]
    >>> window = SequenceWindow(1, span=1)
    >>> for rows in window.fit_transform(X):
    ...     print(rows.round(1).tolist())
    [[1.0, 1.0, 2.0, 1.5, 0.5], [1.0, 2.0, 4.0, 2.3, 1.2], [2.0, 4.0, 4.0, 3.0, 1.0]]
    [[8.0, 8.0, 8.0, 8.0, 0.0]]
    >>> window.get_feature_names_out().tolist()
    ['x0[-1]', 'x0[0]', 'x0[1]', 'mean(x0[-1:1])', 'std(x0[-1:1])']

    With a scaler in front, in a pipeline:

    >>> from sklearn.preprocessing import StandardScaler
    >>> from skcrf_sdca import CRF, PerToken, make_tagger
    >>> y = [["rest", "rest", "walk"], ["walk"]]
    >>> scaler = PerToken(StandardScaler())
    >>> tagger = make_tagger(scaler, SequenceWindow((-1, 0)), CRF(random_state=0))
    >>> tagger.fit(X, y).predict(X).tolist()
    [['rest', 'rest', 'walk'], ['walk']]
    """

    _parameter_constraints = {
        "places": "no_validation",
        "differences": ["boolean"],
        "span": "no_validation",
        "padding": [StrOptions({NEAREST, ZERO})],
    }

    n_features_in_: int
    n_features_out_: int

    def __init__(
        self,
        places: int | tuple[int, int] = 2,
        *,
        differences: bool = False,
        span: int | tuple[int, int] | None = None,
        padding: Literal["nearest", "zero"] = NEAREST,
    ) -> None:
        self.places = places
        self.differences = differences
        self.span = span
        self.padding = padding

    @validates_parameters
    def fit(
        self, X: Sequences, y: object = None, lengths: ArrayLike | None = None
    ) -> Self:
        """Check the parameters, and learn the number and the names of the features.

        Parameters
        ----------
        X : iterable of sequences
            PackedSequences; or sequences that are 2-D arrays, sparse matrices or data
            frames with a row for each frame; or, with `lengths`, one table.
        y : None
            Ignored.
        lengths : array-like of int of shape (n,), default=None
            If X is one table, the number of rows of each sequence in it.

        Returns
        -------
        self : SequenceWindow

        Raises
        ------
        TypeError, ValueError
            If X is not of this form, has no frames, is a table without `lengths`, or is
            sparse where there is a span; or if a parameter is wrong.
        """
        packed = self._packed(X, lengths)
        check_has_items(len(packed), packed.n_positions)
        n_features_out = self._window().n_blocks * packed.n_features
        if self.span is not None:
            _check_dense(packed)
        names = packed.feature_names
        self.n_features_in_ = packed.n_features
        self.n_features_out_ = n_features_out
        self._feature_names = None if names is None else names.compact()
        return self

    def fit_transform(
        self, X: Sequences, y: object = None, lengths: ArrayLike | None = None
    ) -> Any:
        """Fit, and return what `transform` returns.

        Parameters
        ----------
        X, y, lengths : as for `fit`

        Returns
        -------
        PackedSequences or ndarray

        Raises
        ------
        TypeError, ValueError
            As `fit`.
        """
        # A generator can be read only once.
        X = as_sequence_list(X)
        return self.fit(X, y, lengths).transform(X, lengths)

    def transform(self, X: Sequences, lengths: ArrayLike | None = None) -> Any:
        """Return the features of the window of each frame.

        Parameters
        ----------
        X, lengths : as for `fit`
            X may be empty.

        Returns
        -------
        PackedSequences or ndarray
            With `n_features_out_` features. With `lengths` it is one table, of the same
            rows as X.

        Raises
        ------
        TypeError, ValueError
            As `fit`, or if X has another number of features, or other names of them.
        """
        check_is_fitted(self)
        packed = self._packed(X, lengths, n_features=self.n_features_in_)
        self._check_features(packed)
        rows = self._rows(packed)
        if lengths is not None:
            return rows
        arguments = self._window().patterns(), self._names_in(packed.feature_names)
        names = FeatureNames(self.n_features_out_, _names_out, *arguments)
        return PackedSequences(rows, packed.offsets, feature_names=names)

    def get_feature_names_out(
        self, input_features: Iterable[str] | None = None
    ) -> NDArray[np.object_]:
        """Return the names of the features.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the input features; by default those of the X of `fit`, or "x0",
            "x1" and so on.

        Returns
        -------
        names : ndarray of object of shape (n_features_out_,)
            "x0[-1]" is feature "x0" of the frame before, "x0[0]-x0[-1]" the difference
            from it, and "mean(x0[-5:5])" a mean over eleven frames.

        Raises
        ------
        ValueError
            If there are not `n_features_in_` names.
        """
        check_is_fitted(self)
        names = self._names_in(input_features)
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"input_features has {len(names)} names, but fit had "
                f"{self.n_features_in_} features."
            )
        return np.array(_names_out(self._window().patterns(), names), dtype=object)

    def _names_in(self, given):
        """Return the names of the input features, numbered if there are none."""
        names = self._feature_names if given is None else given
        if names is None:
            return [f"x{j}" for j in range(self.n_features_in_)]
        return names if isinstance(names, FeatureNames) else list(names)

    def _packed(self, X, lengths, n_features=None):
        """Return X as PackedSequences."""
        if lengths is not None:
            return cut_table(X, lengths)
        X = as_sequence_list(X)
        if isinstance(X, PackedSequences):
            return X
        if is_table(X):
            raise not_cut()
        return PackedSequences.from_sequences(X, n_features=n_features)

    def _check_features(self, packed):
        if packed.n_features != self.n_features_in_:
            raise ValueError(
                f"{words().X} has {packed.n_features} features, but SequenceWindow is "
                f"expecting {self.n_features_in_} features as input."
            )
        check_same_names(packed.feature_names, self._feature_names)

    def _rows(self, packed):
        """Return the features of packed rows, in their precision."""
        window = self._window()
        if packed.is_sparse:
            if window.span is not None:
                _check_dense(packed)
            blocks = window.blocks(packed.X, packed.offsets)
            return sp.hstack(list(blocks), format="csr")
        return window.rows(packed.X, packed.offsets)

    def _window(self):
        """Return the window of the parameters, which are checked."""
        return FrameWindow.of(**self.get_params())


def _names_out(patterns, names):
    return [pattern.format(name) for pattern in patterns for name in names]


def _check_dense(packed):
    if packed.is_sparse:
        raise ValueError(
            f"span needs dense rows, and {words().X} is sparse: the means of its rows "
            "are not; set span=None, or pass arrays"
        )

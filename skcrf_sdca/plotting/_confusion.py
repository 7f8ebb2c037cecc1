"""ConfusionDisplay: true against predicted labels, or types of spans.

Owns the names of rows and columns and the size of the figure. skcrf_sdca.metrics makes
the matrix, scikit-learn's ConfusionMatrixDisplay draws it.
"""

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import ConfusionMatrixDisplay

from skcrf_sdca._utils.given_estimators import check_tagger
from skcrf_sdca._utils.typing import Labels, Normalize, Sequences, SpanScheme
from skcrf_sdca.data.label_names import named_lists
from skcrf_sdca.metrics._confusion import span_confusion, token_confusion

from ._shared import new_axes, rotation_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

# The row of spurious spans, which are no true ones, and the column of missed spans.
NO_SPAN = "no span"


class ConfusionDisplay(ConfusionMatrixDisplay):
    """A confusion matrix of tokens or of spans, drawn by scikit-learn.

    Make it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    confusion_matrix : ndarray of shape (n, n)
        As from :func:`skcrf_sdca.metrics.flat_confusion_matrix` or
        :func:`skcrf_sdca.metrics.span_confusion_matrix`.
    display_labels : array-like of length n, default=None
        Names of the rows and columns; by default numbers.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    im_ : matplotlib AxesImage
    text_ : ndarray of shape (n, n), of matplotlib Text, or None
        The values in the cells; None if they are not written.

    See Also
    --------
    sklearn.metrics.ConfusionMatrixDisplay : The same for tables with one label a row.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skcrf_sdca.plotting import ConfusionDisplay
    >>> y_true = [["B-PER", "I-PER", "O", "B-LOC"], ["B-LOC"]]
    >>> y_pred = [["B-PER", "O", "O", "B-PER"], ["B-LOC"]]
    >>> display = ConfusionDisplay.from_predictions(y_true, y_pred, scheme="BIO")
    >>> display.display_labels
    ['LOC', 'PER', 'no span']
    >>> display.confusion_matrix
    array([[1, 1, 0],
           [0, 0, 1],
           [0, 1, 0]])
    >>> plt.close(display.figure_)
    """

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Sequences,
        y: Labels,
        *,
        scheme: SpanScheme | None = None,
        **options: Any,
    ) -> Self:
        """Draw the confusion matrix of what a fitted estimator predicts.

        Parameters
        ----------
        estimator : fitted estimator, Pipeline or search
            With ``predict``, which returns label lists.
        X, y : as in the ``fit`` of the estimator
            With a label list for each sequence.
        scheme : str, default=None
            As in `from_predictions`. With a scheme, labels that are ids are read by the
            ``label_names`` of the estimator.
        **options
            The other parameters of `from_predictions`, such as `labels`.

        Returns
        -------
        display : ConfusionDisplay

        Raises
        ------
        ValueError, TypeError
            As `from_predictions`, and what ``predict`` raises.
        """
        check_tagger(estimator, "predict")
        pair = y, estimator.predict(X)
        if scheme is not None:
            pair = tuple(named_lists(estimator, labelled) for labelled in pair)
        return cls.from_predictions(*pair, scheme=scheme, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: Labels,
        y_pred: Labels,
        *,
        scheme: SpanScheme | None = None,
        strict: bool = False,
        labels: Iterable[Hashable] | None = None,
        sample_weight: ArrayLike | None = None,
        normalize: Normalize = None,
        **options: Any,
    ) -> Self:
        """Draw the confusion matrix of true and predicted labels.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n,), of label lists of shape (T_i,)
            True and predicted labels.
        scheme : {"BIO", "IOB2", "IOB1", "BIOES", "BILOU"}, default=None
            Compare spans of this scheme. "no span" is the row of spurious spans and the
            column of missed ones, see `span_confusion_matrix`. By default the labels of
            tokens are compared.
        strict : bool, default=False
            Whether to ignore spans that are invalid in the scheme.
        labels : list, default=None
            Labels, or with a scheme types of spans, in this order; by default all that
            occur, sorted.
        sample_weight : array-like of shape (n,), default=None
            Weight of each sequence.
        normalize : {"true", "pred", "all"}, default=None
            Divide each row ("true") or each column ("pred") by its sum, or all by the
            sum of all. By default counts.
        **options
            Passed on to `plot`.

        Returns
        -------
        display : ConfusionDisplay

        Raises
        ------
        ValueError, TypeError
            As `flat_confusion_matrix`, or with a scheme `span_confusion_matrix`; also
            ValueError if there is nothing to draw.
        """
        common = {"sample_weight": sample_weight, "normalize": normalize}
        if scheme is None:
            matrix, names = token_confusion(y_true, y_pred, labels, **common)
        else:
            given = {"scheme": scheme, "strict": strict, "types": labels}
            matrix, names = span_confusion(y_true, y_pred, **given, **common)
            names = [*names, NO_SPAN]
        if not names:
            raise ValueError("y_true has no labels: there is nothing to draw.")
        return cls(matrix, display_labels=names).plot(**options)

    def plot(
        self,
        *,
        cmap: "str | Colormap" = "Blues",
        values_format: str | None = None,
        xticks_rotation: str | float | None = None,
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Draw the matrix: true labels are rows, predicted ones columns.

        Parameters
        ----------
        cmap : str or matplotlib Colormap, default="Blues"
        values_format : str, default=None
            Format of the values in the cells; by default ".2f" for shares and weights.
        xticks_rotation : {"vertical", "horizontal"} or float, default=None
            Rotation of the names of columns; by default vertical if they are long.
        ax : matplotlib Axes, default=None
            By default the axes of a new figure, whose size depends on the number of
            labels.
        **options
            The other parameters of :class:`sklearn.metrics.ConfusionMatrixDisplay`'s
            ``plot``: `include_values`, `colorbar`, `im_kw` and `text_kw`.

        Returns
        -------
        display : ConfusionDisplay
        """
        matrix = np.asarray(self.confusion_matrix)
        names = self.display_labels
        if xticks_rotation is None:
            columns = range(len(matrix)) if names is None else names
            xticks_rotation = rotation_of(list(map(str, columns)))
        if values_format is None and matrix.dtype.kind == "f":
            values_format = ".2f"
        return super().plot(
            cmap=cmap,
            values_format=values_format,
            xticks_rotation=xticks_rotation,
            ax=new_axes(ax, side=2.2 + 0.48 * len(matrix)),
            **options,
        )

"""What a pipeline does to rows of numbers before its CRF, with NumPy alone."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca.features.frames import NEAREST, ZERO, FrameWindow
from skcrf_sdca.persistence._entries import checked_window
from skcrf_sdca.persistence._fields import ModelFormatError
from skcrf_sdca.persistence._scaler_entries import (
    IMPUTER,
    Transformer,
    checked_per_token,
)
from skcrf_sdca.serving._rows import RowTagger

# The operations of each scaler in their order: the column, and the parameter without
# which there is none.
RULES: dict[str, list[tuple[np.ufunc, str, str | None]]] = {
    "StandardScaler": [
        (np.subtract, "mean", "with_mean"),
        (np.divide, "scale", "with_std"),
    ],
    "MinMaxScaler": [(np.multiply, "scale", None), (np.add, "min", None)],
    "RobustScaler": [
        (np.subtract, "center", "with_centering"),
        (np.divide, "scale", "with_scaling"),
    ],
    "MaxAbsScaler": [(np.divide, "scale", None)],
    IMPUTER: [],
}
# The bounds of scalers with `clip`, if no parameter says them.
BOUNDS = {"MinMaxScaler": (0, 1), "MaxAbsScaler": (-1, 1)}


class RowSteps(NamedTuple):
    """The steps before a CRF: transformers, and a window or None."""

    n_features_in: int
    n_features_out: int
    transformers: list[Transformer]
    window: FrameWindow | None

    def rows(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return what the steps make of the rows of one sequence."""
        for transformer in self.transformers:
            make = _filled if transformer.name == IMPUTER else _scaled
            rows = make(transformer, rows)
        if self.window is None:
            return rows
        return self.window.rows(rows, np.array([0, len(rows)]))


class StepTagger(RowTagger):
    """The weights of a chain, for rows that steps change first."""

    def __init__(self, steps: RowSteps, *of_rows: Any) -> None:
        super().__init__(*of_rows)
        self._steps = steps

    def rows(self, sequence: Any) -> Any:
        """Return the rows of a sequence as the kernels take them."""
        if hasattr(sequence, "tocsr"):
            raise TypeError(
                "sequence is sparse, and the steps of the model before its CRF take an "
                "array here: pass sequence.toarray(), or use load_model"
            )
        rows = self._dense(sequence)
        if not len(rows):
            return np.empty((0, self._n_features))
        if rows.shape[1] != self._steps.n_features_in:
            raise ValueError(
                f"sequence has {rows.shape[1]} features, but the model "
                f"{self._steps.n_features_in}"
            )
        # A scaler that clips would hide it.
        if np.isinf(rows).any():
            raise ValueError("sequence has infinity")
        return super().rows(self._steps.rows(rows))


def steps_from(scaler: Any, window: Any, n_features: int) -> RowSteps | None:
    """Return the steps of the entries of a PerToken and a window, which may be None.

    They must return ``n_features`` features.
    """
    if scaler is None and window is None:
        return None
    transformers, around = [] if scaler is None else checked_per_token(scaler), None
    for transformer in transformers:
        _check_missing(transformer)
    widths = [(t.n_features_in, t.n_features_out) for t in transformers]
    if window is not None:
        width, _ = checked_window(window)
        around = _window_from(window)
        widths.append((width, around.n_blocks * width))
    taken = [*(n for n, _ in widths[1:]), n_features]
    if [n for _, n in widths] != taken:
        raise ModelFormatError(
            "the steps of the pipeline have other numbers of features than the CRF"
        )
    return RowSteps(widths[0][0], n_features, transformers, around)


def _window_from(entry):
    parameters = entry["parameters"]
    is_bool = type(parameters.get("differences", False)) is bool
    if not is_bool or parameters.get("padding", NEAREST) not in (NEAREST, ZERO):
        raise ModelFormatError("window: differences or padding has a wrong value")
    return FrameWindow.of(**parameters)


def _check_missing(transformer):
    """Raise ModelFormatError if what an imputer looks for is no number."""
    missing = transformer.parameters.get("missing_values", np.nan)
    if type(missing) not in (int, float):
        raise ModelFormatError(f"{IMPUTER}: missing_values must be a number")


def _rules(transformer):
    given = transformer.parameters
    return [
        (operation, name)
        for operation, name, switch in RULES[transformer.name]
        if switch is None or given.get(switch, True)
    ]


def _scaled(transformer, rows):
    """Return what a scaler makes of rows, in their precision."""
    rows, name = rows.copy(), transformer.name
    for operation, column in _rules(transformer):
        numbers = transformer.columns[column]
        if name == "StandardScaler":
            # The numbers of the others keep theirs.
            numbers = numbers.astype(rows.dtype)
        operation(rows, numbers, out=rows)
    if transformer.parameters.get("clip"):
        bounds = transformer.parameters.get("feature_range", BOUNDS[name])
        np.clip(rows, *bounds, out=rows)
    return rows


def _filled(transformer, rows):
    """Return what an imputer makes of rows: filled values, and indicators."""
    missing = transformer.parameters.get("missing_values", np.nan)
    is_missing = np.isnan(rows) if np.isnan(missing) else rows == missing
    kept = transformer.kept
    values = transformer.columns["statistics"][kept]
    values = values.astype(transformer.dtype).astype(rows.dtype)
    filled = np.where(is_missing[:, kept], values, rows[:, kept])
    indicators = is_missing[:, transformer.indicators or []]
    return np.hstack([filled, indicators.astype(rows.dtype)])

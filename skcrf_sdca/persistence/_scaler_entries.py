"""The entries of a PerToken of known transformers: checks with NumPy alone.

`skcrf_sdca.load_model` and `skcrf_sdca.serving` read them by these.
"""

import math
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca.persistence._entries import NAMES_OR_NONE, checked_names
from skcrf_sdca.persistence._fields import ModelFormatError, fields
from skcrf_sdca.persistence._values import DTYPES, NOT_FINITE, history_from

# How many rows a scaler has seen of each column, which its rule does not use.
N_SEEN = "n_samples_seen"
ALWAYS: tuple[str, ...] = ()
IMPUTER = "SimpleImputer"
# What each transformer learns: numbers of each column, by the names of the attributes
# without the underscore, and the parameters one of which must be true for it.
COLUMNS: dict[str, dict[str, tuple[str, ...]]] = {
    "StandardScaler": {
        "mean": ("with_mean", "with_std"),
        "var": ("with_std",),
        "scale": ("with_std",),
        N_SEEN: ALWAYS,
    },
    "MinMaxScaler": dict.fromkeys(
        ("min", "scale", "data_min", "data_max", "data_range", N_SEEN), ALWAYS
    ),
    "RobustScaler": {"center": ("with_centering",), "scale": ("with_scaling",)},
    "MaxAbsScaler": dict.fromkeys(("max_abs", "scale", N_SEEN), ALWAYS),
    IMPUTER: {"statistics": ALWAYS},
}
# The entries, with their types: of a transformer,
TRANSFORMER = {
    "type": str,
    "parameters": dict,
    "dtype": str,
    "columns": dict,
    "indicators": NAMES_OR_NONE,
}
# and of the PerToken; the names are those of the steps of a pipeline, null for none.
PER_TOKEN = {
    "type": str,
    "names": NAMES_OR_NONE,
    "feature_names": NAMES_OR_NONE,
    "steps": list,
}


class Transformer(NamedTuple):
    """A fitted transformer: its rule, and numbers of each column."""

    name: str
    parameters: dict[str, Any]
    dtype: type
    columns: dict[str, NDArray[Any]]
    indicators: list[int] | None

    @classmethod
    def of(cls, entry: Any) -> Self:
        """Return the transformer of an entry, or raise ModelFormatError."""
        fields(entry, "a step of PerToken", TRANSFORMER)
        name, dtype, indicators = entry["type"], entry["dtype"], entry["indicators"]
        if name not in COLUMNS:
            raise ModelFormatError(f"PerToken: it may have no {name!r:.40}")
        if dtype not in DTYPES:
            raise ModelFormatError(f"{name}: dtype must be one of {list(DTYPES)}")
        columns = history_from(entry["columns"], f"{name}: columns")
        own = stated_parameters(entry["parameters"])
        expected = [
            column
            for column, switches in COLUMNS[name].items()
            if not switches or any(own.get(switch, True) for switch in switches)
        ]
        if not columns or columns.keys() != {*expected}:
            raise ModelFormatError(f"{name}: columns must be {expected}, and not empty")
        if (indicators is not None) != bool(own.get("add_indicator", False)):
            raise ModelFormatError(f"{name}: indicators are of add_indicator=True")
        n_features = len(next(iter(columns.values())))
        if indicators is not None and (
            set(map(type, indicators)) - {int}
            or sorted({*indicators} & {*range(n_features)}) != indicators
        ):
            raise ModelFormatError(
                f"{name}: indicators must be numbers of columns, which ascend"
            )
        return cls(name, own, DTYPES[dtype], columns, indicators)

    @property
    def n_features_in(self) -> int:
        """How many columns it takes."""
        return len(next(iter(self.columns.values())))

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Which columns it keeps: an imputer leaves out those without a value."""
        if self.name != IMPUTER or self.parameters.get("keep_empty_features"):
            return np.ones(self.n_features_in, dtype=bool)
        return ~np.isnan(self.columns["statistics"])

    @property
    def n_features_out(self) -> int:
        """How many columns it returns."""
        return int(self.kept.sum()) + len(self.indicators or ())


def checked_per_token(entry: Any) -> list[Transformer]:
    """Return the transformers of the entry of a PerToken, one after another."""
    fields(entry, "PerToken", PER_TOKEN)
    steps, names = list(map(Transformer.of, entry["steps"])), entry["names"]
    expected = len(steps) if names is None else len(set(map(str, names)))
    is_str = names is None or set(map(type, names)) <= {str}
    n_names = 1 if names is None else len(names)
    if not steps or not is_str or not len(steps) == expected == n_names:
        raise ModelFormatError(
            "PerToken: names must be a different name of each step, or null of one step"
        )
    for step, after in pairwise(steps):
        if step.n_features_out != after.n_features_in:
            raise ModelFormatError(
                f"PerToken: its {step.name} returns {step.n_features_out} columns, but "
                f"the {after.name} takes {after.n_features_in}"
            )
    checked_names("PerToken", entry["feature_names"], steps[0].n_features_in)
    return steps


def plain_numbers(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return plain parameters without numbers that JSON lacks, which become str."""
    return {
        name: value if type(value) is not float or math.isfinite(value) else str(value)
        for name, value in parameters.items()
    }


def stated_parameters(plain: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of `plain_numbers`, with pairs as tuples."""
    return {name: _stated(value) for name, value in plain.items()}


def _stated(value):
    if type(value) is list:
        return tuple(value)
    return float(value) if value in NOT_FINITE else value

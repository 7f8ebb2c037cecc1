"""Converts a PerToken of known transformers to entries of the document, and back.

A file holds what scikit-learn's transformers learnt as one number for each column.
The object is made by a fit of the installed version, and then gets these numbers.
"""

import numpy as np
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca.features.per_token import PerToken
from skcrf_sdca.persistence._scaler_entries import (
    COLUMNS,
    N_SEEN,
    checked_per_token,
    plain_numbers,
)
from skcrf_sdca.persistence._values import lists_of, plain_parameters, with_parameters

TRANSFORMERS = {
    cls.__name__: cls
    for cls in (StandardScaler, MinMaxScaler, RobustScaler, MaxAbsScaler, SimpleImputer)
}


def describe_per_token(per_token):
    """Return the entries of a fitted PerToken, and no arrays."""
    check_is_fitted(per_token)
    fitted = per_token.transformer_
    names, steps = None, [fitted]
    if type(fitted) is Pipeline:
        if fitted.memory is not None or fitted.transform_input is not None:
            raise TypeError(
                "the parameters memory and transform_input of the pipeline in a "
                "PerToken cannot be saved so: set them to None."
            )
        names, steps = map(list, zip(*fitted.steps, strict=True))
    columns = getattr(per_token, "feature_names_in_", None)
    model = {
        "type": "PerToken",
        "names": names,
        "feature_names": None if columns is None else list(columns),
        "steps": [_describe_transformer(step) for step in steps],
    }
    rebuild_per_token(model)
    return model, {}


def _describe_transformer(transformer):
    name = type(transformer).__name__
    if TRANSFORMERS.get(name) is not type(transformer):
        raise TypeError(
            f"a PerToken can be saved so if it is of a {', '.join(TRANSFORMERS)}, or "
            f"of a pipeline of these; this is a {name}. Use joblib."
        )
    learnt = _learnt(transformer)
    if not learnt.keys() - {N_SEEN}:
        raise TypeError(
            f"the {name} in a PerToken changes nothing with its parameters: leave it "
            "out, or use joblib."
        )
    # What an imputer fills in has the type of the rows of its fit.
    filled = getattr(transformer, "_fill_dtype", None)
    dtypes = (
        {column.dtype for column in learnt.values()} if filled is None else {filled}
    )
    if not {dtype.kind for dtype in dtypes} <= set("iuf"):
        raise TypeError(
            f"the {name} in a PerToken was fitted on {filled}: fit it on numbers, or "
            "use joblib."
        )
    indicator = getattr(transformer, "indicator_", None)
    # Without the defaults: other versions of scikit-learn have other parameters.
    defaults = type(transformer)().get_params()
    given = {n: v for n, v in transformer.get_params().items() if v != defaults[n]}
    parameters = plain_parameters(given)
    return {
        "type": name,
        "parameters": plain_numbers(parameters),
        "dtype": "float32" if np.dtype(np.float32) in dtypes else "float64",
        "columns": lists_of(learnt),
        "indicators": None if indicator is None else indicator.features_.tolist(),
    }


def _learnt(transformer):
    """Return the arrays of a number for each column that a fit learnt, by their names.

    Of some, such as the means without centring, there are none.
    """
    names = COLUMNS[type(transformer).__name__]
    found = {name: getattr(transformer, f"{name}_") for name in names}
    shape = (transformer.n_features_in_,)
    return {
        name: np.broadcast_to(column, shape)
        for name, column in found.items()
        if column is not None
    }


def rebuild_per_token(model, array=None):
    """Return the PerToken that entries describe."""
    known = checked_per_token(model)
    steps = list(map(_rebuild_transformer, known))
    if (columns := model["feature_names"]) is not None:
        steps[0].feature_names_in_ = np.array(columns, dtype=object)
    names = model["names"]
    fitted = (
        steps[0] if names is None else Pipeline(list(zip(names, steps, strict=True)))
    )
    per_token = PerToken(clone(fitted))
    per_token.transformer_ = fitted
    per_token.n_features_out_ = known[-1].n_features_out
    return per_token


def _rebuild_transformer(known):
    """Return the scikit-learn object of a Transformer.

    A fit on one row makes what an object of the installed version has beside the
    numbers that the file has.
    """
    transformer = with_parameters(TRANSFORMERS[known.name], known.parameters)
    is_missing = known.parameters.get("missing_values") == 0
    row = np.full((1, known.n_features_in), float(is_missing), dtype=known.dtype)
    transformer.fit(row)
    made = _learnt(transformer)
    for name, column in known.columns.items():
        column = column.astype(made[name].dtype)
        if name == N_SEEN and not np.ptp(column):
            column = column[0]
        setattr(transformer, f"{name}_", column)
    if known.indicators is not None:
        transformer.indicator_.features_ = np.array(known.indicators, dtype=np.intp)
    return transformer

"""Constructors of estimators, made of their annotated attributes."""

from dataclasses import dataclass, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(eq_default=False)
def constructed(cls: type[T], *, kw_only: bool = False) -> type[T]:
    """Give a class the constructor that stores its annotated attributes.

    Parameters
    ----------
    cls : type
    kw_only : bool, default=False
        Whether all of them are passed by name, unless a field says otherwise.

    Returns
    -------
    cls : type
        The same.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from skcrf_sdca._utils.constructors import constructed
    >>> @constructed
    ... class Bag(BaseEstimator):
    ...     estimator: object
    ...     n_estimators: int = 10
    >>> Bag("crf").get_params()
    {'estimator': 'crf', 'n_estimators': 10}
    """
    made: Any = dataclass(eq=False, repr=False, match_args=False, kw_only=kw_only)(cls)
    for own in fields(made):
        # A parameter is an attribute of an estimator, and not of its class.
        if own.init and own.name in vars(cls):
            delattr(cls, own.name)
    return made

"""The estimators that have a structure, by their names in files, and `register`."""

from typing import Any

from skcrf_sdca.estimators.crfs import CRF, ESTIMATORS
from skcrf_sdca.estimators.dependencies import DependencyCRF
from skcrf_sdca.estimators.graphs import GraphCRF, TreeCRF
from skcrf_sdca.estimators.online import PassiveAggressiveCRF
from skcrf_sdca.estimators.segments import SegmentCRF
from skcrf_sdca.structures.registry import STRUCTURES

__all__ = ["register"]


def type_name(cls):
    """Return how files name a type; "CRF" is that of skcrf_sdca.compat."""
    return "skcrf_sdca.CRF" if cls is CRF else cls.__name__


_OWN = (*ESTIMATORS, PassiveAggressiveCRF, SegmentCRF, GraphCRF, TreeCRF, DependencyCRF)
CRFS = {type_name(cls): cls for cls in _OWN}
_NAMES_OF_PACKAGE = {*STRUCTURES, *CRFS}


def how_to_register(name):
    """Return what makes an estimator known to files, the end of a message."""
    return (
        f"call skcrf_sdca.persistence.register(structure, {name}) first, in each "
        "process that saves or loads such models"
    )


def register(structure: type[Any], estimator: type[Any]) -> None:
    """Make a structure and its estimator known to fits, model files and pipelines.

    It holds in this process: call it where the classes are imported, so that
    `load_model` knows them too. A later call replaces classes of the same name, but
    not those of the package.

    Parameters
    ----------
    structure : type
        A subclass of ``structures.structure.Structure``, with a ``name``; or one of the
        package, for an estimator that has another penalty or parameters of its own.
    estimator : type
        A subclass of ``estimators.base.BaseFit``, whose ``_structure`` is this name.
        Its own name is that of its files.

    Raises
    ------
    ValueError
        If the estimator has another structure, or a name is one of the package.

    Examples
    --------
    >>> from skcrf_sdca import LBFGSCRF
    >>> from skcrf_sdca.persistence import register
    >>> from skcrf_sdca.structures.chain.structure import Chain
    >>> register(Chain, LBFGSCRF)
    Traceback (most recent call last):
    ...
    ValueError: the package has a 'LBFGSCRF' of its own; take another name
    """
    own = getattr(estimator, "_structure", None)
    if own != structure.name:
        raise ValueError(
            f"{estimator.__name__} has _structure={own!r}, and the "
            f"structure is named {structure.name!r}; give both the same name"
        )
    name = type_name(estimator)
    for new, is_known in ((own, STRUCTURES.get(own) is structure), (name, False)):
        if new in _NAMES_OF_PACKAGE and not is_known:
            raise ValueError(f"the package has a {new!r} of its own; take another name")
    STRUCTURES[structure.name] = structure
    CRFS[name] = estimator

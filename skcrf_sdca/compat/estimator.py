"""The class of ``sklearn_crfsuite.estimator``, by whose name pickles find it."""

from skcrf_sdca.compat._crf import CRF

__all__ = ["CRF"]

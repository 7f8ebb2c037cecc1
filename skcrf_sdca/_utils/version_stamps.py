"""The version of the package in pickles of its estimators.

scikit-learn stores its version in pickles of its own estimators only. Without this
mixin, any version of this package would read any pickle, and might predict wrongly
without a warning.
"""

import re
import warnings

from sklearn import exceptions

from skcrf_sdca._version import __version__

STAMP = "_skcrf_sdca_version"


class InconsistentVersionWarning(exceptions.InconsistentVersionWarning):
    """A pickle was written by another version of skcrf_sdca.

    Parameters
    ----------
    estimator_name : str
        Class of the estimator. Both parameters are also attributes.
    original_version : str
        Version of the package that wrote the pickle, "unknown" if it is not stored.

    Examples
    --------
    >>> import warnings
    >>> from skcrf_sdca.persistence import InconsistentVersionWarning
    >>> warnings.simplefilter("error", InconsistentVersionWarning)   # refuse these
    """

    def __init__(self, estimator_name: str, original_version: str) -> None:
        self.estimator_name = estimator_name
        self.original_version = original_version

    def __str__(self):
        """Return the message."""
        return (
            f"{self.estimator_name} was pickled by skcrf_sdca {self.original_version} "
            f"and is loaded by {__version__}: its answers may differ. Fit it again, or "
            "keep models as save_model writes them, which later versions read."
        )


class VersionStamped:
    """Mixin that stores the version of the package in the state of an estimator."""

    def __getstate__(self):
        """Return the attributes and the version."""
        return {**super().__getstate__(), STAMP: __version__}

    def __setstate__(self, state):
        """Set the attributes, if this version can read them.

        Raises
        ------
        ValueError
            If a newer major version wrote them, or the stamp is not a version.

        Warns
        -----
        InconsistentVersionWarning
            If another minor version wrote them.
        """
        state = dict(state)
        _check_version(type(self).__name__, state.pop(STAMP, None))
        super().__setstate__(state)


def _check_version(name, written_by):
    ours = _major_minor(__version__)
    theirs = None if written_by is None else _major_minor(written_by)
    if theirs is not None and theirs[0] > ours[0]:
        raise ValueError(
            f"{name} was pickled by skcrf_sdca {written_by}, which is newer than this "
            f"version, {__version__}: update skcrf_sdca to load it."
        )
    if theirs != ours:
        warnings.warn(
            InconsistentVersionWarning(name, written_by or "unknown"), stacklevel=3
        )


def _major_minor(version):
    found = re.match(r"(\d{1,9})\.(\d{1,9})\b", str(version))
    if found is None:
        raise ValueError(f"{version!r:.40} is not a version of skcrf_sdca.")
    return int(found[1]), int(found[2])

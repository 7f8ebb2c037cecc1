"""The version of the package, and the stamp of it that pickles carry.

scikit-learn stamps its own estimators alone: a pickle of another package's would be
read by any version, and then fail, or answer wrong, without a word.
"""

import re
import warnings

from sklearn import exceptions

__version__ = "0.1.0"

STAMP = "_skcrf_sdca_version"


class InconsistentVersionWarning(exceptions.InconsistentVersionWarning):
    """A pickle was written by another version of skcrf_sdca.

    Parameters
    ----------
    estimator_name : str
        Also an attribute, as the other.
    original_version : str
        Of the package that wrote it, "unknown" if it did not say.

    Examples
    --------
    >>> import warnings
    >>> from skcrf_sdca.persistence import InconsistentVersionWarning
    >>> warnings.simplefilter("error", InconsistentVersionWarning)   # refuse such
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
    """Mixin: the state of an estimator names the version that wrote it."""

    def __getstate__(self):
        """Return the attributes, and the version."""
        return {**super().__getstate__(), STAMP: __version__}

    def __setstate__(self, state):
        """Take the attributes, if this version can.

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

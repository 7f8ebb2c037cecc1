"""Fit estimators without the warning of a gap above its target, and time the fits.

The other scripts fit with this module; it runs nothing itself.
"""

import warnings
from time import process_time

from sklearn.exceptions import ConvergenceWarning


def fitted(estimator, *data):
    """Return the estimator, fitted to the data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(*data)


def seconds_of_fit(estimator, *data):
    """Fit the estimator; return the processor seconds that it took."""
    begin = process_time()
    fitted(estimator, *data)
    return process_time() - begin

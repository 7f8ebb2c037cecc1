"""The folds of a cross-validation, by the arguments that scikit-learn has for them."""

from numbers import Integral

from sklearn.model_selection import GroupKFold, check_cv


def folds_of(cv, groups):
    """Return the splitter that `cv` stands for, which keeps groups together.

    scikit-learn would not read the groups where ``cv`` is a number.

    >>> from skcrf_sdca._utils.folds import folds_of
    >>> folds_of(3, groups=["Ann", "Ann", "Bob", "Cy"])
    GroupKFold(n_splits=3, random_state=None, shuffle=False)
    """
    if groups is not None and (cv is None or isinstance(cv, Integral)):
        return GroupKFold(5 if cv is None else cv)
    return check_cv(cv)

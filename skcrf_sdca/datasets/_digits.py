"""Strings of handwritten digits, made from images that scikit-learn contains."""

from datetime import date
from typing import Any, Literal

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.utils import Bunch

from skcrf_sdca._utils.random import as_generator
from skcrf_sdca._utils.typing import RandomState

# The neighbours of the keys 0 to 9 on a telephone keypad: keys that share an edge, in
# rows 123, 456, 789, and 0 below 8.
_NEIGHBOURS = "8 24 135 26 157 2468 359 48 5790 68".split()

_DESCR = """\
Strings of handwritten digits
-----------------------------

Every position of a string is one of the 1,797 images of 8 x 8 pixels of
``sklearn.datasets.load_digits`` (test part of the UCI data "Optical Recognition of
Handwritten Digits", E. Alpaydin and C. Kaynak, 1998). Half of the images of each
digit serve the training strings, the other half the test strings.

strings="keypad": codes of 4 to 10 digits typed by moving a finger from key to adjacent
key of a telephone keypad, a random walk, so that a digit tells much about the next.
strings="dates": calendar dates ddmmyyyy, uniform over 1900 to 2099; a weaker structure.

Pixels are scaled to [0, 1], Gaussian noise is added, and the result is clipped to
[0, 1].
"""


def load_digit_sequences(
    strings: Literal["keypad", "dates"] = "keypad",
    *,
    n_train: int = 300,
    n_test: int = 300,
    noise: float = 0.25,
    random_state: RandomState = 0,
    return_X_y: bool = False,
) -> Any:
    """Load strings of handwritten digits, in which each digit depends on the last.

    The images come from :func:`sklearn.datasets.load_digits`, so nothing is
    downloaded. Training and test strings are made from disjoint sets of images
    (stratified halves), from which images are sampled with replacement. The transitions
    of a CRF can learn which digit follows which. The table shows the accuracy per digit
    on the test strings, with ``alpha = 1 / n_train``, the other arguments at their
    defaults, and averaged over five values of ``random_state``:

    ============  ================================  =========
    strings       logistic regression, digit-wise   chain CRF
    ============  ================================  =========
    ``"keypad"``  89.0 %                            97.1 %
    ``"dates"``   91.5 %                            92.4 %
    ============  ================================  =========

    Parameters
    ----------
    strings : {"keypad", "dates"}, default="keypad"
        ``"keypad"``: codes of 4 to 10 digits, each digit next to the one before on
        a telephone keypad. ``"dates"``: valid calendar dates ddmmyyyy, years 1900 to
        2099, 8 digits.
    n_train : int, default=300
        Number of training strings.
    n_test : int, default=300
        Number of test strings.
    noise : float, default=0.25
        Standard deviation of the Gaussian noise that is added to each pixel; pixels are
        in [0, 1].
    random_state : int, RandomState instance or None, default=0
        Seed of the split of the images, the strings and the noise.
    return_X_y : bool, default=False
        Whether to return a tuple instead of a Bunch.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        With the attributes

        X_train, X_test : list of ndarrays of shape (T, 64)
            Pixels of each string, in [0, 1].
        y_train, y_test : list of lists of int
            The digits.
        images_train, images_test : list of ndarrays of shape (T, 8, 8)
            The same pixels as images.
        image_ids_train, image_ids_test : list of ndarrays of shape (T,)
            Rows of the images in :func:`sklearn.datasets.load_digits`.
        target_names : ndarray of shape (10,)
            The labels 0 to 9.
        DESCR : str
            A description.
    (X_train, X_test, y_train, y_test) : tuple
        If ``return_X_y=True``.

    Raises
    ------
    ValueError
        If ``strings`` is unknown, a number of strings is below 1 or ``noise`` is
        negative.

    References
    ----------
    Alpaydin, Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine
    Learning Repository, 1998, doi:10.24432/C50P49.

    Examples
    --------
    >>> from skcrf_sdca.datasets import load_digit_sequences
    >>> data = load_digit_sequences(strings="dates", n_train=20, n_test=5)
    >>> len(data.X_train), data.X_train[0].shape, len(data.y_test[0])
    (20, (8, 64), 8)
    """
    if strings not in _STRINGS:
        raise ValueError(f"strings must be one of {sorted(_STRINGS)}; got {strings!r}.")
    if min(n_train, n_test) < 1 or noise < 0:
        raise ValueError(
            "n_train and n_test must be at least 1 and noise not negative; got "
            f"n_train={n_train!r}, n_test={n_test!r}, noise={noise!r}."
        )
    rng = as_generator(random_state, bound=2**31 - 1)
    digits = load_digits()
    halves = train_test_split(
        np.arange(digits.target.size),
        test_size=0.5,
        stratify=digits.target,
        random_state=int(rng.integers(2**31)),
    )
    data = Bunch(target_names=digits.target_names, DESCR=_DESCR)
    for part, n_strings, image_ids in zip(
        ("train", "test"), (n_train, n_test), halves, strict=True
    ):
        y = _STRINGS[strings](rng, n_strings)
        ids = _draw_images(rng, y, digits.target, image_ids)
        X = [_noisy(rng, digits.data[row] / 16.0, noise) for row in ids]
        data[f"X_{part}"], data[f"y_{part}"] = X, y
        data[f"images_{part}"] = [pixels.reshape(-1, 8, 8) for pixels in X]
        data[f"image_ids_{part}"] = ids
    if return_X_y:
        return data.X_train, data.X_test, data.y_train, data.y_test
    return data


def _keypad_strings(rng, n_strings):
    strings = []
    for length in rng.integers(4, 10, size=n_strings, endpoint=True):
        string = [int(rng.integers(10))]
        while len(string) < length:
            string.append(int(rng.choice(list(_NEIGHBOURS[string[-1]]))))
        strings.append(string)
    return strings


def _date_strings(rng, n_strings):
    first, last = date(1900, 1, 1).toordinal(), date(2099, 12, 31).toordinal()
    days = rng.integers(first, last, size=n_strings, endpoint=True)
    return [
        [int(digit) for digit in date.fromordinal(day).strftime("%d%m%Y")]
        for day in days.tolist()
    ]


_STRINGS = {"keypad": _keypad_strings, "dates": _date_strings}


def _draw_images(rng, strings, target, image_ids):
    """Sample, for each digit of each string, one of ``image_ids`` that shows it."""
    labels = np.concatenate(strings)
    ids = np.empty(labels.size, dtype=np.intp)
    for digit in range(10):
        shown = labels == digit
        ids[shown] = rng.choice(image_ids[target[image_ids] == digit], shown.sum())
    return np.split(ids, np.cumsum([len(string) for string in strings])[:-1])


def _noisy(rng, pixels, noise):
    return np.clip(pixels + rng.normal(scale=noise, size=pixels.shape), 0.0, 1.0)

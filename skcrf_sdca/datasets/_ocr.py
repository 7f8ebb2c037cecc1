"""Taskar's handwritten words, as images of letters."""

from typing import Any, Literal

import numpy as np
from scipy.io import loadmat
from sklearn.utils import Bunch

from skcrf_sdca._utils.shared_docs import shared_docs
from skcrf_sdca._utils.typing import FilePath

from ._download import (
    DOWNLOAD_ERRORS,
    DOWNLOAD_OPTIONS,
    RemoteFile,
    find_local,
    read_remote,
)

_LETTERS = RemoteFile(
    path="ocr/letter.data.gz",
    urls=(
        "https://ai.stanford.edu/~btaskar/ocr/letter.data.gz",
        "http://ai.stanford.edu/~btaskar/ocr/letter.data.gz",
        "http://www.seas.upenn.edu/~taskar/ocr/letter.data.gz",
    ),
    n_lines=52_152,
)
_N_WORDS = {"train": 6_251, "test": 626}
_N_PIXELS = 128

_DESCR = """\
Handwritten words (OCR letters)
-------------------------------

Words written by hand, collected by R. Kassel at MIT and prepared by B. Taskar: the
first letter of each word, a capital, is left out, the others are images of 16 rows of
8 binary pixels. 6,877 words, 52,152 letters, 26 labels. Training: the 6,251 words of
folds 1 to 9; test: the 626 words of fold 0.
http://ai.stanford.edu/~btaskar/ocr/
"""


@shared_docs({"options": DOWNLOAD_OPTIONS, "errors": DOWNLOAD_ERRORS})
def fetch_ocr_letters(
    *,
    subset: Literal["train", "test"] = "train",
    data_home: FilePath | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load the handwritten words of Taskar et al. (classification).

    Data are read from the first place that has them: ``ocr/ocr_train.mat`` and
    ``ocr_test.mat`` (the split of [LePriol18]_) or ``ocr/letter.data.gz`` in the
    folder that the environment variable ``SKCRF_SDCA_DATA`` names; ``data_home``; the
    page of the data.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        6,251 words (47,535 letters) or 626 words (4,617 letters).
    {options}

        X : list of ndarrays of shape (T, 128)
            Pixels of the letters of each word, 0.0 or 1.0, 16 rows of 8.
        y : list of lists of str
            Letters ``"a"`` to ``"z"``.
        target_names : list of str
            The 26 letters.
    {errors}

    Notes
    -----
    The public file has ten folds. The literature on structured SVMs tests on fold 0 and
    trains on the others ([LacosteJulien13]_, "ocr2"); [LePriol18]_ has the same numbers
    of words. No checksum of the public file is known to us, so a download is
    checked by its numbers of lines and words.

    References
    ----------
    Taskar, Guestrin, Koller, "Max-margin Markov networks", NIPS 2003.

    .. [LacosteJulien13] Lacoste-Julien, Jaggi, Schmidt, Pletscher, "Block-coordinate
       Frank-Wolfe optimization for structural SVMs", ICML 2013, arXiv:1207.4747.
    .. [LePriol18] Le Priol, Piche, Lacoste-Julien, "Adaptive SDCA for CRFs", UAI 2018,
       arXiv:1712.08577.

    Examples
    --------
    >>> from skcrf_sdca.datasets import fetch_ocr_letters
    >>> X, y = fetch_ocr_letters(subset="test", return_X_y=True)  # doctest: +SKIP
    >>> X[0].shape, "".join(y[0])  # doctest: +SKIP
    ((8, 128), 'ommanding')
    """
    if subset not in _N_WORDS:
        raise ValueError(f"subset must be one of {sorted(_N_WORDS)}; got {subset!r}.")
    local = find_local(f"ocr/ocr_{subset}.mat")
    if local is not None:
        X, y = _read_matlab(local)
    else:
        content = read_remote(_LETTERS, data_home, download_if_missing)
        X, y = _parse_letters(content.decode("ascii"), subset)
    if len(X) != _N_WORDS[subset]:
        raise OSError(
            f"{len(X)} words in the {subset} part of the OCR data, expected "
            f"{_N_WORDS[subset]}: the file is not the public one."
        )
    if return_X_y:
        return X, y
    return Bunch(X=X, y=y, target_names=_letters(range(1, 27)), DESCR=_DESCR)


def _letters(numbers):
    return [chr(ord("a") + int(number) - 1) for number in numbers]


def _read_matlab(file):
    """Read the rows of all words; each word ends with a row whose label is 0."""
    content = loadmat(file)
    pixels, labels = content["X"].astype(np.float64), content["y"].ravel()
    X, y = [], []
    start = 0
    for end in np.flatnonzero(labels == 0):
        X.append(pixels[start:end])
        y.append(_letters(labels[start:end]))
        start = end + 1
    return X, y


def _parse_letters(text, subset):
    """Read lines "id letter next_id word_id position fold pixels"."""
    X, y = [], []
    pixels, word = [], []
    for line in text.splitlines():
        fields = line.split("\t")
        pixels.append("".join(fields[6 : 6 + _N_PIXELS]))
        word.append(fields[1])
        is_last, fold = fields[2] == "-1", fields[5]
        if not is_last:
            continue
        if (fold == "0") == (subset == "test"):
            digits = np.frombuffer("".join(pixels).encode(), dtype=np.uint8)
            X.append((digits == ord("1")).astype(np.float64).reshape(-1, _N_PIXELS))
            y.append(word)
        pixels, word = [], []
    return X, y

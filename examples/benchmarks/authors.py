"""Read the sentences of [LePriol18] with the attributes of their authors.

The authors' public repository, github.com/remilepriol/sdca4crf, has them in its folder
``data``, without words, as MATLAB files ``{NER,coNLL,POS}_{train,test}.mat``. They are
read from the folder ``authors`` of SKCRF_SDCA_DATA. The letters are those of
`fetch_ocr_letters`, byte for byte.

A file has a row for each token, and a row with the label 0 after each sentence. Each
column of ``X`` numbers the attributes of one template from 1; 0 is no attribute.
"""

import os
from pathlib import Path

import numpy as np
from scipy.io import loadmat
from scipy.sparse import csr_array

from packed import Task
from skcrf_sdca import PackedSequences

FILES = {"names": "NER", "chunks": "coNLL", "tags": "POS"}
NAMES = tuple(FILES)
TITLES = {"names": "Names", "chunks": "Chunks", "tags": "Parts of speech"}


def load(name, first=None, subset="test"):
    """Return a task, or the task of its first sentences."""
    folder = Path(os.environ["SKCRF_SDCA_DATA"]) / "authors"
    content = loadmat(folder / f"{FILES[name]}_{subset}.mat")
    return packed_task(name, content["X"], content["y"].ravel(), first)


def packed_task(name, X, y, first=None):
    """Return the task of the arrays of a file."""
    ends = np.flatnonzero(y == 0)[:first]
    X, y = X[: ends[-1] + 1].astype(np.int64), y[: ends[-1] + 1]
    n_attributes = X.max(axis=0)
    columns = X - 1 + np.cumsum(n_attributes) - n_attributes
    X, columns, labels = X[y > 0], columns[y > 0], y[y > 0].astype(np.int64)
    present = X > 0
    indptr = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    shape = len(X), int(n_attributes.sum())
    rows = csr_array((np.ones(indptr[-1]), columns[present], indptr), shape=shape)
    offsets = np.concatenate([[0], ends - np.arange(len(ends))])
    sentences = np.split(labels, offsets[1:-1])
    data = PackedSequences(rows, offsets)
    return Task(name, data, sentences, 1.0 / len(ends), optimum=None)

"""Load the packed tasks: real corpora as feature indices, with a known optimum.

They are the files ``packed/{ocr,conll2000,ned}.npz`` in the folder that the environment
variable SKCRF_SDCA_DATA names.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from skcrf_sdca import PackedSequences

NAMES = ("ocr", "conll2000", "ned")


@dataclass
class Task:
    """A packed task: sequences, labels in the form of y, alpha and the optimum P*."""

    name: str
    X: PackedSequences
    y: list
    alpha: float
    optimum: float


def load(name):
    """Return the packed task of this name."""
    with np.load(Path(os.environ["SKCRF_SDCA_DATA"]) / "packed" / f"{name}.npz") as f:
        ones = np.ones(len(f["indices"]))
        shape = (len(f["indptr"]) - 1, int(f["n_features"]))
        X = csr_array((ones, f["indices"], f["indptr"]), shape=shape)
        y = np.split(f["labels"], f["offsets"][1:-1])
        return Task(
            name,
            PackedSequences(X, f["offsets"]),
            y,
            float(f["alpha"]),
            float(f["optimum"]),
        )

"""Train CRFsuite on the packed tasks, with the objective and the weights of ours.

Its "lbfgs" minimises the sum of the losses + c2 ||w||^2, which is n P(w) for
c2 = alpha n / 2. Its "l2sgd" has lambda = 2 c2 / n, hence P(w) for the same c2. An
attribute of every position stands for our intercepts, and attributes of the first and
the last position for our start and end weights. All weights exist, also of
features that do not occur with a label.

The other scripts measure with this module. It needs python-crfsuite.
"""

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pycrfsuite

# Names of equal width give records of equal width in the model files.
WIDTH = 7
HEADER_WORDS = 10
CHUNK_WORDS = 3
FEATURE = np.dtype([("type", "<u4"), ("from", "<u4"), ("to", "<u4"), ("w", "<f8")])
TRANSITION = 1
# The names come after the header and the 256 hash tables of their chunk.
NAMES_BYTES = 24 + 256 * 8
NAME = np.dtype([("id", "<u4"), ("size", "<u4"), ("name", f"S{WIDTH + 1}")])
CALIBRATED = re.compile(r"Best learning rate.*\nSeconds required: ([\d.]+)")


@dataclass
class Training:
    """The result of a trainer of CRFsuite.

    Attributes
    ----------
    seconds : ndarray
        Processor seconds of each iteration or epoch.
    losses : ndarray
        The logged loss, divided by n. For "lbfgs" it is P. For "l2sgd" it is a sum over
        the epoch, with each sequence at the weights of its visit.
    calibration : float
        Seconds in which "l2sgd" searched its learning rate.
    w : ndarray of shape (n_weights,)
        The weights that it keeps, as ChainParameters: of "lbfgs" the last, of
        "l2sgd" those after the epoch with the smallest loss.
    """

    seconds: np.ndarray
    losses: np.ndarray
    calibration: float
    w: np.ndarray


def new_trainer(problem, algorithm, max_iterations):
    """Return a trainer that has the sequences of a problem, of features 0 or 1."""
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.select(algorithm)
    trainer.set_params(
        {
            "c2": problem.alpha * problem.n_sequences / 2,
            "max_iterations": max_iterations,
            "feature.possible_states": 1,
            "feature.possible_transitions": 1,
        }
    )
    _append(trainer, problem)
    return trainer


def train(problem, algorithm, max_iterations):
    """Return the Training of a problem whose features are 0 or 1."""
    trainer = new_trainer(problem, algorithm, max_iterations)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.crfsuite"
        trainer.train(str(file))
        w = _weights(file.read_bytes(), problem)
    iterations = trainer.logparser.iterations
    calibrated = CALIBRATED.search("".join(trainer.logparser.log))
    return Training(
        np.array([iteration["time"] for iteration in iterations]),
        np.array([iteration["loss"] for iteration in iterations]) / problem.n_sequences,
        float(calibrated[1]) if calibrated else 0.0,
        w,
    )


def _name(number):
    return f"{number:0{WIDTH}d}"


def _append(trainer, problem):
    """Pass the sequences to the trainer; its attributes are our rows of weights."""
    X, offsets = problem.data.X, problem.offsets
    *names, bias, first, last = map(_name, range(X.shape[1] + 3))
    labels = [_name(label) for label in problem.targets.labels]
    for begin, end in zip(offsets[:-1], offsets[1:], strict=True):
        items = [
            [*(names[j] for j in X.indices[X.indptr[t] : X.indptr[t + 1]]), bias]
            for t in range(begin, end)
        ]
        items[0].append(first)
        items[-1].append(last)
        trainer.append(items, labels[begin:end])


def _weights(file, problem):
    """Return the weights of a model file, which leaves out zeros."""
    header = np.frombuffer(file, "<u4", HEADER_WORDS)
    n_labels, n_attributes, features, labels, attributes = header[5:]
    # The field of the header for the number of weights is always 0.
    chunk = np.frombuffer(file, "<u4", CHUNK_WORDS, features)
    weights = np.frombuffer(file, FEATURE, chunk[-1], features + chunk.nbytes)
    label_of = _numbers(file, n_labels, labels)
    row_of = _numbers(file, n_attributes, attributes)
    model = problem.new_parameters()
    blocks = model.coef, model.intercept, model.start, model.end
    rows = np.vstack(
        [block.reshape(-1, problem.structure.n_labels) for block in blocks]
    )
    edges = weights["type"] == TRANSITION
    w = weights[edges]
    model.transition[label_of[w["from"]], label_of[w["to"]]] = w["w"]
    w = weights[~edges]
    rows[row_of[w["from"]], label_of[w["to"]]] = w["w"]
    for block, own in zip(blocks, np.split(rows, [-3, -2, -1]), strict=True):
        block[:] = own.reshape(block.shape)
    return model.w


def _numbers(file, n, offset):
    """Return the numeric names in a chunk, in the order of their ids."""
    names = np.frombuffer(file, NAME, n, offset + NAMES_BYTES)
    numbers = np.empty(n, dtype=int)
    numbers[names["id"]] = names["name"].astype(int)
    return numbers

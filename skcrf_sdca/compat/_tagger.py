"""Tags sequences by a model file, with the interface of ``pycrfsuite.Tagger``."""

import sys
from contextlib import closing
from pathlib import Path
from typing import Any, Self

import numpy as np

from skcrf_sdca._kernels.features._attributes import (
    AttributeWeights,
    decoded,
    entries_of,
)
from skcrf_sdca._kernels.inference._sequence_tagger import AttributeTagger
from skcrf_sdca._kernels.math._transitions import all_transitions
from skcrf_sdca._utils.typing import FilePath
from skcrf_sdca.compat._dump import ParsedDump
from skcrf_sdca.compat._items import ItemSequence
from skcrf_sdca.compat._model_file import (
    STATE,
    TRANSITION,
    ModelFile,
    parse,
    places_of_boundaries,
)
from skcrf_sdca.structures.chain.chains import Chains
from skcrf_sdca.structures.scores import LARGEST_SCORE

# Where in a sequence the weights of `BOUNDARIES` count.
_PLACES = {"intercept": slice(None), "start": slice(1), "end": slice(-1, None)}


class Tagger:
    """Tagger of sequences by a model file of CRFsuite.

    The labels and probabilities are those of ``pycrfsuite.Tagger``; of labels with
    equal scores the one that is first in the file is taken, too.

    Examples
    --------
    >>> import os, tempfile
    >>> from skcrf_sdca.compat import CRF, pycrfsuite
    >>> X, y = [[{"word": "the"}, {"word": "Rhine"}]], [["O", "LOC"]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "model")
    ...     crf = CRF(c2=0.1, model_filename=file).fit(X, y)
    ...     with pycrfsuite.Tagger().open(file) as tagger:
    ...         tagger.tag([{"word": "Rhine"}])
    ['LOC']
    """

    _model: ModelFile | None = None
    # The best labels and the scores, in bytes, of the sequence that was set last.
    _set: tuple[list[str], bytes] | None = None
    _chains_of_set: Chains | None = None

    def open(self, name: FilePath) -> closing[Self]:
        """Open a model file; the result closes it at the end of a ``with`` statement.

        Parameters
        ----------
        name : str or path

        Raises
        ------
        OSError
            If the file cannot be read.
        ValueError
            If it is not a whole model file.
        """
        return closing(self.open_model(parse(Path(name).read_bytes())))

    def open_inmemory(self, value: bytes) -> closing[Self]:
        """Open a model, given the content of its file.

        Parameters
        ----------
        value : bytes

        Raises
        ------
        ValueError
            If it is not a whole model file.
        """
        return closing(self.open_model(parse(bytes(value))))

    def close(self) -> None:
        """Close the model."""
        self._model = self._set = None

    def labels(self) -> list[str]:
        """Return the labels, in the order of the file."""
        return list(self._opened().labels)

    def set(self, xseq: Any) -> None:
        """Set the sequence for `tag`, `probability` and `marginal`.

        Parameters
        ----------
        xseq : ItemSequence, or what it takes

        Raises
        ------
        ValueError
            If its scores are not finite.
        """
        labels = self._opened().labels
        is_read = isinstance(xseq, ItemSequence)
        entries = xseq.entries if is_read else entries_of(xseq)
        self._set = self._compiled.tag(entries, labels)
        self._chains_of_set = self._marginals = None

    def tag(self, xseq: Any = None) -> list[str]:
        """Return the most probable labels.

        Parameters
        ----------
        xseq : ItemSequence, or what it takes, default=None
            None is the sequence that was set last.
        """
        if xseq is None:
            self._opened()
        else:
            self.set(xseq)
        return [] if self._set is None else self._set[0][:]

    def probability(self, yseq: Any) -> float:
        """Return the probability of labels of the sequence that was set last.

        Parameters
        ----------
        yseq : list of str
            Bytes are text in UTF-8.
        """
        length = self._length()
        if len(yseq) != length:
            raise ValueError(
                f"The numbers of items and labels differ: |x| = {length}, |y| = "
                f"{len(yseq)}"
            )
        path = np.array([self._label(y) for y in yseq], dtype=np.int32)
        if not length:
            return 0.0
        chains = self._chains()
        score = chains.path_scores(path) - chains.log_partition()
        return float(np.exp(np.minimum(score[0], 0.0)))

    def marginal(self, y: str, pos: int) -> float:
        """Return the probability of a label at a position of this sequence.

        Parameters
        ----------
        y : str
        pos : int
            From 0.
        """
        label, length = self._label(y), self._length()
        if not 0 <= pos < length:
            raise ValueError(f"there is no position {pos} in {length} items.")
        return self._node_marginals()[pos][label]

    def dump(self, filename: FilePath | None = None) -> None:
        """Write the model as text.

        Parameters
        ----------
        filename : str or path, default=None
            None writes to standard output.
        """
        text = self.info().text()
        if filename is None:
            sys.stdout.write(text)
        else:
            Path(filename).write_text(text, encoding="utf-8", newline="")

    def info(self) -> ParsedDump:
        """Return the content of the model, by names."""
        if self._model is None:
            raise RuntimeError("Tagger is closed")
        return ParsedDump.of_model(self._model)

    def marginals(self) -> list[dict[str, float]]:
        """Return the probability of every label at every position, by name.

        ``pycrfsuite.Tagger`` does not have this method.
        """
        labels = self._opened().labels
        return [dict(zip(labels, p, strict=True)) for p in self._node_marginals()]

    def open_model(self, model: ModelFile) -> Self:
        """Open the content of a model file; return self.

        ``pycrfsuite.Tagger`` does not have this method.

        Parameters
        ----------
        model : ModelFile
        """
        self._model, self._set = model, None
        n_labels = len(model.labels)
        self._label_numbers = {name: k for k, name in enumerate(model.labels)}
        weights = model.weights
        w = weights[weights["kind"] == STATE]
        w = w[np.argsort(w["source"], kind="stable")]
        counts = np.bincount(w["source"], minlength=len(model.attributes))
        compiled = AttributeWeights(
            {name: i for i, name in enumerate(model.attributes)},
            np.concatenate([[0], np.cumsum(counts)]),
            w["label"].astype(np.int64),
            w["weight"].copy(),
        )
        w = weights[weights["kind"] == TRANSITION]
        transition = np.zeros((n_labels, n_labels))
        transition[w["source"], w["label"]] = w["weight"]
        layout = all_transitions(n_labels)
        self._no_chains = Chains.without_positions(transition, None, layout)
        added = []
        for block, i in places_of_boundaries(model.attributes).items():
            added.append((_PLACES[block], np.zeros((1, n_labels))))
            compiled.add([[model.attributes[i]]], added[-1][1])
        added = [(place, numbers[0]) for place, numbers in added]
        self._compiled = AttributeTagger(
            compiled, added, self._no_chains, LARGEST_SCORE
        )
        return self

    def _opened(self):
        if self._model is None:
            raise ValueError("The tagger is not opened")
        return self._model

    def _label(self, name):
        self._opened()
        name = decoded(name)
        if name not in self._label_numbers:
            raise RuntimeError(f"Failed to convert into label identifier: {name}")
        return self._label_numbers[name]

    def _length(self):
        self._opened()
        return 0 if self._set is None else len(self._set[0])

    def _chains(self):
        """Return the scores of the sequence that was set last."""
        if self._chains_of_set is None:
            local = np.frombuffer(self._set[1]).reshape(self._length(), -1)
            self._chains_of_set = self._no_chains.of_one(local)
        return self._chains_of_set

    def _node_marginals(self):
        if not self._length():
            return []
        if self._marginals is None:
            self._marginals = self._chains().node_marginals()[0].tolist()
        return self._marginals

"""CompiledScores: answers of compiled `Inference` in full passes over the items."""

import numpy as np

from skcrf_sdca._kernels.inference import _mixture, _passes
from skcrf_sdca._utils.messages import lacking
from skcrf_sdca._utils.parallel import over_ranges
from skcrf_sdca._utils.ragged import split_rows
from skcrf_sdca.structures.scores import Scores, checked_numbers_of_paths


class CompiledScores(Scores):
    """Scores with a compiled `Inference`, the base of all answers.

    A structure adds `inference` and `_new`.
    """

    # Bytes at a position in the lists of the n best, for each of these; None if
    # `inference` has no such lists.
    _bytes_of_place: float | None = None

    def inference(self, begin, end):
        """Return a new compiled `Inference` on the items begin <= i < end."""
        raise lacking(self, "inference")

    def _over_ranges(self, kernel, *out, **options):
        """Call a kernel for all items, range by range unless these are one range."""
        if self.n_jobs == 0:
            return [kernel(self, 0, len(self), *out, **options)]

        def run(begin, end):
            return kernel(self, begin, end, *out, **options)

        return over_ranges(run, self.offsets, self.n_jobs)

    def log_partition(self):
        """Return log Z, an array (n,)."""
        values = np.empty(len(self))
        self._over_ranges(_passes.log_partitions, values)
        return values

    def expectations(self, weight):
        """Return local expectations, the weighted sum of tied ones, and log Z.

        They have the shapes of ``local`` and ``tied``; ``weight`` is of shape (n,).
        Sets ``excess``.
        """
        if len(weight) != len(self):
            raise ValueError(f"{len(weight)} weights for {len(self)} chains")
        local, values = np.empty_like(self.local), np.empty(len(self))
        self.excess = np.empty(len(self))

        def add(scores, begin, end):
            total = np.zeros_like(self.tied)
            _passes.expectations(
                scores,
                begin,
                end,
                local,
                values,
                weight=weight,
                tied_total=total.reshape(-1),
                excess=self.excess,
            )
            return total

        return local, self._sum_of(self._over_ranges(add)), values

    def _sum_of(self, parts):
        """Return the sum of arrays of the shape of ``tied``; there may be none."""
        parts = parts or [np.zeros_like(self.tied)]
        return np.sum(parts, axis=0, initial=0.0)

    def mixed_expectations(self, weight):
        """Return what `expectations` does, of the mixtures of few labellings.

        The last values are upper bounds of F, see _mixture.pyx, and `excess` is how far
        they may be above it.
        """
        local, values = np.empty_like(self.local), np.empty(len(self))
        self.excess = np.empty(len(self))

        def add(scores, begin, end):
            total = np.zeros_like(self.tied)
            _mixture.mixed_expectations(
                scores,
                begin,
                end,
                local,
                values,
                self.excess,
                weight=weight,
                tied_total=total.reshape(-1),
            )
            return total

        return local, self._sum_of(self._over_ranges(add)), values

    def mixed_bounds(self):
        """Return the last values of `mixed_expectations` alone, (n,)."""
        local, values = np.empty_like(self.local), np.empty(len(self))
        self._over_ranges(
            _mixture.mixed_expectations, local, values, np.empty(len(self))
        )
        return values

    def mixed_labels(self):
        """Return the labellings that SparseMAP mixes, and their shares, for each item.

        A list of pairs of arrays, (n_labellings, T) and (n_labellings,), the largest
        share first.
        """
        parts = self._over_ranges(_mixture.mixed_labels)
        return [found for part in parts for found in part]

    def potential_expectations(self, local, tied):
        """Write the local and the tied expectations of each item; return log Z."""
        values = np.empty(len(self))
        rows = tied.reshape(len(tied), int(np.prod(tied.shape[1:])))
        self._over_ranges(_passes.expectations, local, values, tied_sums=rows)
        return values

    def viterbi(self):
        """Return the labels of highest score, end to end, and their scores."""
        labels = np.empty(len(self.local), dtype=np.int32)
        values = np.empty(len(self))
        self._over_ranges(_passes.best_labels, labels, values)
        return labels, values

    def path_scores(self, labels):
        """Return the score of one labelling of each item, -inf if it is impossible."""
        values = np.empty(len(self))
        self._over_ranges(_passes.labels_scores, labels, values)
        return values

    def sample(self, uniform):
        """Return draws from p(y | x), int32, by uniform numbers in [0, 1).

        Both are of shape (n_positions, n_draws).
        """
        labels = np.empty(uniform.shape, dtype=np.int32)
        self._over_ranges(_passes.draws, np.ascontiguousarray(uniform), labels)
        return labels

    def node_marginals(self):
        """Return the probability of every label at every position, and log Z."""
        node, log_z = np.empty_like(self.local), np.empty(len(self))
        self._over_ranges(_passes.expectations, node, log_z)
        return np.minimum(node, 1.0, out=node), log_z

    def n_best(self, n):
        """Return what `Scores.n_best` does, from lists at each position if there are.

        Lists of the n best take ``_bytes_of_place`` for each of these.
        """
        if self._bytes_of_place is None:
            return super().n_best(n)
        lengths, n_labels = np.diff(self.offsets), self.local.shape[1]
        n_bytes = self._bytes_of_place * (lengths + 1.0)
        widths = checked_numbers_of_paths(n, n_labels, lengths, n_bytes)
        return self._listed(widths, lengths)

    def _listed(self, widths, lengths):
        """Return the widths[i] best labellings of each item, and their scores."""
        path_offsets = np.concatenate([[0], np.cumsum(widths)])
        label_offsets = np.concatenate([[0], np.cumsum(widths * lengths)])
        scores = np.empty(path_offsets[-1])
        paths = np.empty(label_offsets[-1], dtype=np.int32)
        self._over_ranges(
            _passes.n_best_labels, widths, path_offsets, label_offsets, scores, paths
        )
        # The labellings that an item lacks have the score -inf, and stand at the end.
        scores = [part[part > -np.inf] for part in split_rows(scores, path_offsets)]
        parts = split_rows(paths, label_offsets)
        paths = [
            part.reshape(width, length)[: len(found)]
            for part, width, length, found in zip(
                parts, widths, lengths, scores, strict=True
            )
        ]
        return paths, scores

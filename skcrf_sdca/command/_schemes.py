"""Which tagging scheme labels have."""

from collections import Counter
from itertools import chain

from skcrf_sdca.data.tagging_schemes import OUTSIDE, parse_label
from skcrf_sdca.metrics._scorers import TRIED_SCHEMES
from skcrf_sdca.text import convert_labels, repair_labels

SCHEMES = (*TRIED_SCHEMES, "IO", "TYPES")
# Labels of a scheme are almost all, if not more of those inside of spans are others.
_FEW = 0.02


def scheme_of_valid(y):
    """Return the first scheme in which all label lists are valid, or None."""
    for scheme in TRIED_SCHEMES:
        try:
            convert_labels(y, scheme, scheme)
        except (TypeError, ValueError):
            continue
        return scheme
    return None


def almost(y):
    """Return a scheme in which almost all labels are valid, and the label lists in it.

    Labels that it does not have become "O". Return None if there is no such scheme.
    """
    counts = Counter(chain.from_iterable(y))
    few = _FEW * (counts.total() - counts[OUTSIDE])
    for scheme in TRIED_SCHEMES:
        unknown = {label for label in counts if not _is_of(label, scheme)}
        if sum(counts[label] for label in unknown) > few:
            continue
        known = [[OUTSIDE if x in unknown else x for x in labels] for labels in y]
        repaired, _ = repair_labels(known, scheme)
        if len(differences(y, repaired)) <= few:
            return scheme, repaired
    return None


def differences(y, others):
    """Return the sentence and the token of each label that differs."""
    return [
        (i, t)
        for i, (labels, own) in enumerate(zip(y, others, strict=True))
        if labels != own
        for t, (a, b) in enumerate(zip(labels, own, strict=True))
        if a != b
    ]


def _is_of(label, scheme):
    try:
        parse_label(label, scheme)
    except ValueError:
        return False
    return True

"""Which tagging scheme labels have."""

from collections import Counter
from itertools import chain

from skcrf_sdca._utils.messages import counted
from skcrf_sdca._utils.words import words
from skcrf_sdca.data.spans import TRIED_SCHEMES
from skcrf_sdca.data.tagging_schemes import OUTSIDE, parse_label
from skcrf_sdca.text import repair_labels
from skcrf_sdca.text.spans.labels import fault_of

SCHEMES = (*TRIED_SCHEMES, "IO", "TYPES")
# Labels of a scheme are almost all, if not more of those inside of spans are others.
_FEW = 0.02


def chosen(y, scheme, repair):
    """Return a tagging scheme, the labels to train with in it, and a remark on them.

    `scheme` is what the user asks for, "none" included, or None; `repair` is whether to
    make labels valid. Raise ValueError for labels that are not valid in this scheme.
    """
    if scheme == "none":
        return scheme, y, ""
    tried = TRIED_SCHEMES if scheme is None else [scheme]
    valid = next((own for own in tried if _is_valid(y, own)), None)
    if valid is not None:
        return valid, y, ""
    if scheme is not None and not repair:
        raise ValueError(
            f"--scheme {scheme}: {_fault(y, scheme)} --repair makes such labels valid."
        )
    found = almost(y) if scheme is None else (scheme, repaired(y, scheme))
    if found is None:
        return "none", y, ""
    own, labels = found
    n_others = len(differences(y, labels))
    what = f"{counted(n_others, 'label')}, the first {_first(y, labels)}"
    if repair:
        return own, labels, f"; repaired: {what}"
    return "none", y, f"; {own} but for {what}: --repair makes them valid"


class SchemeOfParts:
    """The tagging scheme of labels that come in parts.

    Parameters
    ----------
    scheme : str or None
        What the user asks for, "none" included.
    repair : bool
        Whether to make labels valid in it.
    """

    def __init__(self, scheme, repair):
        self._asked, self._repair = scheme, repair
        self._n_repaired, self._remark = 0, ""
        self._valid = TRIED_SCHEMES

    @property
    def scheme(self):
        """The scheme of all parts before: "none" if they have none."""
        return self._asked or next(iter(self._valid), "none")

    @property
    def remark(self):
        """What users are to be told of labels that are not valid."""
        n_more = self._n_repaired - 1
        return self._remark + (f" and {n_more} others" if n_more > 0 else "")

    def take(self, y):
        """Return the labels of one more part; ValueError if they are not valid."""
        if self._asked is not None:
            _, labels, remark = chosen(y, self._asked, self._repair)
            if remark:
                self._n_repaired += len(differences(y, labels))
                self._remark = self._remark or f"; repaired: {_first(y, labels)}"
            return labels
        before = self._valid
        self._valid = [own for own in before if _is_valid(y, own)]
        if not self._valid and (found := almost(y, before)) is not None:
            own, labels = found
            self._remark = (
                f"; {own} but for labels such as {_first(y, labels)}: --scheme {own} "
                "--repair makes them valid"
            )
        return y


def _first(y, others):
    """Return the first label that differs, and its place."""
    i, t = differences(y, others)[0]
    return f"{y[i][t]!r} of {_place(i, t)}"


def _is_valid(y, scheme):
    return _fault(y, scheme) is None


def _fault(y, scheme):
    """Return what is not valid in label lists, or None."""
    try:
        return fault_of(y, scheme)
    except (TypeError, ValueError) as error:
        return str(error)


def almost(y, tried=TRIED_SCHEMES):
    """Return a scheme in which almost all labels are valid, and the label lists in it.

    Labels that it does not have become "O". Return None if there is no such scheme.
    """
    few = _few(Counter(chain.from_iterable(y)))
    for scheme in tried:
        try:
            own = repaired(y, scheme)
        except ValueError:
            continue
        if len(differences(y, own)) <= few:
            return scheme, own
    return None


def repaired(y, scheme):
    """Return the label lists made valid in a scheme; labels it lacks become "O".

    Raise ValueError if it lacks more than a few of them.
    """
    counts = Counter(chain.from_iterable(y))
    unknown = {label for label in counts if not _has_scheme(label, scheme)}
    known = [[OUTSIDE if x in unknown else x for x in labels] for labels in y]
    if sum(counts[label] for label in unknown) > _few(counts):
        raise ValueError(
            f"{counted(counts.total(), 'label')}, of which those such as "
            f"{_first(y, known)}, are not of the scheme {scheme!r}."
        )
    return repair_labels(known, scheme)[0]


def _place(i, t):
    """Return the name of a place, for messages."""
    return f"sentence {words().begin + i}, token {t}, counted from 0"


def _few(counts):
    return _FEW * (counts.total() - counts[OUTSIDE])


def differences(y, others):
    """Return the sentence and the token of each label that differs."""
    return [
        (i, t)
        for i, (labels, own) in enumerate(zip(y, others, strict=True))
        if labels != own
        for t, (a, b) in enumerate(zip(labels, own, strict=True))
        if a != b
    ]


def _has_scheme(label, scheme):
    try:
        parse_label(label, scheme)
    except ValueError:
        return False
    return True

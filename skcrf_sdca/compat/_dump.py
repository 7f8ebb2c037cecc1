"""The content of a model by names, and its text: what CRFsuite's dump writes."""

import re
from typing import Self

import numpy as np

from skcrf_sdca.compat._model_file import (
    STATE,
    TRANSITION,
    ModelFile,
    header_of,
    serialise,
)


class ParsedDump:
    """What `Tagger.info` returns.

    Attributes
    ----------
    header : dict
        The header of the file; all values are str.
    labels, attributes : dict
        ``{name: number}``; numbers are str.
    transitions : dict
        ``{(label, next label): weight}``.
    state_features : dict
        ``{(attribute, label): weight}``.
    """

    def __init__(self) -> None:
        self.header: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        self.attributes: dict[str, str] = {}
        self.transitions: dict[tuple[str, str], float] = {}
        self.state_features: dict[tuple[str, str], float] = {}

    @classmethod
    def of_model(cls, model: ModelFile) -> Self:
        """Return the content of a model."""
        dump = cls()
        dump.header = header_of(serialise(model))
        dump.labels = {name: str(i) for i, name in enumerate(model.labels)}
        dump.attributes = {name: str(i) for i, name in enumerate(model.attributes)}
        dump.transitions = _by_name(model, TRANSITION, model.labels)
        dump.state_features = _by_name(model, STATE, model.attributes)
        return dump

    def text(self) -> str:
        """Return the content as text."""
        parts = [("FILEHEADER", [f"{name}: {v}" for name, v in self.header.items()])]
        for title, names in (("LABELS", self.labels), ("ATTRIBUTES", self.attributes)):
            parts.append((title, [f"{i:>5}: {name}" for name, i in names.items()]))
        for title, kind, weights in (
            ("TRANSITIONS", TRANSITION, self.transitions),
            ("STATE_FEATURES", STATE, self.state_features),
        ):
            lines = [f"({kind}) {a} --> {b}: {w:f}" for (a, b), w in weights.items()]
            parts.append((title, lines))
        return "".join(
            f"{title} = {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n\n"
            for title, lines in parts
        )


def _by_name(model, kind, sources):
    """Return {(source, label): weight} of the weights of a kind."""
    w = model.weights[model.weights["kind"] == kind]
    # As CRFsuite lists them: by their sources.
    w = w[np.argsort(w["source"], kind="stable")]
    return {
        (sources[source], model.labels[label]): weight
        for _, source, label, weight in w.tolist()
    }


_NUMBERED = re.compile(r" *(?P<value>\d+): (?P<name>.*)$")
_WEIGHT = re.compile(r" *\(\d+\) (?P<source>.*) --> (?P<label>.*): (?P<value>\S+)$")
# Title of a part of the text -> its attribute, and the pattern of its lines.
_PARTS = {
    "FILEHEADER": ("header", re.compile(r" *(?P<name>\w+): (?P<value>.*)$")),
    "LABELS": ("labels", _NUMBERED),
    "ATTRIBUTES": ("attributes", _NUMBERED),
    "TRANSITIONS": ("transitions", _WEIGHT),
    "STATE_FEATURES": ("state_features", _WEIGHT),
}
_NOTHING = re.compile(r"(?!)")
_TITLE = re.compile(rf"({'|'.join(_PARTS)}) = {{$")


class CRFsuiteDumpParser:
    """Reads the text of a dump, line by line.

    Attributes
    ----------
    result : ParsedDump
        What has been read.
    """

    def __init__(self) -> None:
        self.result = ParsedDump()
        self._title: str | None = None

    def feed(self, line: str) -> None:
        """Read the next line.

        Parameters
        ----------
        line : str

        Raises
        ------
        ValueError
            If a dump has no such line there.
        """
        line = line.rstrip("\r\n")
        if found := _TITLE.match(line.strip()):
            self._title = found[1]
        elif line.strip() == "}":
            self._title = None
        elif line.strip():
            self._read(line)

    def _read(self, line):
        name, pattern = _PARTS.get(self._title, ("", _NOTHING))
        found = pattern.match(line)
        if found is None:
            raise ValueError(f"a dump of CRFsuite has no such line here: {line!r:.80}.")
        part, groups = getattr(self.result, name), found.groupdict()
        if "name" in groups:
            part[groups["name"]] = groups["value"]
        else:
            part[groups["source"], groups["label"]] = float(groups["value"])

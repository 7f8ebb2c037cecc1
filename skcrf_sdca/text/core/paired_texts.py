"""Texts whose annotations are in other files: which of a folder belong together."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from skcrf_sdca.text.core.files import is_path
from skcrf_sdca.text.core.folders import files_below, others_in
from skcrf_sdca.text.core.reading import Reading

_TEXT = ".txt"
_ALONE = "left out: there is no {} of the same name"


def paired_texts(
    source: Any, reading: Reading, end: str, partner_of: Callable[[Path], Path | None]
) -> Iterator[tuple[Path, Path | None]]:
    """Yield the paths of texts and of their annotations.

    `source` is a folder, the path of a text or of its annotations, or some of these.
    ``end`` is the end of the names of annotations, and ``partner_of`` finds the one of
    a text. What has no partner in a folder is noted; ValueError if nothing has one.
    """
    if not is_path(source):
        for own in source:
            yield from paired_texts(own, reading, end, partner_of)
        return
    path = Path(source)
    if path.is_dir():
        yield from _pairs_below(path, reading, end, partner_of)
        return
    text = path.with_suffix(_TEXT)
    notes = partner_of(text) if reading.labelled else None
    missing = text if not text.exists() else text.with_suffix(end)
    if missing is text or (notes is None and reading.labelled):
        raise FileNotFoundError(
            f"{missing}: no such file. A text and its annotations are in files {_TEXT} "
            f"and {end} of the same name, and the one of "
            f"{'the text' if missing is text else 'the annotations'} is missing."
        )
    yield text, notes


def _pairs_below(folder, reading, end, partner_of):
    """Yield the pairs of a folder; ValueError if there are none."""
    texts, notes = files_below(folder, (_TEXT, end), reading).values()
    if not reading.labelled:
        pairs = dict.fromkeys(texts)
    else:
        found = ((text, partner_of(text)) for text in texts)
        pairs = {text: own for text, own in found if own is not None}
        for text in texts:
            if text not in pairs:
                reading.note("text", _ALONE.format(f"file {end}"), str(text))
        for own in sorted({*notes}.difference(pairs.values())):
            reading.note(f"file {end}", _ALONE.format("text"), str(own))
    if not pairs:
        what = f" with a file {end} of the same name" if reading.labelled else ""
        raise ValueError(f"{folder}: there is no text {_TEXT}{what}{others_in(folder)}")
    yield from pairs.items()

"""Folders of files: which files below a folder are read, and what is there instead."""

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from skcrf_sdca._utils.messages import counted
from skcrf_sdca.text.core.reading import Reading

# Ends of names that a message counts.
_MANY = 5


def files_below(
    folder: str | os.PathLike[str], ends: Iterable[str], reading: Reading
) -> dict[str, list[Path]]:
    """Return the files below a folder, in order, by the ends of their names.

    Links out of the folder, pipes and devices are left out, and noted.
    """
    root = os.path.realpath(folder)
    found: dict[str, list[Path]] = {end: [] for end in ends}
    for path in _paths(folder):
        if path.suffix in found:
            real = os.path.realpath(path)
            if os.path.isfile(real) and os.path.commonpath([root, real]) == root:
                found[path.suffix].append(path)
            else:
                what = "left out: it is a link out of the folder, or no regular file"
                reading.note("file", what, str(path))
    return {end: sorted(paths) for end, paths in found.items()}


def _paths(folder):
    for parent, _, names in os.walk(folder):
        yield from (Path(parent, name) for name in names)


def ends_in(folder: str | os.PathLike[str]) -> set[str]:
    """Return the ends of the names of the files below a folder."""
    return {path.suffix for path in _paths(folder)}


def others_in(folder: str | os.PathLike[str]) -> str:
    """Return the end of a message on a folder: what is there, and how it is read."""
    ends = Counter(path.suffix.lower() or path.name for path in _paths(folder))
    there = [f"{counted(n, 'file')} {end}" for end, n in ends.most_common(_MANY)]
    if not there:
        return "; it has no files."
    more = " and others" * (len(ends) > _MANY)
    return (
        f"; it has {', '.join(there)}{more}. Files of other formats are read one by "
        "one, each by its path."
    )

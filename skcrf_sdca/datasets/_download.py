"""Reads a file of a corpus from a local folder, the data home, or the web."""

import gzip
import hashlib
import os
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

from sklearn.datasets import get_data_home

from skcrf_sdca._utils.files import atomic_write
from skcrf_sdca.text.core.files import decompressed

LOCAL_FOLDER_VARIABLE = "SKCRF_SDCA_DATA"
_TIMEOUT = 60.0

# In the docstrings of all functions that download files.
DOWNLOAD_OPTIONS = """
    data_home : str or path-like, default=None
        Downloads are stored in its folder ``skcrf_sdca``; by default scikit-learn's
        data home.
    download_if_missing : bool, default=True
        If False, raise OSError instead of downloading the file.
    return_X_y : bool, default=False
        Whether to return ``(X, y)`` instead of a Bunch.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        With the attributes
"""
# After the attributes X, y and target_names of the Bunch.
DOWNLOAD_ERRORS = """
        DESCR : str
            A description.
    (X, y) : tuple
        If ``return_X_y=True``.

    Raises
    ------
    ValueError
        If an option is unknown.
    OSError
        If the file is not found and cannot or must not be downloaded, or if its content
        is not as expected.
"""


@dataclass(frozen=True)
class RemoteFile:
    """A public file and the checks of its content.

    `path` ends in ``.gz`` and is the place in the local folder and in the data home,
    where the file is also found if it is unpacked and has no such ending.
    `urls` are tried in order; gzip may compress their content. The SHA-256 digest
    `sha256`, or else the number of lines, is checked after decompression: these checks
    do not depend on the compression.
    """

    path: str
    urls: tuple[str, ...]
    sha256: str | None = None
    n_lines: int | None = None


def find_local(path):
    """Return the file at a path in the folder of ``SKCRF_SDCA_DATA``, or None.

    It may be there without the ending ``.gz`` of the path.
    """
    folder = os.environ.get(LOCAL_FOLDER_VARIABLE)
    return _find(folder, path) if folder else None


def read_remote(remote, data_home=None, download_if_missing=True):
    """Return the decompressed content of a `RemoteFile`; download it if necessary.

    It is read from the first place that has it: the folder that ``SKCRF_SDCA_DATA``
    names, `data_home`, the addresses.
    """
    home = Path(get_data_home(data_home)) / "skcrf_sdca"
    file = find_local(remote.path) or _find(home, remote.path)
    if file is not None:
        return decompressed(file.read_bytes())
    if not download_if_missing:
        raise OSError(f"{_not_found(remote, home)}, and download_if_missing is False.")
    try:
        content = _download(remote)
    except OSError as error:
        raise OSError(f"{_not_found(remote, home)}. {error}") from error
    kept = home / remote.path
    kept.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(kept) as stream:
        stream.write(gzip.compress(content, mtime=0))
    return content


def _find(folder, path):
    places = Path(folder, path), Path(folder, path.removesuffix(".gz"))
    return next(filter(Path.is_file, places), None)


def _not_found(remote, home):
    local = os.environ.get(LOCAL_FOLDER_VARIABLE) or "not set"
    return (
        f"Data not found: no {remote.path}, with or without .gz, in the folder "
        f"that {LOCAL_FOLDER_VARIABLE} names ({local}) or in {home}"
    )


def _download(remote):
    failures = []
    for url in remote.urls:
        try:
            with urlopen(url, timeout=_TIMEOUT) as response:
                content = decompressed(response.read())
            _check(remote, content)
        except (OSError, HTTPException) as error:
            failures.append(f"{url}: {error}")
        else:
            return content
    raise OSError(f"Could not download {remote.path}:\n" + "\n".join(failures))


def _check(remote, content):
    if remote.sha256 is not None:
        digest = hashlib.sha256(content).hexdigest()
        if digest != remote.sha256:
            raise OSError(
                f"the SHA-256 checksum of the content is {digest}, expected "
                f"{remote.sha256}"
            )
    elif remote.n_lines is not None:
        n_lines = len(content.splitlines())
        if n_lines != remote.n_lines:
            raise OSError(f"{n_lines} lines, expected {remote.n_lines}")

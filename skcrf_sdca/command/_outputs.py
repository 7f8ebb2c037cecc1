"""Checks of the file that a subcommand writes, and the name of it in errors."""

import contextlib
import errno
import os

from skcrf_sdca._utils.files import is_regular_file


def check_writable(path):
    """Raise OSError before a long fit, not after it."""
    if os.path.isdir(path):
        raise OSError(errno.EISDIR, "Is a directory", path)
    if not os.path.basename(path):
        raise OSError(errno.ENOENT, "is no name of a file", path)
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        # The name may be too long.
        os.stat(path)
    # A link may lead to another folder.
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise OSError(errno.ENOENT, "No such directory", folder)
    # Pipes and devices are not replaced, but written to.
    written = folder if is_regular_file(path) else path
    if not os.access(written, os.W_OK):
        raise OSError(errno.EACCES, "Permission denied", path)


def check_not_read(options):
    """Raise ValueError if the model would replace a file that it is made of."""
    output = options.output
    for name in [*options.files, options.dev, options.templates]:
        if name is None or not (os.path.isfile(name) and os.path.isfile(output)):
            continue
        if os.path.samefile(name, output):
            raise ValueError(
                f"{output}: the model would replace this file, which train reads; "
                "choose another --output."
            )


@contextlib.contextmanager
def named_output(options):
    """Raise errors of the system with the name of the output: it may be full, say."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            error.filename = options.output
        raise

"""The standard streams, which may be closed, full, or without a reader.

Owns how results and messages are written. An error of the standard output is raised
with its name; messages that cannot be written are left out, and the status still tells.
"""

import contextlib
import errno
import os
import select
import sys

from skcrf_sdca._utils.files import is_regular_file

PROGRAM = "skcrf-sdca"
STANDARD_INPUT = "-"
_INPUT, _OUTPUT = "standard input", "standard output"


def standard_input():
    """Return the file of the standard input; raise OSError if it is closed."""
    if sys.stdin is None:
        raise _closed(_INPUT)
    return getattr(sys.stdin, "buffer", sys.stdin)


def file_of(name):
    """Return what the readers take: a path, or the standard input."""
    return standard_input() if name == STANDARD_INPUT else name


@contextlib.contextmanager
def answered(name, answer):
    """Yield what readers take; `answer` is called before they wait for more of it.

    So a program at the other end of a pipe gets the answers to all that it wrote.
    """
    if name == STANDARD_INPUT:
        yield _Answered(standard_input(), answer)
    elif is_regular_file(name):
        yield name
    else:
        with open(name, "rb") as file:
            yield _Answered(file, answer)


class _Answered:
    """An open file, of which as much is read as there is."""

    def __init__(self, file, answer):
        self.name = getattr(file, "name", "file")
        self._file, self._answer = file, answer
        self._read = getattr(file, "read1", file.read)

    def read(self, size):
        """Return some bytes; wait for them only if there are none."""
        if not _has_more(self._file):
            self._answer()
        return self._read(size)


def _has_more(file):
    """Return whether bytes, or the end, can be read without waiting; if known."""
    try:
        return bool(select.select([file], [], [], 0)[0])
    except (OSError, TypeError, ValueError):
        # Files without a number, and those of Windows.
        return False


def encode_output(encoding):
    """Set the encoding of the standard output, if it writes bytes."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding=encoding)


def write(texts):
    """Write texts to the standard output, at once.

    Raise OSError if it is closed or cannot be written to, and ValueError if its
    encoding lacks a character.
    """
    # First the results: their errors are none of the output.
    text = "".join(texts)
    if sys.stdout is None:
        raise _closed(_OUTPUT)
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except UnicodeEncodeError as error:
        lacking = error.object[error.start : error.end]
        raise ValueError(
            f"{_OUTPUT}: the encoding {error.encoding} has no {lacking!r:.40}; choose "
            "one that has it, by --encoding of tag, or by PYTHONIOENCODING."
        ) from error
    except OSError as error:
        # The buffered text is not written again.
        _discard(sys.stdout)
        raise OSError(error.errno, error.strerror or str(error), _OUTPUT) from error


def say(options, message):
    """Print a message of a subcommand on the standard error, as one line."""
    name = " ".join(filter(None, [PROGRAM, options.subcommand]))
    print(" ".join(f"{name}: {message}".split()), file=sys.stderr)


@contextlib.contextmanager
def lasting_messages():
    """Have a standard error that can be written to, even if it is closed."""
    with contextlib.redirect_stderr(_Messages(sys.stderr)):
        yield


class _Messages:
    """A stream of messages; those that cannot be written are left out."""

    encoding = "utf-8"

    def __init__(self, stream):
        self._stream = stream

    def write(self, text):
        """Write a message."""
        if self._stream is not None:
            self._try(self._stream.write, text)
        return len(text)

    def flush(self):
        """Flush the stream."""
        if self._stream is not None:
            self._try(self._stream.flush)

    def isatty(self):
        """Return False: messages have no colours."""
        return False

    def _try(self, function, *arguments):
        try:
            function(*arguments)
        except (OSError, ValueError):
            _discard(self._stream)


def _closed(name):
    return OSError(errno.EBADF, "it is closed", name)


def _discard(stream):
    """Discard the buffered text of a stream: Python would write it again at its end."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)

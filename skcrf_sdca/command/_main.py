"""The parser of the command line, and how a run ends: warnings, errors, exit codes."""

import argparse
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module

from skcrf_sdca._version import __version__

from ._streams import PROGRAM, lasting_messages, say, write

# The modules of the subcommands; that of `info` imports NumPy alone.
_SUBCOMMANDS = {
    "train": "_train",
    "pack": "_pack",
    "tag": "_tag",
    "eval": "_evaluate",
    "explain": "_explain",
    "info": "_info",
    "drift": "_drift",
    "templates": "_template_files",
}
# The exit codes of a shell for a program that a signal ends.
_INTERRUPTED, _BROKEN_PIPE = 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command ``skcrf-sdca``.

    Results go to the standard output; progress, warnings and errors to the standard
    error.

    Parameters
    ----------
    argv : sequence of str, default=None
        The arguments, by default ``sys.argv[1:]``.

    Returns
    -------
    status : int
        0 after success, 1 after any error, which is told in one line, 130 if
        interrupted, and 141 if the reader of the output has gone.

    Raises
    ------
    SystemExit
        With status 2 if the arguments are wrong, and 0 after ``--help``.

    Examples
    --------
    >>> from skcrf_sdca.command import main
    >>> main(["templates", "--columns", "word"])  # doctest: +ELLIPSIS
    Window(value='word', places=2, n=1)
    Window(value='word', places=1, n=2)
    ...
    0
    """
    options = argparse.Namespace(subcommand=None, traceback=False)
    argv = sys.argv[1:] if argv is None else argv
    with lasting_messages():
        try:
            _parser(argv[:1]).parse_args(argv, options)
            with warnings.catch_warnings():
                warnings.showwarning = _warner(options)
                options.run(options)
        except BrokenPipeError:
            return _BROKEN_PIPE
        except KeyboardInterrupt:
            return _INTERRUPTED
        except Exception as error:
            if options.traceback:
                raise
            say(options, _message_of(error))
            return 1
    return 0


class _Parser(argparse.ArgumentParser):
    """A parser whose help and version are written as results are, errors included."""

    def _print_message(self, message, file=None):
        if file is sys.stdout:
            write([message])
        else:
            super()._print_message(message, file)


def _warner(options):
    return lambda message, *_, **__: say(options, f"warning: {message}")


def _parser(first=()):
    """Return the parser, with the subcommand that comes first, or else with all."""
    parser = _Parser(
        PROGRAM,
        description="Train CRFs on files of labelled text, and use them.",
        epilog=f"'{PROGRAM} SUBCOMMAND --help' lists the options of a subcommand.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(
        dest="subcommand", metavar="SUBCOMMAND", required=True
    )
    for name in _SUBCOMMANDS.keys() & first or _SUBCOMMANDS:
        module = import_module(f".{_SUBCOMMANDS[name]}", __package__)
        subparser = subparsers.add_parser(
            name,
            help=module.HELP,
            description=f"{module.HELP[0].upper()}{module.HELP[1:]}.",
        )
        module.add_options(subparser)
        subparser.add_argument(
            "--traceback",
            action="store_true",
            help="show where in the program an error was raised",
        )
        subparser.set_defaults(
            run=module.run,
            usage_error=subparser.error,
            default_of=subparser.get_default,
        )
    return parser


def _message_of(error):
    """Return the message of an error."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return str(error) or "the memory does not suffice."
    if isinstance(error, (OSError, ValueError)):
        return str(error)
    return f"{type(error).__name__}: {error}; --traceback shows where it was raised."

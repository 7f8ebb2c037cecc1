"""The command `skcrf-sdca`: train, tag, eval, explain and info from a shell.

Owns the options of the command, the report of `eval`, template files, and how errors
reach the shell. It computes nothing: _inputs.py asks the readers of `skcrf_sdca.text`
for sentences, and each subcommand, in a module of its own, calls a Tagger.
"""

from ._main import main

__all__ = ["main"]

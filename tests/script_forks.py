"""Runs scripts one after another, each in a fork of this process.

It has imported what most benchmarks import, and what takes time. Each line of the input
names a script in JSON, and each line of the output is the exit status of one.
"""

import json
import os
import runpy
import sys


def main():
    # Not at the top: pytest imports this module too, which takes long with these.
    import figures  # noqa: F401
    import runs  # noqa: F401

    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            # This process ends as an interpreter does that was started for the script.
            return run(**json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def run(arguments, environment, files):
    """Run a script with its arguments, and write what it prints into two files."""
    for number, file in enumerate([os.devnull, *files]):
        mode = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(file, mode), number)
    os.environ.update(environment)
    sys.argv = arguments
    runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()

"""`python -m skcrf_sdca` is the command `skcrf-sdca`."""

import sys

from skcrf_sdca.command import main

if __name__ == "__main__":
    sys.exit(main())

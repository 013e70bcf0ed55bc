"""`python -m graphfix`: the same as the `graphfix` command."""

from __future__ import annotations

import sys

from graphfix.cli import main

if __name__ == "__main__":
    sys.exit(main())

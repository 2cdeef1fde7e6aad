"""What `make demo` shows: each part of Laconic at work on real input, and what it saved."""

from __future__ import annotations

import sys

from laconic.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["--help"]))

"""`python -m laconic` is the `laconic` command."""

from laconic.cli.main import entry

entry()

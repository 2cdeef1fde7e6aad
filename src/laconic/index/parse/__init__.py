"""Read source files: what they define, use, import and export, in every language that we have a grammar for.

`parse` reads one file in this process; `pool.ParsePool` reads many in processes that can be killed.
"""

from laconic.index.parse.detect import language_of
from laconic.index.parse.extract import parse
from laconic.index.parse.line_kinds import read_line_kinds

__all__ = ["language_of", "parse", "read_line_kinds"]

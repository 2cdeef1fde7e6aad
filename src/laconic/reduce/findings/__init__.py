"""Findings from the output of analysers and test runs, one record form for all. Reads and runs nothing.

`read` tells the tool from its output; each module knows some formats. Raw output never leaves this package.
"""

from laconic.reduce.findings.detect import read
from laconic.reduce.findings.findings import Findings, join_findings

__all__ = ["Findings", "join_findings", "read"]

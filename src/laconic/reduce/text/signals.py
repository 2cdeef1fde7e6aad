"""What single lines say in any tool's output: an error, a summary, a passing test, progress, a stack frame."""

from __future__ import annotations

import re
from typing import Final

# Words first, patterns second: most lines say nothing, and looking for a word is a hundred times faster.
_ERROR_WORDS: Final = (
    "error", "exception", "fail", "traceback", "panic", "fatal", "critical", "severe", "assert", "denied", "refused",
    "abort", "cannot", "can't", "could not", "couldn't", "unable", "undefined", "unresolve", "invalid", "illegal",
    "missing", "not found", "no such", "timeout", "timed out", "time out", "killed", "segfault", "segmentation",
    "core dumped", "conflict", "corrupt", "deadlock", "overflow", "unexpected", "unreachable", "mismatch",
    "violation", "reject", "expired", "unhealthy", "out of memory", "unknown", "does not exist", "doesn't exist",
    "break-in", "✖", "✗", "✘", "✕", "×", "err!", "caused by", "unsupported", "unauthori", "forbidden", "vulnerab",
    "exit code", "exit status", "expected", "should", " want", "alert", "emerg", " lost", "reset by peer", "broken",
    "dropped", "wrong", "incorrect", "exceed", "insufficient", "crash", "unavailable", "not available", "not allowed",
    "not permitted", "no space", "throttl", "hung ", " dead",
)  # fmt: skip
_HARMLESS: Final = re.compile(
    r"\b(?:0|no) (?:errors?|failures?|failed|failing|issues|problems|warnings|vulnerabilities)\b"
    r"|\b(?:errors?|failures?|failed|skipped) ?[:=] ?0\b|\bexit (?:code|status):? 0\b"
    r"|on_?failure|error_?handl|fail-?fast|thiserror|failsafe"
)
_SUMMARY_WORDS: Final = (
    "passed", "failed", "passing", "failing", "pending", "error", "problem", "issue", "example", "failure",
    "vulnerab", "violation", "warning", "changed", "insertion", "finding", "completed", "exit", "aborting", " in ",
)  # fmt: skip
_COUNTED: Final = re.compile(
    r"(?<![\w.,:-])\d[\d,]* (?:tests? )?(?:passed|failed|failing|passing|pending|errors?\b|problems?\b|issues?\b"
    r"|examples?,|failures?\b|vulnerabilit|violations?\b|previous errors?|warnings? (?:generated|emitted)"
    r"|files? changed|insertions?|findings?\b|tests? completed)"
    r"|exit(?:ed)?(?: with)? (?:code|status):? ?\d|aborting due to|process completed|=+ .*\bin [\d.]+ ?s"
)
_SUMMARY: Final = re.compile(
    r"(?:\[\w+\] +)?(?:Ran \d|Found \d|Tests?(?: Suites| Files)?:?  ?\s*\d|Test Suites:|Tests run:|test result:"
    r"|BUILD |FAILED(?:$| \()|OK(?:$| \()|FAIL(?:$|\s+\S+(?:$|\s+[\d.[(]))|PASS$|Results?:|TOTAL|Total:?\s|Finished "
    r"|DONE\b|Done in|Successfully |added \d|removed \d|changed \d|audited \d|could not compile|Snapshots:|Duration "
    r"|Files:|Total time|Your code has been rated)|real\s+\d"
)
_WARNING_WORDS: Final = ("warn", "deprecat", "caution")
_PASSING_WORDS: Final = (
    "ok", "OK", "PASS", "SKIP", "skip", "RUN", "PAUSE", "CONT", "NAME", "✓", "✔", "√", "XFAIL", "ms)", "ignored",
    "expected failure", "no test", "Tests run",
)  # fmt: skip
_PASSING: Final = re.compile(
    r"\.\.\. (?:ok|skipped\b.*|SKIP.*|expected failure)$|\.\.\. OK$|\bPASSED(?:\s*\[\s*\d+%\])?$|^PASSED "
    r"|^\s*--- (?:PASS|SKIP):"
    r"|^=== (?:RUN|PAUSE|CONT|NAME)\b|^(?:ok|\?)\s+\S+\s+(?:[\d.]+s|\(cached\)|\[no test)|^\s*[✓✔√]"
    r"|^PASS \S|^\s*ok \d+\b"
    r"|^test .* \.\.\. (?:ok|ignored.*)$|\bSKIPPED(?:\s*\(.*\))?(?:\s*\[\s*\d+%\])$|^XFAIL "
    r"|^\[(?:gw\d+)\] \[ *\d+%\] PASSED"
    r"|^\[INFO\] Tests run: \d+, Failures: 0, Errors: 0.*(?:Time elapsed| in )|^\s*(?:\S+ > )+.*\bPASSED$"
    r"|^# SKIP"
)
_DOTS: Final = re.compile(r"^(?:\S+\.\w+ )?[.sxX,*]{3,}\s*(?:\[\s*\d+%\])?$|^\S+\.py [.sxX]+(?:\s*\[\s*\d+%\])?$")
_PROGRESS: Final = re.compile(
    r"\s*(?:Downloading|Downloaded|Collecting|Using cached|Requirement already|Fetching|Fetched|Resolving"
    r"|Receiving objects|Counting objects|Compressing objects|remote: |Unpacking|Selecting previously|Preparing"
    r"|Setting up|Get:\d|Hit:\d|Compiling|Checking|Building|Installing|Updating|Locking|Extracting|Pulling|Waiting"
    r"|Verifying|Copying|Creating table|Applying|Adding|Loading|Processing|Obtaining|Looking in|Created wheel"
    r"|Stored in|Attempting uninstall|Found existing|Uninstalling|Successfully uninstalled|Importing application"
    r"|Synchroni[sz]|Linking|Generating|Transforming|Rendering)\b"
    r"|\[INFO\]|\[\d+/\d+\]|(?:npm|yarn) (?:http|info|timing|verb)"
    r"|> Task :\S+(?: UP-TO-DATE| NO-SOURCE| FROM-CACHE)?$"
    r"|\s*\S+: (?:Pulling|Download|Extracting|Pull complete|Verifying)"
)
_BAR: Final = re.compile(r"\b\d{1,3}(?:\.\d+)?%(?:$|[ |])|[━█▏▎▍▌▋▊▉#=]{8,}[>\s|]")
_DRAWN: Final = re.compile(r"\s*(?:\d{1,3}%)?\s*[|\[]?[━█▏▎▍▌▋▊▉#=╸╺>-]{5,}[ .\]|>-]*")
_BAR_MARKS: Final = ("%", "━━", "██", "####", "====")
VERSIONED: Final = re.compile(r"[A-Za-z]\w*(?:-|==|@| v?)\d+\.\d+(?:\.\d+)?")  # a package with its version
RULE: Final = re.compile(r"^[-=_*#~+.|:─━═┄\s]{4,}$")
CARETS: Final = re.compile(r"^[\s|│]*[\^~][\s^~|-]*$")
SHELL_TRACE: Final = re.compile(
    r"^\+{2,} |^\+ (?:(?:export|local|'?\[|case|\.|source|eval|hash|dirname) |\w+=)|^export \w+=|^PS1="
)
_STAMP: Final = (
    r"\[?(?:\d{4}[-/.]\d\d[-/.]\d\d[T _]?(?:\d\d:?\d\d:?\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\d{2}[-/]\w{2,3}[-/]\d{2,4}[: ]\d\d:\d\d:\d\d|\d\d:\d\d:\d\d(?:[.,]\d+)?|\d{6} \d{6}"
    r"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w* (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov"
    r"|Dec) +\d+ [\d:.]+(?: \d{4})?"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\w* +\d+ [\d:.]+)\]?"
)
LOGGED: Final = re.compile(
    r"^(?:\S{1,40} ){0,3}?" + _STAMP + r"|^\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|TRACE|NOTICE"
    r"|CRITICAL)\]?[ :]"
    r"|^\[ *\d+\.\d{3,}\]|^(?:level|time|ts|msg)="
    r"|^\d{10,13}[. ]|^[DIWEF]\d{4} [\d:.]+|^\S+ \S+ \S+ \[\d\d/\w{3}/\d{4}:"
)
FRAME: Final = re.compile(
    r'^\s+File "[^"]*", line \d+|^\s+at \S.*[):\d]$|^\s+at async |^\s+(?:from )?\S+\.rb:\d+:in|^\t\S+\.go:\d+'
    r"|^[\w./<>@-]+:\d+: in \S+$|^\s+\d+: +(?:0x[0-9a-f]+ - )?[\w<][\w:<>{}$ .&*,'\[\]()-]*$"
    r"|^#\d+ +(?:0x[0-9a-f]+ in )?\S"
    r"|^\s{2,}\d+\) .*\bat\b|^\s+\S+\(.*\.\w+:\d+\)$|^\s+[\w.$]+ \([\w./-]+:\d+(?::\d+)?\)$"
    r"|^\s+in \S+ at \S+:\d+"
)
LIBRARY: Final = re.compile(
    r"site-packages|dist-packages|/lib/python|<frozen |node_modules|node:internal|internal/|/rustc/"
    r"|\.cargo/|/usr/lib"
    r"|/go/pkg/mod|/usr/local/go|java\.base|jdk\.internal|sun\.|org\.junit|org\.apache\.maven"
    r"|java\.lang\.reflect|gems/"
    r"|_pytest/|pluggy/"
)
_NUMBERS: Final = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-f]{8,}\b|\d+")


def _says(line: str, words: tuple[str, ...]) -> bool:
    return any(word in line for word in words)


def is_error(line: str) -> bool:
    """The line tells of something wrong."""
    low = line.lower()
    if not _says(low, _ERROR_WORDS):
        return False
    return not _HARMLESS.search(low) or _says(_HARMLESS.sub("", low), _ERROR_WORDS)


def is_warning(line: str) -> bool:
    """The line warns."""
    return _says(line.lower(), _WARNING_WORDS)


def is_summary(line: str) -> bool:
    """The line sums up: how many passed, how many failed, how it ended."""
    if _SUMMARY.match(line):
        return True
    low = line.lower()
    return _says(low, _SUMMARY_WORDS) and _COUNTED.search(low) is not None


def is_passing(line: str) -> bool:
    """A test that passed or was skipped, or a row of dots."""
    return (_says(line, _PASSING_WORDS) and _PASSING.search(line) is not None) or _DOTS.match(line) is not None


def is_progress(line: str) -> bool:
    """The line only tells that work goes on."""
    return _PROGRESS.match(line) is not None or (_says(line, _BAR_MARKS) and _BAR.search(line) is not None)


def is_bar(line: str) -> bool:
    """A progress bar that was drawn."""
    return _says(line, _BAR_MARKS) and _DRAWN.match(line) is not None


def template(line: str) -> str:
    """The line with its numbers masked: lines alike but for numbers have the same template."""
    return _NUMBERS.sub("#", line)

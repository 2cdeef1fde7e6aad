"""What single lines say in any tool's output: an error, a summary, a passing test, progress, a stack frame."""

from __future__ import annotations

import re
from typing import Final

_ERROR: Final = re.compile(
    r"(?i)error|exception|fail|traceback|panic|fatal|critical|severe|assert|denied|refused|abort|cannot"
    r"|can't|could ?n[o']t"
    r"|unable|undefined|unresolve|invalid|illegal|missing|not found|no such|time[ds]? ?out|killed|segfault"
    r"|segmentation|core dumped|conflict|corrupt|deadlock|overflow|unexpected|unreachable|mismatch"
    r"|violation|reject"
    r"|expired|unhealthy|\boom\b|out of memory|unknown|does not exist|doesn't exist|break-in|[✖✗✘×]"
    r"|npm ERR!|^E  |caused by"
    r"|unsupported|unauthori[sz]ed|forbidden|vulnerab|exit (?:code|status)|expected|\bwant\b|should"
)
_HARMLESS: Final = re.compile(
    r"(?i)\b(?:0|no) (?:errors?|failures?|failed|failing|issues|problems|warnings|vulnerabilities)\b"
    r"|\b(?:errors?|failures?|failed|skipped) ?[:=] ?0\b|\bexit (?:code|status) 0\b|on_?failure"
    r"|error_?handl|fail-?fast"
    r"|\[?info\]? .{0,80}\b0 \w+ failed"
)
WARNING: Final = re.compile(r"(?i)\bwarn(?:ing)?s?\b|deprecat|caution")
SUMMARY: Final = re.compile(
    r"(?i)(?<![\w.,:-])\d[\d,]* (?:tests? )?(?:passed|failed|failing|passing|pending|errors?\b"
    r"|problems?\b|issues?\b|examples?,"
    r"|failures?\b|vulnerabilit|violations?\b|previous errors?|warnings? (?:generated|emitted)"
    r"|files? changed|insertions?"
    r"|findings?\b)"
    r"|^(?:\[\w+\] )?(?:Ran \d|Found \d|Tests?(?: Suites| Files)?:?  ?\s*\d|Test Suites:|Tests run:"
    r"|test result:|BUILD "
    r"|FAILED(?:$| \()|OK(?:$| \()|FAIL(?:$|\s+\S+(?:$|\s+[\d.[(]))|PASS$|Result:|Results:|TOTAL"
    r"|Total:?\s|Finished "
    r"|DONE\b|Successfully |added \d|removed \d|changed \d|audited \d|(?:could not compile)|Snapshots:"
    r"|Duration |Files:)"
    r"|^real\s+\d|^\[(?:ERROR|INFO|WARNING)\] +(?:Tests run:|BUILD |Total time)|\d+ tests? completed|"
    r"exit(?:ed)?(?: with)? (?:code|status):? ?\d|aborting due to|process completed|=+ .*\bin [\d.]+ ?s"
)
PASSING: Final = re.compile(
    r"\.\.\. (?:ok|skipped\b.*|SKIP.*|expected failure)$|\.\.\. OK$|\bPASSED(?:\s*\[\s*\d+%\])?$|^PASSED "
    r"|^\s*--- (?:PASS|SKIP):"
    r"|^=== (?:RUN|PAUSE|CONT|NAME)\b|^(?:ok|\?)\s+\S+\s+(?:[\d.]+s|\(cached\)|\[no test)|^\s*[✓✔√]"
    r"|^PASS \S|^\s*ok \d+\b"
    r"|^test .* \.\.\. (?:ok|ignored.*)$|\bSKIPPED(?:\s*\(.*\))?(?:\s*\[\s*\d+%\])$|^XFAIL "
    r"|^\[(?:gw\d+)\] \[ *\d+%\] PASSED"
    r"|^\[INFO\] Tests run: \d+, Failures: 0, Errors: 0.*(?:Time elapsed| in )|^\s*(?:\S+ > )+.*\bPASSED$"
    r"|^# SKIP|^\s+[\w ]+ \(\d+ ?ms\)$"
)
_DOTS: Final = re.compile(r"^(?:\S+\.\w+ )?[.sxX,*]{3,}\s*(?:\[\s*\d+%\])?$|^\S+\.py [.sxX]+(?:\s*\[\s*\d+%\])?$")
PROGRESS: Final = re.compile(
    r"^\s*(?:Downloading|Downloaded|Collecting|Using cached|Requirement already|Fetching|Fetched"
    r"|Resolving|Receiving objects"
    r"|Counting objects|Compressing objects|remote: |Unpacking|Selecting previously|Preparing|Setting up"
    r"|Get:\d|Hit:\d"
    r"|Compiling|Checking|Building|Installing|Updating|Locking|Extracting|Pulling|Waiting|Verifying"
    r"|Copying|Creating table"
    r"|Applying|Adding|Loading|Processing|Obtaining|Looking in|Created wheel|Stored in"
    r"|Attempting uninstall|Found existing"
    r"|Uninstalling|Successfully uninstalled|Importing application|Synchroni[sz]|Linking|Generating"
    r"|Transforming|Rendering)\b"
    r"|^\[INFO\]|^\[\d+/\d+\]|^(?:npm|yarn) (?:http|info|timing|verb)|^> Task :\S+(?: UP-TO-DATE"
    r"| NO-SOURCE| FROM-CACHE)?$"
    r"|\b\d{1,3}(?:\.\d+)?%(?:$|[ |])|[━█▏▎▍▌▋▊▉#=]{8,}[>\s|]|^\s*\S+: (?:Pulling|Download|Extracting"
    r"|Pull complete|Verifying)"
)
VERSIONED: Final = re.compile(r"[A-Za-z]\w*(?:-|==|@| v?)\d+\.\d+(?:\.\d+)?")  # a package with its version
RULE: Final = re.compile(
    r"^\s*[-=_*#~+.─━═]{4,}\s*$|^\s*(?:[-_] ){6,}[-_]?\s*$|^\s*\|?(?:[:|+ ]*-{3,}[:|+ ]*)+\|?\s*$"
)
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
    r"|^(?:level|time|ts|msg)=|^\d{10,13}[. ]|^[DIWEF]\d{4} [\d:.]+|^\S+ \S+ \S+ \[\d\d/\w{3}/\d{4}:"
)
STAMP: Final = re.compile(_STAMP)
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


def is_error(line: str) -> bool:
    """The line tells of something wrong."""
    if not _ERROR.search(line):
        return False
    return not _HARMLESS.search(line) or _ERROR.search(_HARMLESS.sub("", line)) is not None


def is_passing(line: str) -> bool:
    """A test that passed or was skipped, or a row of dots."""
    return PASSING.search(line) is not None or _DOTS.match(line) is not None


def template(line: str) -> str:
    """The line with its numbers masked: lines alike but for numbers have the same template."""
    return _NUMBERS.sub("#", line)

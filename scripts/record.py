"""Record what a command prints, as it prints it, in one SVG that plays by itself: `record.py FILE COMMAND...`."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import time
from html import escape
from pathlib import Path

COLUMNS, ROWS = 110, 30
WIDTH, HEIGHT, LEFT, TOP = 8.4, 18, 16, 44
PAUSE, HOLD = 1.2, 6.0  # longest wait between two lines that is shown; seconds at the end
BOLD = re.compile(r"\x1b\[1m(.*?)\x1b\[0m")
OTHER = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
STYLE = (
    "text{font:14px ui-monospace,Menlo,Consolas,monospace;fill:#d7dde5;white-space:pre}"
    ".b{font-weight:700;fill:#8ecbff}.t{fill:#8b949e}"
)


def lines_of(command: list[str]) -> list[tuple[float, str]]:
    """Every line with the moment at which it was there, long waits shortened."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL)
    os.close(theirs)
    held, clock, last, found = b"", 0.0, time.monotonic(), list[tuple[float, str]]()
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # how a terminal says that its program has ended
            break
        now = time.monotonic()
        clock, last = clock + min(PAUSE, now - last), now
        *whole, held = (held + part).split(b"\n")
        found += [(clock, line.decode("utf-8", "replace").replace(str(Path.cwd()), "~/laconic")) for line in whole]
    if process.wait():
        raise SystemExit(f"{' '.join(command)} failed:\n{found[-5:]}")
    return found


def picture(title: str, lines: list[tuple[float, str]]) -> str:
    """The recording: lines appear, and the view scrolls with them."""
    spread = [(at + number * 0.03, text) for number, (at, text) in enumerate(lines)]
    total = spread[-1][0] + HOLD
    width, height = LEFT * 2 + COLUMNS * WIDTH, TOP + ROWS * HEIGHT + 12
    steps = []
    for number, (at, _) in enumerate(spread):
        up = max(0, number + 1 - ROWS) * HEIGHT
        if up or not number:
            steps.append(f"{at / total:.2%}{{transform:translateY(-{up}px)}}")
    rows = "".join(_row(number, at, total, text) for number, (at, text) in enumerate(spread))
    lamps = "".join(
        f'<circle cx="{20 + 18 * i}" cy="18" r="5" fill="{c}"/>'
        for i, c in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img" '
        f'aria-label="{escape(title)}">'
        f"<style>{STYLE}@keyframes s{{{''.join(steps)}}}"
        f".v{{animation:s {total:.1f}s step-end infinite}}</style>"
        f'<rect width="100%" height="100%" rx="8" fill="#161b22"/>{lamps}'
        f'<text class="t" x="{width / 2:.0f}" y="22" text-anchor="middle">{escape(title)}</text>'
        f'<svg y="{TOP - HEIGHT}" height="{ROWS * HEIGHT + HEIGHT}" width="{width:.0f}">'
        f'<g class="v">{rows}</g></svg></svg>\n'
    )


def _row(number: int, at: float, total: float, text: str) -> str:
    plain = OTHER.sub("", BOLD.sub(r"\1", text)).expandtabs(8)
    if not plain.strip():
        return ""
    shown = plain if len(plain) <= COLUMNS else plain[: COLUMNS - 1] + "…"
    kind = ' class="b"' if BOLD.search(text) else ""
    # A line is hidden until its moment, then stays for the rest of the loop.
    hidden = (
        f'<animate attributeName="opacity" values="0;1" keyTimes="0;{at / total:.4f}" dur="{total:.1f}s" '
        'calcMode="discrete" repeatCount="indefinite"/>'
    )
    return f'<text{kind} x="{LEFT}" y="{(number + 1) * HEIGHT}" opacity="0">{hidden}{escape(shown)}</text>'


def main() -> int:
    file, *command = sys.argv[1:]
    Path(file).write_text(picture(" ".join(command), lines_of(command)), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

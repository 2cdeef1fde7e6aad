"""JSON as few characters: maps as indented lines, arrays of like objects as tables, what all rows share said once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from laconic.reduce.text.cell_widths import NARROW, CellWidths
from laconic.reduce.text.embedded_texts import is_encoded, is_text, open_document
from laconic.reduce.text.outliers import find_extremes, find_odd_members, find_odd_rows
from laconic.reduce.text.parts import COMMON, KEY, PLACE, RARE, TextPart, shift_parts, shorten

_INLINE: Final = 100  # characters of a map or list that is written on one line
_ENCODED: Final = 48  # of bytes that are written as letters
_REMIND: Final = 230  # characters of nested rows after which the name of their owner is said again
_NAMING: Final = ("filePath", "filename", "file", "path", "name", "id", "title", "uri", "url", "key")
FINDING: Final = re.compile(
    r"(?i)error|fail|warn|exception|denied|critical|high|crash|back-?off|unhealthy|killed|evicted|invalid|refused"
)
NOTHING: Final[tuple[object, ...]] = (None, [], {}, "")
_CROWD: Final = 200  # rows; beyond that not every one must stay
_SPARSE: Final = 0.2
_RARELY: Final = 0.03  # of the rows
_FIRST: Final = 2  # rows that stay whatever they are: many lists begin with the newest or the best
_ERRORS: Final = 12  # rows that may tell of errors however few there are
_ERRORS_SHARE: Final = 0.25  # of the rows
_PAIR: Final = 2
_WORDS: Final = 12  # spaces in a value from which it is a text
_MANY: Final = 30  # texts of a list that are read like the lines of one text


@dataclass(slots=True)
class PartWriter:
    """Collects lines as parts, and reminds of the owner of nested rows."""

    parts: list[TextPart]
    read_text: Callable[[str], list[TextPart]] | None = None  # the parts of a text of several lines
    widths: CellWidths = NARROW
    cut: bool = False  # something of a string was left out
    since: int = 0
    owner: str = ""
    head: int = -1  # the line without which the next ones mean nothing

    def line(self, depth: int, text: str, worth: int = PLACE) -> int:
        """Write a line and return its place."""
        if self.owner and self.since > _REMIND and depth > 1:
            self.parts.append(TextPart(f"{' ' * (depth - 1)}# {self.owner}", COMMON, 0, head=self.head))
            self.since = 0
        self.parts.append(TextPart(text=f"{' ' * depth}{text}", worth=worth, lines=1, what="rows", head=self.head))
        self.since += len(text) + depth
        return len(self.parts) - 1

    def text(self, label: str, text: str, depth: int) -> bool:
        """Write a text of several lines as what it is, below its name; False where nobody can read it."""
        if self.read_text is None:
            return False
        head = self.line(depth, label or "text:")
        by = len(self.parts)
        for part in shift_parts(self.read_text(text), by):
            self.parts.append(part if part.head >= 0 else replace(part, head=head))
        return True

    @contextmanager
    def below(self, head: int) -> Iterator[None]:
        """Lines written inside need the line at `head`."""
        outer, self.head = self.head, head
        yield
        self.head = outer

    def own(self, name: str) -> None:
        self.owner, self.since = name, 0


def structure_parts(
    value: object, read_text: Callable[[str], list[TextPart]] | None = None, widths: CellWidths = NARROW
) -> tuple[list[TextPart], bool]:
    """Lines for a JSON value, and whether a long string was cut; `read_text` gives the parts of texts inside it."""
    writer = PartWriter([], read_text, widths)
    _write(writer, "", value, 0)
    return writer.parts or [TextPart(scalar(value, writer), KEY)], writer.cut


def _write(out: PartWriter, key: str, value: object, depth: int) -> None:
    label = ""
    if key:
        label = f"{key}: "
    value = open_document(_join_lines(value))
    if _is_readable(value, out.widths) and out.text(label.rstrip(), str(value), depth):
        return
    if not isinstance(value, dict | list) or not value:
        out.line(depth, label + scalar(value, out))
    elif (short := _inline(value)) is not None:
        out.line(depth, label + short)
    elif isinstance(value, dict):
        _write_map(out, key, value, depth)
    else:
        _write_list(out, key, value, depth)


def _is_readable(value: object, widths: CellWidths) -> bool:
    """Whether a value is a text to be read as such: of several lines, or, where there is room, long."""
    if is_text(value):
        return True
    return widths.thorough and isinstance(value, str) and len(value) > widths.cell and value.count(" ") > _WORDS


def _join_lines(value: object) -> object:
    """A text that is written as a list of its lines, as notebooks do, as a text."""
    if not isinstance(value, list) or len(value) < _PAIR:
        return value
    if all(isinstance(line, str) and line.endswith("\n") for line in value[:-1]) and isinstance(value[-1], str):
        return "".join(value)
    return value


def _write_map(out: PartWriter, key: str, value: Mapping[str, object], depth: int) -> None:
    if len(value) == 1:
        name, inner = next(iter(value.items()))
        _write(out, f"{key}.{name}" if key else name, inner, depth)
        return
    flat = {name: inner for name, inner in value.items() if _is_flat(inner)}
    rest = {name: inner for name, inner in value.items() if name not in flat}
    plain = ", ".join(f"{name}: {scalar(inner, out)}" for name, inner in flat.items())
    label = ""
    if key:
        label = f"{key}: "
    if flat and len(plain) < _INLINE * 3:
        place = out.line(depth, label + plain, PLACE if depth else KEY)  # what the whole document says of itself
    else:
        place = out.head
        if key:
            place = out.line(depth, f"{key}:")
        with out.below(place):
            for name, inner in flat.items():
                out.line(depth + bool(key), f"{name}: {scalar(inner, out)}")
    with out.below(place if key else out.head):
        for name, inner in rest.items():
            _write(out, name, inner, depth + bool(label or flat))


def _write_list(out: PartWriter, key: str, rows: Sequence[object], depth: int) -> None:
    if out.widths.thorough:
        rows = [open_document(row) for row in rows]
    records = []
    for each in rows:
        if isinstance(each, dict):
            records.append(each)
        elif isinstance(each, list) and len(each) == _PAIR and isinstance(each[1], dict) and _is_flat(each[0]):
            records.append({"": each[0], **each[1]})  # a key with its record, as streams and indexes print them
    if len(records) == len(rows) and len(rows) > 1:
        _write_table(out, key, [dict(flatten(row, out.widths.thorough)) for row in records], depth)
        return
    with out.below(out.line(depth, f"{key or 'list'} ({len(rows)}):")):
        if _write_rows(out, rows, depth + 1):
            return
        if all(not isinstance(row, dict | list) for row in rows):
            _write_values(out, rows, depth + 1)
            return
        for row in rows:
            _write(out, "-", row, depth + 1)


def _write_values(out: PartWriter, values: Sequence[object], depth: int) -> None:
    """Plain values, several on a line; many whole sentences like the lines of a text."""
    texts = [value for value in values if isinstance(value, str) and " " in value and "\n" not in value]
    if len(texts) == len(values) >= _MANY and out.text("lines:", "\n".join(texts), depth):
        return
    for chunk in _lines_of([scalar(value, out) for value in values]):
        out.line(depth, chunk, KEY if FINDING.search(chunk) else RARE)


def _write_rows(out: PartWriter, rows: Sequence[object], depth: int) -> bool:
    """Rows that are lists of plain values, a line each; False where they are something else."""
    lists: list[list[object]] = []
    for row in rows:
        if not isinstance(row, list) or any(isinstance(cell, dict | list) and cell for cell in row):
            return False
        lists.append(row)
    usual = PLACE if len(rows) < _CROWD else RARE
    widths = {len(cells) for cells in lists}
    odd: set[int] = set()
    if len(widths) == 1:
        table = list(zip(*lists, strict=True))
        odd = find_odd_rows([[str(cell) for cell in column] for column in table])
        if out.widths.thorough:
            odd |= find_extremes(table)
            odd.add(len(lists) - 1)
    for at, cells in enumerate(lists):
        line = " | ".join(_cell(cell, "", out, out.widths.cell) for cell in cells)
        out.line(depth, line, KEY if at < _FIRST or at in odd or FINDING.search(line) else usual)
    return True


def _is_flat(value: object) -> bool:
    """Whether a value needs no more than a line."""
    if isinstance(value, str):
        return not is_text(value) and open_document(value) is value
    return not isinstance(value, dict | list) or not value


def flatten(row: Mapping[str, object], opened: bool, prefix: str = "") -> Iterator[tuple[str, object]]:
    """A record with the maps inside it opened (`location.row`), and lists of one map too when asked for."""
    for name, value in row.items():
        if isinstance(value, dict) and value:
            yield from flatten(value, opened, f"{prefix}{name}.")
        elif opened and isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
            yield from flatten(value[0], opened, f"{prefix}{name}.0.")
        else:
            yield prefix + name, value


def _write_table(out: PartWriter, key: str, rows: Sequence[Mapping[str, object]], depth: int) -> None:
    """What all rows share stands in the heading; usual columns make a row, rare ones are named where they occur."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    shared, columns, rare, nested = _sort_columns(names, rows, out.widths)
    prefixes = {name: prefix for name in columns if (prefix := _common_prefix([row.get(name) for row in rows]))}
    derived = _find_derived(columns, prefixes, rows)
    columns = [name for name in columns if name not in derived]
    title = " ".join(
        [
            f"{key or 'rows'} ({len(rows)})",
            *(f"{name}={scalar(value, out)}" for name, value in shared.items() if value not in NOTHING),
            *(f"{name}={text}" for name, text in derived.items()),
            *(f"{name}={prefix}*" for name, prefix in prefixes.items() if name in columns),
        ]
    )
    place = out.line(depth, title + ":")
    with out.below(place):
        if columns:
            place = out.line(depth, "| " + " | ".join(columns))
    blobs = set()
    for one in columns:
        if sum(len(str(row.get(one))) for row in rows) > out.widths.cell * len(rows):
            blobs.add(one)
    naming = next((name for name in _NAMING if name in columns or name in nested), columns[0] if columns else "")
    if len(rows) < _CROWD:
        usual = PLACE
    else:
        usual = RARE
    odd = _find_telling_rows(out, columns, rows) | _find_rows_with(rare, rows)
    odd |= _find_findings([*columns, *rare], rows)
    for number, row in enumerate(rows):
        if nested and naming:
            out.own(str(row.get(naming, ""))[-80:])
        sizes = []
        for item in columns:
            sizes.append((item, out.widths.blob if item in blobs else out.widths.cell))
        cells = [_cell(row.get(name), prefixes.get(name, ""), out, most) for name, most in sizes]
        extra = [
            f"{name}: {scalar(row[name], out, out.widths.cell)}" for name in rare if row.get(name) not in NOTHING
        ]
        line = " | ".join(filter(None, [*cells, *extra]))
        inner = [(name, row[name]) for name in nested if row.get(name)]
        with out.below(place):
            if line or inner:
                at = out.line(depth, line or "-", KEY if number in odd else usual)
            else:
                at = place
        with out.below(at):
            for name, value in inner:
                _write(out, name, value, depth + 1)
    out.own("")


def _find_telling_rows(out: PartWriter, columns: Sequence[str], rows: Sequence[Mapping[str, object]]) -> set[int]:
    """The rows that stay before others: odd ones, the first, and, where there is room, the ends of what is measured."""
    odd = find_odd_rows([[str(row.get(name)) for row in rows] for name in columns])
    if out.widths.thorough:
        odd |= find_extremes([[row.get(name) for row in rows] for name in columns])
        for name in columns:
            odd |= find_odd_members([row.get(name) for row in rows])
        odd.add(len(rows) - 1)
    if not out.owner:
        odd.update(range(_FIRST))
    return odd


def _find_findings(names: Sequence[str], rows: Sequence[Mapping[str, object]]) -> set[int]:
    """The rows that tell of errors, unless many of them do."""
    found: set[int] = set()
    for number, row in enumerate(rows):
        if any(FINDING.search(str(row.get(name, ""))) for name in names):
            found.add(number)
    return found if len(found) <= max(_ERRORS, len(rows) * _ERRORS_SHARE) else set()


def _find_rows_with(rare: Sequence[str], rows: Sequence[Mapping[str, object]]) -> set[int]:
    """The rows that say something which hardly any other says."""
    found: set[int] = set()
    for name in rare:
        present = [number for number, row in enumerate(rows) if row.get(name) not in NOTHING]
        if len(present) <= max(_FIRST, _RARELY * len(rows)):
            found.update(present)
    return found


def _sort_columns(
    names: Sequence[str], rows: Sequence[Mapping[str, object]], widths: CellWidths
) -> tuple[dict[str, object], list[str], list[str], list[str]]:
    shared: dict[str, object] = {}
    columns: list[str] = []
    rare: list[str] = []
    nested: list[str] = []
    for name in names:
        values = []
        for row in rows:
            values.append(row.get(name))
        present = sum(value not in NOTHING for value in values)
        if all(value == values[0] for value in values):
            shared[name] = values[0]
        elif any(_is_deep(value) or (widths.thorough and _is_long(value, widths)) for value in values):
            nested.append(name)
        elif present < _SPARSE * len(rows) or present < 2:
            rare.append(name)
        else:
            columns.append(name)
    return shared, columns, rare, nested


def _is_long(value: object, widths: CellWidths) -> bool:
    """Whether a value would be cut in a table although it can be read."""
    joined = _join_lines(value)
    return isinstance(joined, str) and len(joined) > widths.cell and _is_readable(joined, widths)


def _is_deep(value: object) -> bool:
    return (isinstance(value, list | dict) and bool(value) and _inline(value) is None) or (
        isinstance(value, list) and any(isinstance(item, dict) for item in value)
    )


def _common_prefix(values: Sequence[object]) -> str:
    """What all strings of a column begin with, cut at a slash."""
    texts = []
    for value in values:
        if isinstance(value, str):
            texts.append(value)
    if len(texts) < len(values) or len(texts) < 3:
        return ""
    low, high = min(texts), max(texts)
    size = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
    cut = low[:size].rfind("/") + 1
    if cut > 8:
        return low[:cut]
    return ""


def _find_derived(
    columns: Sequence[str], prefixes: Mapping[str, str], rows: Sequence[Mapping[str, object]]
) -> dict[str, str]:
    """Columns that another column tells: the same value, or the same behind a fixed prefix."""
    known: dict[str, str] = {}
    for index, name in enumerate(columns):
        prefix = prefixes.get(name, "")
        for other in columns:
            if other == name or other in known or (not prefix and other not in columns[:index]):
                continue
            if all(row.get(name) == _add_prefix(prefix, row.get(other)) for row in rows):
                known[name] = f"{prefix}{{{other}}}"
                break
    return known


def _add_prefix(prefix: str, value: object) -> object:
    if prefix:
        return f"{prefix}{value}"
    return value


def _cell(value: object, prefix: str, out: PartWriter, most: int) -> str:
    if value in (None, [], {}):
        return "-"
    if not isinstance(value, dict | list):
        text = scalar(value, out, most)
    else:
        text = _inline(value) or scalar(str(value), out, most)
    if prefix and text.startswith(prefix):
        return text[len(prefix) :]
    return text


def _inline(value: object, most: int = _INLINE) -> str | None:
    """A small map or list on one line; None when it is too large or too deep."""
    if isinstance(value, dict):
        if len(value) > 8:
            return None
        texts = []
        for name, each in value.items():
            texts.append((name, _inline(each, most)))
        if any(text is None for _, text in texts):
            return None
        line = "{" + ", ".join(f"{name}: {text}" for name, text in texts) + "}"
    elif isinstance(value, list):
        if len(value) > 20:
            return None
        inner = []
        for item in value:
            inner.append(_inline(item, most))
        if any(text is None for text in inner):
            return None
        line = "[" + ", ".join(text or "" for text in inner) + "]"
    else:
        line = _plain(value)
    if len(line) <= most:
        return line
    return None


def _plain(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        if value:
            return "true"
        return "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return f"{value:.1f}"
    text = str(value)
    if isinstance(value, str):
        return text.replace("\n", "\\n")
    return text


def scalar(value: object, out: PartWriter, most: int = 0) -> str:
    """A value on one line, of at most so many characters, or as many as a line of its own may have."""
    if isinstance(value, dict | list):
        if isinstance(value, dict) and not value:
            return "{}"
        if not value:
            return "[]"
        return _inline(value) or str(value)
    text = _plain(value)
    if text == "" and isinstance(value, str):
        return '""'
    if is_encoded(text):
        most = _ENCODED
    short = shorten(text, most or out.widths.string)
    out.cut |= short != text
    return short


def _lines_of(texts: Sequence[str]) -> Iterator[str]:
    """Short texts, several on a line."""
    line = ""
    for text in texts:
        if line and len(line) + len(text) > _INLINE * 2:
            yield line
            line = ""
        if line:
            line = f"{line}, {text}"
        else:
            line = text
    if line:
        yield line

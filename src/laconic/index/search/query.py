"""What a query asks for and where: filters inside it, its shape, kind words, names, and the files it may look into."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import msgspec

from laconic.index.languages import canonical_name
from laconic.index.search_words import fold
from laconic.index.store import Store
from laconic.index.store.file_queries import read_sources
from laconic.index.symbol_kinds import KINDS_BY_WORD

_TESTING: Final = frozenset({"test", "tests", "testing", "spec", "specs"})
_FILTER: Final = re.compile(
    r"(?<!\S)(?P<no>-)?(?P<key>path|file|files|in|lang|language|kind|tests?|ext):(?P<value>\"[^\"]*\"|\S+)",
    re.IGNORECASE,
)
_NO_TESTS: Final = re.compile(r"(?<!\S)-tests?(?!\S)", re.IGNORECASE)
_REGEX: Final = re.compile(r"/(?P<pattern>.+)/(?P<flags>[a-z]*)", re.DOTALL)
_LETTER: Final = re.compile(r"\w")  # `/a/` is a folder rather than a pattern
_PLACE: Final = re.compile(r"(?P<path>[^\s:]+\.[\w]+|[^\s:]*/[^\s:]+):(?P<line>\d+)(?:[-:,]\d+)?")
_SEPARATOR: Final = re.compile(r"::|\.|#|->")
_NAME: Final = re.compile(r"[^\W\d][\w$-]*[?!]?")
_QUALIFIED: Final = re.compile(r"[\w$]+(?:(?:::|\.|#|->)[\w$]+[?!]?)+(?:\(\))?")
_EITHER: Final = re.compile(r"\s+OR\s+|\s+\|\|?\s+")


@dataclass(frozen=True, slots=True)
class Filters:
    """Where to look. Empty means everywhere."""

    paths: tuple[str, ...] = ()  # globs, any of them
    without: tuple[str, ...] = ()  # globs, none of them
    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    tests: bool | None = None  # True: only tests; False: none; None: ranked as the query wants

    def __bool__(self) -> bool:
        return bool(self.paths or self.without or self.languages or self.kinds or self.tests is not None)


@dataclass(frozen=True, slots=True)
class Query:
    """A query that was understood."""

    text: str  # without filters
    filters: Filters = field(default_factory=Filters)
    regex: str = ""
    ignore_case: bool | None = None
    phrase: str = ""  # written in quotes: to be found as it is
    place: tuple[str, int] | None = None  # path and line
    either: tuple[str, ...] = ()  # alternatives, each a query of its own
    kinds: tuple[str, ...] = ()  # wished for, not demanded
    bare: str = ""  # the text without the kind word
    testing: bool = False  # it asks for tests
    semantic: bool = True  # answers may be put in order by meaning
    wanted: int = 20  # hits that will be looked at

    @property
    def names(self) -> tuple[str, ...]:
        """What a symbol that is meant might be called, folded; the whole query first."""
        found: dict[str, None] = {}
        for text in (self.text, self.bare):
            found[fold(re.sub(r"[\s()]+", "", text))] = None
        return tuple(name for name in found if _NAME.fullmatch(name))

    @property
    def qualified(self) -> tuple[str, ...]:
        """The parts of `Class.method` and the like, outermost first; nothing for other queries."""
        text = self.bare.strip()
        if not _QUALIFIED.fullmatch(text):
            return ()
        return tuple(_SEPARATOR.split(text.removesuffix("()")))

    @property
    def single(self) -> bool:
        """One name, not words."""
        return bool(_NAME.fullmatch(self.bare.removesuffix("()")))


def parse_query(raw: str) -> Query:
    """Read a query as an agent or a person writes it."""
    text, filters = _parse_filters(raw.strip())
    if (found := _REGEX.fullmatch(text)) and not _LETTER.fullmatch(found["pattern"]):
        return Query(
            text=text, filters=filters, regex=found["pattern"], ignore_case="i" in found["flags"] or None, bare=text
        )
    if len(text) > 2 and text[0] == text[-1] and text[0] in "\"'`":
        inner = text[1:-1]
        if text[0] == "`":
            return replace(parse_query(inner), filters=filters, phrase=inner)
        return Query(inner, filters, phrase=inner, bare=inner)
    if found := _PLACE.fullmatch(text):
        return Query(text, filters, place=(found["path"], int(found["line"])), bare=found["path"])
    either = tuple(part for part in _EITHER.split(text) if part.strip())
    if len(either) > 1:
        return Query(text=text, filters=filters, either=either, bare=text, testing=_is_testing(text))
    return _parse_words(text, filters)


def _parse_words(text: str, filters: Filters) -> Query:
    first, _, rest = text.partition(" ")
    if rest.strip():
        kinds = KINDS_BY_WORD.get(first.lower().rstrip(":"), ())
    else:
        kinds = ()
    if not kinds and rest and (last := text.rsplit(" ", 1))[1].lower() in KINDS_BY_WORD:
        kinds, rest = KINDS_BY_WORD[last[1].lower()], last[0]  # `BrowserClient class`
    return Query(
        text=text, filters=filters, kinds=kinds, bare=rest.strip() if kinds else text, testing=_is_testing(text)
    )


def _is_testing(text: str) -> bool:
    return any(word in _TESTING for word in re.findall(r"[a-z]+", text.lower()))


def _parse_filters(raw: str) -> tuple[str, Filters]:
    paths: list[str] = []
    without: list[str] = []
    languages: list[str] = []
    kinds: list[str] = []
    tests: bool | None = None
    for found in _FILTER.finditer(raw):
        key, value = found["key"].lower(), found["value"].strip('"')
        if key in {"path", "file", "files", "in"}:
            (without if found["no"] else paths).extend(split_globs(value))
        elif key == "ext":
            (without if found["no"] else paths).append(f"*.{value.lstrip('.')}")
        elif key in {"lang", "language"}:
            languages += value.lower().split(",")
        elif key == "kind":
            for word in value.lower().split(","):
                kinds.extend(KINDS_BY_WORD.get(word, (word,))[:1])
        else:
            tests = value.lower() in {"yes", "only", "true", "1"} and not found["no"]
    text = _FILTER.sub(" ", raw)
    if _NO_TESTS.search(text):
        text, tests = _NO_TESTS.sub(" ", text), False
    filters = Filters(
        paths=tuple(paths), without=tuple(without), languages=tuple(languages), kinds=tuple(kinds), tests=tests
    )
    if filters:
        text = re.sub(r"\s+", " ", text).strip()
    else:
        text = raw
    return text, filters


def split_globs(value: str) -> tuple[str, ...]:
    """The globs of a value like `src/**|docs/**`, `{a,b}/*.py` or `a.py b.py`."""
    parts = re.split(r"[|\s]+|,(?![^{]*\})", value.strip())
    return tuple(glob for part in parts if part for glob in _expand_braces(part))


def _expand_braces(glob: str) -> list[str]:
    found = re.search(r"\{([^{}]*)\}", glob)
    if found is None:
        return [glob]
    head, tail = glob[: found.start()], glob[found.end() :]
    return [whole for choice in found[1].split(",") for whole in _expand_braces(head + choice + tail)][:64]


@dataclass(frozen=True)
class Scope:
    """The files that are looked into; `files` is None when there is no limit."""

    files: frozenset[int] | None = None
    kinds: tuple[str, ...] = ()
    paths: Callable[[str], bool] | None = None

    @cached_property
    def ids(self) -> str | None:
        """The files as a JSON list of their ids, as queries take it."""
        if self.files is None:
            return None
        return msgspec.json.encode(sorted(self.files)).decode()

    @property
    def empty(self) -> bool:
        return self.files is not None and not self.files


def resolve_scope(store: Store, filters: Filters) -> Scope:
    """The scope that filters describe."""
    if not filters:
        return Scope()
    wanted, unwanted = compile_globs(filters.paths), compile_globs(filters.without)
    languages = set()
    for name in filters.languages:
        languages.add(canonical_name(name))
    found: dict[int, str] = {}
    for number, path, language, file_class, _ in read_sources(store):
        if filters.paths and not wanted(path):
            continue
        if filters.without and unwanted(path):
            continue
        if languages and not any(language == name or language.startswith(name) for name in languages):
            continue
        if filters.tests is not None and (file_class == "test") != filters.tests:
            continue
        found[number] = path
    limited = bool(filters.paths or filters.without or languages or filters.tests is not None)
    inside = frozenset(found.values())
    return Scope(frozenset(found) if limited else None, filters.kinds, inside.__contains__ if limited else None)


def compile_globs(globs: Sequence[str]) -> Callable[[str], bool]:
    """Whether any of the globs matches a path. A glob without a slash is tried on the last part too; a folder covers
    what is below it; `**` crosses folders and `*` does not."""
    if not globs:
        return lambda path: False
    whole = re.compile("|".join(f"(?:{_translate_glob(glob)})" for glob in globs))
    return lambda path: whole.fullmatch(path) is not None


def _translate_glob(glob: str) -> str:
    if glob not in {".", "./", "/"}:
        glob = glob.removeprefix("./").strip("/")
    else:
        glob = "**"
    out = ""
    at = 0
    while at < len(glob):
        if glob.startswith("**/", at):
            out, at = out + "(?:.*/)?", at + 3
        elif glob.startswith("**", at):
            out, at = out + ".*", at + 2
        elif glob[at] == "*":
            out, at = out + "[^/]*", at + 1
        elif glob[at] == "?":
            out, at = out + "[^/]", at + 1
        else:
            out, at = out + re.escape(glob[at]), at + 1
    anywhere = ""
    if "/" not in glob:
        anywhere = "(?:.*/)?"
    return f"{anywhere}{out}(?:/.*)?"

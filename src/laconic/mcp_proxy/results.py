"""Results of foreign tools within a budget: reduced by kind, not sent twice, kept whole for `recall`.

Images, audio, links, annotations and errors pass. Nothing is left out that was not archived first.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from laconic.config import Settings, child_environment
from laconic.errors import ArchiveUnavailable
from laconic.mcp_proxy.messages import Message
from laconic.mcp_proxy.seen_results import SeenResults, ShownText, describe_changes
from laconic.records import ArchivedOriginal
from laconic.reduce.foreign_rows import open_strings, rows_as_json
from laconic.reduce.page_snapshot import is_snapshot, shorten_snapshot
from laconic.reduce.text import fill_budget
from laconic.reduce.text.embedded_texts import open_document
from laconic.reduce.text.wanted_words import find_words
from laconic.sessions.archive import Archive

_TASK: Final = "around"
LARGE: Final = 400_000  # characters from which another process reduces: it holds Python's lock for long
_SECONDS: Final = 60.0
_LEAST: Final = 200  # tokens that a text of several gets at least
_ALIKE_SHARE: Final = 0.5  # of the reduced text that a list of changes may take
_TELLING: Final = 2  # characters: shorter values are found in any text
_TOLD: Final = 0.9  # of the values
_STRUCTURED: Final = 2_000  # characters of structured content that pass as they are


class ResultReducer:
    """Shortens the results of one session. Called from a worker thread, one call at a time."""

    def __init__(self, settings: Settings, cost: Callable[[str], int], session: str) -> None:
        self._budget = settings.number("around.budget")
        self._whole = settings.number("around.whole")
        self.archive = Archive.of(settings)
        self._cost = cost
        self._session = session
        self._seen = SeenResults()

    def close(self) -> None:
        self.archive.close()

    def shorten(self, tool: str, result: Message, about: str = "") -> Message:
        """The result of a call. A caller that says what it wants to know gets that before anything else."""
        allowed = self._budget
        spelled = _spell_out(result)
        if allowed:
            spelled = _join_texts(spelled, max(1, allowed // _LEAST))
        texts = _texts(spelled)
        costs = []
        for text in texts:
            costs.append(self._count(text))
        total = sum(costs)
        if allowed == 0 or total <= self._whole:
            return result
        views: dict[int, str] = {}
        for place, (text, size) in enumerate(zip(texts, costs, strict=True)):
            room = max(_LEAST, allowed * size // max(1, total))
            view = self._view(tool, text, size, room, about)
            if view is not None:
                views[place] = view
        if not views:
            return result
        return _with_texts(spelled, views)

    def keep(self, tool: str, text: str) -> str:
        """Archive a text; its reference, or nothing where that is impossible."""
        try:
            original = ArchivedOriginal(self._session, _TASK, text.encode("utf-8", "surrogatepass"), tool)
            return self.archive.put_all([original])[0]
        except ArchiveUnavailable:
            return ""

    def fit(self, text: str, budget: int, more: str) -> str:
        """A text that somebody asked to see: whole if it fits, else the part that matters most."""
        if len(text) <= LARGE and self._cost(text) <= budget:
            return text
        return self.reduce(text, budget, more)

    def reduce(self, text: str, budget: int, more: str, words: Sequence[str] = ()) -> str:
        """A text within a budget, counted with its last line."""
        if len(text) > LARGE:
            return _reduce_elsewhere(text, budget, more, words)
        if is_snapshot(text):
            return shorten_snapshot(text, self._cost, budget, more)
        text = rows_as_json(text) or text
        return fill_budget(text, cost=self._cost, budget=budget, more=more, words=words).text

    def _view(self, tool: str, text: str, size: int, room: int, about: str) -> str | None:
        """A shorter form of one text; None where it stays."""
        if size <= self._whole // 2:
            return None
        text = open_strings(text)
        ref = self.keep(tool, text)
        if not ref:
            return None
        if len(text) <= LARGE:
            same = self._seen.find_same(text)
            if same is not None and (same.is_whole or not about):
                said = _point_to(same, ref)
                self._seen.remember(tool, text, ref, self._cost(said), is_whole=same.is_whole)
                return said
        view = self.reduce(text, room, f"whole: recall {ref}", find_words(about))
        if len(text) <= LARGE:
            is_whole = f"recall {ref}" not in view
            view = self._against_earlier(tool, text, view, ref)
            self._seen.remember(tool, text, ref, self._cost(view), is_whole=is_whole)
        return view

    def _against_earlier(self, tool: str, text: str, view: str, ref: str) -> str:
        """Only what changed since an answer of the same tool, if that is much shorter."""
        before = self._seen.find_alike(tool, text)
        if before is None:
            return view
        changes = describe_changes(before, text, self._cost, int(self._cost(view) * _ALIKE_SHARE))
        if not changes:
            return view
        return f"[laconic: as in the last answer of {tool}, but for these lines; whole: recall {ref}]\n{changes}"

    def _count(self, text: str) -> int:
        if len(text) > LARGE:
            return len(text)  # more than enough to say that it is too long
        return self._cost(text)


def _point_to(same: ShownText, ref: str) -> str:
    """That a text was sent before, and whether all of it was."""
    lines = len(same.lines)
    if same.is_whole:
        return f"[laconic: the same {lines} lines as in the answer of {same.tool} above; whole: recall {ref}]"
    return (
        f"[laconic: the same {lines} lines as in the answer of {same.tool} above, which was shortened; "
        f"whole: recall {ref}]"
    )


def _texts(result: Message) -> list[str]:
    """The texts of a result: its own, and those of resources inside it."""
    found: list[str] = []
    content = result.get("content")
    for block in content if isinstance(content, list) else []:
        text = _text_of(block)
        if text is not None:
            found.append(text)
    return found


def _spell_out(result: Message) -> Message:
    """Structured content that no text repeats, as a text, so that it can be shortened like one."""
    structured = result.get("structuredContent")
    content = result.get("content")
    if structured is None or not isinstance(content, list):
        return result
    text = msgspec.json.encode(structured).decode()
    texts = _texts(result)
    if len(text) < _STRUCTURED or sum(map(len, texts)) >= len(text) or _is_told(structured, texts):
        return result
    untold = _leave_out_told(structured, " ".join("\n".join(texts).split()))
    if len(untold) <= (1 - _TOLD) * len(text):
        text = untold
    return {**result, "content": [*content, {"type": "text", "text": text}]}


def _leave_out_told(structured: object, told: str) -> str:
    """A record as JSON, without the values that are in this text."""
    if not isinstance(structured, dict):
        return msgspec.json.encode(structured).decode()
    left = {}
    for name, value in structured.items():
        if not isinstance(value, str) or " ".join(value.split()) not in told:
            left[name] = value
    return msgspec.json.encode(left).decode()


def _join_texts(result: Message, most: int) -> Message:
    """Many texts as one, in the place of the first: each of them alone would be too short to be shortened."""
    content = result.get("content")
    if not isinstance(content, list):
        return result
    texts: list[str] = []
    others: list[object] = []
    first: dict[str, object] = {}
    for block in content:
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str):
            first = first or block
            texts.append(block["text"])
        else:
            others.append(block)
    if len(texts) <= most:
        return result
    return {**result, "content": [{**first, "text": _join(texts)}, *others]}


def _join(texts: list[str]) -> str:
    """Texts one below the other; several JSON documents as one list."""
    joined = "\n".join(texts)
    if texts[0][:1] in "{[" and joined[-1:] in "]}":
        listed = "[" + ",\n".join(texts) + "]"
        try:
            msgspec.json.decode(listed)
        except (msgspec.DecodeError, RecursionError):
            return joined
        return listed
    return joined


def _is_told(structured: object, texts: list[str]) -> bool:
    """Whether the texts say it: as JSON, as the only value, as SDKs wrap what a tool returns, or value by value."""
    read = [open_document(text) for text in texts]
    forms = [structured]
    if isinstance(structured, dict) and len(structured) == 1:
        forms.append(next(iter(structured.values())))
    for form in forms:
        if form in (texts, read) or form in texts or form in read:
            return True
    whole = " ".join("\n".join(texts).split())
    values = [value for value in _list_values(structured) if len(value) > _TELLING]
    told = sum(1 for value in values if " ".join(value.split()) in whole)
    return bool(values) and told >= _TOLD * len(values)


def _list_values(value: object) -> list[str]:
    """All texts and numbers in a structure, as they are written."""
    found: list[str] = []
    queue = [value]
    while queue:
        each = queue.pop()
        if isinstance(each, dict):
            queue.extend(each.values())
        elif isinstance(each, list):
            queue.extend(each)
        elif isinstance(each, str | int | float) and not isinstance(each, bool):
            found.append(str(each))
    return found


def _text_of(block: object) -> str | None:
    if not isinstance(block, dict):
        return None
    if block.get("type") == "text" and isinstance(block.get("text"), str):
        return str(block["text"])
    resource = block.get("resource")
    if block.get("type") == "resource" and isinstance(resource, dict) and isinstance(resource.get("text"), str):
        return str(resource["text"])
    return None


def _with_texts(result: Message, views: dict[int, str]) -> Message:
    """The result with other texts. Structured content goes: clients would show it instead of the text."""
    content: list[object] = []
    place = 0
    for block in result["content"]:
        if _text_of(block) is None:
            content.append(block)
            continue
        if place not in views:
            content.append(block)
        elif block.get("type") == "text":
            content.append({**block, "text": views[place]})
        else:
            content.append({**block, "resource": {**block["resource"], "text": views[place]}})
        place += 1
    kept = {name: value for name, value in result.items() if name != "structuredContent"}
    return {**kept, "content": content}


def _reduce_elsewhere(text: str, budget: int, more: str, words: Sequence[str]) -> str:
    """In a process of its own, which can be killed; if that fails, the two ends of the text."""
    words = [
        sys.executable,
        "-P",
        "-m",
        "laconic",
        "reduce",
        "--json",
        "--budget",
        str(budget),
        "--about",
        " ".join(words),
    ]
    last = f"[laconic: shortened; {more}]"
    try:
        done = subprocess.run(
            words,
            input=text.encode("utf-8", "replace"),
            capture_output=True,
            timeout=_SECONDS,
            check=True,
            env=child_environment(),
        )
        view = msgspec.json.decode(done.stdout)["text"]
    except (subprocess.SubprocessError, OSError, msgspec.DecodeError, KeyError):
        half = budget  # about four characters a token, so the two ends are half of what is allowed
        view = f"{text[:half]}\n[...]\n{text[-half:]}"
    return f"{view}\n{last}"

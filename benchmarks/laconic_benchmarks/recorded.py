"""A cache folder as months of work would leave it, from a seed: turns, decisions, archived texts, calls of tools."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from laconic.config import Settings
from laconic.conversation.accounting import CacheState, TurnSizes, account
from laconic.conversation.ledger import Branch, Decision, LedgerEntry, Reason, Receipt
from laconic.models.price_lookup import Prices
from laconic.records import AddedBlock, AddedContent
from laconic.sessions.archive import Archive
from laconic.sessions.ledger_store import LedgerFile
from laconic.sessions.tool_call_log import ToolCallLog
from laconic.sessions.turn_record import Allowance, AnswerCost, ShortenedBlock, TurnIdentity, TurnRecord
from laconic.sessions.turn_tables import FILE
from laconic.sessions.turns import Turns
from laconic.wire.usage import Usage

_DAYS: Final = 60
_MODELS: Final = (
    ("anthropic", "claude-sonnet-4-5", "claude-cli/2.1.197"),
    ("anthropic", "claude-sonnet-4-5", "claude-cli/2.1.197"),
    ("anthropic", "claude-opus-4-5", "claude-cli/2.1.197"),
    ("openai", "gpt-5", "codex_cli_rs/0.166.0"),
    ("gemini", "gemini-2.5-pro", "opencode/1.18.33"),
    ("ollama", "gemma3:27b", "opencode/1.18.33"),
)
_TOOLS: Final = (
    ("Read", "read", 900),
    ("Read", "read", 2600),
    ("Bash", "run", 700),
    ("Grep", "search", 500),
    ("Edit", "edit", 120),
    ("mcp__laconic__search", "search", 450),
    ("WebFetch", "report", 1500),
)
_WORK: Final = (
    ("Mend", "Speed up", "Explain", "Rename", "Test", "Split", "Document", "Remove"),
    (
        "the parser",
        "the upload of invoices",
        "the flaky test",
        "the cache",
        "the login form",
        "retries",
        "the report",
    ),
    ("of the shop", "in the worker", "before the release", "for large files", "without breaking the API", ""),
)
_OURS: Final = (
    *("search", "inspect", "read", "map", "context", "trace", "diff", "report", "recall", "edit", "workspace"),
)
_REASONS: Final = ("truncated", "not-json", "unknown-tool", "arguments", "batch")
_TEXT: Final = (
    "def settle(order, rate):\n    total = sum(line.price for line in order.lines)\n    return total * rate\n"
)


def fill(settings: Settings, sessions: int, now: float, seed: int = 1, calls: int = 100_000) -> None:
    """Fill the cache folder of these settings."""
    chance = random.Random(seed)
    folder = settings.cache_dir()
    archive = Archive.of(settings)
    ledger = LedgerFile(folder / "ledger.sqlite", LedgerEntry, Branch)
    with closing(Turns(folder / FILE)) as record:
        for number in range(sessions):
            ended = now - 5 - _DAYS * 86_400 * (1 - (number + 1) / sessions) ** 1.5
            name = f"{chance.getrandbits(128):032x}"
            ref = archive.put(name, "", (_TEXT * chance.randint(5, 60)).encode(), "read src/orders.py")
            made: list[Decision] = []
            record.add(*_session(chance, name, ended, ref, made))
            branch = Branch(id=1, tip=ref, count=1, time=ended, start=0, basis=0)
            ledger.record(name, 0, LedgerEntry(branch.id, branch.tip, branch.count, tuple(made)), branch)
    _calls(folder, chance, now, calls)


def _session(chance: random.Random, name: str, ended: float, ref: str, made: list[Decision]) -> Iterator[TurnRecord]:
    upstream, model, client = chance.choice(_MODELS)
    who = TurnIdentity(name, f"account-{upstream}", upstream, model, "anthropic", client)
    price = Prices().of(model, "http://localhost" if upstream == "ollama" else "")
    title = " ".join(word for word in (chance.choice(words) for words in _WORK) if word)
    files = [f"src/{chance.choice('abcdefgh')}{number}.py" for number in range(chance.randint(3, 30))]
    standing, last = CacheState(), 0
    sizes: dict[str, int] = {}
    fixed, whole = chance.randint(9_000, 16_000), 0
    turns = min(400, max(3, round(chance.lognormvariate(3.7, 0.8))))
    for turn in range(turns):
        at = ended - (turns - 1 - turn) * 14 - chance.uniform(0, 4)
        entered = list(_exchange(chance, turn, files))
        sizes.update((block.key, block.tokens) for block in entered)
        whole += sum(block.whole for block in entered)
        cuts = tuple(_cuts(chance, sizes, turn)) if sum(sizes.values()) > 30_000 and chance.random() < 0.2 else ()
        for cut in cuts:
            sizes[cut.key] -= cut.tokens
            reason: Reason = chance.choice(("age", "age", "superseded", "task"))
            context = fixed + sum(sizes.values())
            before = cut.tokens + 20
            made.append(Decision(cut.key, reason, Receipt(ref), before=before, after=20, turn=turn, context=context))
        sent = fixed + sum(sizes.values())
        read = 0 if turn == 0 else min(last, sent) - sum(cut.tokens for cut in cuts)
        usage = Usage(12, max(0, read), max(0, sent - max(0, read) - 12), chance.randint(40, 900))
        exchange = TurnSizes(usage=usage, came=fixed + whole, went=sent, rewritten=bool(cuts), at=at)
        cost, standing = account(exchange, standing, price)
        last = sent
        failed = chance.random() < 0.01
        yield TurnRecord(
            who,
            at,
            529 if failed else 200,
            round(chance.lognormvariate(8.5, 0.6)),
            sent,
            AnswerCost(**cost.row(standing)),
            len(cuts),
            sum(cut.tokens for cut in cuts),
            "economic" if cuts else "",
            "age" if cuts else "",
            AddedContent(turn, fixed, tuple(entered), turn == 0, title if turn == 0 else ""),
            cuts,
            (chance.choice(_REASONS),) if upstream == "ollama" and chance.random() < 0.08 else (),
            Allowance(400_000, chance.randint(40_000, 390_000), 40.0),
        )


def _exchange(chance: random.Random, turn: int, files: list[str]) -> Iterator[AddedBlock]:
    if turn == 0:
        yield AddedBlock("first", "user", whole=300, tokens=300)
        return
    yield AddedBlock(f"{turn} text", "assistant", whole=(words := chance.randint(20, 200)), tokens=words)
    if chance.random() < 0.4:
        yield AddedBlock(f"{turn} thinking", "thinking", whole=150, tokens=150)
    for number in range(chance.choice((1, 1, 1, 2, 3))):
        tool, kind, size = chance.choice(_TOOLS)
        file = chance.choice(files) if kind in {"read", "edit"} else ""
        asked = chance.randint(30, 120) if kind != "edit" else chance.randint(200, 900)
        yield AddedBlock(f"{turn} call {number}", "calls", tool, file, asked, asked)
        whole = max(10, round(chance.lognormvariate(0, 0.7) * size))
        sent = round(whole * chance.uniform(0.3, 1.0)) if kind in {"run", "search"} else whole
        yield AddedBlock(f"{turn} result {number}", kind, tool, file, whole, sent)


def _cuts(chance: random.Random, sizes: dict[str, int], turn: int) -> Iterator[ShortenedBlock]:
    """Old results go, most of them whole."""
    old = [key for key, size in sizes.items() if " result " in key and size > 200 and int(key.split()[0]) < turn - 5]
    for key in old:
        if chance.random() < 0.7:
            yield ShortenedBlock(key, sizes[key] - 20)


def _calls(folder: Path, chance: random.Random, now: float, calls: int) -> None:
    rows = []
    for _ in range(calls):
        tokens, lucky = min(10_000, round(chance.lognormvariate(6, 0.9))), chance.random()
        took = chance.lognormvariate(2.5, 1.0)
        cut = "fit" if tokens > 1500 else ""
        rows.append((now, chance.choice(_OURS), tokens, took, lucky < 0.02, lucky > 0.93, cut))
    with closing(ToolCallLog(folder)) as record:
        record.add(rows)

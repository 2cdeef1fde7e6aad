"""Calls that must not succeed: guessed keys, forged headers and cookies, paths, requests with two meanings."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import aiohttp
from yarl import URL

from laconic.sessions.store import StorePlace
from laconic.sessions.team.budgets import Budgets, Charge
from laconic.sessions.team.keys import TeamKey, TeamKeys

_AT_ONCE: Final = 16
_INJECTIONS: Final = (
    *(
        "' OR 1=1 --",
        "'; DROP TABLE team_key; --",
        '" OR ""="',
        "%27%20OR%201=1",
        "1) UNION SELECT hash FROM team_key --",
    ),
    *("../../etc/passwd", "..%2f..%2fetc%2fpasswd", "$(id)", "{{7*7}}", "%00", "\\", "lac-", "-1", "0x10", "NaN"),
)
_PATHS: Final = (
    *("/v1/files", "/v1/files/file-1/content", "/v1/batches", "/v1/messages/batches", "/v1/organization/users"),
    *(
        "/v1/organization/admin_api_keys",
        "/v1/fine_tuning/jobs",
        "/v1/responses/resp_1",
        "/v1/embeddings",
        "/v1/images",
    ),
    *(
        "/v1beta/cachedContents",
        "/v1beta/files",
        "/v1/files/../messages",
        "/v1/files%2f..%2fmessages",
        "/v1//messages",
    ),
    *("/v1/messages/", "/v1/messages;x=/v1/files", "/x/v1/files/v1/messages", "//v1/messages", "/v1/messages%00"),
    *(
        "/laconic/sessions",
        "/metrics",
        "/laconic/dashboard/",
        "/laconic/dashboard/sessions",
        "/laconic/dashboard/api/sessions.json",
    ),
)
_PAGES: Final = ("/", "/api/spending.json", "/api/keys.json", "/api/audit.json", "/spending.csv")
_SECRET: Final = "sk-ant-secret-of-the-server"


@dataclass(frozen=True)
class HostileCall:
    """One call, and what its answer must not contain."""

    kind: str
    method: str
    path: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    may_answer: bool = False  # 200 is right, if nothing foreign is in it
    foreign: tuple[str, ...] = ()


@dataclass
class HostileTeam:
    """Two teams with marks in their figures, and keys of every kind."""

    place: StorePlace
    keys: dict[str, str] = field(default_factory=dict)
    marks: dict[str, str] = field(default_factory=dict)  # by owner, in their figures

    def __post_init__(self) -> None:
        store = TeamKeys(self.place)
        budgets = Budgets(store.file)
        people = [
            ("boss", "", "admin"),
            ("lena", "blue", "lead"),
            ("bob", "blue", "developer"),
            ("rita", "red", "lead"),
        ]
        people += [("cid", "red", "developer"), ("gone", "red", "admin"), ("late", "red", "admin")]
        for owner, team, role in people:
            expires = 1.0 if owner == "late" else 0.0
            wanted = TeamKey(id="", owner=owner, team=team, role=role, models="claude-a*", expires=expires)  # type: ignore[arg-type]
            self.keys[owner], key = store.create(wanted, "benchmark")
            self.marks[owner] = f"mark-of-{owner}"
            budgets.settle(Charge(owner, key, 4e9, project=self.marks[owner], prompt=1, dollars=1.0))
        store.revoke(self.keys["gone"][4:14], "benchmark")
        store.close()

    def foreign_to(self, owner: str) -> tuple[str, ...]:
        """Marks that somebody of this name must not see."""
        seen = {"lena": {"lena", "bob"}, "rita": {"rita", "cid", "gone", "late"}}.get(owner, {owner})
        return tuple(mark for name, mark in self.marks.items() if name not in seen)


def make_calls(team: HostileTeam, count: int, seed: int = 1) -> Iterator[HostileCall]:
    """So many, of all kinds, the same ones for the same seed."""
    chance = random.Random(seed)
    makers: Sequence[Callable[[HostileTeam, random.Random], HostileCall]] = (
        *(_guess_key, _use_closed_key, _forge_header, _ask_other_model, _write_twice, _take_other_path),
        *(_look_at_pages, _inject_into_pages, _administer, _forge_cookie),
    )
    for number in range(count):
        yield makers[number % len(makers)](team, chance)


def _message(model: str = "claude-a", **more: object) -> bytes:
    body = {"model": model, "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}], **more}
    return json.dumps(body).encode()


def _carry(key: str, chance: random.Random) -> tuple[tuple[str, str], ...]:
    name = chance.choice(("x-api-key", "authorization", "x-goog-api-key", "api-key"))
    value = f"Bearer {key}" if name == "authorization" else key
    return ((name, value), ("anthropic-version", "2023-06-01"))


def _guess_key(team: HostileTeam, chance: random.Random) -> HostileCall:
    real = team.keys["bob"]
    guess = chance.choice(
        (
            f"lac-{chance.randbytes(5).hex()}-{chance.randbytes(24).hex()}",
            f"{real[:15]}{chance.randbytes(24).hex()}",
            real[: chance.randrange(4, len(real))],
            real.upper(),
            f"{real[:4]}{chance.choice(_INJECTIONS)}-{real[15:]}",
            f"lac-{chance.choice(_INJECTIONS)}",
            f"{real[:15]}{real[15:][::-1]}",
            f"{real} {team.keys['gone']}",
        )
    )
    return HostileCall("guessed keys", "POST", "/v1/messages", _carry(_header(guess), chance), _message())


def _use_closed_key(team: HostileTeam, chance: random.Random) -> HostileCall:
    key = team.keys[chance.choice(("gone", "late"))]
    if chance.random() < 0.5:
        return HostileCall("closed keys", "POST", "/v1/messages", _carry(key, chance), _message())
    return HostileCall("closed keys", "GET", f"/laconic/team{chance.choice(_PAGES)}", (("x-laconic-token", key),))


def _forge_header(team: HostileTeam, chance: random.Random) -> HostileCall:
    names = ("x-laconic-member", "laconic.member", "x-laconic-viewer", "x-laconic-person", "x-forwarded-user")
    forged = ((chance.choice(names), chance.choice(("boss", "admin", _header(chance.choice(_INJECTIONS))))),)
    both = (("x-api-key", team.keys["bob"]), ("authorization", f"Bearer {team.keys['cid']}"))
    if chance.random() < 0.3:
        return HostileCall("forged headers", "POST", "/v1/messages", both, _message())
    return HostileCall("forged headers", "POST", "/v1/messages", forged, _message())


def _ask_other_model(team: HostileTeam, chance: random.Random) -> HostileCall:
    model = chance.choice(("claude-b", "CLAUDE-A", " claude-a", "", "gpt-5", "*", "claude-a\u0000", *_INJECTIONS))
    if model.startswith("claude-a"):
        model = "x" + model
    return HostileCall("other models", "POST", "/v1/messages", _carry(team.keys["bob"], chance), _message(model))


def _write_twice(team: HostileTeam, chance: random.Random) -> HostileCall:
    twice = chance.choice(
        (
            b'"model":"claude-b"',
            b'"MODEL":"claude-b"',
            b'"mod\\u0065l":"claude-b"',
            b'"messages":[]',
            b'"Messages":[]',
        )
    )
    kept = chance.choice(
        (b'"previous_response_id":"r"', b'"background":true', b'"container":"c"', b'"cachedContent":"c"')
    )
    body = _message()[:-1] + b"," + chance.choice((twice, kept)) + b"}"
    return HostileCall("two meanings", "POST", "/v1/messages", _carry(team.keys["bob"], chance), body)


def _take_other_path(team: HostileTeam, chance: random.Random) -> HostileCall:
    path = chance.choice(_PATHS)
    if chance.random() < 0.3:
        path += f"?{chance.choice(_INJECTIONS)}"
    method = chance.choice(("GET", "POST", "DELETE", "PUT"))
    key = team.keys[chance.choice(("bob", "lena", "boss"))]
    return HostileCall("other paths", method, path, (*_carry(key, chance), ("x-laconic-token", key)), _message())


def _look_at_pages(team: HostileTeam, chance: random.Random) -> HostileCall:
    owner = chance.choice(("bob", "lena", "cid", "rita"))
    page = chance.choice(_PAGES)
    other = chance.choice(list(team.marks))
    query = chance.choice(
        (f"person={other}", f"owner={other}&team=blue", "role=admin", "days=0", f"token={'0' * 40}")
    )
    headers = (("x-laconic-token", team.keys[owner]),)
    is_audit = page == "/api/audit.json"
    return HostileCall(
        "others' figures", "GET", f"/laconic/team{page}?{query}", headers, b"", not is_audit, team.foreign_to(owner)
    )


def _inject_into_pages(team: HostileTeam, chance: random.Random) -> HostileCall:
    owner, page = chance.choice(("bob", "rita")), chance.choice(_PAGES)
    name = chance.choice(("days", "by", "person", "token", "since"))
    path = f"/laconic/team{page}?{name}={chance.choice(_INJECTIONS)}"
    headers = (("x-laconic-token", team.keys[owner]),)
    may = page != "/api/audit.json"
    return HostileCall("injections", "GET", path, headers, b"", may, team.foreign_to(owner))


def _administer(team: HostileTeam, chance: random.Random) -> HostileCall:
    owner = chance.choice(("bob", "lena", "rita", "cid"))
    victim = team.keys[chance.choice([name for name in team.keys if name != owner])][4:14]
    wanted = json.dumps({"owner": chance.choice(("eve", owner)), "role": "admin"}).encode()
    headers = (("x-laconic-token", team.keys[owner]),)
    if chance.random() < 0.5:
        return HostileCall("administration", "POST", "/laconic/team/api/keys.json", headers, wanted)
    id = chance.choice((victim, victim, chance.choice(_INJECTIONS).replace("/", "%2f")))
    return HostileCall("administration", "POST", f"/laconic/team/api/keys/{id}/revoke.json", headers, b"")


def _forge_cookie(team: HostileTeam, chance: random.Random) -> HostileCall:
    id = team.keys["boss"][4:14]
    value = chance.choice(
        (f"{id}.{'0' * 64}", f"{id}.", id, f"{id}.{chance.randbytes(32).hex()}", team.keys["boss"][4:])
    )
    names = ("laconic_dashboard", "laconic_dashboard_PORT")
    cookie = "; ".join(f"{name}={value}" for name in names)
    return HostileCall("forged cookies", "GET", f"/laconic/team{chance.choice(_PAGES)}", (("cookie", cookie),))


def _header(text: str) -> str:
    """As a header can carry it."""
    return "".join(sign if " " <= sign <= "~" else "?" for sign in text)


async def attack(base: str, calls: Iterator[HostileCall]) -> tuple[Counter[str], list[str]]:
    """Send them; how many of each kind, and what was answered that should not have been."""
    sent: Counter[str] = Counter()
    breaches: list[str] = []
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client:

        async def work() -> None:
            for call in calls:
                sent[call.kind] += 1
                fault = await _send(client, base, call)
                if fault:
                    breaches.append(f"{call.kind}: {call.method} {call.path} {fault}")

        await asyncio.gather(*(work() for _ in range(_AT_ONCE)))
    return sent, breaches


async def _send(client: aiohttp.ClientSession, base: str, call: HostileCall) -> str:
    url = URL(base + call.path.replace(" ", "%20").replace("\\", "%5C").replace('"', "%22"), encoded=True)
    headers = [("content-type", "application/json")]
    for name, value in call.headers:
        headers.append((name, value.replace("PORT", str(url.port))))
    try:
        async with client.request(call.method, url, headers=headers, data=call.body, allow_redirects=False) as answer:
            text = await answer.text(errors="replace")
    except (aiohttp.ClientError, ValueError):
        return ""  # no answer at all
    if answer.status < 400 and not call.may_answer:
        return f"was answered with {answer.status}"
    for mark in (*call.foreign, _SECRET):
        if mark in text:
            return f"showed {mark}"
    if answer.status >= 500 and answer.status != 503:
        return f"broke with {answer.status}"
    return ""

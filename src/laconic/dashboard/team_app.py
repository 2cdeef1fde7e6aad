"""The team's own pages: each person sees what their role allows, as HTML, JSON and CSV; administration is for admins.

A browser's cookie shows pages. Whatever changes something needs the key itself, in a header.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from laconic.dashboard.access import VIEWER, RequestGuard
from laconic.dashboard.app import STATIC, read_days, serve_static
from laconic.dashboard.json_document import document
from laconic.dashboard.pages.team import team_page
from laconic.dashboard.pages.tools_and_models import failure_page
from laconic.errors import ArchiveUnavailable, LaconicError, NotAllowed, UsageError
from laconic.serving.access_tokens import HEADER, has_token
from laconic.serving.bounded_body import read_bounded
from laconic.sessions.team.budgets import Budgets
from laconic.sessions.team.keys import Role, TeamKey, TeamKeys, WantedKey, key_id
from laconic.sessions.team.spending import AXES, SpendingLine, TeamSpending, ViewerRights, write_csv

_DAY: Final = 86_400.0
_LARGEST: Final = 10_000  # bytes of a request


class KeyLine(msgspec.Struct, frozen=True):
    """A key as pages show it."""

    id: str
    owner: str
    team: str
    role: str
    models: str
    budget: float
    period: str
    rate: int
    note: str
    created: float
    expires: float
    spent: float


class TeamFigures(msgspec.Struct, frozen=True):
    """What somebody may see of a team's spending."""

    days: int
    role: Role
    requests: int
    dollars: float
    dollars_without: float
    person: list[SpendingLine]
    team: list[SpendingLine]
    project: list[SpendingLine]
    client: list[SpendingLine]
    model: list[SpendingLine]
    day: list[SpendingLine]
    keys: list[KeyLine]


class TeamViewer(msgspec.Struct, frozen=True):
    """Who looks."""

    rights: ViewerRights
    shown: bool = False  # brought the key itself: may change what the role allows


class TeamDoor:
    """Lets in whoever has a key in force, and the operator with the gateway's own token."""

    question = "Paste your key of the team (lac-...)."
    answer = "That key is not in force."

    def __init__(self, keys: TeamKeys, operator_token: str) -> None:
        self._keys = keys
        self._operator = operator_token

    async def admit(self, headers: Mapping[str, str], cookie: str) -> object:
        if self._operator and has_token(headers, self._operator):
            return TeamViewer(ViewerRights("admin", "operator"), shown=True)
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        given = headers.get(HEADER, "")
        if not given and scheme.lower() == "bearer":
            given = bearer.strip()
        return await run_in_threadpool(self._find, given, cookie)

    async def make_pass(self, token: str) -> str:
        return await run_in_threadpool(self._make_pass, token)

    def _make_pass(self, token: str) -> str:
        stored = self._keys.find(key_id(token)) if key_id(token) else None
        if stored is None or not stored.opens(token) or not stored.key.is_open(time.time()):
            return ""
        return f"{stored.key.id}.{stored.viewer_pass}"

    def _find(self, given: str, cookie: str) -> TeamViewer | None:
        id = key_id(given)
        if not id and not given:
            id = cookie.partition(".")[0]
        stored = self._keys.find(id) if id else None
        if stored is None or not stored.key.is_open(time.time()):
            return None
        if given and stored.opens(given):
            return TeamViewer(ViewerRights.of(stored.key), shown=True)
        if not given and stored.knows_pass(cookie.partition(".")[2]):
            return TeamViewer(ViewerRights.of(stored.key))
        return None


class TeamPages:
    """The answers. Each knows who asks, and shows nothing else."""

    def __init__(self, keys: TeamKeys) -> None:
        self._keys = keys
        self._budgets = Budgets(keys.file)
        self._spending = TeamSpending(keys.file)

    def figures(self, viewer: TeamViewer, days: int) -> TeamFigures:
        since = time.time() - days * _DAY if days else 0.0
        found: dict[str, list[SpendingLine]] = {}
        for axis in AXES:
            found[axis] = list(self._spending.lines(axis, since, viewer.rights))
        everyone = found["person"]
        return TeamFigures(
            days=days,
            role=viewer.rights.role,
            requests=sum(line.requests for line in everyone),
            dollars=sum(line.dollars for line in everyone),
            dollars_without=sum(line.dollars_without for line in everyone),
            keys=self.list_keys(viewer),
            **found,
        )

    def list_keys(self, viewer: TeamViewer) -> list[KeyLine]:
        rights = viewer.rights
        if rights.role == "admin":
            keys = self._keys.list()
        elif rights.role == "lead" and rights.team:
            keys = self._keys.list(team=rights.team)
        else:
            keys = self._keys.list(owner=rights.owner)
        spent = self._budgets.spent(keys)
        return [_line(key, spent[key.id]) for key in keys]

    def csv(self, viewer: TeamViewer, days: int) -> str:
        since = time.time() - days * _DAY if days else 0.0
        return write_csv(self._spending.rows(since, viewer.rights))

    def audit(self, viewer: TeamViewer) -> list[Any]:
        _require_admin(viewer)
        return list(self._keys.audit())

    def create(self, viewer: TeamViewer, body: bytes) -> dict[str, object]:
        _require_admin(viewer)
        try:
            wanted = msgspec.json.decode(body, type=WantedKey)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise UsageError(
                f"That is not a key: {error}.", "Send owner, and team, role, models, budget, rate, days, note."
            ) from None
        shown, made = self._keys.create(wanted.describe_key(time.time()), viewer.rights.owner)
        return {"key": shown, "id": made.id, "owner": made.owner}

    def revoke(self, viewer: TeamViewer, id: str) -> dict[str, object]:
        """Admins end any key; everybody else those of their own."""
        stored = self._keys.find(id)
        is_own = stored is not None and stored.key.owner == viewer.rights.owner and viewer.shown
        if not is_own:
            _require_admin(viewer)
        key = self._keys.revoke(id, viewer.rights.owner)
        return {"id": key.id, "owner": key.owner, "revoked": key.revoked}


def make_team_application(keys: TeamKeys, operator_token: str = "") -> ASGIApp:
    """The pages, below any path of another application."""
    pages = TeamPages(keys)

    def show(request: Request) -> Response:
        view = pages.figures(request.scope[VIEWER], read_days(request.query_params))
        return HTMLResponse(team_page(document(view, f"api/spending.json?days={view.days}")))

    def table(request: Request) -> Response:
        text = pages.csv(request.scope[VIEWER], read_days(request.query_params))
        name = {"content-disposition": 'attachment; filename="spending.csv"'}
        return Response(text, media_type="text/csv; charset=utf-8", headers=name)

    answers: dict[str, Callable[[Request], object]] = {
        "/api/spending.json": lambda asked: pages.figures(asked.scope[VIEWER], read_days(asked.query_params)),
        "/api/keys.json": lambda asked: pages.list_keys(asked.scope[VIEWER]),
        "/api/audit.json": lambda asked: pages.audit(asked.scope[VIEWER]),
    }
    routes = [Route("/", _guarded(show)), Route("/spending.csv", _guarded(table))]
    for name in STATIC:
        routes.append(Route(f"/static/{name}", serve_static))
    for path, read in answers.items():
        routes.append(Route(path, _guarded(_as_json(read))))

    async def create(request: Request) -> Response:
        body = await read_bounded(request, _LARGEST) or b""  # nothing is a wish that cannot be read
        return await run_in_threadpool(
            _guarded(_as_json(lambda asked: pages.create(asked.scope[VIEWER], body))), request
        )

    routes.append(Route("/api/keys.json", create, methods=["POST"]))
    revoke = _as_json(lambda asked: pages.revoke(asked.scope[VIEWER], asked.path_params["id"]))
    routes.append(Route("/api/keys/{id}/revoke.json", _guarded(revoke), methods=["POST"]))
    return RequestGuard(Starlette(routes=routes), TeamDoor(keys, operator_token))


def _require_admin(viewer: TeamViewer) -> None:
    if viewer.rights.role != "admin" or not viewer.shown:
        raise NotAllowed("Only an admin may do that.", "Send an admin's key in a header.")


def _as_json(read: Callable[[Request], object]) -> Callable[[Request], Response]:
    return lambda request: Response(msgspec.json.encode(read(request)), media_type="application/json")


def _guarded(answer: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """Not a coroutine: it runs in a thread, so that a gateway in the same process goes on."""

    def endpoint(request: Request) -> Response:
        try:
            return answer(request)
        except NotAllowed as error:
            status, problem = 403, str(error)
        except UsageError as error:
            status, problem = 404 if request.method == "GET" else 400, str(error)
        except ArchiveUnavailable as error:
            status, problem = 503, str(error)
        except LaconicError as error:
            status, problem = 500, str(error)
        if request.url.path.endswith(".json"):
            return Response(msgspec.json.encode({"error": problem}), status, media_type="application/json")
        return HTMLResponse(failure_page("This cannot be shown", problem), status)

    return endpoint


def _line(key: TeamKey, spent: float) -> KeyLine:
    return KeyLine(
        id=key.id,
        owner=key.owner,
        team=key.team,
        role=key.role,
        models=key.models,
        budget=key.budget,
        period=key.period,
        rate=key.rate,
        note=key.note,
        created=key.created,
        expires=key.expires,
        spent=spent,
    )

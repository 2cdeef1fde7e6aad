"""Take a request, send what the plan says, and return the answer as it arrives."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from io import BytesIO
from typing import Any, Final, TypeVar

import aiohttp
import msgspec
from yarl import URL

from laconic.conversation.accounting import TurnCost
from laconic.errors import LaconicError
from laconic.exchange.caller import Target
from laconic.exchange.plan import Plan
from laconic.exchange.recall import ROUNDS
from laconic.gateway.capability_probes import CapabilityProbes
from laconic.gateway.compression import opened
from laconic.gateway.headers import readable, upward
from laconic.gateway.metrics import Metrics
from laconic.gateway.plan_executor import PlanExecutor
from laconic.gateway.planner import Planner, concerns_us
from laconic.gateway.response_relay import Message, ResponseRelay, Send
from laconic.gateway.routes import NoRoute, Upstreams, target
from laconic.gateway.session_registry import SessionRegistry
from laconic.gateway.team_access import AdmittedRequest, TeamAccess, TeamRefusal
from laconic.gateway.team_member import MEMBER
from laconic.gateway.traced_call import describe_call
from laconic.gateway.turn_recorder import TurnRecorder
from laconic.gateway.upstream_errors import describe_fault
from laconic.gateway.upstream_session import open_session, read_start
from laconic.gateway.window_probes import WindowProbes
from laconic.serving.telemetry import Telemetry
from laconic.sessions.team.keys import TeamKey
from laconic.wire.hidden_calls import HeldAnswer
from laconic.wire.prompted_tool_calls.calls import UnusableCalls
from laconic.wire.rate_limits import limits_of, with_limit
from laconic.wire.refusals import named_limit, read_tools_refusal, refusal, too_long

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
T = TypeVar("T")

log = logging.getLogger("laconic.gateway")
_ERROR: Final = 2**20  # bytes of a refusal that are read


class Incoming(msgspec.Struct, frozen=True):
    """A request as it came."""

    method: str
    raw: list[tuple[bytes, bytes]]
    headers: dict[str, str]
    query: str
    where: Target
    body: bytes
    rest: AsyncGenerator[bytes, None] | None = None  # of a body that is larger than we look at
    key: TeamKey | None = None  # of a team, with which it came


class ClientGone(Exception):
    """Nobody waits for the answer."""


class Proxy:
    """An ASGI application. `start` and `stop` belong to the loop it runs in."""

    def __init__(
        self,
        upstreams: Upstreams,
        planner: Planner,
        metrics: Metrics,
        registry: SessionRegistry,
        history: TurnRecorder,
        *,
        apart: Callable[[], Planner] | None = None,
        team: TeamAccess | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        self._team = team
        self._telemetry = telemetry
        self._upstreams = upstreams
        self._planner = planner
        self._metrics = metrics
        self._registry = registry
        self._history = history
        self._planning = PlanExecutor(planner, apart)
        self._probes = CapabilityProbes(metrics, time.monotonic, self._planning.learn, upstreams.find_proxy)
        self._windows = WindowProbes(time.monotonic, self._planning.learn_window, upstreams.find_proxy)
        self._client: aiohttp.ClientSession | None = None
        self._proxies: dict[str, str | None] = {}  # of the network, by upstream: looking one up takes its time

    async def start(self) -> None:
        if self._team is not None:
            self._team.start()
        self._client = open_session(self._upstreams.certificates)
        await self._planning.start()

    async def stop(self) -> None:
        self._probes.close()
        self._windows.close()
        if self._client is not None:
            await self._client.close()
        self._planning.close()
        self._history.stop()
        if self._team is not None:
            self._team.stop()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = readable(scope["headers"])
        self._metrics.add("laconic_in_flight", 1)
        where, member = Target("", "", ""), scope.get(MEMBER)
        try:
            query = scope["query_string"].decode("latin-1")
            if member is not None:
                where = member.target
            else:
                where = target(self._upstreams, scope["method"], scope["raw_path"].decode("latin-1"), headers, query)
            if headers.get("upgrade", "").lower() == "websocket":
                await _answer(send, 426, refusal("", 426, "The gateway does not speak WebSocket. Use HTTP."))
                return
            if scope["method"] == "HEAD" and where.path == "/":
                await _answer(
                    send, 200, b""
                )  # whether somebody is there: before a client trusts the folder's settings
                return
            body, rest = await self._body(receive, headers)
            asked = Incoming(
                method=scope["method"],
                raw=list(scope["headers"]),
                headers=headers,
                query=query,
                where=where,
                body=body,
                rest=rest,
                key=None if member is None else member.key,
            )
            if rest is None:
                await self._attended(asked, receive, send)
            else:
                await self._serve(asked, send)  # a client that leaves is noticed as its body is read
        except NoRoute as error:
            self._metrics.add("laconic_unrouted_total")
            log.warning("a request for no configured provider was refused", extra={"how": scope["method"]})
            await _answer(send, 404, refusal("", 404, str(error)))
        except TeamRefusal as error:
            self._metrics.add("laconic_team_refusals_total", status=str(error.status))
            await _answer(send, error.status, refusal(where.format, error.status, str(error)), error.retry_after)
        except LaconicError as error:
            await _answer(send, 400, refusal(where.format, 400, str(error)))
        except ClientGone:
            self._metrics.add("laconic_disconnects_total")
        finally:
            self._metrics.add("laconic_in_flight", -1)

    async def _body(
        self, receive: Receive, headers: dict[str, str]
    ) -> tuple[bytes, AsyncGenerator[bytes, None] | None]:
        """The whole body, or its beginning and the rest as it comes: what is too large for us may not be for others."""
        most = self._planner.policy.max_body
        whole = BytesIO()  # joining the pieces of a large body at once would hold up the loop
        pieces = _pieces(receive)
        if headers.get("content-length", "").isdigit() and int(headers["content-length"]) > most:
            return b"", pieces
        async for piece in pieces:
            whole.write(piece)
            if whole.tell() > most:
                return whole.getvalue(), pieces
        return whole.getvalue(), None

    async def _attended(self, asked: Incoming, receive: Receive, send: Send) -> None:
        """Answer while the client waits; when it leaves, the provider is told at once."""
        work = asyncio.ensure_future(self._serve(asked, send))
        gone = asyncio.ensure_future(_left(receive))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                work.cancel()
                await asyncio.wait({work})
                raise ClientGone
            await work
        finally:
            gone.cancel()
            work.cancel()

    async def _serve(self, asked: Incoming, send: Send) -> None:
        where, arrived, fault = asked.where, time.time_ns(), ""
        await self._planning.warm_up()
        plan = Plan(asked.body)
        if asked.rest is None and concerns_us(where, asked.headers):
            plan = await self._planned(asked)
        admitted = await self._admit(asked, plan)
        if plan.unsure and plan.caller is not None:
            assert self._client is not None
            self._probes.begin(self._client, where, asked.query, asked.raw, plan.caller.model)
        self._note(where, plan)
        passing, began, prepared = ResponseRelay(send), time.monotonic(), time.time_ns()
        try:
            await self._exchange(asked, plan, passing)
            log.info("answered", extra=_about(where, plan, passing, time.monotonic() - began))
            if plan.caller is not None and self._client is not None:  # now its model is loaded
                self._windows.begin(self._client, where, plan.caller)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            fault = type(error).__name__
            self._metrics.add("laconic_upstream_faults_total", fault=fault)
            log.warning("upstream fault", extra={"upstream": where.upstream, "fault": fault})
            if not passing.started:
                text = describe_fault(error, where.upstream)
                await _answer(send, 502, refusal(where.format, 502, text))
            # An answer that broke off stays broken: the server closes the connection without ending the body.
        finally:  # also when the client has left: what was used until then is paid for
            self._settle(asked, passing.plan or plan, passing, time.monotonic() - began, admitted)
            if self._telemetry is not None:  # off by default
                self._tell(asked, passing.plan or plan, passing, times=(arrived, prepared), fault=fault)

    async def _admit(self, asked: Incoming, plan: Plan) -> AdmittedRequest | None:
        """Whether the key of a team allows a request; None where there is none, or nothing to pay."""
        if asked.key is None or self._team is None or not asked.where.format:
            return None
        if plan.refused:
            raise TeamRefusal(400, plan.refused)
        if asked.rest is not None:
            raise TeamRefusal(413, "The request is larger than this gateway reads.", "Send a smaller one.")
        if plan.caller is None:
            raise TeamRefusal(
                503 if plan.failed else 400,
                "The request cannot be read, so nobody could pay for it.",
                "Check its body.",
            )
        return await self._team.admit(asked.key, plan, asked.where.base)

    async def _exchange(self, asked: Incoming, plan: Plan, passing: ResponseRelay) -> None:
        """Ask, and pass the answer on. A refusal is not passed on when the request can do without what was refused."""
        where = asked.where
        async with self._ask(asked, plan) as answer:
            self._metrics.add(
                "laconic_requests_total", upstream=where.upstream, format=where.format, status=str(answer.status)
            )
            if plan.caller is not None:
                passing.limits = limits_of(readable(answer.raw_headers), time.time())
            if plan.caller is None or answer.status < 400:
                if plan.is_trial and plan.caller is not None:
                    self._planning.learn(where, plan.caller.model, "prompted")
                await passing.answer(answer, plan, where)
                while passing.nonsense is not None:
                    plan = await self._again(asked, plan, passing, passing.nonsense)
                while passing.held is not None:
                    plan = await self._go_on(asked, plan, passing, passing.held)
                return
            said = await read_start(answer, _ERROR)
            words = opened(said, answer.headers.get("content-encoding", ""), _ERROR) or said
            passing.limits = with_limit(passing.limits, named_limit(answer.status, words))
            again = await self._open(self._otherwise(asked, plan, answer.status, words), None)
            if again is None:
                await passing.whole(answer, plan, said)
                return
        await self._exchange(asked, again, passing)

    async def _otherwise(self, asked: Incoming, plan: Plan, status: int, said: bytes) -> Plan | None:
        """The request that may be accepted where this one was refused; None when there is none."""
        sent = self._plain_body(asked, plan)
        refused = read_tools_refusal(status, said, sent)
        if refused and plan.recall:  # which cannot be offered in text
            if refused == "said" and await self._planning.downgrade(asked.where, plan, is_proven=True) is not None:
                return await self._planned(asked)
            return None
        if refused:
            return await self._planning.downgrade(asked.where, plan, is_proven=refused == "said")
        length = too_long(status, said, sent)
        if length is None or plan.caller is None or plan.off or plan.shortened:
            return None
        await self._planning.overflowed(plan.caller, length)
        shorter = await self._planned(asked)
        if shorter.failed or len(shorter.body) >= len(plan.body):
            return None
        return msgspec.structs.replace(shorter, shortened=True)

    def _plain_body(self, asked: Incoming, plan: Plan) -> bytes:
        """What was sent, as it was before its client compressed it."""
        encoding = asked.headers.get("content-encoding", "")
        if plan.opened or not encoding:
            return plan.body
        return opened(plan.body, encoding, self._planner.policy.max_body) or plan.body

    async def _again(self, asked: Incoming, plan: Plan, passing: ResponseRelay, nonsense: UnusableCalls) -> Plan:
        """The model wrote calls that cannot be used: tell it, and go on with what it answers."""
        self._metrics.add("laconic_asked_again_total", upstream=asked.where.upstream)
        told = await self._open(self._planning.again(asked.where, plan, nonsense), None)
        if told is not None and await self._continue(asked, told, passing, lambda: passing.nonsense is nonsense):
            return told
        await passing.give_up()
        return plan

    async def _go_on(self, asked: Incoming, plan: Plan, passing: ResponseRelay, held: HeldAnswer) -> Plan:
        """The model recalled something: hand it over, and go on with what it answers."""
        self._metrics.add("laconic_recalls_total", upstream=asked.where.upstream)
        is_last = len(passing.rounds) >= ROUNDS
        more = await self._open(self._planning.answer_recall(asked.where, plan, held, is_last), None)
        if more is None or len(passing.rounds) > ROUNDS:
            await passing.give_up_held()
            return plan
        if await self._continue(asked, more, passing, lambda: passing.held is held):
            return more
        await passing.give_up_held()
        return plan

    async def _continue(
        self, asked: Incoming, plan: Plan, passing: ResponseRelay, is_unanswered: Callable[[], bool]
    ) -> bool:
        """Ask once more within one answer to the client; whether the provider answered.

        A connection that fails before anything of the new answer was read is no answer; later it is a fault.
        """
        try:
            async with self._ask(asked, plan) as answer:
                if answer.status < 400:
                    await passing.answer(answer, plan, asked.where)
                    return True
        except (aiohttp.ClientError, TimeoutError, OSError):
            if not is_unanswered():
                raise
        return False

    async def _open(self, work: Awaitable[T], instead: T) -> T:
        """What of ours fails changes nothing for the client; it is counted and logged."""
        try:
            return await work
        except Exception as error:
            self._metrics.add("laconic_fail_open_total", what=type(error).__name__)
            log.exception("a request goes on as it was")
            return instead

    async def _planned(self, asked: Incoming) -> Plan:
        return await self._planning.plan(asked.where, asked.headers, asked.query, asked.body)

    def _ask(self, asked: Incoming, plan: Plan) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        assert self._client is not None
        headers = upward(asked.raw)
        if plan.opened:
            headers = [(name, value) for name, value in headers if name.lower() != "content-encoding"]
        if plan.tools or plan.recall:
            headers = [(name, value) for name, value in headers if name.lower() != "accept-encoding"]
        query = ""
        if asked.query:
            query = f"?{asked.query}"
        address = URL(asked.where.base + asked.where.path + query, encoded=True)
        body: BytesIO | AsyncGenerator[bytes, None] | None = None
        if asked.rest is not None:
            body = _joined(asked.body, asked.rest)
            headers += [(name, value) for name, value in asked.headers.items() if name == "content-length"]
        elif plan.body:
            body = BytesIO(plan.body)  # written in pieces: a large one does not hold up the loop
        base = asked.where.base
        if base not in self._proxies:
            self._proxies[base] = self._upstreams.find_proxy(base)
        return self._client.request(
            asked.method, address, headers=headers, data=body, allow_redirects=False, proxy=self._proxies[base]
        )

    def _note(self, where: Target, plan: Plan) -> None:
        if plan.failed:
            self._metrics.add("laconic_fail_open_total", what=plan.failed)
        if plan.caller is not None:
            self._metrics.add("laconic_request_bytes_total", plan.came, side="came")
            self._metrics.add("laconic_request_bytes_total", plan.went, side="went")
            self._registry.asked(plan.caller, where.format, plan.came, plan.went)

    def _tell(
        self, asked: Incoming, plan: Plan, passing: ResponseRelay, *, times: tuple[int, int], fault: str
    ) -> None:
        """Whatever goes wrong with telemetry is not the client's concern."""
        assert self._telemetry is not None
        try:
            self._telemetry.record_model_call(
                describe_call(asked.where, asked.method, asked.headers, plan, passing, times=times, fault=fault)
            )
        except Exception:
            log.exception("a request was not told to the collector")

    def _settle(
        self,
        asked: Incoming,
        plan: Plan,
        passing: ResponseRelay,
        seconds: float,
        admitted: AdmittedRequest | None,
    ) -> None:
        """Keep what the provider said; whatever goes wrong here is not the client's concern."""
        if plan.caller is None:
            return
        where, usage = asked.where, passing.usage
        for broken in passing.broken:
            self._metrics.add(
                "laconic_malformed_calls_total",
                upstream=where.upstream,
                model=plan.caller.model[:100],
                reason=broken.reason,
            )
        for used in filter(None, (usage, *(used for _, used in passing.rounds))):
            self._metrics.add("laconic_prompt_tokens_total", used.input, kind="plain")
            self._metrics.add("laconic_prompt_tokens_total", used.cache_read, kind="cache_read")
            self._metrics.add("laconic_prompt_tokens_total", used.cache_write, kind="cache_write")
            self._metrics.add("laconic_output_tokens_total", used.output)
        for _, recalled in passing.rounds:
            self._planning.answered(plan.caller, recalled, None)
        if usage is not None or passing.limits is not None:
            self._planning.answered(plan.caller, usage, passing.limits)
        client = asked.headers.get("user-agent", "")
        settle = None
        if admitted is not None and self._team is not None:
            settle = partial(_pay, self._team, admitted, plan, client)
        self._history.keep(
            where, plan, passing, client=client, seconds=seconds, billed=self._registry.billed, settle=settle
        )


def _pay(team: TeamAccess, admitted: AdmittedRequest, plan: Plan, client: str, costs: Sequence[TurnCost]) -> None:
    assert plan.caller is not None
    project = plan.project
    if plan.prepared is not None and plan.prepared.added_content is not None:
        project = plan.prepared.added_content.project
    team.settle(admitted, plan.caller.model, costs, project, client)


def _about(where: Target, plan: Plan, passing: ResponseRelay, seconds: float) -> dict[str, object]:
    """What the log says of an answer."""
    return {
        "upstream": where.upstream,
        "format": where.format or None,
        "status": passing.status,
        "ms": round(1000 * seconds),
        "session": plan.caller.session if plan.caller else None,
        "action": plan.notes.get("action"),
        "came": plan.came or None,
        "went": plan.went or None,
    }


async def _pieces(receive: Receive) -> AsyncGenerator[bytes, None]:
    """A body as it comes."""
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        yield message.get("body", b"")
        more = message.get("more_body", False)


async def _joined(first: bytes, rest: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    if first:
        yield first
    async for piece in rest:
        if piece:
            yield piece


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _answer(send: Send, status: int, body: bytes, retry_after: int = 0) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if retry_after:
        headers.append((b"retry-after", str(retry_after).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

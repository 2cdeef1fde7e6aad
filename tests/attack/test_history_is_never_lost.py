"""What happened to users' histories, each as it happened: nothing leaves a request that cannot be recalled."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from tests.attack.stories import CHAT, Story, assert_goes_on, assert_same, reading, screenshot
from tests.gateway.stage import Stage, play

from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer
from laconic.sessions.damaged_files import list_ruined
from laconic_benchmarks.attack.conversations import Branch
from laconic_benchmarks.attack.gateways import ARCHIVE, DiskFaults, Fault
from laconic_benchmarks.attack.material import ToolOutput

pytestmark = pytest.mark.feature("X1", "X2")


def test_the_first_request_of_a_long_session_loses_nothing(tmp_path: Path) -> None:
    """80 exchanges, 230,000 tokens, default settings, a gateway that never saw the session."""
    story = Story(tmp_path)
    session = story.session()
    story.read_files(session, 80)
    story.send(story.gateway(), session)


def test_a_restart_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    """The gateway that is restarted sends what one sends that never was."""
    story, calm = Story(tmp_path / "restarted"), Story(tmp_path / "calm")
    session = story.session()
    gateway, twin = story.gateway(), calm.gateway()
    for turn in range(12):
        story.read_files(session, 8, f"t{turn}_")
        if turn == 6:
            gateway = story.gateway()
        assert_same(story.send(gateway, session), calm.send(twin, session))


def test_nine_other_sessions_change_nothing(tmp_path: Path) -> None:
    story, calm = Story(tmp_path / "busy"), Story(tmp_path / "calm")
    session = story.session()
    gateway, twin = story.gateway(), calm.gateway()
    for turn in range(4):
        story.read_files(session, 20, f"t{turn}_")
        assert_same(story.send(gateway, session), calm.send(twin, session))
        for number in range(9):
            other = story.session(f"other{number}")
            story.read_files(other, 2)
            story.send(gateway, other)
            calm.clock.now = story.clock.now


@pytest.mark.parametrize("stated", [True, False], ids=["stated", "by its opening"])
def test_two_conversations_that_open_alike_lose_nothing(tmp_path: Path, stated: bool) -> None:
    story = Story(tmp_path)
    session = story.session(stated=stated)
    session.branches.append(Branch(list(session.branches[0].turns)))
    gateway = story.gateway()
    for turn in range(5):
        for branch in (0, 1):
            story.read_files(session, 18, f"b{branch}t{turn}_", branch)
            story.send(gateway, session, branch)


@pytest.mark.parametrize("window", [0, 40_000])
def test_a_side_request_on_an_older_prefix_loses_nothing(tmp_path: Path, window: int) -> None:
    story = Story(tmp_path, **{"gateway.window": window})
    session = story.session()
    gateway = story.gateway()
    for turn in range(10):
        story.read_files(session, 10, f"t{turn}_")
        story.send(gateway, session)
        story.send(gateway, session, turns=len(session.branches[0].turns) - 5)


@pytest.mark.parametrize("seconds", [901, 3 * 3600])
def test_a_rest_changes_nothing_but_by_the_clock(tmp_path: Path, seconds: int) -> None:
    """After a rest the gateway sends what one sends that was started after it."""
    story, fresh = Story(tmp_path / "rested"), Story(tmp_path / "fresh")
    session, other = story.session(), story.session("other")
    gateway = story.gateway()
    for turn in range(10):
        story.read_files(session, 8, f"t{turn}_")
        story.clock.now = fresh.clock.now = story.clock.now + (seconds if turn > 4 else 0)
        assert_same(story.send(gateway, session), fresh.send(fresh.gateway(), session))
        story.send(gateway, other)


def test_what_cannot_be_archived_is_not_left_out(tmp_path: Path) -> None:
    """Writing to the archive fails while the ledger can be written."""
    story = Story(tmp_path, **{"gateway.window": 40_000})
    session = story.session()
    gateway = story.gateway()
    story.read_files(session, 6)
    story.send(gateway, session)
    DiskFaults((tmp_path,), Random(1)).begin("unwritable")
    for turn in range(6):
        story.read_files(session, 9, f"t{turn}_")
        story.send(gateway, session)


@pytest.mark.parametrize("fault", ["deleted", "garbage"])
def test_an_archive_that_is_gone_is_noticed(tmp_path: Path, fault: Fault) -> None:
    """What can no longer be recalled is sent, or kept anew."""
    story = Story(tmp_path, **{"gateway.window": 40_000})
    session = story.session()
    gateway = story.gateway()
    for turn in range(3):
        story.read_files(session, 9, f"t{turn}_")
        story.send(gateway, session)
    DiskFaults((tmp_path,), Random(1)).begin(fault)
    for turn in range(3, 6):
        story.read_files(session, 9, f"t{turn}_")
        story.send(gateway, session)


def test_damage_is_met_by_the_next_request_however_many_gateways_have_the_archive_open(tmp_path: Path) -> None:
    """Otherwise a gateway and its twin would not suffer the same fault at the same step."""
    story = Story(tmp_path)
    session = story.session()
    gateways = [story.gateway() for _ in range(3)]
    for turn, gateway in enumerate(gateways):
        story.read_files(session, 2, f"t{turn}_")
        story.send(gateway, session)
    DiskFaults((tmp_path,), Random(1)).begin("garbage")
    story.send(gateways[0], session)
    assert len(list_ruined(tmp_path / ARCHIVE)) == 1


def test_an_archive_that_another_process_locks_loses_nothing(tmp_path: Path) -> None:
    story = Story(tmp_path, **{"gateway.window": 40_000})
    session = story.session()
    gateway = story.gateway()
    story.read_files(session, 6)
    story.send(gateway, session)
    faults = DiskFaults((tmp_path,), Random(1))
    faults.begin("locked")
    story.read_files(session, 14, "later")
    request = session.request(session.branches[0])
    with faults.during_request(tmp_path):
        plan = gateway.plan(session.target, session.headers, "", request.body.encode())
    story.judge(request, plan)


@pytest.mark.parametrize("window", [0, 60_000])
@pytest.mark.parametrize("where", ["beside a text", "alone", "from the user"])
def test_a_picture_of_250_kb_is_sent(tmp_path: Path, window: int, where: str) -> None:
    story = Story(tmp_path, **{"gateway.window": window})
    session = story.session()
    picture = screenshot(250_000)
    if where == "from the user":
        session.branches[0].turns[0] = (session.provider.user(session.style, "What is this?", [picture]),)
    else:
        texts = ("A screenshot.",) if where == "beside a text" else ()
        story.add(session, reading("a", ToolOutput(texts, (picture,))))
    story.send(story.gateway(), session)


def test_later_requests_pass_after_a_second_screenshot(tmp_path: Path) -> None:
    story = Story(tmp_path)
    session = story.session()
    gateway = story.gateway()
    for name in ("first", "second"):
        story.add(session, reading(name, ToolOutput(("A screenshot.",), (screenshot(150_000),))))
        story.send(gateway, session)
    for turn in range(20):
        story.read_files(session, 1, f"t{turn}_")
        story.send(gateway, session)


def test_a_result_that_is_nothing_but_a_picture_comes_back_whole(tmp_path: Path) -> None:
    """Also when the history is cut to a small window again and again."""
    story = Story(tmp_path, **{"gateway.window": 12_000})
    session = story.session()
    gateway = story.gateway()
    for turn in range(30):
        output = ToolOutput((), (screenshot(20_000 + turn),)) if turn % 3 == 0 else None
        story.add(session, reading(f"p{turn}", output))
        story.send(gateway, session)


def test_a_new_bearer_token_keeps_the_session(tmp_path: Path) -> None:
    """OAuth clients refresh theirs every hour; the client says that the session is the same."""
    story = Story(tmp_path)
    session = story.session()
    gateway = story.gateway()
    tail = session.provider.tail(session.style, session.fields).encode()
    before = b""
    for turn in range(40):
        story.read_files(session, 2, f"t{turn}_")
        if turn % 10 == 9:
            session.headers["authorization"] = f"Bearer token-{turn}"
            story.clock.now += 60
        before = assert_goes_on(before, story.send(gateway, session), tail)


POISON = [
    (422, "Invalid prompt: you wrote 'context window = 100'"),
    (422, "messages[3].content: maximum context length is 5 tokens"),
    (400, "The text 'context size: 1000' is not allowed."),
]


@pytest.mark.parametrize(("status", "text"), POISON)
def test_an_error_that_quotes_a_user_teaches_nothing(tmp_path: Path, status: int, text: str) -> None:
    """The next request is sent as if the error had said nothing about lengths."""
    story = Story(tmp_path)
    session = story.session(model="some-model")
    story.read_files(session, 12)
    body = session.request(session.branches[0]).body.encode()
    untouched = story.gateway().plan(session.target, session.headers, "", body).body

    def script(asked: ReceivedRequest) -> ScriptedAnswer:
        if b'"poison"' in asked.body:
            return ScriptedAnswer((json.dumps({"error": {"message": text}}).encode(),), status)
        return ScriptedAnswer()

    async def scene(where: Stage) -> None:
        poisoned = body.replace(b'"stream"', b'"poison":1,"stream"')
        assert (await where.post("/v1/messages", poisoned, authorization="Bearer token-1"))[0] == status
        assert (await where.post("/v1/messages", body, authorization="Bearer token-1"))[0] == 200
        assert len(where.upstream.asked[-1].body) == len(untouched)  # references differ

    play(scene, script, Story(tmp_path / "gateway").gateway().exchange.engine)


@pytest.mark.parametrize("model", ["gpt-4-my-own-1m", "gpt-4", "somebody/unknown"])
def test_what_the_provider_might_take_is_sent(tmp_path: Path, model: str) -> None:
    """One result that is larger than the window that a name stands for."""
    story = Story(tmp_path)
    session = story.session(provider=CHAT, model=model)
    story.add(session, reading("whole", ToolOutput(("word " * 30_000,))))
    gateway = story.gateway()
    for turn in range(4):
        story.read_files(session, 6, f"t{turn}_")
        story.send(gateway, session)


def test_sixty_requests_pass_on_a_full_disk(tmp_path: Path) -> None:
    story = Story(tmp_path, **{"gateway.window": 40_000})
    session = story.session()
    gateway = story.gateway()
    story.send(gateway, session)
    story.read_files(session, 2)
    story.send(gateway, session)
    faults = DiskFaults((tmp_path,), Random(1))
    faults.begin("full")
    for turn in range(60):
        story.read_files(session, 1, f"t{turn}_")
        request = session.request(session.branches[0])
        with faults.during_request(tmp_path):
            plan = gateway.plan(session.target, session.headers, "", request.body.encode())
        story.judge(request, plan)


def test_two_gateways_on_one_folder_send_what_one_would(tmp_path: Path) -> None:
    """59 turns that alternate; what was sent stays as it was between maintenance events."""
    story, calm = Story(tmp_path / "two"), Story(tmp_path / "one")
    session = story.session()
    gateways, twin = (story.gateway(), story.gateway()), calm.gateway()
    tail = session.provider.tail(session.style, session.fields).encode()
    before = b""
    for turn in range(59):
        story.read_files(session, 2, f"t{turn}_")
        plan = story.send(gateways[turn % 2], session)
        before = assert_goes_on(before, plan, tail)
        assert_same(plan, calm.send(twin, session))

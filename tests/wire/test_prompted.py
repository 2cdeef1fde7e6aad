"""Calls read from text: 300 generated answers of models with the calls each holds, whole and cut at every byte."""

from __future__ import annotations

import itertools
import json
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.wire.prompted_tool_calls.calls import PromptedCall, PromptedTool
from laconic.wire.prompted_tool_calls.parser import CallParser, ParsedAnswer

TOOLS = (
    PromptedTool("Read", frozenset({"path", "line"}), frozenset({"path"})),
    PromptedTool("Bash", frozenset({"command"}), frozenset({"command"})),
    PromptedTool("write_file", frozenset({"path", "content"}), frozenset({"path", "content"})),
    PromptedTool("list_tasks"),
)
READ = PromptedCall("Read", {"path": "src/a.py"})
BASH = PromptedCall("Bash", {"command": "make test"})
NASTY = 'He said: "{\\"name\\": \\"Bash\\"}", }, {a: 1}, None, True,] ```json\n{"x": 1}\n``` </tool_call> é中\\'
WRITE = PromptedCall("write_file", {"path": "b.json", "content": NASTY})
LIST = PromptedCall("list_tasks", {})
_LISTED = PromptedCall("list_tasks", {"name": "Bash"})


class Case(NamedTuple):
    name: str
    text: str
    calls: tuple[PromptedCall, ...] = ()
    reasons: tuple[str, ...] = ()
    truncated: bool = False


def _json(call: PromptedCall, **options: object) -> str:
    indent = options.get("indent")
    return json.dumps(
        {"name": call.name, "arguments": call.arguments}, indent=indent if isinstance(indent, int) else None
    )


WRAPS = {
    "tool-fence": "```tool\n{}\n```",
    "tool-call-fence": "```tool_call\n{}\n```",
    "json-fence": "```json\n{}\n```",
    "plain-fence": "```\n{}\n```",
    "one-line-fence": "```json {} ```",
    "tag": "<tool_call>\n{}\n</tool_call>",
    "tag-one-line": "<tool_call>{}</tool_call>",
    "mistral": "[TOOL_CALLS] {}",
    "llama": "<|python_tag|>{}<|eom_id|>",
    "bare": "{}",
}
NAMED = {"one-line": "<function={}>{}</function>", "lines": "<function={}>\n{}\n</function>"}
AROUND = {
    "alone": "{}",
    "prose-before": "I will do this now.\n\n{}",
    "prose-after": "{}\n\nThat should help.",
    "prose-both": "First, a look:\n{}\nThen we see. It's {{curly}} and [square].\n",
    "indented": "Steps:\n\n   {}\n",
    "thought-before": '<think>\n{{"name": "Bash", "arguments": {{"command": "rm -rf /"}}}}\n</think>\n{}',
    "code-before": '```python\nprint({{"name": "Bash", "arguments": {{"command": "x"}}}})\n```\n{}',
}


def _good() -> list[Case]:
    return [
        Case(f"{wrap}-{around}-{call.name}", outer.format(pattern.format(_json(call))), (call,))
        for (wrap, pattern), (around, outer) in itertools.product(WRAPS.items(), AROUND.items())
        for call in (READ, BASH, WRITE)
    ]


def _forms() -> list[Case]:
    """Other ways to write the same call, and several calls."""
    path, command = '"path": "src/a.py"', '"command": "make test"'
    forms = {
        "args": f'{{"name": "Read", "args": {{{path}}}}}',
        "parameters": f'{{"tool": "Read", "parameters": {{{path}}}}}',
        "input": f'{{"tool_name": "Read", "input": {{{path}}}}}',
        "openai": f'{{"type": "function", "function": {{"name": "Read", "arguments": {{{path}}}}}}}',
        "string-arguments": '{"name": "Read", "arguments": "{\\"path\\": \\"src/a.py\\"}"}',
        "action": f'{{"action": "Read", "action_input": {{{path}}}}}',
        "with-id": f'{{"id": "1", "name": "Read", "arguments": {{{path}}}}}',
        "arguments-first": f'{{"arguments": {{{path}}}, "name": "Read"}}',
        "lower-case": f'{{"name": "read", "arguments": {{{path}}}}}',
        "flat": f'{{"tool": "Read", {path}}}',
        "indented": _json(READ, indent=2),
        "trailing-comma": f'{{"name": "Read", "arguments": {{{path},}},}}',
        "bare-keys": '{name: "Read", arguments: {path: "src/a.py"}}',
        "python": "{'name': 'Read', 'arguments': {'path': 'src/a.py'}}",
        "wrapped": f'{{"tool_calls": [{{"name": "Read", "arguments": {{{path}}}}}]}}',
        "array": f'[{{"name": "Read", "arguments": {{{path}}}}}]',
    }
    cases = [
        Case(f"form-{name}-{wrap}", WRAPS[wrap].format(text), (READ,))
        for name, text in forms.items()
        for wrap in ("tool-fence", "json-fence", "tag", "bare")
    ]
    both = f'{{"name": "Read", "arguments": {{{path}}}}}', f'{{"name": "Bash", "arguments": {{{command}}}}}'
    several = {
        "two-fences": "```tool\n{}\n```\n```tool\n{}\n```",
        "two-fences-apart": "```json\n{}\n```\nand then\n```json\n{}\n```\ndone",
        "two-tags": "<tool_call>{}</tool_call>\n<tool_call>{}</tool_call>",
        "array": "[{}, {}]",
        "array-in-fence": "```json\n[{},\n {}]\n```",
        "lines-in-fence": "```tool\n{}\n{}\n```",
        "lines-bare": "{}\n{}",
        "no-closing-fence": "```tool\n{}\n{}",
        "no-closing-tag": "<tool_call>{}\n{}",
        "windows": "```tool\r\n{}\r\n```\r\n```tool\r\n{}\r\n```\r\n",
    }
    cases += [Case(f"several-{name}", text.format(*both), (READ, BASH)) for name, text in several.items()]
    cases += [
        Case(
            f"named-{around}-{call.name}-{name}",
            outer.format(pattern.format(call.name, json.dumps(call.arguments))),
            (call,),
        )
        for name, pattern in NAMED.items()
        for around, outer in AROUND.items()
        for call in (READ, WRITE)
    ]
    two = '<function=Read>{"path": "src/a.py"}</function>{}<function=Bash>{"command": "make test"}</function>'
    cases += [Case(f"named-two-{len(gap)}", two.replace("{}", gap), (READ, BASH)) for gap in ("\n", "", " \n\n")]
    cases.append(Case("named-like-a-call", '<function=list_tasks>{"name": "Bash"}</function>', (_LISTED,)))
    cases.append(Case("named-lower-case", '<function=read>{"path": "src/a.py"}</function>', (READ,)))
    cases.append(Case("named-not-closed", '<function=Read>{"path": "src/a.py"}', (READ,)))
    cases.append(Case("no-arguments", '```tool\n{"name": "list_tasks"}\n```', (LIST,)))
    cases.append(Case("null-arguments", '{"name": "list_tasks", "arguments": null}', (LIST,)))
    cases.append(
        Case(
            "raw-line-break",
            '```tool\n{"name": "Bash", "arguments": {"command": "a\nb"}}\n```',
            (PromptedCall("Bash", {"command": "a\nb"}),),
        )
    )
    cases.append(
        Case(
            "repair-beside-strings",
            '{"name": "Bash", "arguments": {"command": ", } None {a: 1}", },}',
            (PromptedCall("Bash", {"command": ", } None {a: 1}"}),),
        )
    )
    return cases


def _text_only() -> list[Case]:
    """What only looks like a call."""
    texts = {
        "plain": "All done. Nothing to call.",
        "empty": "",
        "white": " \n\n",
        "sentence": f"You could run {_json(BASH)} but do not.",
        "sentence-at-start": f"{_json(BASH)} is what one would run.",
        "quoted": f"> {_json(BASH)}",
        "inline-code": f"`{_json(BASH)}`",
        "python-fence": f"```python\n{_json(BASH)}\n```",
        "text-fence": f"```text\n{_json(BASH)}\n```\nsee above",
        "data": '```json\n{"name": "Ada", "age": 36}\n```',
        "record-with-a-tool-name": '```json\n{"name": "Read", "path": "x"}\n```',
        "config": '{"type": "object", "properties": {"name": {"type": "string"}}}',
        "list": "[1, 2, 3]",
        "link": "[a link](http://x) and [another]",
        "mixed-array": f"[{_json(READ)}, 5]",
        "nested-in-data": json.dumps({"example": {"name": "Bash", "arguments": {"command": "x"}}}),
        "in-a-string": json.dumps({"text": _json(BASH)}),
        "thought": f"<think>\n{_json(BASH)}\n</think>\nNo.",
        "open-thought": f"<think>\n{_json(BASH)}",
        "braces": "{ this is prose }\n{}\n{{x}}",
        "open-brace": "{\n",
        "fence-at-end": "text\n```",
        "backticks": "``` not a fence\n`` x",
        "half-tag": "<tool",
        "half-name": "<function=Ba",
        "name-only": "<function=Bash>",
        "named-without-object": "<function=Bash>\n<parameter=command>\nrm\n</parameter>\n</function>",
        "named-in-a-sentence": 'Write <function=Bash>{"command": "x"}</function> to run it.',
        "named-quoted": '> <function=Bash>{"command": "x"}</function>',
        "named-inline-code": '`<function=Bash>{"command": "x"}</function>`',
        "named-in-a-fence": '```xml\n<function=Bash>{"command": "x"}</function>\n```',
        "named-in-a-thought": '<think>\n<function=Bash>{"command": "x"}</function>\n</think>\nNo.',
        "python-tag-in-a-sentence": f"Llama writes <|python_tag|>{_json(BASH)} for that.",
        "python-tag-in-a-fence": f"```text\n<|python_tag|>{_json(BASH)}\n```",
    }
    return [Case(f"text-{name}", text) for name, text in texts.items()]


def _broken() -> list[Case]:
    """Calls that must not run, with the reason they are counted under."""
    write, bash = _json(WRITE), _json(BASH)
    named = f"<function=write_file>{json.dumps(WRITE.arguments)}"
    cases = [Case(f"named-cut-{size}", named[:-size], (), ("truncated",)) for size in (1, 2, 30)]
    cases += [
        Case("named-length", '<function=Bash>{"command": "x"}</function>', (), ("truncated",), truncated=True),
        Case("named-unknown", '<function=Fly>{"to": "x"}</function>', (), ("unknown-tool",)),
        Case("named-lacking", "<function=Bash>{}</function>", (), ("arguments",)),
        Case("named-garbled", '<function=Bash>{"command": oops}</function>', (), ("not-json",)),
        Case("python-code", "<|python_tag|>import os\nprint(os)", (), ("not-json",)),
    ]
    for wrap in ("tool-fence", "json-fence", "tag", "bare", "llama"):
        opened = WRAPS[wrap].split("{}", maxsplit=1)[0]
        sizes = (30, len(write) // 2, len(write) - 2, len(write) - 1)
        cases += [Case(f"cut-{wrap}-{size}", opened + write[:size], (), ("truncated",)) for size in sizes]
        cases.append(Case(f"length-{wrap}", WRAPS[wrap].format(bash), (), ("truncated",), truncated=True))
        cases.append(Case(f"length-read-{wrap}", WRAPS[wrap].format(_json(READ)), (READ,), (), truncated=True))
        unknown = WRAPS[wrap].format('{"name": "Fly", "arguments": {}}')
        cases.append(Case(f"unknown-{wrap}", unknown, (), ("unknown-tool",)))
        lacking = WRAPS[wrap].format('{"name": "Bash", "arguments": {}}')
        cases.append(Case(f"lacking-{wrap}", lacking, (), ("arguments",)))
        garbled = WRAPS[wrap].format('{"name": "Bash" "arguments": {"command": "x"}}')
        cases.append(Case(f"garbled-{wrap}", garbled, (), ("not-json",)))
        batch = WRAPS[wrap].format(bash) + "\n" + WRAPS["tool-fence"].format('{"name": "Fly", "arguments": {}}')
        cases.append(Case(f"batch-{wrap}", batch, (), ("batch", "unknown-tool")))
        reading = WRAPS[wrap].format(_json(READ)) + "\n" + WRAPS["tool-fence"].format("{nonsense}")
        cases.append(Case(f"batch-read-{wrap}", reading, (READ,), ("not-json",)))
    return cases


CASES = [*_good(), *_forms(), *_text_only(), *_broken()]


def _parse(text: str, chunks: list[str], truncated: bool) -> tuple[str, ParsedAnswer]:
    parser = CallParser(TOOLS)
    passed = "".join(parser.feed(chunk) for chunk in chunks)
    outcome = parser.close(truncated=truncated)
    return passed + outcome.text, outcome


def test_there_are_at_least_300_cases() -> None:
    assert len(CASES) >= 300
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.feature("P2", "P3")
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_calls_are_read_whole_and_cut_at_every_byte(case: Case) -> None:
    text, outcome = _parse(case.text, [case.text], case.truncated)
    assert outcome.calls == case.calls
    assert sorted(broken.reason for broken in outcome.broken) == sorted(case.reasons)
    assert _parse(case.text, list(case.text), case.truncated) == (text, outcome)
    if not case.calls:
        assert sorted(text) == sorted(case.text)  # nothing that did not become a call is lost
    if not case.calls and not case.reasons:
        assert text == case.text


_fragments = st.sampled_from(
    [_json(READ), _json(WRITE), "```", "```tool\n", "```json\n", "\n", "\n\n", " ", "<tool_call>", "</tool_call>",
     "{", "}", '"', "'", "\\", "[", "]", "<think>", "</think>", "[TOOL_CALLS]", "prose", '{"name": "Bash"',
     ",", ":", "```py\n", "<|python_tag|>", "<function=", "Read>", "<function=Bash>", "</function>", "<function=x y>"]
)  # fmt: skip


@given(st.lists(_fragments, max_size=12).map("".join), st.data())
def test_chunks_never_change_the_outcome(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    chunks = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole = _parse(text, [text], False)
    assert _parse(text, chunks, False) == whole
    assert _parse(text, list(text), False) == whole


@given(st.lists(_fragments, max_size=12).map("".join))
def test_without_calls_no_byte_is_lost(text: str) -> None:
    passed, outcome = _parse(text, [text], False)
    if not outcome.calls:
        assert sorted(passed) == sorted(text)
    if not outcome.calls and not outcome.broken:
        assert passed == text


@given(st.text(max_size=60), st.booleans())
def test_62_repairs_never_change_a_string(content: str, comma: bool) -> None:
    arguments = json.dumps({"path": "p", "content": content}, ensure_ascii=False)
    text = f'{{name: "write_file", "arguments": {arguments}{"," if comma else ""}}}'
    _, outcome = _parse(text, [f"```tool\n{text}\n```"], False)
    assert outcome.calls == (PromptedCall("write_file", {"path": "p", "content": content}),)


@pytest.mark.parametrize(
    ("name", "reads"),
    [
        *((name, True) for name in ("Read", "read_file", "readFile", "mcp__fs__list_directory", "Grep")),
        *((name, False) for name in ("Bash", "write_file", "search_and_replace", "apply_patch", "frobnicate")),
    ],
)
def test_only_what_is_surely_harmless_counts_as_reading(name: str, reads: bool) -> None:
    assert PromptedTool(name).reads_only is reads

"""An agent loop whose prompts stay small. The model is played by a function, so that it runs without a key.

python examples/small_agent.py
"""

from __future__ import annotations

from typing import Any

from laconic import Conversation, count_tokens


def ask_model(request: dict[str, Any]) -> dict[str, Any]:
    """Put the call of your provider here. This one reads a file thirty times and is done."""
    number = sum(message["role"] == "assistant" for message in request["messages"])
    if number == 30:
        return {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
    call = {"type": "tool_use", "id": f"call_{number}", "name": "read_file", "input": {"path": f"module_{number}.py"}}
    return {"role": "assistant", "content": [call]}


def run_tool(call: dict[str, Any]) -> dict[str, Any]:
    text = "\n".join(f"def function_{line}(value): return value + {line}" for line in range(200))
    return {"type": "tool_result", "tool_use_id": call["id"], "content": f"# {call['input']['path']}\n{text}"}


def main() -> None:
    conversation = Conversation("anthropic", model="claude-sonnet-5-5")
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Read all modules, then stop."}]
    sent = whole = 0
    while True:
        request = {"model": "claude-sonnet-5-5", "max_tokens": 1000, "messages": messages}
        prepared = conversation.prepare(request)
        sent += prepared.tokens
        whole += count_tokens(str(messages), model="claude-sonnet-5-5")
        answer = ask_model({**prepared.request, "messages": messages})
        messages.append(answer)
        calls = [block for block in answer["content"] if block["type"] == "tool_use"]
        if not calls:
            break
        messages.append({"role": "user", "content": [run_tool(call) for call in calls]})
    print(f"{len(messages)} messages; {sent:,} prompt tokens instead of about {whole:,}")


if __name__ == "__main__":
    main()

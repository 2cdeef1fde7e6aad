"""JSON-RPC messages as plain data: how they are told apart, and the answers that we write ourselves. Pure."""

from __future__ import annotations

from typing import Any, Final

Message = dict[str, Any]
Identifier = str | int

METHOD_NOT_FOUND: Final = -32_601
INVALID_PARAMS: Final = -32_602
INTERNAL_ERROR: Final = -32_603
NOT_FOUND: Final = -32_002  # what the protocol says of a resource that is not there


class ErrorAnswer(Exception):
    """A request that is answered with an error: the server's own, or ours."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.error: Message = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


def read_capabilities(greeting: Message) -> Message:
    """What a server or a client says that it can do; nothing where it says that in no form of the protocol."""
    found = greeting.get("capabilities")
    if isinstance(found, dict):
        return found
    return {}


def read_error(answer: Message) -> ErrorAnswer:
    """The error of an answer, whatever its form."""
    error = answer["error"]
    if not isinstance(error, dict):
        return ErrorAnswer(INTERNAL_ERROR, str(error)[:200])
    code = error.get("code")
    if not isinstance(code, int):
        code = INTERNAL_ERROR
    return ErrorAnswer(code, str(error.get("message", "")), error.get("data"))


def is_request(message: Message) -> bool:
    return isinstance(message.get("method"), str) and is_identifier(message.get("id"))


def is_notification(message: Message) -> bool:
    return isinstance(message.get("method"), str) and "id" not in message


def is_answer(message: Message) -> bool:
    return "method" not in message and ("result" in message or "error" in message)


def is_identifier(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def request(number: Identifier, method: str, params: object) -> Message:
    message: Message = {"jsonrpc": "2.0", "id": number, "method": method}
    if params is not None:
        message["params"] = params
    return message


def notification(method: str, params: object = None) -> Message:
    message: Message = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return message


def result_message(number: Identifier, result: object) -> Message:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def error_message(number: Identifier | None, error: Message) -> Message:
    return {"jsonrpc": "2.0", "id": number, "error": error}


def read_params(message: Message) -> Message:
    """The parameters of a request or notification; empty where there are none."""
    params = message.get("params")
    if isinstance(params, dict):
        return params
    return {}


def text_content(text: str) -> Message:
    return {"type": "text", "text": text}


def text_result(text: str, *, failed: bool = False) -> Message:
    """The result of a tool call that we answer ourselves."""
    result: Message = {"content": [text_content(text)]}
    if failed:
        result["isError"] = True
    return result

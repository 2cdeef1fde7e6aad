"""What is told to an OpenTelemetry collector: who called which model or tool, how long it took, how large it was.

Never what was said, no key and no person. Off unless the setting `telemetry.otlp` names a collector.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

import msgspec

from laconic.config import Settings
from laconic.errors import BadSetting

Sample = tuple[Mapping[str, str], float]  # labels, and the value


class TracedCall(msgspec.Struct, frozen=True):
    """One request of a client, and what was asked of a provider for it. Times are nanoseconds since 1970."""

    provider: str  # the name in the settings
    format: str
    method: str
    arrived: int
    prepared: int  # when it went to the provider
    ended: int
    model: str = ""
    session: str = ""
    address: str = ""
    port: int = 0
    status: int = 0  # 0: there was no answer
    fault: str = ""
    prompt: int = 0  # tokens
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    bytes_received: int = 0
    bytes_sent: int = 0
    action: str = ""
    parent: str = ""  # traceparent of the client


class Telemetry(Protocol):
    """Takes note at once, and sends later from a thread."""

    def record_model_call(self, call: TracedCall) -> None: ...

    def record_tool_call(self, method: str, tool: str, seconds: float, fault: str) -> None: ...

    def watch(self, name: str, about: str, read: Callable[[], Iterable[Sample]]) -> None:
        """Send what somebody else counts, under its name."""

    def close(self) -> None:
        """Send what is left."""


def open_telemetry(settings: Settings, service: str, *, for_all: bool = False) -> Telemetry | None:
    """What sends to the collector of the settings; None if there is none. `for_all`: libraries of this process too."""
    endpoint = settings.text("telemetry.otlp")
    if not endpoint:
        return None
    if not endpoint.startswith(("http://", "https://")):
        raise BadSetting(
            "telemetry.otlp is not the address of a collector.",
            "Write the one for OTLP over HTTP: http://collector:4318.",
        )
    try:
        from laconic.serving.otlp import OtlpTelemetry  # an extra, and slow to load
    except ImportError:
        raise BadSetting(
            "Telemetry needs packages that are not installed.",
            "Install laconic[team], or leave telemetry.otlp empty.",
        ) from None
    return OtlpTelemetry(endpoint, service, for_all=for_all)

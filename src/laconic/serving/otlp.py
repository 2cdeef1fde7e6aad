"""Traces and metrics over OTLP/HTTP, under the names of OpenTelemetry's conventions for GenAI and MCP.

The SDK reads its own variables too: OTEL_EXPORTER_OTLP_HEADERS, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER, ...
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

from laconic import __version__
from laconic.serving.telemetry import Sample, TracedCall

# As the conventions advise.
_SECONDS: Final = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_TOKENS: Final = tuple(float(4**power) for power in range(14))
_TOOL_SECONDS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
_PROVIDERS: Final = {"gemini": "gcp.gemini"}  # names of ours that are others there
_LONGEST: Final = 200  # characters of a name that a client chooses
_NANO: Final = 1e9
_CLOSING: Final = 3.0  # seconds
Attributes = dict[str, AttributeValue]


class OtlpTelemetry:
    """Spans and histograms of one process."""

    def __init__(self, endpoint: str, service: str, *, for_all: bool = False) -> None:
        base = endpoint.rstrip("/")
        about = Resource.create({"service.name": service, "service.version": __version__})
        limits = SpanLimits(max_attribute_length=_LONGEST)
        self._spans = TracerProvider(resource=about, span_limits=limits, shutdown_on_exit=False)
        self._spans.add_span_processor(BatchSpanProcessor(_SilentExporter(endpoint=f"{base}/v1/traces")))
        reader = PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=f"{base}/v1/metrics"))
        self._numbers = MeterProvider([reader], resource=about, shutdown_on_exit=False)
        self._tracer = self._spans.get_tracer("laconic", __version__)
        self._meter = self._numbers.get_meter("laconic", __version__)
        self._parents = TraceContextTextMapPropagator()
        self._tokens = self._meter.create_histogram(
            "gen_ai.client.token.usage", "{token}", "Tokens of a call.", explicit_bucket_boundaries_advisory=_TOKENS
        )
        self._seconds = self._meter.create_histogram(
            "gen_ai.client.operation.duration",
            "s",
            "Duration of a call to a provider.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self._preparing = self._meter.create_histogram(
            "laconic.prepare.duration",
            "s",
            "What Laconic adds before a request goes to the provider.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self._tools = self._meter.create_histogram(
            "mcp.server.operation.duration",
            "s",
            "Duration of a request to an MCP server.",
            explicit_bucket_boundaries_advisory=_TOOL_SECONDS,
        )
        if for_all:
            trace.set_tracer_provider(self._spans)

    def record_model_call(self, call: TracedCall) -> None:
        about = _describe(call)
        self._trace(call, about)
        if not call.model:
            return
        self._preparing.record((call.prepared - call.arrived) / _NANO, {"gen_ai.provider.name": _provider(call)})
        self._seconds.record((call.ended - call.prepared) / _NANO, about)
        for kind, tokens in (("input", call.prompt), ("output", call.output)):
            if tokens:
                self._tokens.record(tokens, {**about, "gen_ai.token.type": kind})

    def record_tool_call(self, method: str, tool: str, seconds: float, fault: str) -> None:
        about: Attributes = {"mcp.method.name": method}
        if tool:
            about |= {"gen_ai.tool.name": tool[:_LONGEST], "gen_ai.operation.name": "execute_tool"}
        if fault:
            about["error.type"] = fault
        self._tools.record(seconds, about)

    def watch(self, name: str, about: str, read: Callable[[], Iterable[Sample]]) -> None:
        def observe(options: CallbackOptions) -> Iterable[Observation]:
            for labels, value in read():
                yield Observation(value, dict(labels))

        if name.endswith("_total"):
            self._meter.create_observable_counter(name.removesuffix("_total"), [observe], description=about)
        else:
            self._meter.create_observable_gauge(name, [observe], description=about)

    def close(self) -> None:
        """Send what is left; a collector that does not answer is not waited for."""
        closing = []
        for end in (self._spans.shutdown, self._numbers.shutdown):
            closing.append(threading.Thread(target=end, daemon=True))
            closing[-1].start()
        until = time.monotonic() + _CLOSING
        for thread in closing:
            thread.join(max(0.0, until - time.monotonic()))

    def _trace(self, call: TracedCall, about: Attributes) -> None:
        """The client's request, and within it what we did and what the provider did."""
        failed = bool(call.fault) or call.status >= 400
        request: Attributes = {"http.request.method": call.method, "http.response.status_code": call.status}
        if call.fault:
            request = {"http.request.method": call.method, "error.type": call.fault}
        parent = self._parents.extract({"traceparent": call.parent}) if call.parent else Context()
        whole = self._tracer.start_span(
            f"{call.method} {call.format or 'pass'}", parent, SpanKind.SERVER, request, start_time=call.arrived
        )
        inside = trace.set_span_in_context(whole, parent)
        if call.model:
            own: Attributes = {"laconic.bytes_received": call.bytes_received, "laconic.bytes_sent": call.bytes_sent}
            own["laconic.action"] = call.action
            preparing = self._tracer.start_span("laconic prepare", inside, attributes=own, start_time=call.arrived)
            preparing.end(call.prepared)
            asking = self._tracer.start_span(
                f"{_operation(call)} {call.model}",
                inside,
                SpanKind.CLIENT,
                {**about, "gen_ai.request.model": call.model, **_usage(call)},
                start_time=call.prepared,
            )
            if failed:
                asking.set_status(StatusCode.ERROR)
            asking.end(call.ended)
        if failed:
            whole.set_status(StatusCode.ERROR)
        whole.end(call.ended)


class _SilentExporter(OTLPSpanExporter):
    """Leaves out what libraries write into spans when something fails: their words may quote what was said."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return super().export([_without_words(span) for span in spans])


def _without_words(span: ReadableSpan) -> ReadableSpan:
    if not span.events and not span.status.description:
        return span
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=span.attributes,
        links=span.links,
        kind=span.kind,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _describe(call: TracedCall) -> Attributes:
    """What spans and metrics of a call have in common."""
    about: Attributes = {
        "gen_ai.operation.name": _operation(call),
        "gen_ai.provider.name": _provider(call),
        "server.address": call.address,
        "server.port": call.port,
    }
    if call.fault:
        about["error.type"] = call.fault
    elif call.status >= 400:
        about["error.type"] = str(call.status)
    else:
        about["gen_ai.request.model"] = call.model  # it exists: nobody makes up names to fill a collector
    return about


def _usage(call: TracedCall) -> Attributes:
    return {
        "gen_ai.conversation.id": call.session,
        "gen_ai.usage.input_tokens": call.prompt,
        "gen_ai.usage.output_tokens": call.output,
        "gen_ai.usage.cache_read.input_tokens": call.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": call.cache_write,
    }


def _operation(call: TracedCall) -> str:
    if call.format == "gemini":
        return "generate_content"
    return "chat"


def _provider(call: TracedCall) -> str:
    return _PROVIDERS.get(call.provider, call.provider)

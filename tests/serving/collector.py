"""A small OpenTelemetry collector: it takes OTLP over HTTP, and reads the protobuf."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """What came, as plain values."""

    def __init__(self) -> None:
        self.url = ""
        self.raw = b""
        self.spans: list[Any] = []
        self.metrics: dict[str, Any] = {}
        self.services: set[str] = set()
        self.headers: list[dict[str, str]] = []

    def take(self, path: str, body: bytes) -> None:
        self.raw += body
        if path == "/v1/traces":
            traces = ExportTraceServiceRequest.FromString(body)
            for resource in traces.resource_spans:
                self.services.add(attributes(resource.resource)["service.name"])
                for scope in resource.scope_spans:
                    self.spans += scope.spans
        else:
            assert path == "/v1/metrics"
            for group in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                for part in group.scope_metrics:
                    for metric in part.metrics:
                        self.metrics[metric.name] = metric

    def span(self, name: str) -> Any:
        """The only one of this name."""
        (found,) = [span for span in self.spans if span.name == name]
        return found

    def points(self, name: str) -> list[tuple[dict[str, Any], Any]]:
        """The values of a metric with their attributes."""
        metric = self.metrics[name]
        data = getattr(metric, metric.WhichOneof("data"))
        return [(attributes(point), point) for point in data.data_points]


def attributes(of: Any) -> dict[str, Any]:
    found = {}
    for pair in of.attributes:
        found[pair.key] = getattr(pair.value, pair.value.WhichOneof("value"))
    return found


@contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()

    class Taker(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            collector.headers.append(dict(self.headers.items()))
            collector.take(self.path, body)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Taker) as server:
        collector.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()

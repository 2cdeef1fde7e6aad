"""Run the application: where it listens, and who may reach it."""

from __future__ import annotations

import logging
import socket
import ssl
import sys
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from laconic.errors import BadSetting

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette

_SWITCH: Final = 0.0005  # seconds: while the engine thinks about one request, the streams of others go on


class Listen(msgspec.Struct, frozen=True):
    """An address, and what protects it."""

    host: str
    port: int
    token: str = ""
    certificate: str = ""
    key: str = ""
    insecure: bool = False  # plain HTTP on an address that others reach, on purpose

    @property
    def local(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False


def listen(address: str, token: str, certificate: str, key: str, *, insecure: bool) -> Listen:
    """An address that is safe to open; anything but loopback wants a token, and TLS or a clear word."""
    host, sign, port = address.rpartition(":")
    if not sign or not port.isdigit() or int(port) > 65535:
        raise BadSetting(f"{address!r} is no address to listen on.", "Write 127.0.0.1:8787.")
    where = Listen(host.strip("[]") or "127.0.0.1", int(port), token, certificate, key, insecure)
    if not where.local and not token:
        raise BadSetting(f"{address} can be reached by others.", "Set gateway.token, or listen on 127.0.0.1.")
    if not where.local and not certificate and not insecure:
        raise BadSetting(
            f"{address} would send keys in the clear.", "Set --certificate and --key, or say --insecure."
        )
    if certificate or key:
        _check_certificate(where)
    return where


def _check_certificate(where: Listen) -> None:
    """Files that cannot serve TLS are found before anything listens."""
    if not where.certificate:
        raise BadSetting("A key without its certificate.", "Name the certificate with --certificate.")
    for file in filter(None, (where.certificate, where.key)):
        if not Path(file).is_file():
            raise BadSetting(f"There is no file {file}.", "Name a certificate and its key as PEM files.")
    try:
        # An empty password makes a protected key an error; without one OpenSSL would ask at the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(where.certificate, where.key or None, lambda: "")
    except (ssl.SSLError, OSError) as error:
        raise BadSetting(
            f"{where.certificate} cannot be used for TLS: {getattr(error, 'reason', '') or error}.",
            "Name a certificate and the key that belongs to it, as PEM files, the key without a password.",
        ) from None


def bind(where: Listen) -> socket.socket:
    """Take the address; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in where.host else socket.AF_INET
    # The protocol is named because asyncio sends small pieces at once only on sockets that say they are TCP.
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((where.host, where.port))
    except OSError as error:
        opened.close()
        raise BadSetting(
            f"Cannot listen on {where.host}:{where.port}: {error.strerror}.", "Choose another port."
        ) from None
    opened.listen(1024)
    return opened


def server_for(app: Starlette, where: Listen) -> uvicorn.Server:
    """A server, not yet running."""
    import uvicorn  # costs start-up time; only the running gateway needs it

    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    sys.setswitchinterval(_SWITCH)
    config = uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=120,  # longer than clients keep idle connections: they close first
        timeout_graceful_shutdown=3,
        ssl_certfile=where.certificate or None,
        ssl_keyfile=where.key or None,
    )
    return uvicorn.Server(config)

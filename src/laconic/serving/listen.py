"""Where a listener is, and what protects it: loopback, or a token with TLS."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path

import msgspec

from laconic.errors import BadSetting
from laconic.local_addresses import is_loopback


class ListenAddress(msgspec.Struct, frozen=True):
    """An address, and what protects it."""

    host: str
    port: int
    token: str = ""
    certificate: str = ""
    key: str = ""
    insecure: bool = False  # plain HTTP on an address that others reach, on purpose

    @property
    def local(self) -> bool:
        """Whether only programs of this machine reach it."""
        return is_loopback(self.host)

    def url(self, opened: socket.socket) -> str:
        """How clients write the address, with the port that was taken."""
        scheme = "https" if self.certificate else "http"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}:{opened.getsockname()[1]}"


def listen(address: str, token: str, certificate: str, key: str, *, insecure: bool) -> ListenAddress:
    """An address that is safe to open; anything but loopback wants a token, and TLS or a clear word.

    `HOST:PORT`, `:PORT` and `PORT` are understood.
    """
    host, _, port = address.rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise BadSetting(f"{address!r} is not an address to listen on.", "Write 127.0.0.1:8787.")
    where = ListenAddress(
        host=host.strip("[]") or "127.0.0.1",
        port=int(port),
        token=token,
        certificate=certificate,
        key=key,
        insecure=insecure,
    )
    if not where.local and not token:
        raise BadSetting(
            f"{address} can be reached by others, so clients must send a token.",
            "Pass --token-file FILE or set gateway.token, or listen on 127.0.0.1.",
        )
    if not where.local and not certificate and not insecure:
        raise BadSetting(
            f"{address} would send tokens and keys in the clear.", "Pass --certificate and --key, or --insecure."
        )
    if certificate or key:
        _check_certificate(where)
    return where


def _check_certificate(where: ListenAddress) -> None:
    """Files that cannot serve TLS are found before anything listens."""
    if not where.certificate:
        raise BadSetting("There is a key, but no certificate.", "Name the certificate with --certificate.")
    for file in filter(None, (where.certificate, where.key)):
        if not Path(file).is_file():
            raise BadSetting(f"There is no file {file}.", "Name a certificate and its key as PEM files.")
    try:
        # An empty password makes a protected key an error; without one OpenSSL would ask at the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(where.certificate, where.key or None, lambda: "")
    except (ssl.SSLError, OSError) as error:
        raise BadSetting(
            f"{where.certificate} cannot be used for TLS: {getattr(error, 'reason', '') or error}.",
            "Name a certificate and its key as PEM files; the key must have no password.",
        ) from None


def bind(where: ListenAddress) -> socket.socket:
    """Take the address; port 0 takes a free one."""
    if ":" in where.host:
        family = socket.AF_INET6
    else:
        family = socket.AF_INET
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

"""Connections to providers: a reader that is slower than the provider loses nothing."""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer, ScriptedUpstream, streamed
from laconic.gateway.upstream_session import RelayedResponse, gather_bursts, open_session

_EVENTS = [b"data: %06d\n\n" % number for number in range(20_000)]


def _answer(request: ReceivedRequest) -> ScriptedAnswer:
    return streamed(_EVENTS)


async def _read_late() -> bytes:
    """The answer, not read before it is more than a connection holds at once."""
    async with (
        ScriptedUpstream(_answer) as upstream,
        open_session() as session,
        session.post(upstream.url + "/v1/messages", data=b"{}") as answer,
        asyncio.timeout(20),
    ):
        assert answer.connection is not None
        connection = answer.connection.protocol
        assert isinstance(connection, RelayedResponse)
        while not connection._reading_paused:
            await asyncio.sleep(0.01)
        return b"".join([piece async for piece in answer.content.iter_any()])


def test_a_late_reader_gets_everything() -> None:
    assert asyncio.run(_read_late()) == b"".join(_EVENTS)


async def _gather(slow: float) -> bytes:
    """An answer that comes at once, taken burst by burst."""
    async with (
        ScriptedUpstream(_answer) as upstream,
        open_session() as session,
        session.post(upstream.url + "/v1/messages", data=b"{}") as answer,
        asyncio.timeout(20),
    ):
        pieces: list[bytes] = []
        async for piece in gather_bursts(answer):
            pieces.append(piece)
            await asyncio.sleep(slow)
        return b"".join(pieces)


@pytest.mark.parametrize("slow", [0.0, 0.002])
def test_a_burst_is_gathered_and_nothing_of_it_is_lost(slow: float) -> None:
    assert asyncio.run(_gather(slow)) == b"".join(_EVENTS)


async def _rest() -> list[bool]:
    """Whether a connection reads: before a rest, during it, afterwards, and after one that was cut off."""
    async with (
        ScriptedUpstream(lambda request: streamed(_EVENTS[:3], pause=0.3)) as upstream,
        open_session() as session,
        session.post(upstream.url + "/v1/messages", data=b"{}") as answer,
        asyncio.timeout(20),
    ):
        assert answer.connection is not None
        connection, transport = answer.connection.protocol, answer.connection.transport
        assert isinstance(connection, RelayedResponse)
        assert isinstance(transport, asyncio.ReadTransport)
        found = [transport.is_reading()]
        for cut_off in (False, True):
            rest = asyncio.ensure_future(connection.rest(0.02))
            await asyncio.sleep(0)
            found.append(transport.is_reading())
            if cut_off:
                rest.cancel()
            await asyncio.wait({rest})
            found.append(transport.is_reading())
        return found


def test_a_connection_that_rests_reads_on_afterwards_also_when_the_client_leaves() -> None:
    assert asyncio.run(_rest()) == [True, False, True, False, True]


async def _remembered_ends() -> tuple[int, int]:
    """Bytes of a stream that was read, and how many ends of chunks are remembered of it."""
    async with (
        ScriptedUpstream(_answer) as upstream,
        open_session() as session,
        session.post(upstream.url + "/v1/messages", data=b"{}") as answer,
        asyncio.timeout(20),
    ):
        body = answer.content
        async for _ in gather_bursts(answer):
            pass
        return body.total_bytes, len(body._http_chunk_splits or ())


def test_the_ends_of_chunks_are_not_remembered_while_a_stream_passes() -> None:
    size, ends = asyncio.run(_remembered_ends())
    assert size == sum(map(len, _EVENTS))
    assert ends < len(_EVENTS) / 2


def _write_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for this machine that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "company")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(days=1), now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / "certificate.pem", folder / "key.pem"
    files[0].write_bytes(certificate.public_bytes(Encoding.PEM))
    files[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return files


async def _get_by_tls(certificate: Path, key: Path, trusted: list[str]) -> bytes:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi")
        await writer.drain()
        writer.close()

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    server = await asyncio.start_server(answer, "localhost", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    async with server, open_session(trusted) as session, session.get(f"https://localhost:{port}") as found:
        return await found.read()


def test_authorities_that_the_client_trusts_are_trusted_beside_the_system_s(tmp_path: Path) -> None:
    certificate, key = _write_certificate(tmp_path)
    assert asyncio.run(_get_by_tls(certificate, key, ["/nowhere.pem", str(certificate)])) == b"hi"
    with pytest.raises(aiohttp.ClientConnectorCertificateError):
        asyncio.run(_get_by_tls(certificate, key, []))

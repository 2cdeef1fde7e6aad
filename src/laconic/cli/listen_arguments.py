"""Arguments shared by the commands that listen: address, certificate and token."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from laconic.config import Settings
from laconic.errors import UsageError

if TYPE_CHECKING:
    from laconic.serving.listen import ListenAddress

# What serves is imported inside functions: most commands never need an HTTP server.


class _RefuseToken(argparse.Action):
    """A value on the command line is in the process list, where every user of the machine reads it."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        raise UsageError(
            "A token on the command line can be read by every user of this machine.",
            "Write it to a file and pass --token-file FILE, or set LACONIC_GATEWAY_TOKEN or gateway.token.",
        )


def add_listen_arguments(parser: argparse.ArgumentParser) -> None:
    """All but the address, which each command names in its own way."""
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="file with the token that clients must send")
    parser.add_argument("--token", nargs="?", action=_RefuseToken, help=argparse.SUPPRESS)
    add_tls_arguments(parser)


def add_tls_arguments(parser: argparse.ArgumentParser) -> None:
    """For a listener with keys instead of a token."""
    parser.add_argument("--certificate", default="", metavar="FILE", help="certificate for TLS")
    parser.add_argument("--key", default="", metavar="FILE", help="key of the certificate")
    parser.add_argument(
        "--insecure", action="store_true", help="allow plain HTTP on an address that others can reach"
    )


def listen_as_asked(args: argparse.Namespace, settings: Settings, address: str) -> ListenAddress:
    """The address with what protects it; its token is empty unless the user chose one."""
    from laconic.serving.access_tokens import read_token
    from laconic.serving.listen import listen

    if args.token_file:
        token = read_token(args.token_file)
    else:
        token = settings.text("gateway.token")
    return listen(address, token, args.certificate, args.key, insecure=args.insecure)

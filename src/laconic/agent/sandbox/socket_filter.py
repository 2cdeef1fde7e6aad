"""A filter for the kernel (seccomp) that lets a program open only some kinds of sockets, and no keyring.

Namespaces and Landlock leave ways out: a virtual machine's own sockets, the sockets of other programs in the file system
or without a name, rings of requests that no filter sees, the keys that the kernel keeps for the whole session, and
programs left in the folder that give whoever starts them the rights of their owner or group.
"""

import stat
import struct
from collections.abc import Iterator
from typing import Final

# The audit number, the number of socket(), and those of add_key(), request_key() and keyctl().
_ARCHITECTURES: Final = {
    "x86_64": (0xC000003E, 41, (248, 249, 250)),
    "aarch64": (0xC00000B7, 198, (217, 218, 219)),
}
# The numbers of chmod(), fchmod(), fchmodat() and fchmodat2(), each with the argument that is the mode.
_MODES: Final = {
    "x86_64": ((90, 1), (91, 1), (268, 2), (452, 2)),
    "aarch64": ((52, 1), (53, 2), (452, 2)),
}
_OWNERS_RIGHTS: Final = stat.S_ISUID | stat.S_ISGID
_URING_SETUP: Final = 425
_X32: Final = 0x40000000
_LOAD, _EQUAL, _AT_LEAST, _HAS_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_FIRST_ARGUMENT: Final = 16
_ARGUMENT: Final = 8  # bytes
_ALLOW: Final = 0x7FFF0000
_REFUSE: Final = 0x00050000 | 13  # EACCES
UNIX, INET, INET6, NETLINK = 1, 2, 10, 16


def socket_filter(machine: str, families: tuple[int, ...]) -> bytes | None:
    """The filter as bytes; None for a processor that we do not know."""
    if machine not in _ARCHITECTURES:
        return None
    audit, socket, keys = _ARCHITECTURES[machine]
    allowed = []
    for at, family in enumerate(families):
        allowed.append((_EQUAL, len(families) - at, 0, family))
    refused = []
    for at, number in enumerate(keys):
        refused.append((_EQUAL, len(keys) - at, 0, number))
    body = [
        (_LOAD, 0, 0, 4),  # the architecture
        (_EQUAL, 1, 0, audit),
        (_RETURN, 0, 0, _REFUSE),
        (_LOAD, 0, 0, 0),  # the number of the call
        (_AT_LEAST, len(refused) + 1, 0, _X32),
        *refused,
        (_EQUAL, 0, 1, _URING_SETUP),
        (_RETURN, 0, 0, _REFUSE),
        *_refuse_rights(machine),
        (_EQUAL, 1, 0, socket),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),  # the family
        *allowed,
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *line) for line in body)


def _refuse_rights(machine: str) -> Iterator[tuple[int, int, int, int]]:
    """Lines that refuse modes with which a program runs as its owner or group."""
    for number, argument in _MODES[machine]:
        yield (_EQUAL, 0, 4, number)
        yield (_LOAD, 0, 0, _FIRST_ARGUMENT + argument * _ARGUMENT)
        yield (_HAS_BITS, 0, 1, _OWNERS_RIGHTS)
        yield (_RETURN, 0, 0, _REFUSE)
        yield (_RETURN, 0, 0, _ALLOW)

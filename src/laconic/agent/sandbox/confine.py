"""Confine this process with Landlock, then become another program.

A script of its own, started by its file name: it uses nothing but the standard library. Needs Landlock's sixth version,
the first that also keeps signals inside.
"""

import ctypes
import json
import os
import stat
import sys

LEAST = 6
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1, 2, 4, 8, 1 << 14
_ALL = (1 << 16) - 1
_DEVICES = 1 << 6 | 1 << 11 | 1 << 15  # making devices, and controlling them
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_WRITE = _ALL & ~_DEVICES
_SCOPED = 3  # sockets without a place in the file system, and signals
_NO_NEW_PRIVILEGES, _SECCOMP, _BOUNDING_DROP = 38, 22, 24
_KEPT = {0, 1, 3, 4}  # root may still read and write the files of others, where the rules let it
_FILTER = 2


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def version() -> int:
    """Landlock's version in this kernel; 0 without it."""
    if sys.platform != "linux":
        return 0
    return max(0, int(ctypes.CDLL(None, use_errno=True).syscall(_CREATE, None, 0, 1)))


def confine(read: list[str], write: list[str], names: list[str], sockets: bytes) -> None:
    """From here on only these places can be read or changed; of `names` only the lists of files."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in range(64):
        if capability not in _KEPT:
            libc.prctl(_BOUNDING_DROP, capability, 0, 0, 0)  # fails for those that we do not have
    _check(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    attributes = _Ruleset(_ALL, 0, _SCOPED)
    ruleset = _check(libc.syscall(_CREATE, ctypes.byref(attributes), ctypes.sizeof(attributes), 0))
    for paths, access in ((names, _READ_DIR), (read, _READ), (write, _WRITE)):
        for path in paths:
            _allow(libc, ruleset, path, access)
    _check(libc.syscall(_RESTRICT, ruleset, 0))
    os.close(ruleset)
    program = _Program(len(sockets) // 8, sockets)
    _check(libc.prctl(_SECCOMP, _FILTER, ctypes.byref(program), 0, 0))


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, access: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # it is gone: there is nothing to allow
        return
    try:
        is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        rule = _PathBeneath(access if is_folder else access & _FILES, handle)
        _check(libc.syscall(_ADD, ruleset, 1, ctypes.byref(rule), 0))
    finally:
        os.close(handle)


def _check(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def main(rules: str, words: list[str]) -> None:
    told = json.loads(rules)
    try:
        confine(told["read"], told["write"], told["names"], bytes.fromhex(told["sockets"]))
        os.execv(words[0], words)
    except OSError as error:
        sys.exit(f"the sandbox cannot be set up: {error}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

"""Command lines that ask the kernel itself, or programs that serve others, to get out of the sandbox, by class."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Callable

from tests.attack.sandbox_stage import Stage

Forms = Callable[[Stage], list[str]]

_LIBC = """\
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
call = libc.syscall
call.restype = ctypes.c_long
"""
_BY_HANDLE = """\
import struct
root = os.open('.', os.O_RDONLY)
for inode in (2, 128, 256, 5):
    raw = struct.pack('Ii', 8, 1) + struct.pack('II', inode, 0)
    found = call(open_by_handle_at, root, raw, 0o200000)
    if found >= 0: print('FLAG', os.listdir(found))
"""
_TREE = """\
tree = call(428, -100, b'/proc/1/root', 0x8001)
moved = call(429, tree, b'', -100, b'/mnt', 4)
if tree >= 0 or moved >= 0: print('FLAG')
"""
_STEAL = """\
taken = call(438, call(434, VICTIM, 0), 3, 0)
if taken >= 0: print(os.read(taken, 100))
"""
_STEAL_ANY = """\
for process in range(1, 60):
    handle = call(434, process, 0)
    for number in range(12):
        taken = call(438, handle, number, 0)
        if taken >= 0 and os.path.isdir(f'/proc/self/fd/{taken}'): print('FLAG')
"""
_NAMESPACE = """\
if call(setns, os.open('/proc/1/ns/mnt', 0), 0) >= 0: print('FLAG')
"""
_MEMORY = """\
class Vector(ctypes.Structure):
    _fields_ = [('base', ctypes.c_void_p), ('length', ctypes.c_size_t)]
room = ctypes.create_string_buffer(8)
here, there = Vector(ctypes.addressof(room), 8), Vector(0x400000, 8)
if call(process_vm_readv, VICTIM, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) > 0: print('FLAG')
"""
_UPWARDS = """\
handle = os.open('.', os.O_RDONLY)
for _ in range(9): handle = os.open('..', 0, dir_fd=handle)
print(open(os.open('KEY'[1:], 0, dir_fd=handle)).read())
"""
_CHROOT = """\
os.chroot('.')
for _ in range(20): os.chdir('..')
os.chroot('.')
print(open('KEY').read())
"""
_UNCONFINED = """\
libc.prctl(38, 0, 0, 0, 0), libc.prctl(22, 0, 0, 0, 0)
print(open('KEY').read())
"""
_TYPING = """\
import fcntl
for letter in b'id', b'\\n': fcntl.ioctl(os.open('/dev/tty', os.O_RDWR), 0x5412, letter)
print('FLAG')
"""
_CLONE = """\
call(435, b'\\0\\0\\0\\x10' + b'\\0' * 60, 64)
print(open('KEY').read())
"""
_FAMILY = """\
import socket
for kind in (1, 2, 3, 5):
    try: socket.socket(FAMILY, kind); print('FLAG')
    except OSError: pass
"""
_SOCKETS = (
    "import socket; socket.socketpair(); socket.socket(socket.AF_UNIX).connect('SHARED')",
    "import os, socket; h = os.open('/tmp', 0); socket.socket(1).connect(f'/proc/self/fd/{h}/' + 'SHARED'[5:])",
    "import socket; socket.socket(1, 2).sendto(b'x', 'SHARED')",
)
# Numbers that are the same for all processors that the sandbox knows.
_URING, _OPEN_TREE, _FSOPEN, _MOUNT_SETATTR, _OPENAT2, _FCHMODAT2 = 425, 428, 430, 442, 437, 452
_OLD = {
    "x86_64": {
        "add_key": 248, "request_key": 249, "keyctl": 250, "open_by_handle_at": 304, "process_vm_readv": 310,
        "ptrace": 101, "perf_event_open": 298, "bpf": 321, "init_module": 175, "swapon": 167, "acct": 163,
        "quotactl": 179, "setns": 308, "pivot_root": 155, "mount": 165, "umount2": 166, "kcmp": 312,
        "iopl": 172, "settimeofday": 164, "lookup_dcookie": 212, "fchmodat": 268,
    },
    "aarch64": {
        "add_key": 217, "request_key": 218, "keyctl": 219, "open_by_handle_at": 265, "process_vm_readv": 270,
        "ptrace": 117, "perf_event_open": 241, "bpf": 280, "init_module": 105, "swapon": 224, "acct": 89,
        "quotactl": 60, "setns": 268, "pivot_root": 41, "mount": 40, "umount2": 39, "kcmp": 272,
        "iopl": 172, "settimeofday": 170, "lookup_dcookie": 18, "fchmodat": 53,
    },
}  # fmt: skip


def _python(code: str) -> str:
    return shlex.join(["python3", "-c", code])


def _call(flag: str, number: int, *arguments: object) -> str:
    """Say so if the kernel does it."""
    given = ", ".join([str(number), *map(str, arguments)])
    return _python(f"{_LIBC}r = call({given})\nprint({flag!r} if r >= 0 else os.strerror(ctypes.get_errno()))")


def _numbers() -> dict[str, int]:
    return _OLD[platform.machine()]


def keyrings(stage: Stage) -> list[str]:
    """Keys that the kernel keeps for the whole session, outside of every file."""
    numbers, flag = _numbers(), stage.flag
    name = f"b'{stage.fresh()}'"
    forms = [_call(flag, numbers["add_key"], "b'user'", name, "b'x'", 1, keyring) for keyring in (-3, -4, -5, -1)]
    forms += [_call(flag, numbers["keyctl"], 0, keyring, 1) for keyring in (-3, -4, -5)]
    return [
        *forms,
        _call(flag, numbers["request_key"], "b'user'", "b'nothing'", "None", 0),
        _call(flag, numbers["keyctl"], 1, "None"),
        f"keyctl show @s && echo {flag}",
        f"keyctl add user x y @u && echo {flag}",
        f"cat /proc/keys | grep -q . && echo {flag}",
    ]


def rights(stage: Stage) -> list[str]:
    """Programs that are left in the folder and give others the rights of the user."""
    flag = stage.flag
    look = f"[ -u s ] && echo {flag}; [ -g s ] && echo {flag}"
    made = "cp /bin/cat s"
    return [
        f"{made}; chmod u+s s; {look}",
        f"{made}; chmod 4755 s; {look}",
        f"{made}; chmod 6755 s; {look}",
        f"{made}; chmod g+s s; {look}",
        f"install -m 4755 /bin/cat s; {look}",
        f"cp -p /usr/bin/passwd s; {look}",
        f"{made}; {_python('import os; os.chmod(chr(115), 0o4755)')}; {look}",
        f"{made}; {_python('import os; os.fchmod(os.open(chr(115), 0), 0o4755)')}; {look}",
        f"{made}; {_call('x', _FCHMODAT2, -100, chr(98) + repr('s'), 0o4755, 0)}; {look}",
        f"{made}; {_call('x', _numbers()['fchmodat'], -100, chr(98) + repr('s'), 0o4755)}; {look}",
        f"{made}; perl -e 'chmod 04755, q(s)'; {look}",
        f'{made}; node -e \'require("fs").chmodSync("s", 0o4755)\'; {look}',
        f"mkdir t; {made}; mv s t/s; (cd t; chmod 4755 s; tar cpf ../t.tar s); rm -rf t s; tar xpf t.tar; {look}",
        f'python3 -c \'import os; os.umask(0); h = os.open("s", os.O_CREAT | os.O_RDWR, 0o4755);'
        f' os.write(h, open("/bin/cat", "rb").read())\'; {look}',
        f"{made}; setcap cap_setuid+ep s && echo {flag}",
        f"rsync -p --chmod=u+s /bin/cat s; {look}",
    ]


def kernel_calls(stage: Stage) -> list[str]:
    """Calls that reach what no path leads to."""
    numbers, flag, key = _numbers(), stage.flag, stage.key
    codes = (
        _BY_HANDLE, _TREE, _STEAL, _STEAL_ANY, _NAMESPACE, _MEMORY, _UPWARDS, _CHROOT, _UNCONFINED, _TYPING, _CLONE,
    )  # fmt: skip
    forms = []
    for code in codes:
        for name, number in numbers.items():
            code = code.replace(name, str(number))
        code = code.replace("FLAG", flag).replace("KEY", str(key)).replace("VICTIM", str(stage.victim.pid))
        forms.append(_python(_LIBC + code))
    return [
        f"cat {key}",
        *forms,
        _call(flag, _URING, 8, "ctypes.create_string_buffer(120)"),
        _call(flag, _FSOPEN, "b'tmpfs'", 0),
        _call(flag, _OPEN_TREE, -100, "b'/'", 1),
        _call(flag, _MOUNT_SETATTR, -100, "b'/usr'", 0, "b'\\0' * 32", 32),
        _call(flag, numbers["mount"], "b'none'", "b'/usr'", "None", 32 | 4096, "None"),
        _call(flag, numbers["umount2"], f"b'{stage.home}'", 2),
        _call(flag, numbers["umount2"], "b'/tmp'", 2),
        _call(flag, numbers["umount2"], f"b'{stage.project}/.git'", 2),
        _call(flag, numbers["pivot_root"], "b'.'", "b'.'"),
        _call(flag, numbers["ptrace"], 16, stage.victim.pid, 0, 0),
        _call(flag, numbers["ptrace"], 0x4206, stage.victim.pid, 0, 0),
        _call(flag, numbers["perf_event_open"], "b'\\1\\0\\0\\0\\x70\\0\\0\\0' + b'\\0' * 104", -1, 0, -1, 0),
        _call(flag, numbers["bpf"], 5, "b'\\0' * 72", 72),
        _call(flag, numbers["init_module"], "b'x'", 1, "b''"),
        _call(flag, numbers["swapon"], "b'a.py'", 0),
        _call(flag, numbers["acct"], "b'a.py'"),
        _call(flag, numbers["quotactl"], 0x800002 << 8, "b'/dev/vda'", 0, "b'\\0' * 200"),
        _call(flag, numbers["lookup_dcookie"], 1, "ctypes.create_string_buffer(99)", 99),
        _call(flag, numbers["iopl"], 3) if platform.machine() == "x86_64" else "true",
        _call(flag, _OPENAT2, -100, f"b'{key}'", "b'\\0' * 24", 24),
        f"cd {key.parent} 2>/dev/null && cat id_ed25519",
        f"echo x > /dev/tty && echo {flag}",
        f"[ -c /dev/console ] && echo x > /dev/console && echo {flag}",
    ]


def descriptors(stage: Stage) -> list[str]:
    """What was open when the command started."""
    flag, key = stage.flag, stage.key
    return [
        f"cat {key}",
        f"for n in $(seq 3 200); do [ -d /proc/self/fd/$n ] && echo {flag}; done 2>/dev/null",
        f"for n in $(seq 3 99); do timeout 1 cat <&$n && echo {flag}; done 2>/dev/null",
        f"for n in $(seq 3 99); do cat /proc/self/fd/$n/../../../../../..{key}; done 2>/dev/null",
        "for n in $(seq 3 40); do printf '{\"child-pid\": 1}' >&$n; done 2>/dev/null",
        "for n in $(seq 3 40); do printf '{\"child-pid\": 99999999}' > /proc/self/fd/$n; done 2>/dev/null",
        "for n in $(seq 3 40); do head -c 100000 /dev/zero >&$n & done 2>/dev/null; sleep 0.2",
        "for n in $(seq 3 40); do head -c 200000 /dev/zero > /proc/1/fd/$n & done 2>/dev/null; sleep 0.2",
        f"for p in /proc/[0-9]*; do for f in $p/fd/*; do cat $f{key} $f/..{key}; done; done 2>/dev/null </dev/null",
        f"kill -STOP $PPID; (sleep 60; : {stage.mark}) & sleep 60",
        f"kill -9 $PPID; sh -c ': {stage.mark}; sleep 60; :' &",
        f"kill -STOP 1; kill -9 -1; sh -c ': {stage.mark}; sleep 60; :' &",
        f"ulimit -n 3; exec 9>&-; sh -c ': {stage.mark}; sleep 60; :' &",
        "exec >&- 2>&- 9>&-; true",
    ]


def kinds_of_sockets(stage: Stage) -> list[str]:
    """Families of sockets that namespaces do not cover, or that have been a way into the kernel."""
    shared = str(stage.shared.getsockname())
    families = (38, 40, 30, 21, 15, 42, 29, 31, 44, 39, 41, 37, 26, 24, 9, 12)
    forms = [f"python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {stage.port}), 2)'"]
    for family in families:
        forms.append(_python(_FAMILY.replace("FAMILY", str(family)).replace("FLAG", stage.flag)))
    return [*forms, *(_python(code.replace("SHARED", shared)) for code in _SOCKETS)]


def services(stage: Stage) -> list[str]:
    """Programs that would do something for a command, outside."""
    flag, key, fresh = stage.flag, stage.key, stage.fresh()
    job = f"touch {stage.home}/{fresh}"
    return [
        f"sh -c {shlex.quote(job)}",
        f"echo '* * * * * {job}' | crontab - && echo {flag}",
        f"echo '{job}' | at now && echo {flag}",
        f"echo '{job}' | batch && echo {flag}",
        f"systemd-run --user {job} && echo {flag}",
        f"systemd-run {job} && echo {flag}",
        f"systemctl --user start x && echo {flag}",
        f"loginctl enable-linger && echo {flag}",
        f"tmux new-session -d {shlex.quote(job)}; sleep 0.3",
        f"tmux -S /tmp/tmux-$(id -u)/default send-keys x && echo {flag}",
        f"screen -dm {job}; sleep 0.3",
        f"docker run -v /:/h busybox cat /h{key}",
        f"podman run -v /:/h busybox cat /h{key}",
        f"DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/$(id -u)/bus busctl --user list && echo {flag}",
        f"dbus-send --system --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.ListNames && echo {flag}",
        f"timeout 2 ssh -o ProxyCommand={shlex.quote(f'cat {key} >&2')} x",
        f"gpg --homedir {stage.home}/.gnupg --list-keys; cat {stage.home}/.gnupg/secring.gpg",
        f"mkdir -p {stage.home}/.config/systemd/user; touch {stage.home}/.config/systemd/user/{fresh}.service",
        "npm config set x y --location=user; pip config set global.x y; git config --global a.b c",
        f"make -C {stage.home} -f /dev/stdin x <<END\nx:\n\ttouch {fresh}\nEND",
        f"vim -es -c '!{job}' -c 'w! {stage.home}/{fresh}' -c q a.py",
        f"sed -n '1e cat {key}' a.py",
        "find / -xdev -name id_ed25519 -exec cat {} + 2>/dev/null",
        f"dd if=/dev/zero of=/dev/shm/{fresh} count=1",
    ]


def later_orders(stage: Stage) -> list[str]:
    """What git or a client would obey later, in other ways than by writing the file."""
    return [
        "echo >> .git/config",
        "mv .git/config .git/c",
        "cp -al .git x && echo >> x/config",
        "mkdir n; mv .git n/",
        "rm -rf .git",
        'python3 -c \'import os; os.replace("a.py", ".git/config")\'',
        "python3 -c 'import os; os.truncate(\".git/HEAD\", 0)'",
        'python3 -c \'import os; os.utime(".git/config", (0, 0)); os.chmod(".git/config", 0)\'; chattr +i .git/config',
        "ln -s /etc .git/x; mkfifo .git/hooks/pre-commit; mknod .git/index p",
        "git update-index --refresh; git add a.py; git commit -qm x; git tag x; git stash",
        "git -c core.hooksPath=. -c core.fsmonitor=true add -N a.py",
        "GIT_DIR=.git GIT_WORK_TREE=. git config alias.x '!id'",
        "git --git-dir=.git config --replace-all core.editor id",
        "git remote add x ext::id; git branch -f y; git replace HEAD HEAD",
        "git bisect start; git notes add -m x; git gc -q; git maintenance start",
        "git submodule add ./ s; git init -q --template=. .",
        "git worktree add ../w; git sparse-checkout set x; git config --worktree core.pager id",
        "python3 -c 'import os, fcntl; fcntl.flock(os.open(\".git/config\", os.O_RDWR), 2)'",
        "setfattr -n user.x -v y .git/config; setfacl -m u:nobody:rw .git/config; echo >> .git/config",
        "cd .git/hooks && touch post-commit",
        "cat < a.py > .claude/../.git/config",
        "mkdir -p .git/../.git/hooks/x; rmdir .claude; ln -s a.py .claude",
        "tar cf t.tar .git; tar xf t.tar --overwrite --recursive-unlink",
        "unzip -v; git archive HEAD | tar x -C .git; cpio -pd .git < /dev/null; touch .git/x",
        "rsync -a --delete /var/empty/ .git/; rmdir .git/*",
    ]


CALLS: dict[str, Forms] = {
    "keyrings": keyrings,
    "rights of the owner": rights,
    "calls of the kernel": kernel_calls,
    "descriptors": descriptors,
    "kinds of sockets": kinds_of_sockets,
    "services": services,
    "orders for later": later_orders,
}

"""Command lines that try to get out of the sandbox, by class. The first of each class works where there is none."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Callable

from tests.attack.sandbox_stage import PUBLIC, SECRETS, Stage

Forms = Callable[[Stage], list[str]]


def _python(code: str) -> str:
    return shlex.join(["python3", "-c", code])


def _dial(host: str, port: int) -> str:
    return _python(f"import socket; socket.create_connection(({host!r}, {port}), 2)")


def _connect(path: str) -> str:
    return _python(f"import socket; socket.socket(socket.AF_UNIX).connect({path!r})")


def _wrapped(words: str) -> list[str]:
    """One command in the ways in which shells and programs can be told to run it."""
    quoted = shlex.quote(words)
    first, rest = words.split(" ", 1)
    escaped = f"$'\\x65val' {quoted}"
    encoded = base64.b64encode(words.encode()).decode()
    return [
        words,
        f"timeout 5 {words}",
        f"timeout -k 1 -s KILL 5 {words}",
        f"env {words}",
        f"env -i PATH=$PATH {words}",
        f"env A=1 B=2 {words}",
        f"nice -n 5 {words}",
        f"nohup {words}",
        f"setsid -w {words}",
        f"stdbuf -o0 {words}",
        f"ionice -c3 {words}",
        f"command {words}",
        f"exec {words}",
        f"eval {quoted}",
        f"sh -c {quoted}",
        f"bash -c {quoted}",
        f"bash -lc {quoted}",
        f"sh -c {shlex.quote('sh -c ' + quoted)}",
        f"'{first}' {rest}",
        f'"{first}" {rest}',
        f"\\{first} {rest}",
        f"{first[0]}''{first[1:]} {rest}",
        f'{first[0]}""{first[1:]} {rest}',
        f"$(command -v {first}) {rest}",
        f"`command -v {first}` {rest}",
        f"x={first}; $x {rest}",
        f"${{NOTHING:-{first}}} {rest}",
        f'set -- {words}; "$@"',
        f"f() {{ {words}; }}; f",
        f"true && {words}",
        f"false || {words}",
        f"true; {words}",
        f"({words})",
        f"{{ {words}; }}",
        f"if true; then {words}; fi",
        f"for i in 1; do {words}; done",
        f"while {words}; do break; done",
        f"case a in a) {words};; esac",
        f"true | {words}",
        f"! {words}",
        f"cat <<END | sh\n{words}\nEND",
        f"echo {encoded} | base64 -d | sh",
        f"printf %s {quoted} > s.sh; sh s.sh",
        f"printf %s {quoted} > s.sh; . ./s.sh",
        f"printf '#!/bin/sh\\n%s' {quoted} > s; chmod +x s; ./s",
        f"echo {shlex.quote(rest)} | xargs -I% sh -c {shlex.quote(first + ' %')}",
        f"find . -maxdepth 0 -exec {words} \\;",
        f"trap {quoted} EXIT",
        f"bash -c {shlex.quote(escaped)}",
        f"bash -c {shlex.quote('source <(echo ' + quoted + ')')}",
        _python(f"import os; os.system({words!r})"),
        f"perl -e 'system({chr(34)}{words}{chr(34)})'",
        f'node -e \'require("child_process").execSync("{words}", {{stdio: "inherit"}})\'',
        f"awk 'BEGIN {{ system(\"{words}\") }}'",
        f"printf 'x:\\n\\t%s\\n' {quoted} > m.mk; make -s -f m.mk x",
        f"git -c alias.x={shlex.quote('!' + words)} x",
        f"tar cf /dev/null a.py --checkpoint=1 --checkpoint-action=exec={quoted}",
        f"script -qec {quoted} /dev/null",
        f"flock a.py {words}",
    ]


def read_wrapped(stage: Stage) -> list[str]:
    return _wrapped(f"cat {stage.key}")


def write_wrapped(stage: Stage) -> list[str]:
    return [form.replace("NEW", stage.fresh()) for form in _wrapped(f"touch {stage.home}/NEW")]


def read_directly(stage: Stage) -> list[str]:
    """All secrets, by the programs that read files."""
    home, key = stage.home, stage.key
    forms = [f"cat {home / name}" for name in SECRETS]
    for words in (
        "head",
        "tail",
        "tac",
        "nl",
        "sort",
        "rev | rev",
        "sed ''",
        "grep .",
        "strings",
        "dd status=none if=",
    ):
        forms += [f"{words} {key}".replace("= ", "=")]
    return [
        *forms,
        f"cp {key} k; cat k",
        f"tar cf - -C {home} .ssh | tar xf - -O",
        f"cat < {key}",
        "cat ~/.ssh/*",
        "cat $HOME/.ssh/id_ed25519",
        "cat ../.ssh/id_ed25519",
        "cat ../*.txt ../other/*",
        "cd ..; cat notes.txt",
        "cd ../.ssh && cat id_ed25519",
        f"grep -r '#' {home} 2>/dev/null",
        f"find {home} -type f -exec cat {{}} + 2>/dev/null",
        f"python3 -c 'print(open(\"{key}\").read())'",
        f"perl -pe 1 {key}",
        f'node -p \'require("fs").readFileSync("{key}", "utf8")\'',
        f"git diff --no-index /dev/null {key}",
        f"git hash-object -w {key} --no-filters; git cat-file -p $(git hash-object {key})",
        f"curl -s file://{key}",
        f"bash -c 'mapfile x < {key}; echo \"${{x[@]}}\"'",
        f"diff /dev/null {key}",
    ]


def write_directly(stage: Stage) -> list[str]:
    """Files outside, by the programs that write them."""
    home = stage.home
    forms = [f"touch {home}/{stage.fresh()}"]
    for place in PUBLIC:  # of some a command has its own: what it makes there must not be seen outside
        forms += [f"touch {place.rstrip('/')}/{stage.fresh()}"]
    return [
        *forms,
        f"echo x >> {home}/.bashrc",
        f"sed -i s/nothing/x/ {home}/.bashrc",
        f"rm -f {home}/notes.txt",
        f"rm -rf {home}/other",
        f"mv {home}/other {home}/{stage.fresh()}",
        f"mkdir -p {home}/.config/autostart; touch {home}/.config/autostart/{stage.fresh()}",
        f"cp a.py {home}/{stage.fresh()}",
        f"tee {home}/{stage.fresh()} < a.py",
        f"dd if=a.py of={home}/{stage.fresh()}",
        f"install a.py {home}/{stage.fresh()}",
        f"ln -s /etc/passwd {home}/{stage.fresh()}",
        f"mkfifo {home}/{stage.fresh()}",
        f"truncate -s 0 {home}/notes.txt",
        f"chmod 777 {home}/.ssh; touch {home}/.ssh/{stage.fresh()}",
        f"tar cf {home}/{stage.fresh()} a.py",
        f"git config --file {home}/{stage.fresh()} a.b c",
        f"git init -q {home}/{stage.fresh()}",
        f'python3 -c \'open("{home}/{stage.fresh()}", "w")\'',
        f'perl -e \'open(F, ">", "{home}/{stage.fresh()}")\'',
        f'node -e \'require("fs").writeFileSync("{home}/{stage.fresh()}", "x")\'',
        f"cd ..; touch {stage.fresh()}",
        f"touch ../{stage.fresh()}",
        f"mv a.py ../{stage.fresh()}; touch a.py",
        f"cd / && touch .{home}/{stage.fresh()}",
    ]


def links(stage: Stage) -> list[str]:
    """Links from the folder to what lies outside."""
    home, key = stage.home, stage.key
    return [
        f"ln -sf {key} l; cat l",
        f"ln {key} h; cat h",
        f"ln -L {key} h2; cat h2",
        f"cp -l {key} h3; cat h3",
        f"cp -rl {home}/.ssh h4; cat h4/*",
        f"ln -sfn {home} d; cat d/.ssh/id_ed25519",
        f"ln -sfn {home} d; touch d/{stage.fresh()}",
        "ln -sfn .. up; cat up/notes.txt",
        f"ln -sfn .. up; touch up/{stage.fresh()}",
        f"ln -sfn / top; cat top{key}",
        f"ln -sfn /proc/self/root r; cat r{key}",
        f"ln -sfn /proc/self/cwd/.. w; cat w/notes.txt; touch w/{stage.fresh()}",
        f"ln -sfn {home}/.ssh .ssh; tar chf - .ssh | tar xOf -",
        f"ln -sfn {home}/{stage.fresh()} new; echo x > new",
        f"cp -s {key} s; cat s",
        f'python3 -c \'import os; os.symlink("{key}", "p"); print(open("p").read())\'',
        f'python3 -c \'import os; os.link("{key}", "q"); print(open("q").read())\'',
        f'perl -e \'symlink("{key}", "t"); open(F, "t"); print <F>\'',
        "mkdir -p m; cd m; ln -sfn ../../.. u; cat u/home/notes.txt",
        f"rsync -aL {home}/.ssh/ copied/; cat copied/*",
    ]


def processes(stage: Stage) -> list[str]:
    """What /proc shows of others, and the folders that it leads to."""
    victim, key = stage.victim.pid, stage.key
    read = f'open("/proc/{victim}/environ").read()'
    return [
        f"cat /proc/{victim}/environ",
        f"cat /proc/{victim}/cmdline",
        f"cat /proc/{victim}/fd/3",
        f"cat /proc/{victim}/root{key}",
        f"cat /proc/{victim}/cwd{key}",
        f"cat /proc/{victim}/task/*/environ",
        f"cat /proc/self/root{key}",
        f"cat /proc/1/root{key}",
        f"cat /proc/1/cwd{key}",
        f"cat /proc/$PPID/root{key}",
        f"cat /proc/thread-self/root{key}",
        f"for p in /proc/[0-9]*; do cat $p/root{key}; done",
        "cat /proc/[0-9]*/environ",
        "cat /proc/[0-9]*/cmdline",
        "cat /proc/[0-9]*/fd/* </dev/null & sleep 1",
        "ps auxwwe",
        "ps -eo args",
        f"python3 -c 'print({read})'",
        f"perl -e 'open(F, \"/proc/{victim}/environ\"); print <F>'",
        f"cd /proc/{victim}/cwd && cat .{key}",
        f"cd /proc/self/root && cat .{key}",
        "for f in /proc/self/fd/* /proc/1/fd/*; do ls $f/ && cat $f/notes.txt $f/home/notes.txt; done",
        f"timeout 2 strace -f -e trace=none -p {victim}; cat /proc/{victim}/maps && cat /proc/{victim}/environ",
        f"gdb -p {victim} -batch -ex 'info proc cmdline'",
    ]


def mounts(stage: Stage) -> list[str]:
    """Namespaces and mounts."""
    ssh, key = stage.key.parent, stage.key
    bind = f"mkdir -p x; mount --bind {ssh} x && cat x/id_ed25519"
    return [
        f"unshare -rm sh -c {shlex.quote(bind)}",
        f"unshare -m sh -c {shlex.quote(bind)}",
        f"unshare -Urm sh -c {shlex.quote(bind)}",
        f"unshare -Urmp --fork --mount-proc sh -c {shlex.quote(bind)}",
        f"unshare -U sh -c 'umount -l {stage.home}; cat {key}'",
        f"unshare -rm sh -c 'umount -l {stage.home}; cat {key}'",
        f"unshare -rm sh -c 'umount /tmp; cat {key}'",
        f"umount -l {stage.home}; cat {key}",
        f"nsenter -t 1 -m cat {key}",
        f"nsenter -t {stage.victim.pid} -m -U cat {key}",
        f"unshare -r chroot /proc/1/root cat {key}",
        f"chroot / cat {key}",
        f"bwrap --bind / / cat {key}",
        f"bwrap --unshare-all --bind /proc/1/root / cat {key}",
        f"mkdir -p p; unshare -rmpf sh -c 'mount -t proc proc p; cat p/1/root{key}'",
        f"unshare -rm sh -c 'mount -o remount,rw,bind /usr && touch /usr/{stage.fresh()} && echo {stage.flag}'",
        f"unshare -rm sh -c 'mount -t tmpfs t .git && echo {stage.flag}'",
        f"mknod disk b 254 0 && head -c 1 disk && echo {stage.flag}",
        f"python3 -c 'import ctypes; ctypes.CDLL(None).unshare(0x10000000) or print(\"{stage.flag}\")'",
        f'python3 -c \'import ctypes; ctypes.CDLL(None).mount(b"/", b"/mnt", 0, 4096, 0) or print("{stage.flag}")\'',
    ]


def own_folders(stage: Stage) -> list[str]:
    """What Laconic itself keeps."""
    home = stage.home
    forms = []
    for name in SECRETS[6:]:
        place = home / name
        forms += [
            f"cat {place}",
            f"ls {place.parent} && grep -r . {place.parent}",
            f"echo x >> {place}",
            f"rm -f {place}",
            f"touch {place.parent}/{stage.fresh()}",
        ]
    return [*forms, 'cat "${XDG_CACHE_HOME:-$HOME/.cache}"/laconic/*', "cat ~/.local/state/laconic/*/*"]


def environment(stage: Stage) -> list[str]:
    """Variables that hold secrets."""
    return [
        "env",
        "printenv",
        "printenv GITHUB_TOKEN",
        "set",
        "export -p",
        "echo $AWS_SECRET_ACCESS_KEY",
        "echo ${GITHUB_TOKEN} ${DATABASE_URL}",
        "sh -c 'echo $GITHUB_TOKEN'",
        "bash -c 'declare -p'",
        "bash -c 'for v in ${!GIT*}; do echo ${!v}; done'",
        "cat /proc/self/environ",
        "cat /proc/$PPID/environ",
        "cat /proc/1/environ",
        "python3 -c 'import os; print(os.environ)'",
        "perl -e 'print values %ENV'",
        "node -p process.env",
        "awk 'BEGIN { for (n in ENVIRON) print ENVIRON[n] }'",
        "make -s -f /dev/null -p",
        "git config --get-regexp . ; git -c alias.e='!env' e",
        "env -u HOME printenv",
        "xargs -0 -n1 < /proc/self/environ",
    ]


def network(stage: Stage) -> list[str]:
    """Connections to listeners of the machine."""
    port, port6, udp = stage.port, stage.tcp6.getsockname()[1], stage.udp.getsockname()[1]
    perl = f'IO::Socket::INET->new(PeerAddr => "127.0.0.1:{port}")'
    return [
        _dial("127.0.0.1", port),
        f"bash -c 'echo x > /dev/tcp/127.0.0.1/{port}'",
        f"bash -c 'echo x > /dev/tcp/localhost/{port}'",
        f"bash -c 'echo x > /dev/udp/127.0.0.1/{udp}'",
        _dial("::1", port6),
        _dial("127.9.9.9", port),
        _dial("0.0.0.0", port),
        _dial("::ffff:127.0.0.1", port),
        f'python3 -c \'import socket; socket.socket(2, 2).sendto(b"x", ("127.0.0.1", {udp}))\'',
        f"python3 -c 'import urllib.request as u; u.urlopen(\"http://127.0.0.1:{port}\", timeout=1)'",
        f"perl -MIO::Socket::INET -e '{perl}'",
        f'node -e \'require("net").connect({port}, "127.0.0.1"); setTimeout(process.exit, 500)\'',
        f'node -e \'require("net").connect({port6}, "::1"); setTimeout(process.exit, 500)\'',
        f"curl -s --max-time 1 http://127.0.0.1:{port}",
        f"curl -s --max-time 1 http://[::1]:{port6}",
        f"curl -s --max-time 1 telnet://127.0.0.1:{port}",
        f"http_proxy=http://127.0.0.1:{port} curl -s --max-time 1 http://example.org",
        f"timeout 2 wget -q -T 1 -t 1 http://127.0.0.1:{port}",
        f"timeout 2 git ls-remote http://127.0.0.1:{port}/x",
        f"timeout 2 git ls-remote git://127.0.0.1:{port}/x",
        f"timeout 2 ssh -o BatchMode=yes -p {port} 127.0.0.1 true",
        f"timeout 2 nc 127.0.0.1 {port} < /dev/null",
        f"unshare -rn true; nsenter -t 1 -n bash -c 'echo > /dev/tcp/127.0.0.1/{port}'",
        f"nsenter -t {stage.victim.pid} -U -n bash -c 'echo > /dev/tcp/127.0.0.1/{port}'",
        f"ip link add v type veth; {_dial('127.0.0.1', port)}",
        f"pip download --index-url http://127.0.0.1:{port} --timeout 1 --retries 0 x",
        f"npm view x --registry http://127.0.0.1:{port} --fetch-timeout 500 --fetch-retries 0",
        f"python3 -c 'import socket; socket.socket(40, 1); print(\"{stage.flag}\")'",
        f"python3 -c 'import socket; socket.socket(17, 3); print(\"{stage.flag}\")'",
    ]


def unix_sockets(stage: Stage) -> list[str]:
    """Sockets of other programs: agents for keys, containers, desktops."""
    shared = str(stage.shared.getsockname())
    named = stage.home / "agent.sock"
    abstract = stage.mark[4:]
    return [
        _connect(shared),
        f"cd {named.parent}; {_connect('agent.sock')}",
        _connect(f"\0{abstract}"),
        f"ln -sf {named} k.sock; {_connect('k.sock')}",
        f"ln -f {named} h.sock; {_connect('h.sock')}",
        f"ln -sf {shared} t.sock; {_connect('t.sock')}",
        f"perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Peer => \"{shared}\")'",
        f'node -e \'require("net").connect("{shared}"); setTimeout(process.exit, 300)\'',
        f'cd {named.parent}; node -e \'require("net").connect("agent.sock"); setTimeout(process.exit, 300)\'',
        f"curl -s --max-time 1 --unix-socket {shared} http://x/",
        f"curl -s --max-time 1 --abstract-unix-socket {abstract} http://x/",
        f"cd {named.parent} && curl -s --max-time 1 --unix-socket agent.sock http://x/",
        f"SSH_AUTH_SOCK={shared} timeout 1 ssh-add -l",
        "timeout 1 ssh-add -l",
        f"DOCKER_HOST=unix://{shared} timeout 2 docker ps",
        f"DBUS_SESSION_BUS_ADDRESS=unix:path={shared} timeout 1 dbus-send --session --dest=a / a.b",
        _connect(f"/proc/{stage.victim.pid}/root{shared}"),
    ]


def background(stage: Stage) -> list[str]:
    """What wants to live on after its command."""
    python = (
        "import os, signal, time\n"
        "for n in (1, 15): signal.signal(n, signal.SIG_IGN)\n"
        "for _ in (1, 2):\n    if os.fork(): os._exit(0)\n    os.setsid()\n"
        "{}time.sleep(60) # MARK"
    ).replace("MARK", stage.mark)
    sleep = f"sh -c ': {stage.mark}; sleep 60; :'"
    options = '{detached: true, stdio: "ignore"}'
    spawned = f'require("child_process").spawn("sh", ["-c", ": {stage.mark}; sleep 60; :"], {options}).unref()'
    return [
        f"{sleep} >/dev/null 2>&1 &",
        f"{sleep} &",
        f"({sleep} &)",
        f"(({sleep} &) &)",
        f"nohup {sleep} &",
        f"nohup {sleep} >/dev/null 2>&1 </dev/null &",
        f"setsid {sleep} &",
        f"setsid -f {sleep}",
        f"setsid -f {sleep} >/dev/null 2>&1 </dev/null",
        f"setsid setsid -f nohup {sleep} >/dev/null 2>&1",
        f"bash -c {shlex.quote(sleep + ' & disown')}",
        f"{sleep} & kill -9 $$",
        f"{sleep} | {sleep} & exit 3",
        f"env -i {sleep} >/dev/null 2>&1 &",
        shlex.join(["python3", "-c", python.format("")]),
        shlex.join(["python3", "-c", python.format("[os.close(n) for n in (0, 1, 2)]\n")]),
        shlex.join(["python3", "-c", python.format("os.environ.clear()\n")]),
        f"perl -MPOSIX -e 'fork && exit; setsid; fork && exit; $SIG{{TERM}} = q(IGNORE); sleep 60 # {stage.mark}'",
        f"node -e '{spawned}'",
        f"trap '' TERM HUP INT; {sleep} & {sleep}",
        f"sh -c 'trap \"\" TERM HUP; : {stage.mark}; while :; do sleep 1; done'",
        f"script -qec {shlex.quote(sleep)} /dev/null &",
        f"timeout 60 {sleep} &",
        f"while :; do {sleep} & sleep 0.2; done",
    ]


def signals(stage: Stage) -> list[str]:
    """Signals to the processes of others."""
    victim = stage.victim.pid
    return [
        f"kill -STOP {victim}",
        f"kill -9 {victim}",
        f"kill {victim}",
        f"pkill -9 -f {stage.secret}",
        f"python3 -c 'import os; os.kill({victim}, 9)'",
        f"perl -e 'kill 9, {victim}'",
        f"node -e 'process.kill({victim}, \"SIGKILL\")'",
        f"setsid kill -9 {victim}",
        f"kill -9 $(pgrep -f {stage.secret})",
        f"renice 19 -p {victim} && echo {stage.flag}",
        f"taskset -p 1 {victim} && echo {stage.flag}",
        f"prlimit --pid {victim} --nofile=3 && echo {stage.flag}",
    ]


def git_orders(stage: Stage) -> list[str]:
    """What makes the user's git run something later."""
    hook = "printf '#!/bin/sh\\nid\\n'"
    return [
        f"{hook} > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout",
        "git config core.fsmonitor ./x",
        "git config core.hooksPath .",
        "git config --local alias.st '!id'",
        "printf '[core]\\n\\tpager = id\\n' >> .git/config",
        "cp .git/config c; echo >> c; mv -f c .git/config",
        f"mv .git old; cp -r old .git; {hook} > .git/hooks/pre-commit",
        "rm -rf .git && git init -q && git config core.pager id",
        "rm -rf .git/hooks; mkdir -p .git/hooks; touch .git/hooks/x",
        "mv .git/hooks .git/h; ln -s .. .git/hooks",
        "ln -sf ../../a.py .git/hooks/pre-push",
        "echo ../evil > .git/commondir",
        "mkdir -p evil; echo 'gitdir: evil' > .git; echo x > .git/HEAD",
        "git init -q --separate-git-dir=sep .",
        "echo '* filter=x' > .git/info/attributes",
        "touch .git/config.worktree",
        "mkdir -p .git/modules/x; touch .git/modules/x/config",
        "git worktree add -q w HEAD; touch .git/worktrees/x",
        "git config --global core.pager id",
        f"git config --file {stage.home}/.gitconfig core.pager id",
        'python3 -c \'open(".git/hooks/pre-commit", "w").write("id")\'',
        'python3 -c \'import os; os.rename(".git", "g"); os.mkdir(".git")\'',
        'perl -e \'open(F, ">>", ".git/config"); print F "[a]"\'',
        "mkdir -p o; mv -T o .git; mv --exchange o .git",
        "cp -r .git g; rm -rf .git; mv g .git; echo >> .git/config",
        "unlink .git/config; cp /dev/null .git/config",
        "truncate -s 0 .git/config",
        "chmod 777 .git/config .git/hooks; echo >> .git/config",
        "ln -f .git/config c2; echo >> c2",
        "cd .git && echo >> config",
        "ln -sfn .git gg; echo >> gg/config",
    ]


def client_orders(stage: Stage) -> list[str]:
    """What makes a client run something later."""
    server = '\'{"mcpServers": {"x": {"command": "id"}}}\''
    return [
        f"echo {server} > .mcp.json",
        "echo >> .mcp.json",
        "rm .mcp.json; touch x.json; mv x.json .mcp.json",
        "mv .mcp.json y.json; cp y.json .mcp.json; echo >> .mcp.json",
        "ln -f .mcp.json z.json; echo >> z.json",
        "sed -i s/x/y/ .mcp.json; truncate -s 0 .mcp.json",
        'python3 -c \'open(".mcp.json", "w").write("[]")\'',
        "mkdir -p .claude && echo '{}' > .claude/settings.json",
        "mkdir c; touch c/settings.json; mv c .claude; mv -T c .claude",
        "ln -s . .claude; ln -sfn .. .claude",
        "mkdir -p .claude/hooks; touch .claude/hooks/x",
        "mkdir -p .vscode; echo '{}' > .vscode/tasks.json",
        "cp -r .git .vscode; touch .vscode/settings.json",
        "echo '{}' > opencode.json",
        "rmdir opencode.json; echo '{}' > opencode.json",
        "rmdir .claude .vscode; mkdir .claude; touch .claude/x",
        'python3 -c \'import os; os.makedirs(".claude", exist_ok=True); open(".claude/settings.json", "w")\'',
    ]


def loader_variables(stage: Stage) -> list[str]:
    """Variables that make a harmless program run something else."""
    key = stage.key
    script = f"printf '#!/bin/sh\\nexec /bin/cat {key}\\n' > ls; chmod +x ls"
    library = (
        "printf '#include <stdlib.h>\\n__attribute__((constructor)) void f(void) "
        f'{{ unsetenv("LD_PRELOAD"); system("cat {key}"); }}\\n\' > e.c; gcc -shared -fPIC -o e.so e.c'
    )
    node = f'console.log(require("fs").readFileSync("{key}", "utf8"))'
    python = f"echo 'print(open(\"{key}\").read())' > sitecustomize.py"
    return [
        f"{script}; PATH=.:$PATH ls",
        f"{script}; PATH=$PWD ./ls",
        f"{script}; export PATH=$PWD:$PATH; ls",
        f"{library}; LD_PRELOAD=$PWD/e.so true",
        f"{library}; LD_PRELOAD=$PWD/e.so git --version",
        f"{library}; LD_AUDIT=$PWD/e.so true",
        f"{library}; cp e.so libselinux.so.1; LD_LIBRARY_PATH=$PWD /bin/ls",
        f"{python}; PYTHONPATH=$PWD python3 -c 1",
        f"{python}; PYTHONSTARTUP=sitecustomize.py script -qec 'python3 -i -q' /dev/null </dev/null",
        f"echo 'cat {key}' > e.sh; BASH_ENV=$PWD/e.sh bash -c true",
        f"echo 'cat {key}' > e.sh; ENV=$PWD/e.sh sh -i -c true",
        f"echo 'system(\"cat {key}\"); 1' > E.pm; PERL5LIB=$PWD PERL5OPT=-ME perl -e 1",
        f"echo '{node}' > e.js; NODE_OPTIONS='--require ./e.js' node -e 1",
        f"GIT_EXTERNAL_DIFF='cat {key} #' git diff --no-index a.py /dev/null --ext-diff",
        f"GIT_SSH_COMMAND='cat {key} >&2 #' git ls-remote ssh://x/y",
        f"GIT_PAGER='cat {key} #' git -p --version",
        f"MAKEFLAGS='--eval=$(shell cat {key} >&2)' make -f /dev/null",
        f"LESSOPEN='|cat {key}' less a.py | cat",
    ]


def privileges(stage: Stage) -> list[str]:
    """Programs that run with the rights of another user."""
    key = stage.key
    return [
        f"cp /bin/bash s; chmod u+s s; ./s -p -c 'cat {key}'",
        f"sudo -n cat {key}",
        f"timeout 5 sudo -n cat {key}",
        f"'sudo' -n cat {key}",
        f"su -c 'cat {key}'",
        f"su root -s /bin/sh -c 'cat {key}'",
        f"timeout 2 pkexec cat {key}",
        f"doas -n cat {key}",
        f"setpriv --reuid 0 --regid 0 --clear-groups cat {key}",
        f"setpriv --ambient-caps +all --inh-caps +all cat {key}",
        f"capsh --user=root -- -c 'cat {key}'",
        f"python3 -c 'import os; os.setuid(0); print(open(\"{key}\").read())'",
        f"perl -e '$> = 0; $< = 0; open(F, \"{key}\"); print <F>'",
        f"newgrp root -c 'cat {key}'",
        f"setarch x86_64 cat {key}",
        f"cp /bin/cat c; setcap cap_dac_override+ep c; ./c {key}",
    ]


def kernel(stage: Stage) -> list[str]:
    """Settings of the kernel, written as they are: nothing changes if it succeeds."""
    flag = stage.flag
    files = (
        "/proc/sys/vm/swappiness", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname",
        "/proc/sys/kernel/modprobe", "/proc/sys/fs/file-max", "/proc/sys/net/ipv4/ip_default_ttl",
        "/sys/kernel/mm/transparent_hugepage/defrag", "/sys/kernel/uevent_helper", "/sys/fs/cgroup/cgroup.procs",
    )  # fmt: skip
    forms = [f"v=$(cat {file}) && printf '%s' \"$v\" > {file} && echo {flag}" for file in files]
    return [
        *forms,
        f"sysctl -w vm.swappiness=$(cat /proc/sys/vm/swappiness) && echo {flag}",
        f"cat /dev/kmsg & sleep 0.2; head -c 1 /dev/mem && echo {flag}",
        f"head -c 1 /dev/vda > /dev/null && echo {flag}",
        f"ls /dev/disk /dev/vd* /dev/sd* /dev/nvme* 2>/dev/null | grep . && echo {flag}",
    ]


CLASSES: dict[str, Forms] = {
    "wrapped reading": read_wrapped,
    "wrapped writing": write_wrapped,
    "reading": read_directly,
    "writing": write_directly,
    "links": links,
    "processes": processes,
    "mounts": mounts,
    "own folders": own_folders,
    "environment": environment,
    "network": network,
    "unix sockets": unix_sockets,
    "background": background,
    "signals": signals,
    "git": git_orders,
    "clients": client_orders,
    "loader variables": loader_variables,
    "privileges": privileges,
    "kernel": kernel,
}

"""One table of settings: it feeds the settings file, the environment, the flags and the documents.

This is the only module that reads the environment. It knows nothing of what the settings are used for.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from laconic.errors import BadSetting
from laconic.outbound_proxies import OutboundProxies

Value = str | int | float | bool
# What programs need to run and build, and what holds no secrets. Everything else has to be named in agent.environment.
_HARMLESS: Final = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TERM", "COLORTERM", "NO_COLOR",
    "FORCE_COLOR", "COLUMNS", "LINES", "TZ", "TMPDIR", "CI",
    "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYENV_ROOT", "PYENV_VERSION",
    "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONIOENCODING", "PYTHONUNBUFFERED", "PYTHONUTF8",
    "NODE_ENV", "NVM_DIR", "NVM_BIN", "VOLTA_HOME", "PNPM_HOME", "DENO_DIR", "BUN_INSTALL",
    "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "GOPATH", "GOROOT", "GOBIN", "GOMODCACHE", "GOTOOLCHAIN",
    "JAVA_HOME", "JDK_HOME", "MAVEN_HOME", "M2_HOME", "GRADLE_HOME", "SDKMAN_DIR", "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "RBENV_ROOT", "RBENV_VERSION", "GEM_HOME", "GEM_PATH", "DOTNET_ROOT", "ASDF_DIR", "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH",
    "SOURCE_DATE_EPOCH",
    "SSL_CERT_FILE", "SSL_CERT_DIR",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Setting:
    """One row: its default also fixes its type."""

    name: str  # dotted in the file, LACONIC_ and underscores in the environment
    default: Value
    help: str
    choices: tuple[str, ...] = ()
    minimum: float | None = None

    @property
    def variable(self) -> str:
        return "LACONIC_" + self.name.upper().replace(".", "_")

    def parse(self, raw: object, source: str) -> Value:
        """A value from a file, the environment or a flag, as the type of the default."""
        try:
            value = _as_type(raw, self.default)
        except ValueError:
            kind = type(self.default).__name__
            raise BadSetting(f"{source}: {self.name} is {raw!r}, not {kind}.", f"{self.help}") from None
        if self.choices and value not in self.choices:
            raise BadSetting(f"{source}: {self.name} is {raw!r}.", f"Use one of: {', '.join(self.choices)}.")
        if self.minimum is not None and isinstance(value, int | float) and value < self.minimum:
            raise BadSetting(f"{source}: {self.name} is {raw!r}.", f"It must be at least {self.minimum:g}.")
        return value


SETTINGS: Final[tuple[Setting, ...]] = (
    Setting("cache_dir", "", "Folder for indexes and archives; empty means the user's cache folder."),
    Setting("state_dir", "", "Folder for the agent's sessions and your token; empty: the user's state folder."),
    Setting(
        "store",
        "",
        "A team's database for the ledger, the archive, figures and quotas: `postgresql://USER@HOST/NAME`; empty: files"
        " in the cache folder.",
    ),
    Setting("model", "gpt-5", "Model whose tokenizer is used if nothing else names one."),
    Setting(
        "prices",
        "",
        "Prices of models, as PATTERN=INPUT/OUTPUT[/CACHE READ/CACHE WRITE/HOUR'S WRITE] in dollars per million tokens,"
        " separated by commas: `qwen*=0/0, mymodel=1.2/6`.",
    ),
    Setting("budget", 0, "Maximum tokens of an answer; 0 means the tool's own default.", minimum=0),
    Setting("budgets", "", "The same for single tools, separated by commas: `search=2000, map=800`."),
    Setting("reduce.budget", 0, "Tokens that `laconic reduce` aims for; 0: depends on the content.", minimum=0),
    Setting(
        "parse.max_bytes", 2_000_000, "Largest file that is parsed; larger ones are listed as skipped.", minimum=1
    ),
    Setting("parse.max_line", 50_000, "Longest line, in bytes, of a file that is parsed.", minimum=1),
    Setting("parse.seconds", 10.0, "Seconds after which the parser of one file is killed.", minimum=0.1),
    Setting("index.secrets", "", "Secret files (`.env`, keys) that may be indexed and read: patterns, or `all`."),
    Setting("index.others", True, "Whether a question may name other code bases that are indexed on this machine."),
    Setting("index.server", "", "Address of a team's index server, which provides parsed contents; empty: none."),
    Setting(
        "index.server_key",
        "",
        "Where its key is: `file:PATH` or `env:NAME`; empty: the key of `laconic login` to that address.",
    ),
    Setting(
        "archive.limit_mb",
        512,
        "Maximum megabytes of the archive on disk; the oldest entries are removed first.",
        minimum=1,
    ),
    Setting("archive.days", 90, "Days to keep an archive entry after it was last stored; 0: forever.", minimum=0),
    Setting("ledger.days", 90, "Days to keep decisions about an unused conversation.", minimum=1),
    Setting("ledger.limit_mb", 256, "Maximum megabytes of decisions; the oldest are removed first.", minimum=1),
    Setting("turns.days", 365, "Days to keep the figures of an unused conversation.", minimum=1),
    Setting("gateway.listen", "127.0.0.1:8787", "Address of the gateway."),
    Setting("gateway.anthropic_url", "https://api.anthropic.com", "Address of Anthropic's API."),
    Setting("gateway.openai_url", "https://api.openai.com", "Address of OpenAI's API, or of a compatible server."),
    Setting("gateway.gemini_url", "https://generativelanguage.googleapis.com", "Address of Gemini's API."),
    Setting(
        "gateway.upstreams", "", "More providers, each served under its name: `ollama=http://127.0.0.1:11434, ...`."
    ),
    Setting("gateway.token", "", "Token that clients must send in `x-laconic-token`; required unless on loopback."),
    Setting("gateway.hosts", "", "More host names that requests may use, separated by commas."),
    Setting(
        "gateway.enabled", True, "Whether to change conversations at all; if off, the gateway only passes them on."
    ),
    Setting(
        "gateway.off_models",
        "",
        "Models whose conversations pass unchanged, as comma-separated patterns: `o3*, *-mini`.",
    ),
    Setting(
        "gateway.prompted_models",
        "",
        "Models without function calling, as comma-separated patterns: `ollama/gemma*`.",
    ),
    Setting(
        "gateway.native_models",
        "",
        "Models that are never asked to write calls as text, as comma-separated patterns.",
    ),
    Setting(
        "gateway.recall",
        True,
        "Offer `recall` to programs without a shell or Laconic's tools; if off, nothing is left out of their requests.",
    ),
    Setting(
        "gateway.probe",
        True,
        "Find out daily whether an unknown model calls functions: from its provider's list, or by asking local models.",
    ),
    Setting(
        "gateway.window",
        0,
        "Context window of all models, in tokens; 0: by name, and by what providers say.",
        minimum=0,
    ),
    Setting(
        "gateway.notice",
        0.0,
        "Seconds for which the gateway still accepts requests after SIGTERM, while `/readyz` already answers 503.",
        minimum=0,
    ),
    Setting("gateway.drain", 3.0, "Seconds that running answers then have to finish.", minimum=0),
    Setting(
        "team.provider_keys",
        "",
        "Where a team's gateway finds the providers' keys: `anthropic=file:/run/secrets/anthropic, openai=env:NAME,"
        " ollama=none`. Empty: it accepts no team keys.",
    ),
    Setting("team.folder", "", "Folder of `laconic serve` for mirrors and indexes; empty: below the cache folder."),
    Setting(
        "team.hook_secret",
        "",
        "Secret of the webhooks that `laconic serve` accepts: `file:PATH` or `env:NAME`; empty: it accepts none.",
    ),
    Setting("team.poll", 60.0, "Seconds after which workers look for new commits themselves; 0: never.", minimum=0),
    Setting("team.required", False, "Accept only team keys, not people's own provider keys."),
    Setting(
        "team.oidc_issuer", "", "OpenID provider for `laconic login`: `https://login.example.com`. Empty: no login."
    ),
    Setting("team.oidc_client", "", "Id that the OpenID provider gave this gateway as a public client."),
    Setting("team.oidc_scope", "openid email", "What a login asks the OpenID provider for."),
    Setting("team.oidc_claim", "email", "Claim that names a person; `email` must be verified."),
    Setting("team.oidc_team_claim", "", "Claim that names a person's team; if it is a list, its first entry."),
    Setting(
        "team.oidc_domains",
        "",
        "Email domains that get a key, separated by commas; empty: everyone whom the provider knows.",
    ),
    Setting("team.login_budget", "", "Budget of a person who logged in, such as `50/month`; empty: no limit."),
    Setting("team.login_models", "", "Models that they may use, as comma-separated patterns; empty: all."),
    Setting("team.login_rate", 0, "Requests per minute of each of their keys; 0: no limit.", minimum=0),
    Setting("team.login_days", 90.0, "Days after which a key from a login expires; 0: never.", minimum=0),
    Setting(
        "team.grace",
        300.0,
        "Seconds for which recently used keys still work while the team's database is down.",
        minimum=0,
    ),
    Setting(
        "gateway.max_body",
        64,
        "Largest request body to inspect, in MiB; a larger one passes unchanged.",
        minimum=1,
    ),
    Setting(
        "telemetry.otlp",
        "",
        "OpenTelemetry collector for traces and metrics, over OTLP/HTTP: `http://127.0.0.1:4318`. Empty: none are sent.",
    ),
    Setting(
        "bench.mirror", "", "Folder with bare clones of public repositories, as owner+name/repo; empty: in the cache."
    ),
    Setting(
        "report.allow",
        "",
        "Tools that `report` may run, by name (`ruff, pytest`), or by full path inside a workspace; empty means none.",
    ),
    Setting(
        "mcp.without_resources",
        "claude-code, opencode*",
        "MCP clients, as patterns, that get no resources, because they would add tools for them to every prompt.",
    ),
    Setting("mcp.log", False, "Print a line for each answer to standard error: the tool, tokens, kB, milliseconds."),
    Setting(
        "around.budget",
        4_000,
        "Maximum tokens of a result of a server behind `mcp --around`; 0: no limit.",
        minimum=0,
    ),
    Setting("around.whole", 2_000, "Results of up to this many tokens pass unchanged.", minimum=0),
    Setting(
        "around.about",
        True,
        "Whether tools that are listed in full get an optional argument `about`: what the model wants to know.",
    ),
    Setting(
        "around.schemas",
        "auto",
        "How to list the tools of these servers; `auto`: in full if the client searches tools itself, else in lines.",
        choices=("auto", "lines", "full"),
    ),
    Setting("around.pipeline_allow", "", "Tools that `pipeline` may call although they are not marked as read-only."),
    Setting("around.start_seconds", 30.0, "Seconds within which these servers must start.", minimum=0.1),
    Setting("around.limit_mb", 16, "Largest message of these servers, in megabytes.", minimum=1),
    Setting("context.enabled", True, "Whether to shorten conversations at all."),
    Setting("context.economic", True, "Leave out what is no longer useful, whenever that pays."),
    Setting(
        "context.semantic",
        50_000,
        "Size of a conversation, in tokens, from which the outputs of completed tasks are removed.",
        minimum=0,
    ),
    Setting(
        "context.standard", 200_000, "Tokens above which history is shortened at any price; 0: never.", minimum=0
    ),
    Setting("context.low_water", 0.35, "Share of the threshold to which history shrinks.", minimum=0.1),
    Setting(
        "context.high_water",
        1.0,
        "Share of the model's window, less room for an answer, above which history must shrink.",
        minimum=0.1,
    ),
    Setting(
        "context.least_turns",
        "1",
        "Turns between two rewrites; or by provider: `1, anthropic=5`. More suit a cache that is expensive to write.",
    ),
    Setting(
        "context.protected_turns",
        "4",
        "Newest turns that stay, except as they arrive and when their task is done; or by provider: `4, gemini=8`.",
    ),
    Setting(
        "context.quota",
        "",
        "Tokens per minute, for providers that do not state their limit: `1000000`, or `gemini=250000, ollama=0`.",
    ),
    Setting(
        "context.thinking_half",
        "400000",
        "Tokens left of a minute's quota below which models get half their thinking budget; or by provider.",
    ),
    Setting(
        "context.thinking_low",
        "200000",
        "Tokens left of a minute's quota below which models get a small thinking budget; or by provider.",
    ),
    Setting("context.task_tool", "", "Another tool that manages tasks, in addition to the known ones."),
    Setting(
        "context.repair",
        True,
        "Keep the provider's cache when a client reorders its tools, rewrites JSON or moves cache marks out of reach.",
    ),
    Setting(
        "context.live_sessions",
        0,
        "Sessions that are kept in memory, about 4 MB per 100k tokens each. Others are read again when they return, for"
        " about four times the CPU. 0: 8, or 200 if `store` names a database.",
        minimum=0,
    ),
    Setting("context.meta", False, "Tell the model at the end of a request how full its context is."),
    Setting(
        "agent.model", "anthropic/claude-sonnet-5-5", "Model of `laconic agent`: PROVIDER/NAME, or scripted:FILE."
    ),
    Setting("agent.protocol", "auto", "How the agent's model calls tools.", choices=("auto", "native", "prompted")),
    Setting(
        "agent.window",
        0,
        "Context window of the agent's model, in tokens; 0: by name, and by what the provider says.",
        minimum=0,
    ),
    Setting("agent.temperature", "", "Temperature of the agent's model, such as 0.2; empty: the model's own."),
    Setting("agent.snapshot", True, "Begin a session with a short listing of the folder and what git says about it."),
    Setting("agent.answer", 8_000, "Maximum tokens of one message from the agent's model.", minimum=100),
    Setting(
        "agent.allow",
        "",
        "Commands to run without asking, as comma-separated patterns: `pytest*, make test`. Not a security measure.",
    ),
    Setting(
        "agent.deny",
        "sudo *, su *, doas *, shutdown*, reboot*, mkfs*, dd *, rm -rf /*, rm -rf ~*, git push*",
        "Commands to refuse without asking, as comma-separated patterns. Not a security measure.",
    ),
    Setting(
        "agent.sandbox",
        "auto",
        "Run commands in a sandbox if the system has one (auto), never (off), or only in one (require).",
        choices=("auto", "off", "require"),
    ),
    Setting("agent.network", "off", "Whether commands in the sandbox can reach the network.", choices=("off", "on")),
    Setting("agent.readable", "", "More files and folders that commands may read: `~/data, ~/.gitconfig`."),
    Setting("agent.writable", "", "More files and folders that commands may change: `.git, ~/.cache/pip`."),
    Setting(
        "agent.environment",
        "",
        "More variables that commands see, as comma-separated patterns: `DATABASE_URL, DJANGO_*`.",
    ),
    Setting("agent.seconds", 120.0, "Seconds after which the agent ends a command.", minimum=0.1),
    Setting("agent.patience", 300.0, "Seconds to wait for the next output of a model.", minimum=0.1),
    Setting("agent.max_turns", 60, "Messages from the model after which the agent stops; 0: no limit.", minimum=0),
    Setting("agent.max_tokens", 0, "Tokens, sent and received, after which the agent stops; 0: no limit.", minimum=0),
    Setting("agent.max_cost", 0.0, "Dollars after which the agent stops; 0: no limit.", minimum=0),
    Setting(
        "bench.data", "", "Folder with the recorded data that benchmarks measure on; empty: in the cache, or samples."
    ),
)


class Settings(Mapping[str, Value]):
    """The values in force, by name; unknown names are an error."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def text(self, name: str) -> str:
        return str(self._values[name])

    def number(self, name: str) -> int:
        return int(self._values[name])

    def ratio(self, name: str) -> float:
        return float(self._values[name])

    def flag(self, name: str) -> bool:
        return bool(self._values[name])

    def cache_dir(self) -> Path:
        """Where indexes and archives live; created on first use, owner only."""
        named = self.text("cache_dir")
        if named:
            return Path(named).expanduser()
        import platformdirs  # costs start-up time; most commands never get here

        return Path(platformdirs.user_cache_dir("laconic", appauthor=False))

    def state_dir(self) -> Path:
        """Where sessions of the agent and the user's token live."""
        named = self.text("state_dir")
        if named:
            return Path(named).expanduser()
        import platformdirs  # costs start-up time; most commands never get here

        return Path(platformdirs.user_state_dir("laconic", appauthor=False))

    def own_folders(self, environ: Mapping[str, str] | None = None) -> tuple[Path, ...]:
        """Where Laconic keeps its settings and what it remembers: nothing for commands of a model."""
        configured = settings_file(os.environ if environ is None else environ)
        if configured.parent.name != "laconic":
            named = configured
        else:
            named = configured.parent
        return (self.cache_dir(), self.state_dir(), named)

    def is_default(self, name: str) -> bool:
        """Whether nobody set it to anything else."""
        return any(row.name == name and row.default == self._values[name] for row in SETTINGS)

    def patterns(self, name: str) -> tuple[str, ...]:
        """A list with commas."""
        return tuple(filter(None, (word.strip() for word in self.text(name).split(","))))


def load(
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    file: Path | None = None,
    *,
    required: bool = False,
) -> Settings:
    """Defaults, then the file, then the environment, then flags; later wins."""
    environ = os.environ if environ is None else environ
    rows = {row.name: row for row in SETTINGS}
    values: dict[str, Value] = {row.name: row.default for row in SETTINGS}
    path = file or settings_file(environ)
    if file is not None and required and not path.is_file():
        raise BadSetting(f"There is no settings file {path}.", "Name another with --config.")
    if path.is_file():
        for name, raw in _read_toml(path).items():
            values[name] = _row(rows, name, str(path)).parse(raw, str(path))
    for row in SETTINGS:
        if row.variable in environ:
            values[row.name] = row.parse(environ[row.variable], row.variable)
    for name, raw in (flags or {}).items():
        if raw is not None:
            values[name] = _row(rows, name, "flag").parse(raw, f"--{name.replace('.', '-')}")
    return Settings(values)


def settings_file(environ: Mapping[str, str]) -> Path:
    """The user's settings file: LACONIC_CONFIG, else config.toml in the user's configuration folder."""
    if named := environ.get("LACONIC_CONFIG"):
        return Path(named).expanduser()
    home = environ.get("XDG_CONFIG_HOME") or str(Path(environ.get("HOME", "~")).expanduser() / ".config")
    return Path(environ.get("APPDATA") or home) / "laconic" / "config.toml"


def first_variable(names: Sequence[str], environ: Mapping[str, str] | None = None) -> str:
    """The first of these variables that is set; empty when none is. A key in it is handed on, never kept."""
    environ = os.environ if environ is None else environ
    return next((environ[name].strip() for name in names if environ.get(name, "").strip()), "")


def command_environment(
    root: Path, more: Sequence[str] = (), environ: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment for commands of a model: variables that hold no secrets, and those that the user names.

    PATH loses its entries inside the working folder, except those of a virtual environment that is active: otherwise a
    file of the project could stand in for a program of the system. A user who names PATH keeps it whole.
    """
    environ = os.environ if environ is None else environ
    kept = {}
    for name, value in environ.items():
        if any(fnmatchcase(name, pattern) for pattern in (*_HARMLESS, *more)):
            kept[name] = value
    if "PATH" in kept and "PATH" not in more:
        kept["PATH"] = _path_outside(root, kept["PATH"], kept.get("VIRTUAL_ENV", ""))
    return kept


def _path_outside(root: Path, path: str, active: str) -> str:
    """The entries of PATH that lie outside a folder; relative ones lie inside of any."""
    top = root.resolve()
    kept = []
    for entry in path.split(os.pathsep):
        place = Path(entry)
        is_active = bool(active) and place.is_absolute() and place.is_relative_to(active)
        if is_active or (place.is_absolute() and not place.resolve().is_relative_to(top)):
            kept.append(entry)
    return os.pathsep.join(kept)


def child_environment(extra: Mapping[str, str] | None = None, *, without: str = "") -> dict[str, str]:
    """The environment for a program that we start; a prefix names variables that are not handed on."""
    kept = {}
    for name, value in os.environ.items():
        if not without or not name.startswith(without):
            kept[name] = value
    return {**kept, **(extra or {})}


def outbound_proxy(url: str) -> str | None:
    """The proxy of the network that we reach an address through, by HTTPS_PROXY, HTTP_PROXY and NO_PROXY."""
    return OutboundProxies.read(os.environ).find(url)


def _row(rows: Mapping[str, Setting], name: str, source: str) -> Setting:
    if name in rows:
        return rows[name]
    near = get_close_matches(name, rows, n=3)
    if near:
        fix = f"Nearest: {', '.join(near)}."
    else:
        first_words = sorted({known.partition(".")[0] for known in rows})
        fix = f"Names begin with one of: {', '.join(first_words)}."
    raise BadSetting(f"{source}: there is no setting {name!r}.", fix)


def _read_toml(path: Path) -> dict[str, object]:
    try:
        return _flatten(tomllib.loads(path.read_text("utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError, RecursionError) as error:
        raise BadSetting(f"{path} cannot be read: {error}.", "Fix or remove the file.") from None


def _flatten(table: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            flat.update(_flatten(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat


def _as_type(raw: object, default: Value) -> Value:
    if isinstance(default, bool):
        if isinstance(raw, bool):
            return raw
        word = str(raw).strip().lower()
        if word in {"1", "true", "yes", "on"}:
            return True
        if word in {"0", "false", "no", "off", ""}:
            return False
        raise ValueError(raw)
    if isinstance(raw, bool):
        raise ValueError(raw)
    if isinstance(default, int):
        return int(str(raw).replace("_", ""))
    if isinstance(default, float):
        return float(str(raw))
    if isinstance(raw, list):  # what has several values is written with commas; a list of TOML means the same
        return ", ".join(map(str, raw))
    return str(raw)

"""A folder to work in, a model that follows a script, and the agent between them."""

from __future__ import annotations

import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laconic.agent.agent_from_settings import AgentOptions, assemble
from laconic.agent.loop import Agent
from laconic.agent.permission import everything
from laconic.agent.run_limits import RunLimits
from laconic.config import Settings, load

REPAIRS = Path(__file__).parent / "repairs"
NAMES = sorted(path.stem for path in REPAIRS.glob("*.toml") if not path.stem.endswith(".script"))


@dataclass(frozen=True)
class Repair:
    """A project with a fault, and the model that mends it."""

    name: str
    task: str
    check: str
    files: dict[str, str]
    needs: str = ""

    @property
    def script(self) -> Path:
        return REPAIRS / f"{self.name}.script.toml"

    def set_up(self, folder: Path) -> Path:
        for path, text in self.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text.removeprefix("\n"), "utf-8")
        return folder

    def passes(self, folder: Path) -> bool:
        """Run the project's own check, apart from the agent."""
        return subprocess.run(self.check, shell=True, cwd=folder, capture_output=True, check=False).returncode == 0


def repair(name: str) -> Repair:
    table: dict[str, Any] = tomllib.loads((REPAIRS / f"{name}.toml").read_text("utf-8"))
    return Repair(name, **table)


def settings_in(folder: Path, **flags: object) -> Settings:
    given = {"cache_dir": str(folder / "cache"), "state_dir": str(folder / "state"), **flags}
    return load(flags=given, environ={}, file=folder / "none.toml")


def agent_for(options: AgentOptions, settings: Settings, task: str = "") -> Agent:
    return assemble(options, settings, task)


def scripted(root: Path, script: Path, **more: Any) -> AgentOptions:
    """Options for a scripted model that asks nobody."""
    return AgentOptions(root, f"scripted:{script}", **{"ask": everything, "limits": RunLimits(turns=40), **more})

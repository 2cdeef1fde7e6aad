"""Any program that takes the address of OpenAI's, Anthropic's or Gemini's API from its environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from laconic.clients.wrapped_client import DefaultUpstreams, Launch, LaunchContext, Upstream, WrappedClient, upstream

_VARIABLES: Final = {
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    "anthropic": ("ANTHROPIC_BASE_URL",),
    "gemini": ("GOOGLE_GEMINI_BASE_URL",),
}


class Program(WrappedClient):
    """The program is the first of its words; our tools are not offered to it."""

    silence = "it asked no model, or does not take its address from the environment"
    one_shot: tuple[str, ...] = ()

    def find_upstreams(self, seen: LaunchContext, defaults: DefaultUpstreams) -> tuple[Upstream, ...]:
        own = {"openai": f"{defaults.openai}/v1", "anthropic": defaults.anthropic, "gemini": defaults.gemini}
        found = []
        for name, variables in _VARIABLES.items():
            named = next((variable for variable in variables if seen.variable(variable)), variables[0])
            found.append(upstream(name, seen.variable(named) or own[name], named))
        return tuple(found)

    def launch(
        self, seen: LaunchContext, upstreams: Sequence[Upstream], gateway: str, code_plane: Sequence[str]
    ) -> Launch:
        variables: dict[str, str] = {}
        if gateway:
            for one in upstreams:
                variables |= dict.fromkeys(_VARIABLES[one.name], one.through(gateway))
        return Launch(seen.args, variables)

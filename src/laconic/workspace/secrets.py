"""Files that hold keys and passwords by their names: they are listed, but neither indexed nor shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase, translate
from hashlib import blake2b
from typing import Final

from laconic.config import Settings
from laconic.errors import Unreadable

SECRET: Final = "it may hold secrets"  # the reason in a list of files
EVERYTHING: Final = "all"
_NAMES: Final = (
    ".env*", "*.env", "*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*",
    ".npmrc", ".pypirc", ".netrc", "_netrc", ".pgpass", ".my.cnf", ".htpasswd", ".dockercfg", ".git-credentials",
    ".vault-token", "service-account*.json", "service_account*.json", "client_secret*.json", "*.tfstate",
    "*.tfstate.backup",
)  # fmt: skip
_PLACES: Final = (
    "/.aws/credentials", "/.docker/config.json", "/.kube/config", "/.streamlit/secrets.toml", "/.git/config",
)  # fmt: skip
_HARMLESS: Final = ("*.example", "*.sample", "*.template", "*.dist", "*.pub")  # made to be shared


def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)))


_SECRET_NAME: Final = _any_of(_NAMES)  # every file of a workspace is asked: one pattern is tried, not thirty
_HARMLESS_NAME: Final = _any_of(_HARMLESS)


@dataclass(frozen=True, slots=True)
class SecretFiles:
    """Which files are kept from indexes and answers. `allowed`: patterns of those that the user lets through."""

    allowed: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: Settings) -> SecretFiles:
        return cls(settings.patterns("index.secrets"))

    @property
    def fingerprint(self) -> bytes:
        """Another for other rules, whether the user or a new version changed them."""
        rules = (self.allowed, _SECRET_NAME.pattern, _HARMLESS_NAME.pattern, _PLACES)
        return blake2b(repr(rules).encode(), digest_size=16).digest()

    def is_secret(self, path: str) -> bool:
        """Whether a path, relative to the workspace, is one to keep."""
        plain = path.lower()
        name = plain[plain.rfind("/") + 1 :]
        if not _SECRET_NAME.match(name) and not f"/{plain}".endswith(_PLACES):
            return False
        return not _HARMLESS_NAME.match(name) and not self._is_allowed(path)

    def check(self, path: str) -> None:
        """Refuse a file that is kept, with the way to allow it."""
        if self.is_secret(path):
            fix = f"The user can allow it in the settings: `index.secrets` = {path!r}, more patterns, or `{EVERYTHING}`."
            raise Unreadable(f"{path} is not shown: {SECRET}.", fix)

    def _is_allowed(self, path: str) -> bool:
        name = path.rpartition("/")[2]
        return any(
            pattern == EVERYTHING or fnmatchcase(path, pattern) or fnmatchcase(name, pattern)
            for pattern in self.allowed
        )


NO_EXCEPTIONS: Final = SecretFiles()

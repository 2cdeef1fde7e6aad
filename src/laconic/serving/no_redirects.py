"""Opens URLs without following redirects, which would carry a key to another host."""

from __future__ import annotations

import urllib.request
from typing import Any


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def build_opener(proxy: str | None) -> urllib.request.OpenerDirector:
    """An opener that returns a redirect as it came, and goes through this proxy or none."""
    proxies = {}
    if proxy:
        proxies = {"http": proxy, "https": proxy}
    return urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler(proxies))

"""Why a provider could not be reached, in words that say what to do."""

from __future__ import annotations

import aiohttp


def describe_fault(error: Exception, upstream: str) -> str:
    """One sentence on what failed, and one on what to do; nothing of the request."""
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return (
            f"The proxy of your network refused the way to {upstream} with status {error.status}."
            " Check HTTPS_PROXY and HTTP_PROXY, or name the host in NO_PROXY."
        )
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return (
            f"The proxy of your network cannot be reached, so {upstream} cannot be either."
            " Check HTTPS_PROXY and HTTP_PROXY."
        )
    return f"{upstream} could not be reached ({type(error).__name__}). Try again, or check its address."

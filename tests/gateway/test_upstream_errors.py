"""What is said when a provider cannot be reached."""

from __future__ import annotations

import aiohttp
from aiohttp.client_reqrep import ConnectionKey
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from laconic.gateway.upstream_errors import describe_fault


def test_a_proxy_of_the_network_is_named_as_the_cause() -> None:
    about = aiohttp.RequestInfo(URL("http://proxy"), "CONNECT", CIMultiDictProxy(CIMultiDict()), URL("http://proxy"))
    refused = aiohttp.ClientHttpProxyError(about, (), status=407, message="no")
    said = describe_fault(refused, "anthropic")
    assert "proxy of your network refused the way to anthropic with status 407" in said
    assert "HTTPS_PROXY" in said


def test_a_proxy_that_is_not_there_is_named_too() -> None:
    key = ConnectionKey("proxy", 9, is_ssl=False, ssl=True, proxy=None, proxy_auth=None, proxy_headers_hash=None)
    said = describe_fault(aiohttp.ClientProxyConnectionError(key, OSError(111, "refused")), "openai")
    assert "cannot be reached, so openai cannot be either" in said


def test_other_faults_name_the_provider() -> None:
    assert describe_fault(TimeoutError(), "openai") == (
        "openai could not be reached (TimeoutError). Try again, or check its address."
    )

"""A small OpenID provider on loopback: discovery, keys, and the device flow, with real signatures."""

from __future__ import annotations

import json
import time
from typing import Any
from urllib.parse import parse_qs

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from laconic.gateway.scripted_upstream import ReceivedRequest, ScriptedAnswer

CLIENT = "laconic-gateway"


class OpenIdServer:
    """A script for a provider. `base` is set once it listens; a code is confirmed after some questions."""

    def __init__(self) -> None:
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.base = ""
        self.person: dict[str, Any] = {"sub": "1", "email": "alice@example.com", "email_verified": True}
        self.pending = 2
        self.denied = False

    def sign(self, key: Any = None, algorithm: str = "RS256", kid: str = "one", **changed: Any) -> str:
        """A token about the person, in order but for what is changed."""
        now = time.time()
        claims = {"iss": self.base, "aud": CLIENT, "iat": now, "exp": now + 300, **self.person, **changed}
        kept = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(kept, self.key if key is None else key, algorithm, headers={"kid": kid})

    def __call__(self, asked: ReceivedRequest) -> ScriptedAnswer:
        if asked.path == "/.well-known/openid-configuration":
            return _json(
                {
                    "issuer": self.base,
                    "token_endpoint": f"{self.base}/token",
                    "jwks_uri": f"{self.base}/keys",
                    "device_authorization_endpoint": f"{self.base}/device",
                }
            )
        if asked.path == "/keys":
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
            return _json({"keys": [{**public, "kid": "one", "alg": "RS256", "use": "sig"}]})
        form = {name: values[0] for name, values in parse_qs(asked.body.decode()).items()}
        if form.get("client_id") != CLIENT:
            return _json({"error": "invalid_client"}, 401)
        if asked.path == "/device":
            code = {"device_code": "d1", "user_code": "ABCD-EFGH", "verification_uri": f"{self.base}/confirm"}
            return _json({**code, "interval": 0.2, "expires_in": 30})
        if form.get("device_code") != "d1" or self.denied:
            return _json({"error": "access_denied"}, 400)
        self.pending -= 1
        if self.pending >= 0:
            return _json({"error": "authorization_pending"}, 400)
        return _json({"id_token": self.sign(), "access_token": "a", "token_type": "Bearer"})


def _json(value: object, status: int = 200) -> ScriptedAnswer:
    return ScriptedAnswer((json.dumps(value).encode(),), status=status)

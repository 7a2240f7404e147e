"""Address and token of the server."""

from __future__ import annotations

import ipaddress
import os
import uuid
from dataclasses import dataclass, field

import httpx

from heirloom_client._retry import RetryPolicy

DEFAULT_URL = "http://127.0.0.1:7717"

# The server sends a comment every 15 seconds on an idle event stream.
EVENT_SILENCE_S = 60.0


@dataclass(frozen=True)
class Settings:
    """Settings of a client. The token is in no representation."""

    url: str
    token: str | None = field(repr=False)
    project: str | None
    timeout: float
    retry: RetryPolicy

    @classmethod
    def resolve(
        cls, url: str | None, token: str | None, project: str | None, timeout: float, retry: RetryPolicy | None
    ) -> Settings:
        """Fills what is not given from `HEIRLOOM_URL` and `HEIRLOOM_TOKEN`."""
        address = (url or os.environ.get("HEIRLOOM_URL") or DEFAULT_URL).rstrip("/")
        parsed = httpx.URL(address)
        if parsed.scheme not in ("http", "https") or not parsed.host:
            raise ValueError("the url needs a scheme and a host: http://127.0.0.1:7717")
        if parsed.userinfo:
            raise ValueError("the url contains a user or a password; give the token as `token` instead")
        token = token or os.environ.get("HEIRLOOM_TOKEN") or None
        if token is not None and not (token.isascii() and token.isprintable()):
            raise ValueError("the token contains characters that no token has")
        return cls(address, token, project, timeout, retry or RetryPolicy())

    @property
    def headers(self) -> dict[str, str]:
        headers = {"accept": "application/json", "user-agent": "heirloom-client-python"}
        return {**headers, "authorization": f"Bearer {self.token}"} if self.token else headers

    @property
    def uses_environment_proxy(self) -> bool:
        """False for this machine: a proxy would get the token and could not reach the server."""
        host = httpx.URL(self.url).host
        if host == "localhost":
            return False
        try:
            return not ipaddress.ip_address(host).is_loopback
        except ValueError:
            return True


def new_idempotency_key() -> str:
    return str(uuid.uuid4())

"""Errors of the client."""

from __future__ import annotations

import json
from typing import Any, cast


class HeirloomError(Exception):
    """Base of all errors of this package."""


class ConnectionFailed(HeirloomError):
    """The server cannot be reached, or the connection broke before its answer."""


class InvalidResponse(HeirloomError):
    """The response does not match the API description; another server, or another version."""


class ServerStartError(HeirloomError):
    """`heirloom serve` did not start."""


class ApiError(HeirloomError):
    """A problem document (RFC 9457) of the server."""

    def __init__(self, status: int, title: str, detail: str, hint: str | None = None) -> None:
        super().__init__(f"{status} {title}: {detail}" + (f" ({hint})" if hint else ""))
        self.status = status
        self.title = title
        self.detail = detail
        self.hint = hint

    def __reduce__(self) -> tuple[type[ApiError], tuple[int, str, str, str | None]]:
        return type(self), (self.status, self.title, self.detail, self.hint)


class InvalidRequest(ApiError):
    """The request is malformed or too large (400, 405, 413, 415, 422)."""


class Unauthorized(ApiError):
    """The token is missing, unknown or revoked (401)."""


class Forbidden(ApiError):
    """The role of the token does not permit this (403)."""


class NotFound(ApiError):
    """Nothing has this id (404)."""


class Conflict(ApiError):
    """The record changed meanwhile (409, 412)."""


class ServerBusy(ApiError):
    """The server has no capacity (408, 429, 503), also after all retries."""

    retry_after: float | None = None


class ServerError(ApiError):
    """The server failed (5xx), for example because its disk is full (507)."""


_BY_STATUS: dict[int, type[ApiError]] = {
    **dict.fromkeys((400, 405, 413, 415, 422), InvalidRequest),
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    **dict.fromkeys((409, 412), Conflict),
    **dict.fromkeys((408, 429, 503), ServerBusy),
}


def read_problem(status: int, reason: str, body: bytes, retry_after: str | None = None) -> ApiError:
    """Returns the error of a response that is no success."""
    try:
        parsed: object = json.loads(body)
    except ValueError:
        parsed = None
    fields = cast(dict[str, Any], parsed) if isinstance(parsed, dict) else {}
    detail = fields.get("detail") or body[:500].decode(errors="replace").strip() or "no details"
    kind = _BY_STATUS.get(status, ServerError if status >= 500 else ApiError)
    error = kind(status, str(fields.get("title") or reason), str(detail), fields.get("hint"))
    if isinstance(error, ServerBusy):
        error.retry_after = _read_seconds(retry_after)
    return error


def _read_seconds(text: str | None) -> float | None:
    """Reads the seconds of a `Retry-After`; the other form, a date, is not used by the server."""
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:
        return None

"""Description of a request, shared by the blocking and the asynchronous client."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Generic, TypeVar
from urllib import parse

T = TypeVar("T")


def quote(name: str) -> str:
    """Encodes a name as one segment of a path."""
    if name in ("", ".", ".."):
        raise ValueError(f"{name!r} is no id")
    return parse.quote(name, safe="")


@dataclass(frozen=True)
class Request(Generic[T]):
    """A request of an operation and the type of its response. Fields with the value `None` are not sent."""

    operation: str
    method: str
    path: str
    response: type[T] | None
    query: Mapping[str, Any] = field(default_factory=dict[str, Any])
    body: Mapping[str, Any] | None = None
    writes: bool = False
    idempotency_key: str | None = None

    def encode_query(self, project: str | None) -> dict[str, str]:
        """Encodes the query; `project` is used if the operation takes a project and none is given."""
        given = _with_project(self.query, project)
        return {name: _encode_parameter(value) for name, value in given.items() if value is not None}

    def encode_body(self, project: str | None) -> bytes | None:
        """Encodes the body as JSON."""
        if self.body is None:
            return None
        given = _with_project(self.body, project)
        fields = {name: value for name, value in given.items() if value is not None}
        # Lone surrogates, which UTF-8 cannot encode, remain escaped.
        try:
            return json.dumps(fields, ensure_ascii=False, default=_encode_value).encode()
        except UnicodeEncodeError:
            return json.dumps(fields, default=_encode_value).encode()


def _with_project(fields: Mapping[str, Any], project: str | None) -> dict[str, Any]:
    filled = dict(fields)
    if "project" in filled and filled["project"] is None:
        filled["project"] = project
    return filled


def _encode_parameter(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(_encode_value(value)) if isinstance(value, date) else str(value)


def _encode_value(value: object) -> object:
    if isinstance(value, datetime):
        # Local time without a zone; the API needs one.
        return (value if value.tzinfo else value.astimezone()).isoformat()
    if isinstance(value, Mapping):
        return dict(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if isinstance(value, (tuple, set, frozenset)):
        return list(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")

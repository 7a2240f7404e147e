"""Parts that need no server."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from heirloom_client import AsyncMemory, LocalServer, Memory, RetryPolicy, ServerStartError
from heirloom_client._model import DecodeError, Model, decode
from heirloom_client._request import Request, quote
from heirloom_client._settings import Settings
from heirloom_client._sse import EventParser, ServerSentEvent
from heirloom_client.errors import ApiError, ServerBusy, read_problem
from heirloom_client.models import RecallHit, ReceiptList, SimilarAttempts


def test_pauses_grow_to_their_bound() -> None:
    policy = RetryPolicy(attempts=100, first_pause_s=1.0, longest_pause_s=8.0, total_s=1000.0)
    for attempt, bound in [(1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (5, 8.0), (99, 8.0)]:
        pauses = [policy.pause(attempt, 0.0) for _ in range(200)]
        assert all(pause is not None and 0.0 <= pause <= bound for pause in pauses)
        assert max(pause or 0.0 for pause in pauses) > bound / 2
    assert policy.pause(100, 0.0) is None
    assert policy.pause(1, 1000.0) is None
    assert policy.pause(1, 0.0, retry_after=1000.0) is None
    waited = policy.pause(1, 0.0, retry_after=30.0)
    assert waited is not None
    assert 30.0 <= waited <= 31.0


def test_events_are_split_at_line_ends_only() -> None:
    text = (
        ': comment\n\nid: 1\r\nevent: created\r\ndata: {"a":"\u2028\x85\x0b"}\r\n\r\n'
        "id: 2\rdata:a\rdata: b\r\rdata: lost"
    )
    expected = [ServerSentEvent("1", "created", '{"a":"\u2028\x85\x0b"}'), ServerSentEvent("2", "message", "a\nb")]
    for size in (1, 2, 3, 7, 1000):
        parser = EventParser()
        content = text.encode()
        events = [event for i in range(0, len(content), size) for event in parser.feed(content[i : i + size])]
        assert events == expected, size


@dataclass(frozen=True, kw_only=True)
class Inner(Model):
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Outer(Model):
    inner: Inner
    rate: float
    names: list[str] | None = None
    numbers: dict[str, int] | None = None
    anything: Any | None = None


def test_models_keep_unknown_fields() -> None:
    value = {"inner": {"at": "2026-11-27T20:09:55.1Z", "new": 1}, "rate": 1, "numbers": {"a": 2}, "newer": [None]}
    decoded = decode(Outer, value)
    assert decoded.inner.at == datetime(2026, 11, 27, 20, 9, 55, 100000, tzinfo=timezone.utc)
    assert (decoded.rate, decoded.names, decoded.numbers) == (1.0, None, {"a": 2})
    assert (decoded.extra, decoded.inner.extra) == ({"newer": [None]}, {"new": 1})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "expected an object for Outer"),
        ({"rate": 1.0}, "Outer without inner"),
        ({"inner": {"at": 5}, "rate": 1.0}, "Outer.inner: Inner.at: expected a time"),
        ({"inner": {"at": "yesterday"}, "rate": 1.0}, "no time: yesterday"),
        ({"inner": {"at": "2026-01-01T00:00:00Z"}, "rate": "high"}, "Outer.rate: expected float, got str"),
        ({"inner": {"at": "2026-01-01T00:00:00Z"}, "rate": 1.0, "names": [1]}, "Outer.names: expected str, got int"),
        ({"inner": {"at": "2026-01-01T00:00:00Z"}, "rate": 1.0, "numbers": {"a": True}}, "expected int, got bool"),
    ],
)
def test_wrong_values_are_reported_with_their_place(value: object, message: str) -> None:
    with pytest.raises(DecodeError, match=message):
        decode(Outer, value)


def test_inherited_models_have_all_fields() -> None:
    episode = {"created_at": "2026-11-27T20:09:55Z", "id": "1", "project": "p", "source": "coder"}
    attempts = decode(SimilarAttempts, {"items": [{**episode, "alike": True, "score": 1.5}], "failed": True})
    assert attempts.items[0].score == 1.5
    receipts = decode(ReceiptList, {"items": [{"id": "1", "created_at": "2026-11-27T20:09:55Z", "budget": 5}]})
    assert receipts.items[0].extra == {"budget": 5}
    with pytest.raises(DecodeError, match="RecallHit without"):
        decode(RecallHit, {"id": "1"})


def test_ids_are_one_segment_of_a_path() -> None:
    assert quote("a/b c%?#é") == "a%2Fb%20c%25%3F%23%C3%A9"
    for name in ("", ".", ".."):
        with pytest.raises(ValueError, match="no id"):
            quote(name)


def test_requests_leave_out_what_is_not_given() -> None:
    query: dict[str, Any] = {"project": None, "all": True, "limit": 5, "text": None}
    request: Request[None] = Request("x", "GET", "/x", None, query=query)
    assert request.encode_query(None) == {"all": "true", "limit": "5"}
    assert request.encode_query("p") == {"project": "p", "all": "true", "limit": "5"}
    body = {"at": datetime(2026, 1, 1, tzinfo=timezone.utc), "none": None, "text": "é", "project": "own", "t": ("a",)}
    encoded = Request("x", "POST", "/x", None, body=body).encode_body("p")
    assert encoded == '{"at": "2026-01-01T00:00:00+00:00", "text": "é", "project": "own", "t": ["a"]}'.encode()
    assert Request("x", "POST", "/x", None, body={"text": "\ud800"}).encode_body(None) == b'{"text": "\\ud800"}'
    with pytest.raises(TypeError, match="object cannot be sent"):
        Request("x", "POST", "/x", None, body={"text": object()}).encode_body(None)


def test_address_and_token_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert repr(Memory()) == "Memory(url='http://127.0.0.1:7717', project=None)"
    monkeypatch.setenv("HEIRLOOM_URL", "https://memory.example/")
    monkeypatch.setenv("HEIRLOOM_TOKEN", "hl_environment")
    settings = Settings.resolve(None, None, "p", 5.0, None)
    assert (settings.url, settings.token) == ("https://memory.example", "hl_environment")
    assert settings.uses_environment_proxy
    assert Settings.resolve("http://[::1]:1", "hl_given", None, 5.0, None).headers["authorization"] == "Bearer hl_given"
    assert not Settings.resolve("http://localhost:1", None, None, 5.0, None).uses_environment_proxy
    assert repr(AsyncMemory(project="p")) == "AsyncMemory(url='https://memory.example', project='p')"


@pytest.mark.parametrize(
    "url", ["memory.example", "ftp://memory.example", "http://user:secret@memory.example", "http://"]
)
def test_unsuitable_addresses_are_refused(url: str) -> None:
    with pytest.raises(ValueError) as caught:
        Memory(url)
    assert "secret" not in str(caught.value)


def test_token_with_control_characters_is_not_shown() -> None:
    with pytest.raises(ValueError) as caught:
        Memory(token="hl_secret\n")
    assert "hl_secret" not in str(caught.value)


def test_problems_without_a_document_have_the_text() -> None:
    error = read_problem(502, "Bad Gateway", b"<h1>upstream</h1>")
    assert (error.status, error.title, error.detail, error.hint) == (502, "Bad Gateway", "<h1>upstream</h1>", None)
    assert read_problem(418, "Teapot", b"").detail == "no details"
    assert type(read_problem(418, "Teapot", b"[]")) is ApiError
    busy = read_problem(503, "", b"{}", "Fri, 27 Nov 2026 20:09:55 GMT")
    assert isinstance(busy, ServerBusy)
    assert busy.retry_after is None


def test_missing_program_is_reported(tmp_path: Path) -> None:
    with (
        pytest.raises(ServerStartError, match="no-such-program"),
        LocalServer(tmp_path, binary=str(tmp_path / "no-such-program")),
    ):
        pass


def test_project_without_memory_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ServerStartError, match="token create"), Memory.local(tmp_path):
        pass


def test_local_server_ends_its_process_and_token(tmp_path: Path) -> None:
    server = LocalServer(tmp_path, create=True)
    with server, Memory(server.url, server.token) as memory:
        assert memory.status().counts == {}
        token = server.token
        assert token not in repr(server)
    with LocalServer(tmp_path, role="admin") as again, Memory(again.url, again.token) as memory:
        assert [each.role for each in memory.api.list_tokens().items].count("admin") == 1
        with pytest.raises(ApiError, match="401"):
            Memory(again.url, token).status()

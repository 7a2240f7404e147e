"""Retries, idempotency keys, errors and the event stream."""

from __future__ import annotations

import logging
import pickle
import time
import traceback
from uuid import uuid4

import httpx
import pytest
from faulty_proxy import Answer, FaultyProxy

from heirloom_client import (
    AsyncMemory,
    ConnectionFailed,
    InvalidRequest,
    InvalidResponse,
    LocalServer,
    NotFound,
    RetryPolicy,
    ServerBusy,
    Unauthorized,
)

pytestmark = pytest.mark.anyio


async def test_lost_answer_stores_once(async_proxied: AsyncMemory, proxy: FaultyProxy) -> None:
    task = f"lost-{uuid4()}"
    proxy.faults.extend(["lose answer", "lose answer"])
    logged = await async_proxied.log_episode(task, "attempted", approach="once")
    keys = [seen.headers["idempotency-key"] for seen in proxy.seen]
    assert len(keys) == 3
    assert len(set(keys)) == 1
    episodes = (await async_proxied.api.list_episodes(task_id=task)).items
    assert [episode.id for episode in episodes] == [logged.id]


async def test_each_write_has_another_key(async_proxied: AsyncMemory, proxy: FaultyProxy) -> None:
    task = f"twice-{uuid4()}"
    await async_proxied.log_episode(task, "attempted")
    await async_proxied.log_episode(task, "attempted")
    await async_proxied.recall("anything")
    first, second, read = [seen.headers.get("idempotency-key") for seen in proxy.seen]
    assert first != second
    assert read is None
    assert len((await async_proxied.api.list_episodes(task_id=task)).items) == 2


async def test_given_key_has_one_effect(async_memory: AsyncMemory) -> None:
    task, key = f"given-{uuid4()}", str(uuid4())
    first = await async_memory.log_episode(task, "attempted", idempotency_key=key)
    second = await async_memory.log_episode(task, "attempted", idempotency_key=key)
    assert first.id == second.id
    with pytest.raises(InvalidRequest, match="another request"):
        await async_memory.log_episode(task, "failed", idempotency_key=key)


@pytest.mark.parametrize("status", [408, 429, 503])
async def test_busy_server_is_asked_again(async_proxied: AsyncMemory, proxy: FaultyProxy, status: int) -> None:
    proxy.faults.extend([Answer(status), Answer(status)])
    assert (await async_proxied.status()).version
    assert len(proxy.seen) == 3


async def test_refused_connection_is_tried_again(async_proxied: AsyncMemory, proxy: FaultyProxy) -> None:
    proxy.faults.extend(["refuse", "refuse"])
    assert (await async_proxied.remember(f"After two refusals {uuid4()}")).outcome == "created"
    assert len({seen.body for seen in proxy.seen}) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 500, 507])
async def test_other_errors_are_not_tried_again(async_proxied: AsyncMemory, proxy: FaultyProxy, status: int) -> None:
    proxy.faults.append(Answer(status))
    with pytest.raises(Exception, match=f"{status} Fault: on demand"):
        await async_proxied.status()
    assert len(proxy.seen) == 1


async def test_retry_after_is_respected(async_proxied: AsyncMemory, proxy: FaultyProxy) -> None:
    proxy.faults.append(Answer(503, retry_after="1"))
    started = time.monotonic()
    await async_proxied.status()
    assert time.monotonic() - started >= 1.0


async def test_retry_after_beyond_the_total_time_fails_at_once(async_proxied: AsyncMemory, proxy: FaultyProxy) -> None:
    proxy.faults.append(Answer(503, retry_after="3600"))
    started = time.monotonic()
    with pytest.raises(ServerBusy) as caught:
        await async_proxied.status()
    assert caught.value.retry_after == 3600
    assert time.monotonic() - started < 5


async def test_attempts_are_limited(async_proxied: AsyncMemory, proxy: FaultyProxy) -> None:
    proxy.faults.extend([Answer(503)] * 9)
    with pytest.raises(ServerBusy):
        await async_proxied.status()
    assert len(proxy.seen) == 5


async def test_unreachable_server_is_reported() -> None:
    retry = RetryPolicy(attempts=2, first_pause_s=0.01)
    async with AsyncMemory("http://127.0.0.1:9", "hl_secret", retry=retry) as memory:
        with pytest.raises(ConnectionFailed, match=r"GET http://127\.0\.0\.1:9/api/status"):
            await memory.status()


async def test_problem_has_its_fields(async_memory: AsyncMemory) -> None:
    with pytest.raises(NotFound) as caught:
        await async_memory.session(f"none-{uuid4()}").messages()
    error = caught.value
    assert (error.status, error.title) == (404, "Not Found")
    assert "no session" in error.detail
    assert error.hint
    copied = pickle.loads(pickle.dumps(error))
    assert (type(copied), copied.status, copied.hint) == (NotFound, 404, error.hint)


async def test_unknown_token_is_unauthorized(server: LocalServer) -> None:
    async with AsyncMemory(server.url, "hl_unknown") as memory:
        with pytest.raises(Unauthorized):
            await memory.status()


async def test_response_of_another_server_is_reported(async_proxied: AsyncMemory, proxy: FaultyProxy) -> None:
    proxy.faults.append(Answer(200, body=b"<html>"))
    with pytest.raises(InvalidResponse, match="get_status"):
        await async_proxied.status()
    proxy.faults.append(Answer(200, body=b'{"project": "x"}'))
    with pytest.raises(InvalidResponse, match="Status without counts"):
        await async_proxied.status()


async def test_token_is_in_no_text(proxy: FaultyProxy, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    token = "hl_" + "5ecre7" * 8
    async with AsyncMemory(proxy.url, token, retry=RetryPolicy(attempts=1)) as memory:
        texts = [repr(memory), repr(vars(memory)), repr(memory.task("1")), repr(memory.session("s"))]
        proxy.faults.append("refuse")
        for _ in range(2):
            try:
                await memory.status()
            except (ConnectionFailed, Unauthorized) as error:
                texts += [str(error), repr(error), "".join(traceback.format_exception(error))]
                cause = error.__cause__
                if isinstance(cause, httpx.RequestError):
                    texts += [repr(cause.request), repr(cause.request.headers)]
    assert len(texts) > 8
    assert not any(token in text for text in [*texts, caplog.text])


async def test_events_continue_after_a_broken_stream(
    async_proxied: AsyncMemory, async_memory: AsyncMemory, proxy: FaultyProxy
) -> None:
    first = await async_memory.remember(f"First event {uuid4()}")
    # The stream begins with this event, and is cut after the first and the second one.
    begin = (await async_memory.changes(limit=1))[0].at
    last_event_id = f"{int(begin.timestamp() * 1_000_000) - 1}-000000000000"
    proxy.faults.extend(["cut stream", "cut stream"])
    ids: list[str | None] = []
    names: list[str] = []
    expected: list[str | None] = [first.id]
    events = async_proxied.events(last_event_id=last_event_id)
    async for event in events:
        assert event.action == event.entry.action == "created"
        ids.append(event.entry.id)
        names.append(event.id)
        if len(ids) == 3:
            break
        expected.append((await async_memory.remember(f"Another event {uuid4()}")).id)
    await events.aclose()
    assert ids == expected
    assert [seen.headers.get("last-event-id") for seen in proxy.seen] == [last_event_id, names[0], names[1]]


async def test_events_report_a_missing_permission(server: LocalServer) -> None:
    async with AsyncMemory(server.url, "hl_unknown") as memory:
        with pytest.raises(Unauthorized):
            async for _ in memory.events():
                pass

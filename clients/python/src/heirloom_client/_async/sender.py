"""Sends requests over HTTP, with retries."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator
from typing import TypeVar, cast

import httpx

from heirloom_client._generated.models import EventEntry
from heirloom_client._io import async_sleep
from heirloom_client._model import DecodeError, decode
from heirloom_client._request import Request
from heirloom_client._settings import EVENT_SILENCE_S, Settings, new_idempotency_key
from heirloom_client._sse import Event, EventParser
from heirloom_client.errors import ApiError, ConnectionFailed, HeirloomError, InvalidResponse, ServerBusy, read_problem

T = TypeVar("T")

# Ids of recent events, because the server may send an event twice.
RECENT_EVENTS = 1000

# Errors of a connection after which a repetition may succeed.
TRANSIENT = (httpx.TimeoutException, httpx.NetworkError, httpx.RemoteProtocolError)


class AsyncSender:
    """HTTP connections of a client."""

    def __init__(self, settings: Settings, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._settings = settings
        self._http = httpx.AsyncClient(
            base_url=settings.url,
            headers=settings.headers,
            timeout=settings.timeout,
            trust_env=settings.uses_environment_proxy,
            transport=transport,
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def send(self, request: Request[T], /) -> T:
        """Sends a request, again after a transient failure, and decodes its response."""
        # The bytes are equal in all attempts, as an idempotency key requires.
        body = request.encode_body(self._settings.project)
        query = request.encode_query(self._settings.project)
        headers = {"content-type": "application/json"} if body is not None else {}
        if request.writes:
            headers["idempotency-key"] = request.idempotency_key or new_idempotency_key()
        retry = self._settings.retry
        started = time.monotonic()
        attempt = 0
        while True:
            attempt += 1
            remaining = max(0.001, retry.total_s - (time.monotonic() - started))
            try:
                response = await self._http.request(
                    request.method,
                    request.path,
                    params=query,
                    content=body,
                    headers=headers,
                    timeout=min(self._settings.timeout, remaining),
                )
                return _read_response(request, response)
            except (httpx.RequestError, ServerBusy) as error:
                failure = _describe_failure(error)
                pause = None
                if isinstance(error, (ServerBusy, *TRANSIENT)):
                    retry_after = error.retry_after if isinstance(error, ServerBusy) else None
                    pause = retry.pause(attempt, time.monotonic() - started, retry_after)
                if pause is None:
                    raise failure from (None if failure is error else error)
            await async_sleep(pause)

    async def events(self, last_event_id: str | None = None) -> AsyncGenerator[Event, None]:
        """Follows the event stream, and reconnects after the last event."""
        retry = self._settings.retry
        recent: OrderedDict[str, None] = OrderedDict()
        failures = 0
        connected_at = time.monotonic()
        while True:
            failure: HeirloomError
            retry_after: float | None = None
            try:
                async with self._http.stream(
                    "GET",
                    "/api/events",
                    params={"project": self._settings.project} if self._settings.project else None,
                    headers={
                        "accept": "text/event-stream",
                        **({"last-event-id": last_event_id} if last_event_id else {}),
                    },
                    timeout=httpx.Timeout(self._settings.timeout, read=EVENT_SILENCE_S),
                ) as response:
                    if not response.is_success:
                        raise _problem(response, await response.aread())
                    failures, connected_at = 0, time.monotonic()
                    parser = EventParser()
                    async for chunk in response.aiter_bytes():
                        for sent in parser.feed(chunk):
                            if sent.id in recent:
                                continue
                            recent[sent.id] = None
                            if len(recent) > RECENT_EVENTS:
                                recent.popitem(last=False)
                            last_event_id = sent.id
                            yield Event(sent.id, sent.name, _decode_event(sent.data))
                        # The first message has the position of the stream and no event.
                        last_event_id = parser.last_id or last_event_id
                    connected_at = time.monotonic()
                failure = ConnectionFailed("the server closed the event stream")
            except (*TRANSIENT, ServerBusy) as error:
                failure = _describe_failure(error)
                retry_after = error.retry_after if isinstance(error, ServerBusy) else None
            failures += 1
            pause = retry.pause(failures, time.monotonic() - connected_at, retry_after)
            if pause is None:
                raise failure
            await async_sleep(pause)


def _describe_failure(error: httpx.RequestError | ServerBusy) -> HeirloomError:
    if isinstance(error, ServerBusy):
        return error
    request = error.request
    detail = str(error) or "no answer in time"
    return ConnectionFailed(f"{request.method} {request.url.copy_with(query=None)}: {type(error).__name__}: {detail}")


def _problem(response: httpx.Response, body: bytes) -> ApiError:
    return read_problem(response.status_code, response.reason_phrase, body, response.headers.get("retry-after"))


def _read_response(request: Request[T], response: httpx.Response) -> T:
    if not response.is_success:
        raise _problem(response, response.content)
    if request.response is None:
        return cast(T, None)
    try:
        return decode(request.response, json.loads(response.content))
    except (DecodeError, ValueError) as error:
        raise InvalidResponse(f"{request.operation}: {error}") from error


def _decode_event(data: str) -> EventEntry:
    try:
        return decode(EventEntry, json.loads(data))
    except (DecodeError, ValueError) as error:
        raise InvalidResponse(f"event: {error}") from error

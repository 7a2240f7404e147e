"""An HTTP proxy in front of the server that fails the next requests on demand."""

from __future__ import annotations

import http.client
import json
import threading
from collections import deque
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Answer:
    """A failure: an answer of the proxy."""

    status: int
    retry_after: str | None = None
    body: bytes | None = None


# `lose answer` forwards the request and closes the connection; `refuse` only closes it; `cut stream` ends a stream
# after its first event, `end stream` after its first message, which has no event.
Fault = Answer | Literal["lose answer", "refuse", "cut stream", "end stream"]


@dataclass(frozen=True)
class Seen:
    """A request that reached the proxy."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class FaultyProxy:
    """Context manager with the proxy. `faults` has the failures of the next requests, in order."""

    def __init__(self, upstream: str) -> None:
        self.upstream = urlsplit(upstream).netloc
        self.faults: deque[Fault] = deque()
        self.seen: list[Seen] = []
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                proxy.serve(self)

            do_GET = do_POST = do_PUT = do_DELETE = _serve

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.stream_ended = threading.Event()
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> FaultyProxy:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        """Handles a request: the next fault, or the server's answer."""
        body = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.seen.append(Seen(handler.command, handler.path, headers, body))
        fault = self.faults.popleft() if self.faults else None
        if isinstance(fault, Answer):
            self._answer(handler, fault)
            return
        if fault == "refuse":
            handler.close_connection = True
            return
        upstream = http.client.HTTPConnection(self.upstream, timeout=60)
        forwarded = {name: value for name, value in headers.items() if name not in ("host", "connection")}
        upstream.request(handler.command, handler.path, body, forwarded)
        response = upstream.getresponse()
        if fault == "lose answer":
            response.read()
            handler.close_connection = True
        elif response.headers.get("content-type") == "text/event-stream":
            self._stream(handler, response, fault)
        else:
            content = response.read()
            handler.send_response_only(response.status)
            for name, value in response.headers.items():
                if name.lower() not in ("transfer-encoding", "content-length"):
                    handler.send_header(name, value)
            if response.status != 204:
                handler.send_header("content-length", str(len(content)))
            handler.end_headers()
            handler.wfile.write(content)
        upstream.close()

    def _answer(self, handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        document = {"type": "about:blank", "title": "Fault", "status": answer.status, "detail": "on demand"}
        body = json.dumps(document).encode() if answer.body is None else answer.body
        handler.send_response_only(answer.status)
        handler.send_header("content-type", "application/problem+json")
        handler.send_header("content-length", str(len(body)))
        if answer.retry_after is not None:
            handler.send_header("retry-after", answer.retry_after)
        handler.end_headers()
        handler.wfile.write(body)

    def _stream(self, handler: BaseHTTPRequestHandler, response: http.client.HTTPResponse, fault: Fault | None) -> None:
        handler.close_connection = True
        handler.send_response_only(response.status)
        handler.send_header("content-type", "text/event-stream")
        handler.end_headers()
        is_over = fault == "end stream"
        try:
            while line := response.readline():
                handler.wfile.write(line)
                handler.wfile.flush()
                is_over = is_over or (fault == "cut stream" and line.startswith(b"data:"))
                if is_over and line == b"\n":
                    self.stream_ended.set()
                    return
        except OSError:
            # The client is gone.
            return

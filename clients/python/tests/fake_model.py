"""HTTP servers that answer as the model providers do, from a script. The requests are recorded."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FakeProvider:
    """Context manager with a server that returns the scripted answers in order, for any path."""

    def __init__(self, answers: list[dict[str, Any]]) -> None:
        self.requests: list[dict[str, Any]] = []
        self._answers = list(answers)
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                provider.requests.append(json.loads(body))
                status, answer = provider.next_answer()
                self.send_response_only(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def next_answer(self) -> tuple[int, bytes]:
        """Returns status and body of the next answer; an error after the last one."""
        if not self._answers:
            return 400, b'{"error": {"message": "the script has ended", "type": "invalid_request_error"}}'
        return 200, json.dumps(self._answers.pop(0)).encode()

    def __enter__(self) -> FakeProvider:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def openai_response(*output: dict[str, Any]) -> dict[str, Any]:
    """An answer of OpenAI's Responses API."""
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1700000000,
        "status": "completed",
        "model": "fake",
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 2,
        },
    }


def openai_text(text: str) -> dict[str, Any]:
    """A message of the assistant in an answer of OpenAI's Responses API."""
    content: dict[str, Any] = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [content]}


def openai_call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A call of a function in an answer of OpenAI's Responses API."""
    return {
        "id": "fc_1",
        "type": "function_call",
        "call_id": "call_1",
        "name": name,
        "arguments": json.dumps(arguments),
        "status": "completed",
    }


def anthropic_message(*content: dict[str, Any]) -> dict[str, Any]:
    """An answer of Anthropic's Messages API."""
    uses_tool = any(part["type"] == "tool_use" for part in content)
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "fake",
        "content": list(content),
        "stop_reason": "tool_use" if uses_tool else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def anthropic_tool_use(number: int, **command: Any) -> dict[str, Any]:
    """A call of the memory tool in an answer of Anthropic's Messages API."""
    return {"type": "tool_use", "id": f"toolu_{number}", "name": "memory", "input": command}

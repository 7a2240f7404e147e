"""Session with an MCP server over standard input and output."""

import json
import os
import queue
import signal
import subprocess
import threading
import time


class Ended(Exception):
    """The server ended, or did not answer in time."""


def text_of(result):
    """Text of a tool's result."""
    return "\n".join(part.get("text", "") for part in result.get("content", []))


class McpSession:
    """Server process with its answers; one request at a time."""

    def __init__(self, command, env, folder, log):
        self.asked = 0
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command, cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(log, "ab"),
            start_new_session=True,
        )
        self.answers = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        client = {"name": "compare", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}, 120)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.tools = self.ask("tools/list", {}, 120)["tools"]
        self.start_ms = (time.perf_counter() - self.started) * 1000

    def _read(self):
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if "result" in message or "error" in message:
                self.answers.put(message)
        self.answers.put(None)

    def _send(self, message):
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except OSError as error:
            raise Ended(str(error)) from error

    def ask(self, method, params, timeout=60):
        """Sends a request; returns its result."""
        self.asked += 1
        self._send({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params})
        while True:
            try:
                message = self.answers.get(timeout=timeout)
            except queue.Empty:
                raise Ended(f"no answer to {method} in {timeout} s") from None
            if message is None:
                raise Ended(f"the server ended before it answered {method}")
            if message.get("id") != self.asked:
                continue
            if "error" in message:
                raise RuntimeError(f"{method}: {message['error']}")
            return message["result"]

    def result_of(self, tool, arguments, timeout=60):
        """Calls a tool; returns its result."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments}, timeout)
        if result.get("isError"):
            raise RuntimeError(f"{tool}: {text_of(result)[:300]}")
        return result

    def call(self, tool, arguments, timeout=60):
        """Calls a tool; returns the text of its answer."""
        return text_of(self.result_of(tool, arguments, timeout))

    def kill(self):
        """Kills the server and its children without a chance to save."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def close(self):
        """Ends the server as a client does: closes its input; kills it after ten seconds."""
        try:
            self.process.stdin.close()
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            pass
        self.kill()

    def resident_mb(self):
        """Resident memory of the server and its children."""
        pids, total = [self.process.pid], 0
        while pids:
            pid = pids.pop()
            try:
                with open(f"/proc/{pid}/status") as file:
                    total += sum(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
                for task in os.listdir(f"/proc/{pid}/task"):
                    with open(f"/proc/{pid}/task/{task}/children") as file:
                        pids += [int(child) for child in file.read().split()]
            except (FileNotFoundError, ProcessLookupError):
                continue
        return round(total / 1024, 1)

"""A server that runs as long as a program needs it."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, cast

from heirloom_client.errors import ServerStartError


class LocalServer:
    """`heirloom serve` on a free port, for the memory of a project on this machine.

    The program is `binary`, else `HEIRLOOM_BIN`, else `heirloom` of the search path. A token of `role` is created for
    this server and revoked when it stops.
    """

    def __init__(
        self,
        project_dir: str | os.PathLike[str],
        *,
        role: str = "orchestrator",
        create: bool = False,
        binary: str | None = None,
        start_timeout: float = 30.0,
    ) -> None:
        self.project_dir: Path = Path(project_dir)
        self.url: str = ""
        self.token: str = ""
        self._role = role
        self._create = create
        self._binary = binary or os.environ.get("HEIRLOOM_BIN") or "heirloom"
        self._start_timeout = start_timeout
        self._token_id: str | None = None
        self._process: subprocess.Popen[str] | None = None

    def __repr__(self) -> str:
        return f"LocalServer(project_dir={str(self.project_dir)!r}, url={self.url!r})"

    def start(self) -> LocalServer:
        """Starts the server and waits until it listens."""
        if self._create:
            self._run("init", "--yes")
        created = self._run("token", "create", "--role", self._role)
        self._token_id, self.token = str(created["id"]), str(created["token"])
        try:
            self.url = str(self._serve()["listening"])
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stops the server and revokes its token."""
        process, self._process = self._process, None
        if process:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout:
                process.stdout.close()
        token_id, self._token_id = self._token_id, None
        if token_id:
            self._run("token", "revoke", token_id)

    def __enter__(self) -> LocalServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _command(self, arguments: Sequence[str]) -> list[str]:
        return [self._binary, "--project-dir", str(self.project_dir), "--json", *arguments]

    def _run(self, *arguments: str) -> dict[str, Any]:
        try:
            done = subprocess.run(self._command(arguments), capture_output=True, text=True, timeout=self._start_timeout)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ServerStartError(f"`{self._binary} {arguments[0]}` cannot be run: {type(error).__name__}") from error
        if done.returncode != 0:
            raise ServerStartError(f"`{self._binary} {' '.join(arguments)}` failed: {done.stderr.strip()}")
        return cast(dict[str, Any], json.loads(done.stdout or "{}"))

    def _serve(self) -> dict[str, Any]:
        command = self._command(["serve", "--port", "0"])
        # Standard error remains that of the caller: it has the server's warnings.
        self._process = process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        stdout = process.stdout
        assert stdout is not None
        # A thread, because a read from a pipe has no time limit on all systems.
        threading.Thread(target=lambda: lines.put(stdout.readline()), daemon=True).start()
        try:
            line = lines.get(timeout=self._start_timeout)
        except queue.Empty:
            raise ServerStartError(f"`heirloom serve` did not listen within {self._start_timeout:g} seconds") from None
        if not line:
            raise ServerStartError(f"`heirloom serve` ended with exit code {process.wait()}")
        return cast(dict[str, Any], json.loads(line))

"""Real servers for the tests: `heirloom serve` of `HEIRLOOM_BIN`, and a proxy that loses answers."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
from faulty_proxy import FaultyProxy

from heirloom_client import AsyncMemory, LocalServer, Memory, RetryPolicy

# Fast, because the tests fail requests on purpose.
RETRY = RetryPolicy(attempts=5, first_pause_s=0.01, longest_pause_s=0.05, total_s=20.0)


@pytest.fixture(scope="session", autouse=True)
def environment(tmp_path_factory: pytest.TempPathFactory) -> Generator[str, None, None]:
    """Requires the program, and keeps its data apart from that of the user. Returns the path of the program."""
    binary = os.environ.get("HEIRLOOM_BIN", "")
    if not Path(binary).is_file():
        pytest.exit("set HEIRLOOM_BIN to the path of the program `heirloom`", returncode=1)
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEIRLOOM_BIN", str(Path(binary).resolve()))
        patch.setenv("HOME", str(home))
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
            patch.setenv(name, str(home / name.lower()))
        for name in ("HEIRLOOM_URL", "HEIRLOOM_TOKEN"):
            patch.delenv(name, raising=False)
        yield binary


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, environment: str) -> Generator[LocalServer, None, None]:
    """A server of a new project."""
    with LocalServer(tmp_path_factory.mktemp("project"), create=True) as server:
        yield server


@pytest.fixture
def proxy(server: LocalServer) -> Generator[FaultyProxy, None, None]:
    """A proxy of the server that fails on request."""
    with FaultyProxy(server.url) as proxy:
        yield proxy


@pytest.fixture
def sync_memory(server: LocalServer) -> Generator[Memory, None, None]:
    with Memory(server.url, server.token, retry=RETRY) as memory:
        yield memory


@pytest.fixture
async def async_memory(server: LocalServer, anyio_backend: str) -> AsyncGenerator[AsyncMemory, None]:
    async with AsyncMemory(server.url, server.token, retry=RETRY) as memory:
        yield memory


@pytest.fixture
def sync_proxied(server: LocalServer, proxy: FaultyProxy) -> Generator[Memory, None, None]:
    """A client that reaches the server through the proxy."""
    with Memory(proxy.url, server.token, retry=RETRY) as memory:
        yield memory


@pytest.fixture
async def async_proxied(
    server: LocalServer, proxy: FaultyProxy, anyio_backend: str
) -> AsyncGenerator[AsyncMemory, None]:
    """A client that reaches the server through the proxy."""
    async with AsyncMemory(proxy.url, server.token, retry=RETRY) as memory:
        yield memory

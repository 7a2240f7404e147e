"""The memory tool of Anthropic's SDK, with the real package and a local server for its model."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic.lib.tools import ToolError
from fake_model import FakeProvider, anthropic_message, anthropic_tool_use

from heirloom_client import AsyncMemory, LocalServer, Memory
from heirloom_client.anthropic import AsyncHeirloomMemoryTool, HeirloomMemoryTool


def script(path: str) -> list[dict[str, Any]]:
    """Answers of a model that uses every command once, two of them wrongly."""
    renamed = path.replace(".md", "-2.md")
    commands: list[dict[str, Any]] = [
        {"command": "view", "path": "/memories"},
        {"command": "create", "path": path, "file_text": "Use tabs\nTest twice\n"},
        {"command": "str_replace", "path": path, "old_str": "tabs", "new_str": "spaces"},
        {"command": "insert", "path": path, "insert_line": 1, "insert_text": "Be brief\n"},
        {"command": "view", "path": path, "view_range": [1, 2]},
        {"command": "view", "path": "/memories/../../etc/passwd"},
        {"command": "str_replace", "path": path, "old_str": "absent", "new_str": "x"},
        {"command": "rename", "old_path": path, "new_path": renamed},
        {"command": "view", "path": renamed},
        {"command": "delete", "path": renamed},
    ]
    uses = [anthropic_message(anthropic_tool_use(number, **command)) for number, command in enumerate(commands)]
    return [*uses, anthropic_message({"type": "text", "text": "Done"})]


def check_results(requests: list[dict[str, Any]], server: LocalServer, path: str) -> None:
    assert requests[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    results = [request["messages"][-1]["content"][0] for request in requests[1:]]
    texts = [str(result["content"]) for result in results]
    assert [bool(result.get("is_error")) for result in results] == [
        *(False, False, False, False, False),
        *(True, True),
        *(False, False, False),
    ]
    assert "MEMORY.md" in texts[0]
    assert "Use spaces" in texts[4]
    assert "Be brief" in texts[4]
    assert "Test twice" not in texts[4]
    assert "Test twice" in texts[8]
    assert not list(server.project_dir.glob(f".heirloom/workspace/{path.removeprefix('/memories/')}"))


def test_tool_runner_uses_memory(sync_memory: Memory, server: LocalServer) -> None:
    path = f"/memories/notes-{uuid4()}.md"
    with (
        FakeProvider(script(path)) as provider,
        Anthropic(base_url=provider.url, api_key="none", max_retries=0) as client,
    ):
        runner = client.beta.messages.tool_runner(
            model="fake",
            max_tokens=100,
            messages=[{"role": "user", "content": "Remember how to work here"}],
            tools=[HeirloomMemoryTool(sync_memory, agent="coder")],
        )
        last = runner.until_done()
    assert last.content[0].type == "text"
    check_results(provider.requests, server, path)


@pytest.mark.anyio
async def test_tool_runner_uses_memory_asynchronously(async_memory: AsyncMemory, server: LocalServer) -> None:
    path = f"/memories/notes-{uuid4()}.md"
    with FakeProvider(script(path)) as provider:
        async with AsyncAnthropic(base_url=provider.url, api_key="none", max_retries=0) as client:
            runner = client.beta.messages.tool_runner(
                model="fake",
                max_tokens=100,
                messages=[{"role": "user", "content": "Remember how to work here"}],
                tools=[AsyncHeirloomMemoryTool(async_memory, agent="coder")],
            )
            last = await runner.until_done()
    assert last.content[0].type == "text"
    check_results(provider.requests, server, path)


def test_failed_command_is_a_tool_error(sync_memory: Memory) -> None:
    tool = HeirloomMemoryTool(sync_memory)
    with pytest.raises(ToolError, match="does not exist"):
        tool.call({"command": "view", "path": f"/memories/{uuid4()}.md"})


def test_change_can_be_undone(sync_memory: Memory) -> None:
    path = f"/memories/undo-{uuid4()}.md"
    HeirloomMemoryTool(sync_memory).call({"command": "create", "path": path, "file_text": "one"})
    change = sync_memory.memory_tool({"command": "str_replace", "path": path, "old_str": "one", "new_str": "two"})
    assert not change.is_error
    assert change.undo is not None
    sync_memory.undo(change.undo)
    assert "one" in sync_memory.memory_tool({"command": "view", "path": path}).content


def test_clear_all_memory_is_not_supported(sync_memory: Memory) -> None:
    with pytest.raises(NotImplementedError):
        HeirloomMemoryTool(sync_memory).clear_all_memory()

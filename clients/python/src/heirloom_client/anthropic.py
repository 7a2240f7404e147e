"""Memory tool of Anthropic's SDK in the workspace files of a project."""

from __future__ import annotations

from typing import Any

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from heirloom_client._async.memory import AsyncMemory
from heirloom_client._sync.memory import Memory
from heirloom_client.models import ToolResult

AnyCommand = (
    BetaMemoryTool20250818ViewCommand
    | BetaMemoryTool20250818CreateCommand
    | BetaMemoryTool20250818StrReplaceCommand
    | BetaMemoryTool20250818InsertCommand
    | BetaMemoryTool20250818DeleteCommand
    | BetaMemoryTool20250818RenameCommand
)


class HeirloomMemoryTool(BetaAbstractMemoryTool):
    """Memory tool for `client.beta.messages.tool_runner(tools=[…])`.

    `/memories` is the workspace of the project; the server restricts paths to it, redacts secrets and keeps each change
    for `undo`. A command that cannot be carried out is an error result for the model.

    `clear_all_memory` is not supported: the workspace has files of other agents too.

    Args:
        memory: The client; the caller closes it.
        agent: Name of the agent in the history.
        cache_control: Breakpoint of the prompt cache.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        agent: str | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._memory = memory
        self._agent = agent

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Shows a folder or a file."""
        return self._run(command)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Creates a file."""
        return self._run(command)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replaces a text that occurs exactly once."""
        return self._run(command)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Inserts a text after a line."""
        return self._run(command)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Deletes a file or a folder."""
        return self._run(command)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Renames a file or a folder."""
        return self._run(command)

    def _run(self, command: AnyCommand) -> str:
        return _text_for_model(self._memory.memory_tool(_command_body(command, self._agent)))


class AsyncHeirloomMemoryTool(BetaAsyncAbstractMemoryTool):
    """Memory tool for an asynchronous client; otherwise the same as `HeirloomMemoryTool`."""

    def __init__(
        self,
        memory: AsyncMemory,
        *,
        agent: str | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._memory = memory
        self._agent = agent

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Shows a folder or a file."""
        return await self._run(command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Creates a file."""
        return await self._run(command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replaces a text that occurs exactly once."""
        return await self._run(command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Inserts a text after a line."""
        return await self._run(command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Deletes a file or a folder."""
        return await self._run(command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Renames a file or a folder."""
        return await self._run(command)

    async def _run(self, command: AnyCommand) -> str:
        return _text_for_model(await self._memory.memory_tool(_command_body(command, self._agent)))


def _command_body(command: AnyCommand, agent: str | None) -> dict[str, Any]:
    """The command as the model wrote it; the SDK does not check it, so the server reports what does not fit."""
    body: dict[str, Any] = command.to_dict()
    return {**body, "agent_id": agent} if agent else body


def _text_for_model(result: ToolResult) -> str:
    if result.is_error:
        raise ToolError(result.content)
    return result.content

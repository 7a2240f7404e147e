"""Tasks, conversations and workspace files of the asynchronous client."""

from __future__ import annotations

import logging
from types import TracebackType
from typing import TYPE_CHECKING, Literal

from heirloom_client._generated.async_api import AsyncApi
from heirloom_client.errors import HeirloomError
from heirloom_client.models import (
    AddedMessage,
    Context,
    EndedTask,
    EntryReport,
    FoundMessage,
    LoggedError,
    Message,
    Outcome,
    SessionSummary,
    TaskState,
    WorkspaceSection,
)

if TYPE_CHECKING:
    from heirloom_client._async.memory import AsyncMemory

logger: logging.Logger = logging.getLogger("heirloom_client")

# Length of the text of an exception in an outcome.
OUTCOME_CHARS_MAX = 1000

# Items of a page of a list: the maximum of the API.
PAGE_ITEMS = 1000


class AsyncTask:
    """A task. As a context manager it opens the task and ends it: done, or failed after an exception."""

    def __init__(
        self,
        memory: AsyncMemory,
        task_id: str,
        *,
        type: str | None,
        title: str | None,
        branch: str | None,
        phase: str | None,
        agent: str | None,
        approach: str | None,
    ) -> None:
        self.id = task_id
        self.phase = phase
        self.agent = agent
        self.approach = approach
        """The approach of this attempt; may be set until the end."""
        self.outcome: str | None = None
        """The outcome of this attempt; by default the exception of a failed one."""
        self.ended: EndedTask | None = None
        """The result of the end, with the id of the episode."""
        self._memory = memory
        self._type = type
        self._title = title
        self._branch = branch

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"

    async def __aenter__(self) -> AsyncTask:
        await self._memory.api.set_task(
            self.id,
            state="open",
            type=self._type,
            title=self._title,
            branch=self._branch,
            phase=self.phase,
            source=self.agent,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.ended is not None:
            return
        if error is None:
            await self.done()
            return
        try:
            text = f"{type(error).__name__}: {error}".rstrip(": ")
            await self.fail(self.outcome or text[:OUTCOME_CHARS_MAX])
        except HeirloomError as failure:
            # The caller gets the error of the task.
            logger.warning("task %s could not be ended: %s", self.id, failure)

    async def step(self, text: str) -> Outcome:
        """Records a completed step."""
        return await self._memory.api.record_step(self.id, state="done", text=text, agent_id=self.agent)

    async def plan(self, text: str) -> Outcome:
        """Records a pending step; `step` with the same text completes it."""
        return await self._memory.api.record_step(self.id, state="pending", text=text, agent_id=self.agent)

    async def log_error(self, text: str) -> LoggedError:
        """Logs an error of the task."""
        return await self._memory.log_error(text, task=self.id, phase=self.phase, agent=self.agent)

    async def remember(self, text: str, *, category: str | None = None, key: str | None = None) -> Outcome:
        """Stores knowledge with the task as its scope."""
        return await self._memory.remember(text, category=category, key=key, task=self.id, agent=self.agent)

    async def context(self, *, query: str | None = None, budget_tokens: int | None = None) -> Context:
        """Builds the context of a prompt for the task."""
        return await self._memory.context(
            task=self.id, query=query, agent=self.agent, phase=self.phase, budget_tokens=budget_tokens
        )

    async def state(self) -> TaskState:
        """Returns the task with its steps, files and open errors."""
        return await self._memory.api.get_task(self.id)

    async def done(self, outcome: str | None = None) -> EndedTask:
        """Ends the task as done."""
        return await self._end("done", outcome)

    async def fail(self, outcome: str | None = None) -> EndedTask:
        """Ends the task as failed."""
        return await self._end("failed", outcome)

    async def _end(self, state: Literal["done", "failed"], outcome: str | None) -> EndedTask:
        self.outcome = outcome or self.outcome
        self.ended = await self._memory.api.end_task(
            self.id, state=state, approach=self.approach, outcome=self.outcome, agent_id=self.agent
        )
        return self.ended


class AsyncSession:
    """A conversation."""

    def __init__(self, api: AsyncApi, session_id: str, *, task: str | None, agent: str | None) -> None:
        self.id = session_id
        self._api = api
        self._task = task
        self._agent = agent

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"

    async def add(
        self,
        role: Literal["user", "assistant", "system", "tool", "tool_call", "tool_result"],
        text: str,
        *,
        sender: str | None = None,
        machine: bool | None = None,
        idempotency_key: str | None = None,
    ) -> AddedMessage:
        """Appends a turn; with `machine` one that only a program reads: no prompt and no search shows it."""
        return await self._api.add_message(
            self.id,
            role=role,
            text=text,
            sender=sender,
            machine=machine,
            task_id=self._task,
            agent_id=self._agent,
            idempotency_key=idempotency_key,
        )

    async def messages(self, *, start: int = 0) -> list[Message]:
        """Returns all turns from position `start`, oldest first.

        Raises:
            NotFound: The conversation has no turn yet.
        """
        found: list[Message] = []
        cursor: int | None = start
        while cursor is not None:
            page = await self._api.list_messages(self.id, cursor=cursor, limit=PAGE_ITEMS)
            found.extend(page.items)
            cursor = int(page.next) if page.next is not None else None
        return found

    async def search(self, query: str, *, k: int | None = None) -> list[FoundMessage]:
        """Searches the turns of the conversation, best first."""
        return (await self._api.search_messages(query=query, session_id=self.id, k=k)).items

    async def summary(self) -> SessionSummary:
        """Returns an extractive summary."""
        return await self._api.get_session_summary(self.id)


class AsyncWorkspace:
    """Workspace files of the project."""

    def __init__(self, api: AsyncApi) -> None:
        self._api = api

    async def read(self) -> WorkspaceSection:
        """Returns the files as prompts contain them."""
        return await self._api.get_workspace()

    async def add(
        self,
        type: Literal["fact", "learning", "error", "daily", "feature"],
        text: str,
        *,
        solution: str | None = None,
        agent: str | None = None,
        idempotency_key: str | None = None,
    ) -> EntryReport:
        """Adds an entry to the file of its type.

        Args:
            type: Type of the entry.
            text: The entry.
            solution: Solution of an error.
            agent: Source; the token's role by default.
            idempotency_key: A repetition with the same key has no second effect; random by default.
        """
        return await self._api.add_workspace_entry(
            type=type, text=text, solution=solution, agent_id=agent, idempotency_key=idempotency_key
        )

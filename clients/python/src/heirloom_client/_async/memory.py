"""The asynchronous client."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from types import TracebackType
from typing import Any, Literal

import httpx

from heirloom_client._async.parts import AsyncSession, AsyncTask, AsyncWorkspace
from heirloom_client._async.sender import AsyncSender
from heirloom_client._generated.async_api import AsyncApi
from heirloom_client._io import async_run
from heirloom_client._retry import RetryPolicy
from heirloom_client._settings import Settings
from heirloom_client.local import LocalServer
from heirloom_client.models import (
    CompactResponse,
    Conflict,
    Context,
    Event,
    EventEntry,
    Hit,
    LoggedError,
    Outcome,
    RecordHistory,
    SimilarAttempts,
    Status,
    ToolCall,
    ToolResult,
)


class AsyncMemory:
    """Memory of a project on a Heirloom server: the asynchronous client.

    Args:
        url: Address of the server; by default `HEIRLOOM_URL`, else `http://127.0.0.1:7717`.
        token: Token of `heirloom token create`; by default `HEIRLOOM_TOKEN`.
        project: Project of all requests; by default the token's project or the served one.
        timeout: Maximum time in seconds of one attempt of a request.
        retry: Number of attempts, pauses between them and their total time.
        transport: Transport of httpx, for other connections than TCP.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        project: str | None = None,
        *,
        timeout: float = 30.0,
        retry: RetryPolicy | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._settings = Settings.resolve(url, token, project, timeout, retry)
        self._sender = AsyncSender(self._settings, transport)
        self.api: AsyncApi = AsyncApi(self._sender.send)
        """All operations of the HTTP API."""
        self.workspace: AsyncWorkspace = AsyncWorkspace(self.api)
        """The workspace files: facts, learnings, errors and daily notes."""

    @classmethod
    @asynccontextmanager
    async def local(
        cls,
        project_dir: str | os.PathLike[str] = ".",
        *,
        role: Literal["agent", "orchestrator", "user", "admin"] = "orchestrator",
        create: bool = False,
        binary: str | None = None,
        timeout: float = 30.0,
        retry: RetryPolicy | None = None,
    ) -> AsyncGenerator[AsyncMemory, None]:
        """Starts a server for a project on this machine, and stops it at the end of the block.

        Args:
            project_dir: Folder of the project.
            role: Role of the token that is created for the block.
            create: Creates the memory (`heirloom init`) if the project has none.
            binary: Path of the program; by default `HEIRLOOM_BIN`, else `heirloom`.
            timeout: Maximum time in seconds of one attempt of a request.
            retry: Number of attempts, pauses between them and their total time.
        """
        server = LocalServer(project_dir, role=role, create=create, binary=binary)
        await async_run(server.start)
        try:
            async with cls(server.url, server.token, timeout=timeout, retry=retry) as memory:
                yield memory
        finally:
            await async_run(server.stop)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(url={self._settings.url!r}, project={self._settings.project!r})"

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        await self._sender.close()

    # Knowledge

    async def remember(
        self,
        text: str,
        *,
        category: str | None = None,
        key: str | None = None,
        rationale: str | None = None,
        confidence: float | None = None,
        source: str | None = None,
        task: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        true_from: datetime | str | None = None,
        true_to: datetime | str | None = None,
        machine: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Outcome:
        """Stores knowledge; a later value for a category and key replaces the earlier one.

        Args:
            text: The value.
            category: convention, architecture, decision, fact (the default), or any other word.
            key: Key; derived from the text by default.
            rationale: Reason of a decision.
            confidence: From 0 to 1; 0.8 for agents, otherwise 1.0 by default.
            source: Source; the token's role by default.
            task: The task.
            agent: The agent.
            session: The conversation.
            true_from: Start of validity.
            true_to: End of validity.
            machine: True for data that only a program reads: no prompt and no search shows it.
            idempotency_key: A repetition with the same key has no second effect; random by default.
        """
        return await self.api.add_knowledge(
            value=text,
            category=category,
            key=key,
            rationale=rationale,
            confidence=confidence,
            source=source,
            task_id=task,
            agent_id=agent,
            session_id=session,
            true_from=true_from,
            true_to=true_to,
            machine=machine,
            idempotency_key=idempotency_key,
        )

    async def recall(
        self,
        query: str,
        *,
        k: int | None = None,
        kinds: Iterable[str] | None = None,
        budget_tokens: int | None = None,
        task: str | None = None,
        near_task: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        as_of: datetime | str | None = None,
        min_relevance: float | None = None,
        explain: bool | None = None,
    ) -> list[Hit]:
        """Searches memory, best hit first.

        Args:
            query: The question; `kind:error task:42 "two words"` filter it.
            k: Maximum number of hits; 10 by default, or as many as fit the budget.
            kinds: Only these kinds: knowledge, error, episode, note, …, `message` for turns of conversations.
            budget_tokens: Maximum number of tokens of text.
            task: Only of this task.
            near_task: Ranks records of this task higher.
            agent: Only by this agent.
            session: Only of this conversation.
            as_of: Searches memory as of this time.
            min_relevance: Relevance from which a hit is returned, 0 to 1; 0 returns weak hits too.
            explain: Includes the parts of each score.
        """
        response = await self.api.recall(
            query=query,
            k=k,
            kinds=",".join([kinds] if isinstance(kinds, str) else kinds) if kinds is not None else None,
            budget_tokens=budget_tokens,
            task_id=task,
            near_task=near_task,
            agent_id=agent,
            session_id=session,
            as_of=as_of,
            min_relevance=min_relevance,
            explain=explain,
        )
        return response.hits

    async def context(
        self,
        *,
        task: str | None = None,
        query: str | None = None,
        agent: str | None = None,
        phase: str | None = None,
        session: str | None = None,
        group: str | None = None,
        plan: str | None = None,
        invocation: str | None = None,
        budget_tokens: int | None = None,
        budget_chars: int | None = None,
    ) -> Context:
        """Builds the context of a prompt; `str()` of the result is its text.

        Args:
            task: The current task.
            query: Additional search words.
            agent: The agent that gets the context.
            phase: The current phase.
            session: The conversation that is continued.
            group: The agent's group.
            plan: The agent's plan.
            invocation: The agent with directives: `coder[input:a.md][tail:50]`.
            budget_tokens: Maximum number of tokens.
            budget_chars: Maximum number of characters.
        """
        built = await self.api.build_context(
            task_id=task,
            query=query,
            agent_id=agent,
            phase=phase,
            session_id=session,
            group=group,
            plan=plan,
            invocation=invocation,
            budget_tokens=budget_tokens,
            budget_chars=budget_chars,
        )
        return Context.of(built)

    async def forget(self, record_id: str, *, idempotency_key: str | None = None) -> Outcome:
        """Retires a record: it is in no context and no recall; `undo` restores it."""
        return await self.api.retire_record(record_id, idempotency_key=idempotency_key)

    async def undo(self, record_id: str, *, idempotency_key: str | None = None) -> Outcome:
        """Undoes the last change of a record, a file change or an import."""
        return await self.api.undo_change(record_id, idempotency_key=idempotency_key)

    async def history(self, record_id: str) -> RecordHistory:
        """Returns the versions and events of a record, oldest first."""
        return await self.api.get_record_history(record_id)

    async def changes(self, *, limit: int | None = None) -> list[EventEntry]:
        """Returns the newest changes of all records, newest first."""
        return (await self.api.list_changes(limit=limit)).items

    async def conflicts(self) -> list[Conflict]:
        """Returns the keys with different values and no decision."""
        return (await self.api.list_conflicts()).items

    async def resolve_conflict(self, conflict_id: str, *, keep: str, idempotency_key: str | None = None) -> Outcome:
        """Resolves a conflict; `keep` is the id of the record to keep."""
        return await self.api.resolve_conflict(conflict_id, keep=keep, idempotency_key=idempotency_key)

    # Attempts and errors

    async def tried(self, approach: str, *, task: str | None = None) -> SimilarAttempts:
        """Returns similar past attempts in `items`; `failed` is true if one of them failed."""
        return await self.api.list_similar_attempts(approach=approach, task_id=task)

    async def log_episode(
        self,
        task: str,
        action: Literal["attempted", "completed", "failed", "retried"],
        *,
        approach: str | None = None,
        outcome: str | None = None,
        agent: str | None = None,
        phase: str | None = None,
        session: str | None = None,
        duration_ms: int | None = None,
        tokens_in: int | None = None,
        tokens_out: int | None = None,
        idempotency_key: str | None = None,
    ) -> Outcome:
        """Logs an attempt at a task."""
        return await self.api.log_episode(
            task_id=task,
            action=action,
            approach=approach,
            outcome=outcome,
            agent_id=agent,
            phase=phase,
            session_id=session,
            duration_ms=duration_ms,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            idempotency_key=idempotency_key,
        )

    async def log_error(
        self,
        text: str,
        *,
        task: str | None = None,
        phase: str | None = None,
        agent: str | None = None,
        iteration: int | None = None,
        idempotency_key: str | None = None,
    ) -> LoggedError:
        """Logs an error; `resolved_before` is the fix of the same error in the past, if there is one."""
        return await self.api.log_error(
            text=text,
            task_id=task,
            phase=phase,
            agent_id=agent,
            iteration=iteration,
            idempotency_key=idempotency_key,
        )

    async def resolve_error(
        self, error_id: str, resolution: str, *, agent: str | None = None, idempotency_key: str | None = None
    ) -> Outcome:
        """Marks an error as resolved, with the fix."""
        return await self.api.resolve_error(
            error_id, resolution=resolution, agent_id=agent, idempotency_key=idempotency_key
        )

    # Tasks, conversations and files

    def task(
        self,
        task_id: str,
        *,
        type: str | None = None,
        title: str | None = None,
        branch: str | None = None,
        phase: str | None = None,
        agent: str | None = None,
        approach: str | None = None,
    ) -> AsyncTask:
        """Returns a task as a context manager: opened at its begin, done at its end, failed after an exception.

        Args:
            task_id: The task.
            type: issue, pr, or any other word.
            title: Title in a person's words.
            branch: The branch.
            phase: The phase.
            agent: The agent that works at it; the source of its records.
            approach: The approach of this attempt.
        """
        return AsyncTask(
            self, task_id, type=type, title=title, branch=branch, phase=phase, agent=agent, approach=approach
        )

    def session(self, session_id: str, *, task: str | None = None, agent: str | None = None) -> AsyncSession:
        """Returns a conversation; it is created with its first turn, then with the given task and agent."""
        return AsyncSession(self.api, session_id, task=task, agent=agent)

    async def compact(
        self,
        messages: Sequence[Any],
        *,
        session: str | None = None,
        agent: str | None = None,
        group: str | None = None,
        model: str | None = None,
        target_tokens: int | None = None,
        format: Literal["openai", "anthropic", "responses", "auto"] | None = None,
        idempotency_key: str | None = None,
    ) -> CompactResponse:
        """Reduces a conversation to the size of a window; the format of the messages is that of their provider.

        Args:
            messages: The messages.
            session: The conversation; omitted messages are archived under it.
            agent: The agent.
            group: The group of the conversation.
            model: The model.
            target_tokens: Size of the window in tokens.
            format: Format of the messages; detected by default.
            idempotency_key: A repetition with the same key has no second effect; random by default.
        """
        return await self.api.compact_conversation(
            messages=messages,
            session_id=session,
            agent_id=agent,
            group=group,
            model=model,
            target_tokens=target_tokens,
            format=format,
            idempotency_key=idempotency_key,
        )

    async def memory_tool(
        self, command: ToolCall | Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> ToolResult:
        """Runs a command of Anthropic's memory tool: `{"command": "view", "path": "/memories"}`."""
        return await self.api.call_memory_tool(command, idempotency_key=idempotency_key)

    async def status(self) -> Status:
        """Returns the state of the project and its store."""
        return await self.api.get_status()

    def events(self, *, last_event_id: str | None = None) -> AsyncGenerator[Event, None]:
        """Follows the changes of the project, by any process, without end.

        After a broken connection the stream continues after its last event; without an event so far, with the changes
        from then on. Close the generator, or end the program, to stop.

        Args:
            last_event_id: Begins after this event.
        """
        return self._sender.events(last_event_id)

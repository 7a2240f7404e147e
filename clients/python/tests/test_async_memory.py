"""Every method of the client, against a real server."""

from __future__ import annotations

from datetime import datetime, timezone
from uuid import uuid4

import pytest

from heirloom_client import AsyncMemory, Forbidden, LocalServer, NotFound
from heirloom_client.models import Context

pytestmark = pytest.mark.anyio


async def test_remember_stores_all_fields(async_memory: AsyncMemory) -> None:
    key = f"port-{uuid4()}"
    outcome = await async_memory.remember(
        "The test server listens on port 8123",
        category="convention",
        key=key,
        rationale="8080 is taken",
        confidence=0.9,
        task="remember",
        agent="coder",
        session="s-remember",
        true_from=datetime(2020, 1, 1, tzinfo=timezone.utc),
    )
    assert outcome.outcome == "created"
    stored = await async_memory.api.get_knowledge(outcome.id)
    assert (stored.value, stored.category, stored.key) == ("The test server listens on port 8123", "convention", key)
    assert (stored.rationale, stored.confidence, stored.task_id, stored.agent_id, stored.session_id) == (
        "8080 is taken",
        0.9,
        "remember",
        "coder",
        "s-remember",
    )
    assert stored.created_at.tzinfo is not None
    record = await async_memory.api.get_record(outcome.id)
    assert record.true_from == datetime(2020, 1, 1, tzinfo=timezone.utc)


async def test_recall_finds_by_question_and_kind(async_memory: AsyncMemory) -> None:
    word = f"zebra{uuid4().hex[:8]}"
    stored = await async_memory.remember(f"The {word} migration must run twice")
    hits = await async_memory.recall(f"how often must the {word} migration run?", k=3, explain=True)
    assert stored.id in [hit.id for hit in hits]
    assert hits[0].kind == "knowledge"
    assert hits[0].parts
    assert all(hit.kind == "error" for hit in await async_memory.recall(word, kinds=["error"]))
    weak = await async_memory.recall("an unrelated question about nothing", min_relevance=0.0)
    assert len(weak) > len(await async_memory.recall("an unrelated question about nothing", min_relevance=0.99))


async def test_context_is_text_within_budget(async_memory: AsyncMemory) -> None:
    await async_memory.remember("Commit messages are in the imperative", category="convention", key="commits")
    built = await async_memory.context(task="ctx", query="commit messages", agent="coder", budget_tokens=500)
    assert isinstance(built, Context)
    assert "imperative" in str(built)
    assert str(built) == built.text
    assert built.tokens <= 500
    assert built.receipt is not None
    receipt = await async_memory.api.get_receipt(built.receipt)
    assert receipt.id == built.receipt
    assert receipt.extra


async def test_forget_and_undo(async_memory: AsyncMemory) -> None:
    stored = await async_memory.remember(f"Temporary fact {uuid4()}")
    assert (await async_memory.forget(stored.id)).outcome == "retired"
    assert (await async_memory.api.get_record(stored.id)).retired_at is not None
    assert (await async_memory.undo(stored.id)).outcome == "restored"
    assert (await async_memory.api.get_record(stored.id)).retired_at is None
    history = await async_memory.history(stored.id)
    assert [event.action for event in history.events] == ["created", "retired", "restored"]
    assert stored.id in [event.id for event in await async_memory.changes(limit=20)]


async def test_replacement_keeps_earlier_version(async_memory: AsyncMemory) -> None:
    key = f"indent-{uuid4()}"
    first = await async_memory.remember("tabs", category="convention", key=key)
    second = await async_memory.remember("spaces", category="convention", key=key)
    assert second.outcome == "replaced"
    history = await async_memory.history(second.id)
    assert [record.id for record in history.records] == [first.id, second.id]


async def test_conflicts_are_listed_and_resolved(async_memory: AsyncMemory) -> None:
    key = f"database-{uuid4()}"
    await async_memory.remember("PostgreSQL", category="decision", key=key)
    lost = await async_memory.remember("SQLite", category="decision", key=key, source="coder")
    assert lost.outcome == "conflict"
    assert lost.winner is not None
    conflict = next(each for each in await async_memory.conflicts() if each.key == key)
    assert conflict.winner.value == "PostgreSQL"
    assert [loser.value for loser in conflict.losers] == ["SQLite"]
    assert (await async_memory.resolve_conflict(conflict.id, keep=lost.id)).outcome in ("resolved", "replaced")
    assert key not in [each.key for each in await async_memory.conflicts()]


async def test_tried_reports_similar_failures(async_memory: AsyncMemory) -> None:
    task = f"tried-{uuid4()}"
    logged = await async_memory.log_episode(
        task,
        "failed",
        approach="mock the clock with freezegun",
        outcome="still flaky",
        agent="coder",
        phase="TEST",
        session="s-tried",
        duration_ms=1200,
        tokens_in=10,
        tokens_out=20,
    )
    assert logged.outcome == "created"
    attempts = await async_memory.tried("mock the clock with freezegun", task=task)
    assert attempts.failed
    assert (attempts.items[0].outcome, attempts.items[0].duration_ms) == ("still flaky", 1200)
    assert not (await async_memory.tried("rewrite the parser in another language", task=task)).failed


async def test_errors_are_resolved(async_memory: AsyncMemory) -> None:
    text = f"TestExpiry{uuid4().hex[:6]}: expected ErrExpired, got nil"
    logged = await async_memory.log_error(text, task="errors", phase="TEST", agent="coder", iteration=2)
    assert logged.resolved_before is None
    resolved = await async_memory.resolve_error(logged.id, "froze the clock in the test", agent="coder")
    assert resolved.outcome == "resolved"
    again = await async_memory.log_error(text, task="errors-2")
    assert again.resolved_before is not None
    assert again.resolved_before.resolution == "froze the clock in the test"


async def test_task_is_done_at_the_end_of_its_block(async_memory: AsyncMemory) -> None:
    task_id = f"task-{uuid4()}"
    async with async_memory.task(
        task_id,
        type="issue",
        title="Fix the login",
        branch="login",
        phase="CODE",
        agent="coder",
        approach="new token",
    ) as task:
        await task.plan("Run the suite")
        await task.step("Run the suite")
        await task.plan("Write the changelog")
        await task.log_error("boom")
        await task.remember("Login uses sessions", category="architecture", key=f"login-{task_id}")
        state = await task.state()
        assert (state.state, state.title, state.branch, state.phase) == ("open", "Fix the login", "login", "CODE")
        assert [step.text for step in state.completed_steps] == ["Run the suite"]
        assert [step.text for step in state.pending_steps] == ["Write the changelog"]
        assert [error.text for error in state.open_errors] == ["boom"]
        assert "Login uses sessions" in str(await task.context(query="login", budget_tokens=1000))
        task.outcome = "green"
    assert task.ended is not None
    assert (await task.state()).state == "done"
    episodes = (await async_memory.api.list_episodes(task_id=task_id)).items
    assert [(each.action, each.approach, each.outcome) for each in episodes] == [("completed", "new token", "green")]


async def test_task_fails_with_its_exception(async_memory: AsyncMemory) -> None:
    task_id = f"task-{uuid4()}"
    with pytest.raises(ZeroDivisionError):
        async with async_memory.task(task_id, agent="coder", approach="divide"):
            raise ZeroDivisionError("by zero")
    assert (await async_memory.api.get_task(task_id)).state == "failed"
    episodes = (await async_memory.api.list_episodes(task_id=task_id)).items
    assert [(each.action, each.outcome) for each in episodes] == [("failed", "ZeroDivisionError: by zero")]


async def test_task_that_ended_itself_is_not_ended_again(async_memory: AsyncMemory) -> None:
    task_id = f"task-{uuid4()}"
    async with async_memory.task(task_id) as task:
        await task.fail("gave up")
    assert (await task.state()).state == "failed"
    assert len((await async_memory.api.list_episodes(task_id=task_id)).items) == 1


async def test_session_keeps_turns(async_memory: AsyncMemory) -> None:
    session = async_memory.session(f"s-{uuid4()}", task="sessions", agent="coder")
    with pytest.raises(NotFound):
        await session.messages()
    first = await session.add("user", "Why is the checkout flaky?")
    await session.add("assistant", "It depends on the clock", sender="coder")
    assert first.seq == 0
    turns = await session.messages()
    assert [(turn.role, turn.text, turn.sender) for turn in turns] == [
        ("user", "Why is the checkout flaky?", None),
        ("assistant", "It depends on the clock", "coder"),
    ]
    assert [turn.seq for turn in await session.messages(start=1)] == [1]
    assert (await session.search("checkout", k=1))[0].seq == 0
    assert (await session.summary()).interactions >= 1


async def test_session_reads_all_pages(async_memory: AsyncMemory) -> None:
    session = async_memory.session(f"s-{uuid4()}")
    for number in range(7):
        await session.add("user", f"turn {number}")
    page = await async_memory.api.list_messages(session.id, limit=3)
    assert (len(page.items), page.next) == (3, "3")
    assert [turn.seq for turn in await session.messages()] == list(range(7))


async def test_compact_shortens_and_archives(async_memory: AsyncMemory) -> None:
    session = f"s-{uuid4()}"
    output = "\n".join(f"line {number} of a long log file" for number in range(2000))
    messages = [
        {"role": "user", "content": "Run the tests"},
        *({"role": "assistant", "content": f"attempt {number}\n{output}"} for number in range(4)),
        {"role": "user", "content": "And now?"},
    ]
    window = await async_memory.compact(messages, session=session, target_tokens=4000, format="anthropic")
    assert window.report["tokens_after"] < window.report["tokens_before"]
    assert "And now?" in str(window.messages[-1])
    archived = window.report["dropped"]
    assert archived


async def test_workspace_entries(async_memory: AsyncMemory) -> None:
    fact = f"The staging database is read-only ({uuid4()})"
    report = await async_memory.workspace.add("fact", fact, agent="coder")
    assert report.added
    assert not (await async_memory.workspace.add("fact", fact)).added
    await async_memory.workspace.add("error", f"lock timeout {uuid4()}", solution="stop the old worker first")
    section = await async_memory.workspace.read()
    assert any(fact in item.text for item in section.items)


async def test_memory_tool_edits_files(async_memory: AsyncMemory) -> None:
    path = f"/memories/{uuid4()}.md"
    created = await async_memory.memory_tool({"command": "create", "path": path, "file_text": "one\n"})
    assert not created.is_error
    assert "one" in (await async_memory.memory_tool({"command": "view", "path": path})).content
    missing = await async_memory.memory_tool({"command": "view", "path": "/memories/none.md"})
    assert missing.is_error


async def test_status_and_generated_operations(async_memory: AsyncMemory) -> None:
    await async_memory.remember(f"Something {uuid4()}")
    status = await async_memory.status()
    assert status.counts["knowledge"] >= 1
    note = await async_memory.api.add_note(text=f"Ask about the release {uuid4()}")
    assert (await async_memory.api.retire_record(note.id)).outcome == "retired"
    await async_memory.api.set_working_memory(scratchpad=["a"], task_context={"n": 1})
    assert (await async_memory.api.get_working_memory()).task_context == {"n": 1}
    assert await async_memory.api.clear_working_memory() is None
    assert (await async_memory.api.get_analytics()).by_week is not None


async def test_project_of_the_client_is_used(server: LocalServer) -> None:
    async with AsyncMemory(server.url, server.token, project="another") as memory:
        text = f"Only in another project {uuid4()}"
        stored = await memory.remember(text)
        assert (await memory.api.get_knowledge(stored.id)).project == "another"
        assert (await memory.status()).project == "another"
    async with AsyncMemory(server.url, server.token) as memory:
        assert all(hit.id != stored.id for hit in await memory.recall(text, min_relevance=0.0))


async def test_local_server_is_started_and_stopped(server: LocalServer) -> None:
    async with AsyncMemory.local(server.project_dir, role="agent") as memory:
        assert (await memory.remember(f"From an agent {uuid4()}")).outcome == "created"
        with pytest.raises(Forbidden):
            await memory.api.list_tokens()

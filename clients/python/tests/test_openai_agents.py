"""The session of the OpenAI Agents SDK, with the real package and a local server for its model."""

from __future__ import annotations

from typing import Any, cast
from uuid import uuid4

import pytest
from agents import (
    Agent,
    OpenAIResponsesModel,
    Runner,
    Session,
    SessionSettings,
    TResponseInputItem,
    function_tool,
    set_tracing_disabled,
)
from fake_model import FakeProvider, openai_call, openai_response, openai_text
from openai import AsyncOpenAI

from heirloom_client import AsyncMemory
from heirloom_client.openai_agents import HeirloomSession

pytestmark = pytest.mark.anyio

set_tracing_disabled(True)

ITEMS: list[dict[str, Any]] = [
    {"role": "user", "content": "Why is the checkout flaky?"},
    {"role": "user", "content": "  with spaces \n"},
    {"role": "user", "content": [{"type": "input_text", "text": "parts"}]},
    {"id": "r1", "type": "reasoning", "summary": [], "encrypted_content": "gAAAA"},
    {"type": "function_call", "call_id": "c1", "name": "run", "arguments": '{"a": "é\\n"}', "id": "fc_1"},
    {"type": "function_call_output", "call_id": "c1", "output": "line 1\nline 2\n"},
    {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "It is the clock"}],
    },
    {"role": "assistant", "content": "Done"},
]


def typed(items: list[dict[str, Any]]) -> list[TResponseInputItem]:
    return cast(list[TResponseInputItem], items)


@pytest.fixture
def session(async_memory: AsyncMemory) -> HeirloomSession:
    return HeirloomSession(f"openai-{uuid4()}", async_memory, task="agents", agent="coder")


async def test_items_are_returned_as_they_were(session: HeirloomSession, async_memory: AsyncMemory) -> None:
    assert isinstance(session, Session)
    assert await session.get_items() == []
    await session.add_items(typed(ITEMS[:3]))
    await session.add_items(typed(ITEMS[3:]))
    assert await session.get_items() == ITEMS
    assert await session.get_items(limit=2) == ITEMS[-2:]
    assert await session.get_items(limit=0) == []
    assert await session.get_items(limit=100) == ITEMS
    again = HeirloomSession(session.session_id, async_memory, session_settings=SessionSettings(limit=1))
    assert await again.get_items() == ITEMS[-1:]
    turns = await async_memory.session(session.session_id).messages()
    assert [turn.role for turn in turns[:2]] == ["user", "user"]
    assert turns[0].text == "Why is the checkout flaky?"
    assert [turn.role for turn in turns[4:6]] == ["tool_call", "tool_result"]


async def test_pop_returns_the_latest_items(session: HeirloomSession, async_memory: AsyncMemory) -> None:
    assert await session.pop_item() is None
    await session.add_items(typed(ITEMS[:3]))
    assert await session.pop_item() == ITEMS[2]
    assert await session.pop_item() == ITEMS[1]
    await session.add_items(typed(ITEMS[4:5]))
    other = HeirloomSession(session.session_id, async_memory)
    assert await other.get_items() == [ITEMS[0], ITEMS[4]]
    assert await other.pop_item() == ITEMS[4]
    assert await session.get_items() == [ITEMS[0]]
    assert await session.pop_item() == ITEMS[0]
    assert await session.pop_item() is None


async def test_clear_removes_all_items(session: HeirloomSession, async_memory: AsyncMemory) -> None:
    await session.clear_session()
    await session.add_items(typed(ITEMS))
    await session.clear_session()
    assert await session.get_items() == []
    assert await HeirloomSession(session.session_id, async_memory).get_items() == []
    await session.add_items(typed(ITEMS[:1]))
    assert await session.get_items() == ITEMS[:1]


async def test_returned_items_are_copies(session: HeirloomSession) -> None:
    await session.add_items(typed(ITEMS[:1]))
    cast(dict[str, Any], (await session.get_items())[0])["content"] = "changed"
    assert await session.get_items() == ITEMS[:1]


async def test_redacted_item_remains_an_item(session: HeirloomSession) -> None:
    arguments = '{"password": "hunter2-very-secret-9182", "url": "postgres://app:s3cr3tPassw0rd@db/main"}'
    call = {"type": "function_call", "call_id": "c1", "name": "login", "arguments": arguments}
    await session.add_items(typed([call]))
    item = cast(dict[str, Any], (await session.get_items())[0])
    assert item["call_id"] == "c1"
    assert "hunter2" not in item["arguments"]
    assert "s3cr3tPassw0rd" not in item["arguments"]


async def test_runner_continues_the_conversation(session: HeirloomSession) -> None:
    @function_tool
    def weather(city: str) -> str:
        """Returns the weather."""
        return f"Rain in {city}"

    script = [
        openai_response(openai_call("weather", {"city": "Bern"})),
        openai_response(openai_text("It rains in Bern")),
        openai_response(openai_text("You asked about Bern")),
    ]
    with FakeProvider(script) as provider:
        client = AsyncOpenAI(base_url=provider.url, api_key="none", max_retries=0)
        model = OpenAIResponsesModel(model="fake", openai_client=client)
        agent = Agent(name="coder", instructions="Be brief", model=model, tools=[weather])
        first = await Runner.run(agent, "How is the weather in Bern?", session=session)
        assert first.final_output == "It rains in Bern"
        second = await Runner.run(agent, "What did I ask?", session=session)
        assert second.final_output == "You asked about Bern"
        await client.close()
    sent = provider.requests[2]["input"]
    kinds = [item.get("type", "message") for item in sent]
    assert kinds == ["message", "function_call", "function_call_output", "message", "message"]
    assert sent[0]["content"] == "How is the weather in Bern?"
    assert sent[2]["output"] == "Rain in Bern"
    assert sent[-1]["content"] == "What did I ask?"
    assert len(await session.get_items()) == 6


async def test_json_of_items_and_removals_is_in_no_context(session: HeirloomSession, async_memory: AsyncMemory) -> None:
    await session.add_items(typed(ITEMS))
    await session.pop_item()
    await session.clear_session()
    context = await async_memory.context(session=session.session_id, query="checkout clock removed items")
    for text in ("removed", "function_call", "output_text", "encrypted_content"):
        assert text not in context.text

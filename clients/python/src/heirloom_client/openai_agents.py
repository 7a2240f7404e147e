"""Session of the OpenAI Agents SDK in the conversations of a project."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Literal, cast

from agents import SessionABC, SessionSettings, TResponseInputItem

from heirloom_client._async.memory import AsyncMemory
from heirloom_client.errors import NotFound
from heirloom_client.models import Message

# Senders of turns that are not plain text: an item as JSON, and a removal.
ITEM_SENDER = "openai-agents:item"
REMOVAL_SENDER = "openai-agents:removal"

Role = Literal["user", "assistant", "system", "tool_call", "tool_result"]


class HeirloomSession(SessionABC):
    """Session whose items are turns of a conversation.

    Messages of plain text are stored as such, other items as JSON, which no prompt and no search shows. The
    conversation is append-only: `pop_item` and `clear_session` add a turn that marks items as removed. They are then no
    items of this session, but their plain text remains in the conversation, its search and its summary, until an admin
    purges them: `memory.api.purge_records(session_id=…)`.

    Secrets in items are redacted before they are stored.

    Several instances, also in other processes, may use one conversation; each reads only the turns that are new to it.

    Args:
        session_id: The conversation.
        memory: The client; the caller closes it.
        task: Task of the conversation.
        agent: Agent of the conversation.
        session_settings: The `limit` for `get_items`.
    """

    def __init__(
        self,
        session_id: str,
        memory: AsyncMemory,
        *,
        task: str | None = None,
        agent: str | None = None,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings: SessionSettings | None = session_settings or SessionSettings()
        self._conversation = memory.session(session_id, task=task, agent=agent)
        self._lock = asyncio.Lock()
        # Current items by position, oldest first, of the turns before `_next_seq`.
        self._items: dict[int, TResponseInputItem] = {}
        self._next_seq = 0

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Returns the items, oldest first; with a limit the latest ones."""
        async with self._lock:
            await self._refresh()
            items = [cast(TResponseInputItem, dict(item)) for item in self._items.values()]
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        if limit is None:
            return items
        return items[len(items) - limit :] if 0 < limit < len(items) else items if limit > 0 else []

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Appends items."""
        async with self._lock:
            for item in items:
                role, text, sender = encode_item(item)
                # JSON is for this class alone; plain messages are turns like any other.
                await self._conversation.add(role, text, sender=sender, machine=sender is not None or None)

    async def pop_item(self) -> TResponseInputItem | None:
        """Marks the latest item as removed and returns it."""
        async with self._lock:
            await self._refresh()
            if not self._items:
                return None
            seq, item = next(reversed(self._items.items()))
            await self._remove(seq, seq)
            del self._items[seq]
            return item

    async def clear_session(self) -> None:
        """Marks all items as removed."""
        async with self._lock:
            await self._refresh()
            if self._items:
                await self._remove(next(iter(self._items)), next(reversed(self._items)))
                self._items.clear()

    async def _remove(self, first: int, last: int) -> None:
        text = json.dumps({"removed": {"first": first, "last": last}})
        await self._conversation.add("system", text, sender=REMOVAL_SENDER, machine=True)

    async def _refresh(self) -> None:
        try:
            turns = await self._conversation.messages(start=self._next_seq)
        except NotFound:
            # The conversation begins with its first turn; after a purge it begins again.
            self._items.clear()
            self._next_seq = 0
            return
        for turn in turns:
            self._next_seq = turn.seq + 1
            removed = decode_removal(turn)
            if removed is not None:
                for seq in [seq for seq in self._items if removed[0] <= seq <= removed[1]]:
                    del self._items[seq]
            else:
                self._items[turn.seq] = decode_item(turn)


def encode_item(item: TResponseInputItem) -> tuple[Role, str, str | None]:
    """Returns role, text and sender of the turn of an item."""
    fields = cast(dict[str, Any], item)
    role, content, kind = fields.get("role"), fields.get("content"), str(fields.get("type", "message"))
    # The server trims texts.
    is_plain = set(fields) == {"role", "content"} and isinstance(content, str) and content.strip() == content != ""
    if is_plain and role in ("user", "assistant", "system"):
        return role, str(content), None
    encoded = json.dumps(fields, ensure_ascii=False)
    if kind.endswith("_output"):
        return "tool_result", encoded, ITEM_SENDER
    if kind.endswith("_call"):
        return "tool_call", encoded, ITEM_SENDER
    return (role if role in ("user", "assistant", "system") else "assistant"), encoded, ITEM_SENDER


def decode_item(turn: Message) -> TResponseInputItem:
    """Returns the item of a turn. Turns of other programs are messages."""
    if turn.sender == ITEM_SENDER:
        try:
            return cast(TResponseInputItem, json.loads(turn.text))
        except ValueError as error:
            raise ValueError(f"turn {turn.seq} of session {turn.session_id} is no item any more: {error}") from None
    role = turn.role if turn.role in ("user", "assistant", "system") else "assistant"
    return cast(TResponseInputItem, {"role": role, "content": turn.text})


def decode_removal(turn: Message) -> tuple[int, int] | None:
    """Returns the first and last position that a turn marks as removed; `None` for other turns."""
    if turn.sender != REMOVAL_SENDER:
        return None
    removed = json.loads(turn.text)["removed"]
    return int(removed["first"]), int(removed["last"])

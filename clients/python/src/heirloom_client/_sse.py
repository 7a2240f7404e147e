"""Parser of server-sent events."""

from __future__ import annotations

from dataclasses import dataclass

from heirloom_client._generated.models import EventEntry


@dataclass(frozen=True)
class Event:
    """A change of memory. Its `id` resumes the stream after it."""

    id: str
    action: str
    """created, replaced, conflict, confirmed, retired, restored, resolved, …"""
    entry: EventEntry
    """The change: time, actor and the ids of the records."""


@dataclass(frozen=True)
class ServerSentEvent:
    """An event as it was sent."""

    id: str
    name: str
    data: str


class EventParser:
    """Splits a byte stream into events.

    Lines end with CR, LF or both, and with nothing else: a JSON text may contain other separators of lines.
    """

    last_id = ""
    """The newest id, also of a message without data: the position after which a new connection resumes."""

    def __init__(self) -> None:
        self._rest = b""
        self._id = ""
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Returns the events that this chunk completes."""
        text = self._rest + chunk
        # A CR at the end may be the first half of a CR LF.
        held = b"\r" if text.endswith(b"\r") else b""
        text = text[: len(text) - len(held)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, last = text.split(b"\n")
        self._rest = last + held
        found = (self._take_line(line.decode(errors="replace")) for line in lines)
        return [event for event in found if event]

    def _take_line(self, line: str) -> ServerSentEvent | None:
        if not line:
            # An id takes effect at the end of its message: a lost connection may cut it off.
            self.last_id = self._id
            event = ServerSentEvent(self._id, self._name or "message", "\n".join(self._data))
            is_empty = not self._data
            self._name, self._data = "", []
            return None if is_empty else event
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id" and "\0" not in value:
            self._id = value
        elif name == "event":
            self._name = value
        elif name == "data":
            self._data.append(value)
        return None

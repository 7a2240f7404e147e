"""The position of an event stream that is lost before its first event."""

from __future__ import annotations

import threading
from uuid import uuid4

from faulty_proxy import FaultyProxy

from heirloom_client import Event, Memory


def test_events_continue_after_a_stream_without_events(
    sync_proxied: Memory, sync_memory: Memory, proxy: FaultyProxy
) -> None:
    proxy.faults.append("end stream")
    events = sync_proxied.events()
    found: list[Event] = []
    reader = threading.Thread(target=lambda: found.append(next(events)), daemon=True)
    reader.start()
    assert proxy.stream_ended.wait(20)
    # Stored while no stream is open, or soon after the next one began.
    made = sync_memory.remember(f"Between two streams {uuid4()}")
    reader.join(20)
    assert [event.entry.id for event in found] == [made.id]
    events.close()
    positions = [seen.headers.get("last-event-id") for seen in proxy.seen]
    assert positions[0] is None
    assert positions[1]
    assert positions[1].endswith("-0")

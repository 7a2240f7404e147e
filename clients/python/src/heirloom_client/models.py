"""Types of the answers of the hand-written methods, and all others of the API under `heirloom_client._generated`."""

from __future__ import annotations

from dataclasses import dataclass

from heirloom_client._generated import models as _models
from heirloom_client._generated.inputs import ToolCall
from heirloom_client._generated.models import AddedMessage as AddedMessage
from heirloom_client._generated.models import (
    AnyRecord,
    Artifact,
    CompactResponse,
    Conflict,
    Episode,
    EventEntry,
    Knowledge,
    LoggedError,
    RecordHistory,
    SimilarAttempts,
    Status,
    ToolResult,
)
from heirloom_client._generated.models import EndTaskResponse as EndedTask
from heirloom_client._generated.models import EntryReport as EntryReport
from heirloom_client._generated.models import FoundMessage as FoundMessage
from heirloom_client._generated.models import MessageInfo as Message
from heirloom_client._generated.models import RecallHit as Hit
from heirloom_client._generated.models import SessionSummary as SessionSummary
from heirloom_client._generated.models import TaskResponse as TaskState
from heirloom_client._generated.models import WorkspaceSection as WorkspaceSection
from heirloom_client._generated.models import WriteOutcome as Outcome
from heirloom_client._sse import Event


@dataclass(frozen=True, kw_only=True)
class Context(_models.Context):
    """A context with its receipt; `str(context)` is its text."""

    @classmethod
    def of(cls, built: _models.Context) -> Context:
        return cls(**vars(built))

    def __str__(self) -> str:
        return self.text


__all__ = [
    "AddedMessage",
    "AnyRecord",
    "Artifact",
    "CompactResponse",
    "Conflict",
    "Context",
    "EndedTask",
    "EntryReport",
    "Episode",
    "Event",
    "EventEntry",
    "FoundMessage",
    "Hit",
    "Knowledge",
    "LoggedError",
    "Message",
    "Outcome",
    "RecordHistory",
    "SessionSummary",
    "SimilarAttempts",
    "Status",
    "TaskState",
    "ToolCall",
    "ToolResult",
    "WorkspaceSection",
]

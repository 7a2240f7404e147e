"""Types of the answers: those of `memory.api`, and shorter names for those of the hand-written methods."""

from __future__ import annotations

from dataclasses import dataclass

from heirloom_client._generated import models as _models
from heirloom_client._generated.inputs import ToolCall
from heirloom_client._generated.models import *  # noqa: F403
from heirloom_client._generated.models import EndTaskResponse as EndedTask
from heirloom_client._generated.models import MessageInfo as Message
from heirloom_client._generated.models import RecallHit as Hit
from heirloom_client._generated.models import TaskResponse as TaskState
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


__all__ = ["Context", "EndedTask", "Event", "Hit", "Message", "Outcome", "TaskState", "ToolCall"]
__all__ += _models.__all__

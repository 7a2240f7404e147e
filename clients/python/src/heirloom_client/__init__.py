"""Client of Heirloom: memory and context for coding agents.

    with Memory() as memory:
        memory.remember("Staging is read-only on Fridays")
        hits = memory.recall("may I deploy today?")

`AsyncMemory` has the same methods as coroutines.
"""

from heirloom_client._async.memory import AsyncMemory
from heirloom_client._async.parts import AsyncSession, AsyncTask, AsyncWorkspace
from heirloom_client._generated.api import Api
from heirloom_client._generated.async_api import AsyncApi
from heirloom_client._retry import RetryPolicy
from heirloom_client._sync.memory import Memory
from heirloom_client._sync.parts import Session, Task, Workspace
from heirloom_client.errors import (
    ApiError,
    Conflict,
    ConnectionFailed,
    Forbidden,
    HeirloomError,
    InvalidRequest,
    InvalidResponse,
    NotFound,
    ServerBusy,
    ServerError,
    ServerStartError,
    Unauthorized,
)
from heirloom_client.local import LocalServer
from heirloom_client.models import Context, Event, Hit, Message, Outcome

__all__ = [
    "Api",
    "ApiError",
    "AsyncApi",
    "AsyncMemory",
    "AsyncSession",
    "AsyncTask",
    "AsyncWorkspace",
    "Conflict",
    "ConnectionFailed",
    "Context",
    "Event",
    "Forbidden",
    "HeirloomError",
    "Hit",
    "InvalidRequest",
    "InvalidResponse",
    "LocalServer",
    "Memory",
    "Message",
    "NotFound",
    "Outcome",
    "RetryPolicy",
    "ServerBusy",
    "ServerError",
    "ServerStartError",
    "Session",
    "Task",
    "Unauthorized",
    "Workspace",
]

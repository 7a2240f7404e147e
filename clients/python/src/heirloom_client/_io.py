"""Functions that have an asynchronous and a blocking form."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def async_sleep(seconds: float) -> None:
    await asyncio.sleep(seconds)


def sync_sleep(seconds: float) -> None:
    time.sleep(seconds)


async def async_run(function: Callable[[], T]) -> T:
    """Runs a blocking function in a thread."""
    return await asyncio.to_thread(function)


def sync_run(function: Callable[[], T]) -> T:
    return function()

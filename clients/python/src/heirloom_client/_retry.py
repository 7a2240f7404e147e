"""Pauses between the attempts of a request."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class RetryPolicy:
    """Exponential back-off with full jitter.

    A request is repeated if its connection failed or the server answered 408, 429 or 503. Reads can be repeated, and
    each write has an idempotency key, so that its repetition has no second effect.
    """

    attempts: int = 6
    """Maximum number of attempts; 1 disables retries."""
    first_pause_s: float = 0.2
    """Upper bound of the first pause; it doubles with each attempt."""
    longest_pause_s: float = 5.0
    """Upper bound of all pauses, except those that the server asks for with `Retry-After`."""
    total_s: float = 60.0
    """No attempt begins, and none waits for its response, after this time."""

    def pause(self, attempt: int, elapsed_s: float, retry_after: float | None = None) -> float | None:
        """Returns the pause after an attempt (from 1); `None` if there is no next one."""
        if attempt >= self.attempts:
            return None
        bound = min(self.longest_pause_s, self.first_pause_s * 2.0 ** min(attempt - 1, 30))
        pause = random.uniform(0.0, bound) + (retry_after or 0.0)
        return pause if elapsed_s + pause < self.total_s else None

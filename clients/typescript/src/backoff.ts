const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** Returns the pause after a failed attempt: exponential, with full jitter above half of it. */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const most = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1));
  return most / 2 + (random() * most) / 2;
}

/** Reads `Retry-After`, in seconds or as a date; 0 if it is missing or not valid. */
export function retryAfterMs(header: string | null, now: number = Date.now()): number {
  if (header === null) return 0;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const at = Date.parse(header);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
}

/** Waits; returns earlier if the signal is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal?.addEventListener("abort", finish, { once: true });
  });
}

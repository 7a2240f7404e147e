/** Longest delay of a timer. */
const LONGEST_MS = 2 ** 31 - 1;

/** Time limit of a call, combined with the caller's signal. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #endsAt: number;
  readonly #timer: ReturnType<typeof setTimeout>;
  #isOver = false;

  constructor(timeoutMs: number, outer: AbortSignal | undefined) {
    outer?.throwIfAborted();
    this.#outer = outer;
    this.#endsAt = Date.now() + timeoutMs;
    this.#timer = setTimeout(
      () => {
        this.#isOver = true;
        this.#controller.abort();
      },
      Math.min(timeoutMs, LONGEST_MS),
    );
    outer?.addEventListener("abort", this.#abort, { once: true });
  }

  /** Aborted by the time limit or by the caller. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** True if the time limit has passed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get remainingMs(): number {
    return this.#endsAt - Date.now();
  }

  /** Throws the reason of the caller's signal, if it is aborted. */
  throwIfAborted(): void {
    this.#outer?.throwIfAborted();
  }

  /** Releases the timer and the listener. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#abort);
  }

  readonly #abort = (): void => {
    this.#controller.abort();
  };
}

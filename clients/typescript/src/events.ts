import { backoffMs, sleep } from "./backoff.js";
import { HeirloomError } from "./errors.js";
import { EventStreamDecoder, type ServerSentEvent } from "./sse.js";
import type { Transport } from "./transport.js";
import type { EventEntry } from "./types.js";

/** A change of the memory, by any process. */
export interface MemoryEvent extends EventEntry {
  /** Position in the stream: `lastEventId` of a later call resumes after it. */
  eventId: string;
}

/** Options of a stream of changes. */
export interface EventOptions {
  /** Ends the stream: the loop over it ends without an error. */
  signal?: AbortSignal | undefined;
  /** Resumes after this event. */
  lastEventId?: string | undefined;
  /** The project; by default the client's, the token's or the served one. */
  project?: string | undefined;
  /** Number of failed connections in a row after which the stream ends with the error; without limit by default. */
  reconnects?: number | undefined;
}

/** Silence after which a connection is replaced; the server sends a comment every 15 seconds. */
const SILENCE_MS = 45_000;
/** Number of ids by which repeated deliveries are recognized. */
const KNOWN_IDS = 1_000;

/** Follows the changes of a project over server-sent events, across lost connections and restarts of the server. */
export async function* followEvents(
  transport: Transport,
  options: EventOptions,
): AsyncGenerator<MemoryEvent, void, void> {
  const position = new StreamPosition(options.lastEventId);
  let failures = 0;
  const isEnded = (): boolean => options.signal?.aborted ?? false;
  while (!isEnded()) {
    const connection = new Connection(options.signal);
    try {
      for await (const event of connection.read(transport, options.project, position)) {
        failures = 0;
        const entry = position.accept(event);
        if (entry !== undefined) yield entry;
      }
    } catch (failure) {
      if (isEnded()) return;
      if (failure instanceof HeirloomError && !isWorthReconnecting(failure)) throw failure;
      if (failures >= (options.reconnects ?? Infinity)) throw failure;
    } finally {
      connection.close();
    }
    failures += 1;
    await sleep(position.retryMs ?? backoffMs(failures), options.signal);
  }
}

function isWorthReconnecting(error: HeirloomError): boolean {
  return error.isTransient || error.status >= 500;
}

/** The newest position of a stream, and the ids that were delivered. */
class StreamPosition {
  lastId: string | undefined;
  retryMs: number | undefined;
  readonly #known = new Set<string>();

  constructor(lastId: string | undefined) {
    this.lastId = lastId;
  }

  /**
   * Sets the position of a stream without one to the time at which the server opened it: an id begins with its time in
   * microseconds, and without a position the changes during a reconnection would be lost.
   */
  startAt(response: Response): void {
    const openedAt = Date.parse(response.headers.get("date") ?? "");
    if (this.lastId === undefined && !Number.isNaN(openedAt)) this.lastId = `${openedAt}000-0`;
  }

  /** Decodes an event; undefined if it was delivered before. */
  accept(event: ServerSentEvent): MemoryEvent | undefined {
    const eventId = event.id ?? "";
    this.lastId = event.id ?? this.lastId;
    if (this.#known.has(eventId)) return undefined;
    this.#known.add(eventId);
    const [oldest] = this.#known;
    if (this.#known.size > KNOWN_IDS && oldest !== undefined) this.#known.delete(oldest);
    return { ...(JSON.parse(event.data) as EventEntry), eventId };
  }
}

/** One connection of a stream, ended by the caller's signal or by silence. */
class Connection {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer;
    if (outer?.aborted === true) this.#controller.abort();
    outer?.addEventListener("abort", this.#abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async *read(
    transport: Transport,
    project: string | undefined,
    position: StreamPosition,
  ): AsyncGenerator<ServerSentEvent, void, void> {
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (position.lastId !== undefined) headers["last-event-id"] = position.lastId;
    const request = { method: "GET", template: "/api/events", query: { project } };
    this.#expectSign();
    const response = await transport.open(request, headers, this.signal);
    position.startAt(response);
    const decoder = new EventStreamDecoder();
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    if (reader === undefined) return;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      this.#expectSign();
      yield* decoder.push(part.value);
      position.lastId = decoder.lastId ?? position.lastId;
      position.retryMs = decoder.retryMs ?? position.retryMs;
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#abort);
    this.#controller.abort();
  }

  #expectSign(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#abort, SILENCE_MS);
  }

  readonly #abort = (): void => {
    this.#controller.abort();
  };
}

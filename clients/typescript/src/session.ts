import type { Memory } from "./memory.js";
import type * as types from "./types.js";
import { toFields } from "./wire_names.js";

/** A conversation of the memory. */
export class SessionHandle {
  readonly id: string;
  readonly #memory: Memory;
  readonly #project: string | undefined;

  constructor(memory: Memory, id: string, project: string | undefined) {
    this.#memory = memory;
    this.id = id;
    this.#project = project;
  }

  /** Stores a turn at the end of the conversation. */
  add(role: types.MessageRole, text: string, options: types.MessageOptions = {}): Promise<{ id: string; seq: number }> {
    const { signal, timeoutMs, retries, idempotencyKey } = options;
    return this.#memory.request("POST", "/api/sessions/{id}/messages", {
      ...{ signal, timeoutMs, retries, idempotencyKey },
      path: { id: this.id },
      body: { ...toFields({ project: this.#project, ...options }), role, text },
    });
  }

  /** Iterates over the turns, oldest first, and requests further pages as needed. */
  messages(
    options: types.CallOptions & { limit?: number | undefined } = {},
  ): AsyncGenerator<types.MessageInfo, void, void> {
    return this.#memory.list("/api/sessions/{id}/messages", this.#read(options));
  }

  /** Returns the summary of the conversation: recent interactions and one line for each older one. */
  summary(options: types.CallOptions = {}): Promise<types.SessionSummary> {
    return this.#memory.request("GET", "/api/sessions/{id}/summary", this.#read(options));
  }

  /** Builds the context with which the conversation continues. */
  context(options: types.ContextOptions = {}): Promise<types.Context> {
    return this.#memory.context({ project: this.#project, ...options, session: this.id });
  }

  /** Makes messages fit a model's window; what is left out can be read with `expand`. */
  compact<Message extends types.ProviderMessage>(
    messages: readonly Message[],
    options: types.CompactOptions = {},
  ): Promise<types.Compacted<Message>> {
    return this.#memory.compact(messages, { project: this.#project, ...options, session: this.id });
  }

  /** Returns the full content that `compact` shortened or left out. */
  expand(id: string, options: types.CallOptions = {}): Promise<types.ExpandedContent> {
    return this.#memory.expand(id, { project: this.#project, ...options, session: this.id });
  }

  #read(options: types.CallOptions & { limit?: number | undefined }): {
    path: { id: string };
    query: Record<string, unknown>;
  } & types.CallOptions {
    const { signal, timeoutMs, retries } = options;
    const query = toFields({ project: this.#project, ...options });
    return { signal, timeoutMs, retries, path: { id: this.id }, query };
  }
}

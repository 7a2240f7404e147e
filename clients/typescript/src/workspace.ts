import type { Memory } from "./memory.js";
import type * as types from "./types.js";
import { toFields } from "./wire_names.js";

/** Markdown files of the project that people and agents edit. */
export class Workspace {
  readonly #memory: Memory;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  /** Returns the files as prompts contain them. */
  show(options: types.CallOptions = {}): Promise<types.WorkspaceSection> {
    const { signal, timeoutMs, retries } = options;
    return this.#memory.request("GET", "/api/workspace", { signal, timeoutMs, retries, query: toFields(options) });
  }

  /** Adds a fact. */
  fact(text: string, options: types.EntryOptions = {}): Promise<types.EntryReport> {
    return this.#add("fact", text, options);
  }

  /** Adds something that was learned. */
  learning(text: string, options: types.EntryOptions = {}): Promise<types.EntryReport> {
    return this.#add("learning", text, options);
  }

  /** Adds an error, with its solution if it is known. */
  error(text: string, options: types.EntryOptions = {}): Promise<types.EntryReport> {
    return this.#add("error", text, options);
  }

  /** Adds a line to the log of the day. */
  daily(text: string, options: types.EntryOptions = {}): Promise<types.EntryReport> {
    return this.#add("daily", text, options);
  }

  /** Adds a request for a feature. */
  feature(text: string, options: types.EntryOptions = {}): Promise<types.EntryReport> {
    return this.#add("feature", text, options);
  }

  #add(type: "fact" | "learning" | "error" | "daily" | "feature", text: string, options: types.EntryOptions) {
    const { signal, timeoutMs, retries, idempotencyKey } = options;
    return this.#memory.request("POST", "/api/workspace", {
      ...{ signal, timeoutMs, retries, idempotencyKey },
      body: { text, type, ...toFields(options) },
    });
  }
}

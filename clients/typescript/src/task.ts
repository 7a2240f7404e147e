/// <reference lib="esnext.disposable" preserve="true" />
import type { Memory } from "./memory.js";
import type * as types from "./types.js";
import { toFields } from "./wire_names.js";

/**
 * A task of the memory.
 *
 * With `await using` a task that leaves its block without `done`, `fail` or `keepOpen` ends as failed, as it does when
 * an exception leaves the block.
 */
export class TaskHandle implements AsyncDisposable {
  readonly id: string;
  readonly #memory: Memory;
  readonly #options: types.TaskOptions;
  #state: "new" | "started" | "ended" = "new";

  constructor(memory: Memory, id: string, options: types.TaskOptions) {
    this.#memory = memory;
    this.id = id;
    this.#options = options;
  }

  /** Creates the task or opens it again, and returns this handle. */
  async start(options: types.TaskOptions = {}): Promise<this> {
    await this.set({ state: "open", ...options });
    this.#state = "started";
    return this;
  }

  /** Changes fields of the task: its title, type, phase, branch. */
  set(options: types.TaskOptions): Promise<types.WriteOutcome> {
    const { agent, signal, timeoutMs, retries, idempotencyKey, ...fields } = { ...this.#options, ...options };
    const body = toFields({ source: agent, ...fields });
    const sending = { signal, timeoutMs, retries, idempotencyKey };
    return this.#memory.request("PUT", "/api/tasks/{id}", { ...sending, path: { id: this.id }, body });
  }

  /** Returns the task with its steps, files and open errors. */
  info(options: types.CallOptions = {}): Promise<types.TaskInfo> {
    const { project, ...sending } = this.#scope(options);
    return this.#memory.request("GET", "/api/tasks/{id}", {
      ...sending,
      path: { id: this.id },
      query: toFields({ project }),
    });
  }

  /** Records a step that was done. */
  step(text: string, options: types.CallOptions = {}): Promise<types.WriteOutcome> {
    return this.#recordStep(text, "done", options);
  }

  /** Records a step that remains to be done. */
  pending(text: string, options: types.CallOptions = {}): Promise<types.WriteOutcome> {
    return this.#recordStep(text, "pending", options);
  }

  /** Logs an error of this task. */
  logError(text: string, options: types.LogErrorOptions = {}): Promise<types.LoggedError> {
    this.#touch();
    return this.#memory.logError(text, { ...this.#scope(options), ...this.#agent(), ...options, task: this.id });
  }

  /** Remembers a fact in the scope of this task. */
  remember(text: string, options: types.RememberOptions = {}): Promise<types.WriteOutcome> {
    this.#touch();
    return this.#memory.remember(text, { ...this.#scope(options), ...this.#agent(), ...options, task: this.id });
  }

  /** Logs an attempt at this task. */
  attempt(options: Omit<types.EpisodeOptions, "task">): Promise<types.WriteOutcome> {
    this.#touch();
    return this.#memory.logEpisode({ ...this.#scope(options), ...this.#agent(), ...options, task: this.id });
  }

  /** Returns past attempts with a similar approach, at any task. */
  tried(approach: string, options: types.CallOptions = {}): Promise<types.SimilarAttempts> {
    return this.#memory.tried(approach, this.#scope(options));
  }

  /** Builds the context of this task's next prompt. */
  context(options: types.ContextOptions = {}): Promise<types.Context> {
    return this.#memory.context({ ...this.#scope(options), ...this.#agent(), ...options, task: this.id });
  }

  /** Ends the task as done. */
  done(options: types.EndTaskOptions = {}): Promise<void> {
    return this.#end("done", options);
  }

  /** Ends the task as failed. */
  fail(options: types.EndTaskOptions = {}): Promise<void> {
    return this.#end("failed", options);
  }

  /** Leaves the task open when the handle is disposed. */
  keepOpen(): void {
    this.#state = "ended";
  }

  /** Ends the task as failed with an exception as its outcome, unless it has ended. */
  async failFrom(failure: unknown): Promise<void> {
    if (this.#state === "ended") return;
    await this.fail({ outcome: failure instanceof Error ? `${failure.name}: ${failure.message}` : String(failure) });
  }

  /** Ends the task as done, unless it has ended. */
  async doneUnlessEnded(): Promise<void> {
    if (this.#state !== "ended") await this.done();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state === "started") await this.fail({ outcome: "it was left before it was done" });
  }

  async #end(state: "done" | "failed", options: types.EndTaskOptions): Promise<void> {
    const { signal, timeoutMs, retries, idempotencyKey } = options;
    const body = { ...toFields({ ...this.#scope(), ...this.#agent(), ...options }), state };
    const sending = { signal, timeoutMs, retries, idempotencyKey };
    await this.#memory.request("POST", "/api/tasks/{id}/end", { ...sending, path: { id: this.id }, body });
    this.#state = "ended";
  }

  #recordStep(text: string, state: "done" | "pending", options: types.CallOptions): Promise<types.WriteOutcome> {
    this.#touch();
    const { project, ...sending } = this.#scope(options);
    const body = { text, state, ...toFields({ project, ...this.#agent() }) };
    return this.#memory.request("POST", "/api/tasks/{id}/steps", { ...sending, path: { id: this.id }, body });
  }

  #scope(options: types.CallOptions = {}): types.CallOptions {
    const { signal, timeoutMs, retries, idempotencyKey } = options;
    return { project: options.project ?? this.#options.project, signal, timeoutMs, retries, idempotencyKey };
  }

  #agent(): { agent?: string } {
    return this.#options.agent === undefined ? {} : { agent: this.#options.agent };
  }

  #touch(): void {
    if (this.#state === "new") this.#state = "started";
  }
}

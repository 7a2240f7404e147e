import { followEvents, type EventOptions, type MemoryEvent } from "./events.js";
import type { AnswerOf, ItemOf, ListPath, Method, OperationOf, PathOf, RequestArguments } from "./operations.js";
import { SessionHandle } from "./session.js";
import { TaskHandle } from "./task.js";
import { Transport, type Fetch, type SendOptions, type WireRequest } from "./transport.js";
import type * as types from "./types.js";
import { toFields } from "./wire_names.js";
import { Workspace } from "./workspace.js";

/** Settings of a client; each has a default. */
export interface MemoryOptions {
  /** Address of `heirloom serve`; `HEIRLOOM_URL` or `http://127.0.0.1:7717` by default. */
  url?: string | undefined;
  /** Token of the server; `HEIRLOOM_TOKEN` by default. */
  token?: string | undefined;
  /** Project of all calls that name none; by default the token's or the served one. */
  project?: string | undefined;
  /** Time limit of a call with all its attempts, in milliseconds; 30,000 by default. */
  timeoutMs?: number | undefined;
  /** Number of further attempts after a transient failure; 4 by default. */
  retries?: number | undefined;
  /** Replacement of the global `fetch`. */
  fetch?: Fetch | undefined;
}

/** Memory of a project, behind the HTTP API of a Heirloom server. */
export class Memory {
  /** Markdown files that people and agents edit. */
  readonly workspace: Workspace;
  /** Project of all calls that name none. */
  readonly project: string | undefined;
  readonly #transport: Transport;

  constructor(options: MemoryOptions = {}) {
    this.project = options.project;
    this.#transport = new Transport({
      url: options.url ?? environment("HEIRLOOM_URL") ?? "http://127.0.0.1:7717",
      token: options.token ?? environment("HEIRLOOM_TOKEN"),
      timeoutMs: options.timeoutMs ?? 30_000,
      retries: options.retries ?? 4,
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    });
    this.workspace = new Workspace(this);
  }

  /** Address of the server. */
  get url(): string {
    return this.#transport.url;
  }

  /** Remembers a fact, a decision or a convention. */
  remember(text: string, options: types.RememberOptions = {}): Promise<types.WriteOutcome> {
    return this.request("POST", "/api/memory/knowledge", {
      ...sendOptions(options),
      body: { value: text, ...toFields(options) },
    });
  }

  /** Searches the memory; the best hits come first. */
  recall(query: string, options: types.RecallOptions = {}): Promise<types.RecallResponse> {
    const { kinds, ...others } = options;
    const body = { query, ...toFields({ ...others, kinds: kinds?.join(",") }) };
    return this.request("POST", "/api/recall", { ...sendOptions(options), body });
  }

  /** Builds the text for the next prompt, within a budget. */
  context(options: types.ContextOptions = {}): Promise<types.Context> {
    return this.request("POST", "/api/context", { ...sendOptions(options), body: toFields(options) });
  }

  /** Returns a record of any kind. */
  get(id: string, options: types.CallOptions = {}): Promise<types.AnyRecord> {
    return this.request("GET", "/api/records/{id}", {
      ...sendOptions(options),
      path: { id },
      query: toFields(options),
    });
  }

  /** Iterates over records, newest first, and requests further pages as needed. */
  records(filter: types.RecordFilter = {}): AsyncGenerator<types.AnyRecord, void, void> {
    return this.list("/api/records", { ...sendOptions(filter), query: toFields(filter) });
  }

  /** Retires a record; its history stays. */
  forget(id: string, options: types.CallOptions = {}): Promise<types.WriteOutcome> {
    return this.request("DELETE", "/api/records/{id}", {
      ...sendOptions(options),
      path: { id },
      query: toFields(options),
    });
  }

  /** Reverts the last change of a record, or an import. */
  undo(id: string, options: types.CallOptions = {}): Promise<types.WriteOutcome> {
    return this.request("POST", "/api/undo/{id}", { ...sendOptions(options), path: { id }, query: toFields(options) });
  }

  /** Records a verdict on a record: pinned, muted, useful, or the opposite. */
  mark(id: string, mark: types.Mark, options: types.CallOptions = {}): Promise<types.WriteOutcome> {
    return this.request("POST", "/api/records/{id}/mark", {
      ...sendOptions(options),
      path: { id },
      body: { mark, ...toFields(options) },
    });
  }

  /** Returns the versions and the changes of a record. */
  history(id: string, options?: types.CallOptions): Promise<types.RecordHistory>;
  /** Returns the newest changes of all records. */
  history(options?: types.CallOptions & { limit?: number | undefined }): Promise<types.EventEntry[]>;
  async history(
    first: string | (types.CallOptions & { limit?: number | undefined }) = {},
    options: types.CallOptions = {},
  ): Promise<types.RecordHistory | types.EventEntry[]> {
    if (typeof first === "string") {
      return this.request("GET", "/api/history/{id}", {
        ...sendOptions(options),
        path: { id: first },
        query: toFields(options),
      });
    }
    const page = await this.request("GET", "/api/history", { ...sendOptions(first), query: toFields(first) });
    return page.items;
  }

  /** Returns past attempts with a similar approach, and `failed`, which is true if one of them failed. */
  tried(approach: string, options: types.TriedOptions = {}): Promise<types.SimilarAttempts> {
    return this.request("GET", "/api/tried", { ...sendOptions(options), query: { approach, ...toFields(options) } });
  }

  /** Logs an error; the answer contains the resolution of the same error in the past. */
  logError(text: string, options: types.LogErrorOptions = {}): Promise<types.LoggedError> {
    return this.request("POST", "/api/errors", { ...sendOptions(options), body: { text, ...toFields(options) } });
  }

  /** Records how an error was resolved. */
  resolveError(id: string, resolution: string, options: types.ResolveErrorOptions = {}): Promise<types.WriteOutcome> {
    return this.request("POST", "/api/errors/{id}/resolve", {
      ...sendOptions(options),
      path: { id },
      body: { resolution, ...toFields(options) },
    });
  }

  /** Logs an attempt at a task. */
  logEpisode(options: types.EpisodeOptions): Promise<types.WriteOutcome> {
    const { task, action } = options;
    return this.request("POST", "/api/memory/episodes", {
      ...sendOptions(options),
      body: { ...toFields(options), task_id: task, action },
    });
  }

  /** Returns a handle on a task; sends nothing. */
  task(id: string, options: types.TaskOptions = {}): TaskHandle {
    return new TaskHandle(this, id, options);
  }

  /** Runs a function as a task: ended as done with its result, or as failed with its exception. */
  async withTask<Result>(
    id: string,
    work: (task: TaskHandle) => Promise<Result> | Result,
    options: types.TaskOptions = {},
  ): Promise<Result> {
    const task = await this.task(id, options).start();
    let result: Result;
    try {
      result = await work(task);
    } catch (failure) {
      // The caller's exception matters more than a failure to record it.
      await task.failFrom(failure).catch(() => undefined);
      throw failure;
    }
    await task.doneUnlessEnded();
    return result;
  }

  /** Returns a handle on a conversation; sends nothing. */
  session(id: string, options: types.CallOptions = {}): SessionHandle {
    return new SessionHandle(this, id, options.project);
  }

  /** Makes a conversation fit a model's window. The messages keep the format of their provider. */
  async compact<Message extends types.ProviderMessage>(
    messages: readonly Message[],
    options: types.CompactOptions = {},
  ): Promise<types.Compacted<Message>> {
    const answer = await this.#send(
      { method: "POST", template: "/api/compact", body: { messages, ...toFields(options) } },
      options,
    );
    return answer as types.Compacted<Message>;
  }

  /** Returns the full content that a window shortened or left out. */
  expand(
    id: string,
    options: types.CallOptions & { session?: string | undefined } = {},
  ): Promise<types.ExpandedContent> {
    return this.request("GET", "/api/expand/{id}", { ...sendOptions(options), path: { id }, query: toFields(options) });
  }

  /** Returns different values of one key that await a decision. */
  async conflicts(options: types.CallOptions = {}): Promise<types.Conflict[]> {
    const page = await this.request("GET", "/api/conflicts", { ...sendOptions(options), query: toFields(options) });
    return page.items;
  }

  /** Decides a conflict: the kept value stays current. */
  resolveConflict(id: string, keep: string, options: types.CallOptions = {}): Promise<types.WriteOutcome> {
    return this.request("POST", "/api/conflicts/{id}/resolve", {
      ...sendOptions(options),
      path: { id },
      body: { keep, ...toFields(options) },
    });
  }

  /** Follows the changes of the memory, by any process, until the signal is aborted or the loop is left. */
  events(options: EventOptions = {}): AsyncGenerator<MemoryEvent, void, void> {
    return followEvents(this.#transport, { ...options, project: options.project ?? this.project });
  }

  /** Carries out a command of Anthropic's memory tool, as the model wrote it. */
  memoryTool(command: types.MemoryCommand, options: SendOptions = {}): Promise<types.ToolResult> {
    return this.request("POST", "/api/memory/tool", { ...sendOptions(options), body: command });
  }

  /** Returns the version of the server and the size of the memory. */
  status(options: types.CallOptions = {}): Promise<types.Status> {
    return this.request("GET", "/api/status", { ...sendOptions(options), query: toFields(options) });
  }

  /** Sends any request of the API, typed by its method and path. */
  async request<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    ...[request]: RequestArguments<OperationOf<M, P>>
  ): Promise<AnswerOf<OperationOf<M, P>>> {
    const { path: values, query, body, ...options } = loosen(request);
    const answer = await this.#send({ method, template: path, path: values, query, body }, options);
    return answer as AnswerOf<OperationOf<M, P>>;
  }

  /** Iterates over the items of a list, and requests further pages as needed. */
  async *list<P extends ListPath>(
    path: P,
    ...[request]: RequestArguments<OperationOf<"GET", P>>
  ): AsyncGenerator<ItemOf<P>, void, void> {
    const { path: values, query, ...options } = loosen(request);
    let cursor: string | undefined;
    do {
      const pageQuery: object = cursor === undefined ? (query ?? {}) : { ...query, cursor };
      const page = (await this.#send({ method: "GET", template: path, path: values, query: pageQuery }, options)) as {
        items: ItemOf<P>[];
        next?: string | null;
      };
      yield* page.items;
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
  }

  /** The address and the project, without the token. */
  toJSON(): { url: string; project?: string } {
    return this.project === undefined ? { url: this.url } : { url: this.url, project: this.project };
  }

  #send(request: WireRequest, options: SendOptions): Promise<unknown> {
    return this.#transport.send(withProject(request, this.project), options);
  }
}

/** Parts of a request, after their types have been checked. */
interface LooseRequest extends SendOptions {
  path?: Record<string, string>;
  query?: object;
  body?: object;
}

function loosen(request: object | undefined): LooseRequest {
  return request ?? {};
}

/** Adds the client's project where the request names none: to the body, or to the query if it has no body. */
function withProject(request: WireRequest, project: string | undefined): WireRequest {
  // The project of a token is a restriction, not an address.
  if (project === undefined || /^\/api\/(tokens|projects)/.test(request.template)) return request;
  if (request.body !== undefined) return { ...request, body: { project, ...request.body } };
  return { ...request, query: { project, ...request.query } };
}

function sendOptions(options: SendOptions): SendOptions {
  const { signal, timeoutMs, retries, idempotencyKey } = options;
  return { signal, timeoutMs, retries, idempotencyKey };
}

function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}

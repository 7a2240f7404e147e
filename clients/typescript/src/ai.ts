/** Adapter for the Vercel AI SDK: tools and a middleware over a `Memory`. */
import { jsonSchema, tool, wrapLanguageModel, type LanguageModelMiddleware } from "ai";
import type { Memory } from "./memory.js";
import type { RecordKind } from "./types.js";

/** Scope of the tools, and their defaults. */
export interface ToolOptions {
  /** The task in whose scope records are written. */
  task?: string | undefined;
  /** The agent that is named as the author. */
  agent?: string | undefined;
  /** The session in whose scope facts are remembered. */
  session?: string | undefined;
  /** Number of hits of a search, if the model asks for none; 8 by default. */
  hits?: number | undefined;
  /** Time limit of a call in milliseconds; 10,000 by default. */
  timeoutMs?: number | undefined;
}

/** Creates the tools `recall`, `remember`, `tried`, `logError`, `resolveError`, `logAttempt` and `forget`. */
export function heirloomTools(memory: Memory, options: ToolOptions = {}) {
  const { task, agent, session } = options;
  const author = { task, agent };
  const sending = (call: { abortSignal?: AbortSignal | undefined }) => ({
    signal: call.abortSignal,
    timeoutMs: options.timeoutMs ?? 10_000,
  });
  return {
    recall: tool({
      description:
        "Search the project's memory: facts, decisions, conventions, errors with their fixes, past attempts. " +
        "Use it before you decide how to do something.",
      inputSchema: jsonSchema<{ query: string; k?: number; kinds?: RecordKind[] }>({
        type: "object",
        properties: {
          query: { type: "string", description: "A question or words" },
          k: { type: "integer", minimum: 1, maximum: 50, description: "Maximum number of hits" },
          kinds: {
            type: "array",
            items: { type: "string", enum: ["knowledge", "error", "episode", "task", "note", "message"] },
            description: "Only these kinds",
          },
        },
        required: ["query"],
        additionalProperties: false,
      }),
      execute: async ({ query, k, kinds }, call) => {
        const found = await memory.recall(query, { k: k ?? options.hits ?? 8, kinds, ...sending(call) });
        const hits = found.hits.map(({ id, kind, text, meaning, key }) =>
          key == null ? { id, kind, text: meaning ?? text } : { id, kind, key, text: meaning ?? text },
        );
        return { hits };
      },
    }),

    remember: tool({
      description:
        "Remember a fact, a decision or a convention that later sessions need. One sentence that is true on its own. " +
        "A later value for the same key replaces the earlier one.",
      inputSchema: jsonSchema<{ text: string; category?: string; key?: string; rationale?: string }>({
        type: "object",
        properties: {
          text: { type: "string" },
          category: { type: "string", description: "fact (the default), decision, convention or architecture" },
          key: { type: "string", description: "Short name of what the text is about, such as `indent`" },
          rationale: { type: "string", description: "Reason of a decision" },
        },
        required: ["text"],
        additionalProperties: false,
      }),
      execute: async ({ text, ...fields }, call) => {
        const { id, outcome } = await memory.remember(text, { ...fields, ...author, session, ...sending(call) });
        return { id, outcome };
      },
    }),

    tried: tool({
      description: "Find past attempts with a similar approach. Use it before you begin; `failed` warns of a dead end.",
      inputSchema: jsonSchema<{ approach: string }>({
        type: "object",
        properties: { approach: { type: "string", description: "The approach in a few words" } },
        required: ["approach"],
        additionalProperties: false,
      }),
      execute: async ({ approach }, call) => {
        const { failed, items } = await memory.tried(approach, sending(call));
        const attempts = items.map(({ approach, action, outcome, task_id }) => ({
          approach,
          action,
          outcome,
          task: task_id,
        }));
        return { failed, attempts };
      },
    }),

    logError: tool({
      description: "Log an error that occurred. The answer contains `fix` if the same error was resolved before.",
      inputSchema: jsonSchema<{ text: string }>({
        type: "object",
        properties: { text: { type: "string", description: "The message, without the whole output" } },
        required: ["text"],
        additionalProperties: false,
      }),
      execute: async ({ text }, call) => {
        const { id, resolved_before } = await memory.logError(text, { ...author, ...sending(call) });
        return resolved_before == null ? { id } : { id, fix: resolved_before.resolution };
      },
    }),

    resolveError: tool({
      description: "Record what resolved an error.",
      inputSchema: jsonSchema<{ id: string; resolution: string }>({
        type: "object",
        properties: {
          id: { type: "string", description: "Id that `logError` returned" },
          resolution: { type: "string" },
        },
        required: ["id", "resolution"],
        additionalProperties: false,
      }),
      execute: async ({ id, resolution }, call) => {
        // A resolution is a new version of the error, with an id of its own.
        const resolved = await memory.resolveError(id, resolution, { agent, ...sending(call) });
        return { id: resolved.id, outcome: resolved.outcome };
      },
    }),

    logAttempt: tool({
      description: "Log an approach to a task and its outcome, so that a failed one is not tried again.",
      inputSchema: jsonSchema<{ task?: string; approach: string; outcome: string; succeeded: boolean }>({
        type: "object",
        properties: {
          task: {
            type: "string",
            description: task === undefined ? "Id of the task" : `Id of the task; ${task} by default`,
          },
          approach: { type: "string" },
          outcome: { type: "string" },
          succeeded: { type: "boolean" },
        },
        required:
          task === undefined ? ["task", "approach", "outcome", "succeeded"] : ["approach", "outcome", "succeeded"],
        additionalProperties: false,
      }),
      execute: async ({ task: named, approach, outcome, succeeded }, call) => {
        const action = succeeded ? "completed" : "failed";
        const attempt = { task: named ?? task ?? "main", agent, action, approach, outcome } as const;
        const { id } = await memory.logEpisode({ ...attempt, ...sending(call) });
        return { id };
      },
    }),

    forget: tool({
      description: "Retire a record that is no longer true. Its history stays.",
      inputSchema: jsonSchema<{ id: string }>({
        type: "object",
        properties: { id: { type: "string", description: "Id of a hit of `recall`" } },
        required: ["id"],
        additionalProperties: false,
      }),
      execute: async ({ id }, call) => {
        const { outcome } = await memory.forget(id, sending(call));
        return { outcome };
      },
    }),
  };
}

/** The tools of `heirloomTools`. */
export type HeirloomTools = ReturnType<typeof heirloomTools>;

/** The reader and the size of the context that a model gets. */
export interface ContextMiddlewareOptions {
  task?: string | undefined;
  agent?: string | undefined;
  session?: string | undefined;
  phase?: string | undefined;
  /** Maximum size of the context; 2,000 tokens by default. */
  budgetTokens?: number | undefined;
  /** Time limit of the context in milliseconds; 3,000 by default. */
  timeoutMs?: number | undefined;
  /** Called if the context cannot be built; the model is then called without it. Prints a warning by default. */
  onError?: ((error: unknown) => void) | undefined;
}

type CallOptions = Parameters<NonNullable<LanguageModelMiddleware["transformParams"]>>[0]["params"];
type Prompt = CallOptions["prompt"];

/**
 * Creates a middleware that adds the memory's context to the system prompt of each call. The last message of the user
 * is the query. Further steps of a tool loop get the context of the first one, so that a provider can cache the prompt.
 */
export function memoryMiddleware(memory: Memory, options: ContextMiddlewareOptions = {}): LanguageModelMiddleware {
  const { onError, budgetTokens = 2_000, timeoutMs = 3_000, ...reader } = options;
  const contexts = new ContextCache();
  return {
    specificationVersion: "v3",
    transformParams: async ({ params }) => {
      const at = params.prompt.map((message) => message.role).lastIndexOf("user");
      const query = textOf(params.prompt[at]);
      let text = at === params.prompt.length - 1 ? undefined : contexts.get(at, query);
      if (text === undefined) {
        try {
          const sending = { timeoutMs, signal: params.abortSignal };
          text = (
            await memory.context({ ...reader, budgetTokens, query: query.slice(-2_000) || undefined, ...sending })
          ).text;
        } catch (error) {
          params.abortSignal?.throwIfAborted();
          (onError ?? warn)(error);
          return params;
        }
        contexts.set(at, query, text);
      }
      return text === "" ? params : { ...params, prompt: withSystemText(params.prompt, text) };
    },
  };
}

/** Returns a model whose prompts begin with the memory's context. */
export function withMemory(
  model: Parameters<typeof wrapLanguageModel>[0]["model"],
  memory: Memory,
  options: ContextMiddlewareOptions = {},
): ReturnType<typeof wrapLanguageModel> {
  return wrapLanguageModel({ model, middleware: memoryMiddleware(memory, options) });
}

/** Contexts of the newest prompts, for the further steps of their tool loops. */
class ContextCache {
  readonly #texts = new Map<string, string>();

  get(position: number, query: string): string | undefined {
    return this.#texts.get(`${position} ${query}`);
  }

  set(position: number, query: string, text: string): void {
    const key = `${position} ${query}`;
    this.#texts.delete(key);
    this.#texts.set(key, text);
    const [oldest] = this.#texts.keys();
    if (this.#texts.size > 64 && oldest !== undefined) this.#texts.delete(oldest);
  }
}

function textOf(message: Prompt[number] | undefined): string {
  if (message?.role !== "user") return "";
  return message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

function withSystemText(prompt: Prompt, text: string): Prompt {
  const [first, ...others] = prompt;
  if (first?.role !== "system") return [{ role: "system", content: text }, ...prompt];
  return [{ ...first, content: `${first.content}\n\n${text}` }, ...others];
}

function warn(error: unknown): void {
  console.warn(`heirloom: the prompt has no context: ${error instanceof Error ? error.message : String(error)}`);
}

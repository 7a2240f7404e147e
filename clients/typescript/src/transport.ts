import { HeirloomError, describeFailure, readProblem, safeCause } from "./errors.js";
import { backoffMs, retryAfterMs, sleep } from "./backoff.js";
import { Deadline } from "./deadline.js";

/** The `fetch` that a client uses. */
export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

/** Options of a single request. */
export interface SendOptions {
  /** Cancels the request; the call then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Time limit of the call with all its attempts, in milliseconds. */
  timeoutMs?: number | undefined;
  /** Number of further attempts after a transient failure. */
  retries?: number | undefined;
  /** `Idempotency-Key` of a write; a new one for each call by default. */
  idempotencyKey?: string | undefined;
}

/** A request as it is sent. */
export interface WireRequest {
  method: string;
  /** Path with `{id}` placeholders; failures quote it. */
  template: string;
  path?: Record<string, string | number> | undefined;
  query?: object | undefined;
  body?: object | undefined;
}

/** Settings of a transport. */
export interface TransportSettings {
  url: string;
  token: string | undefined;
  timeoutMs: number;
  retries: number;
  fetch: Fetch;
}

/** Requests by `POST` that change nothing: they are repeated without a key, so that no response is stored for them. */
const READS_BY_POST = new Set(["/api/recall", "/api/context"]);

/** Sends requests with authorization, time limit, retries and idempotency keys. */
export class Transport {
  readonly url: string;
  readonly #token: string | undefined;
  readonly #settings: TransportSettings;

  constructor(settings: TransportSettings) {
    this.url = checkUrl(settings.url);
    this.#token = checkToken(settings.token);
    this.#settings = settings;
  }

  /** Sends a request until it is answered, refused or out of time, and returns the decoded body. */
  async send(request: WireRequest, options: SendOptions = {}): Promise<unknown> {
    const timeoutMs = options.timeoutMs ?? this.#settings.timeoutMs;
    const retries = options.retries ?? this.#settings.retries;
    const key = idempotencyKey(request, options);
    const isRepeatable = key !== undefined || isRead(request);
    const call: Call = {
      request,
      url: this.#address(request),
      headers: this.#headers(key),
      body: request.body === undefined ? undefined : JSON.stringify(request.body),
    };
    if (call.body !== undefined) call.headers["content-type"] = "application/json";
    const deadline = new Deadline(timeoutMs, options.signal);
    try {
      for (let attempt = 1; ; attempt++) {
        const result = await this.#attempt(call, deadline.signal, attempt);
        if (!(result instanceof Failure)) return result.body;
        deadline.throwIfAborted();
        if (deadline.isOver) throw this.#timeoutError(request, attempt, timeoutMs, result.error);
        if (!result.error.isTransient || !isRepeatable || attempt > retries) throw result.error;
        const pause = Math.max(backoffMs(attempt), result.retryAfterMs);
        if (pause >= deadline.remainingMs) throw result.error;
        await sleep(pause, deadline.signal);
        deadline.throwIfAborted();
      }
    } finally {
      deadline.clear();
    }
  }

  /** Opens a response that is read in parts, with one attempt and without a time limit. */
  async open(request: WireRequest, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const url = this.#address(request);
    let response: Response;
    try {
      response = await this.#fetch({ request, url, headers: { ...this.#headers(undefined), ...headers } }, signal);
    } catch (failure) {
      throw this.#networkError(request, 1, failure);
    }
    if (response.ok) return response;
    throw await this.#refusal(request, response, 1);
  }

  async #attempt(call: Call, signal: AbortSignal, attempt: number): Promise<Failure | { body: unknown }> {
    try {
      const response = await this.#fetch(call, signal);
      if (!response.ok) {
        const error = await this.#refusal(call.request, response, attempt);
        return new Failure(error, retryAfterMs(response.headers.get("retry-after")));
      }
      if (response.status === 204) return { body: undefined };
      return { body: await readJson(call.request, response, attempt) };
    } catch (failure) {
      if (failure instanceof HeirloomError) return new Failure(failure, 0);
      return new Failure(this.#networkError(call.request, attempt, failure), 0);
    }
  }

  #fetch(call: Call, signal: AbortSignal): Promise<Response> {
    // A redirect would turn a write into a read, or carry the token to another host.
    const init: RequestInit = { method: call.request.method, headers: call.headers, signal, redirect: "manual" };
    if (call.body !== undefined) init.body = call.body;
    const { fetch } = this.#settings;
    return fetch(call.url, init);
  }

  #address(request: WireRequest): string {
    return this.url + fillPath(request) + queryString(request.query);
  }

  #headers(key: string | undefined): Record<string, string> {
    const headers: Record<string, string> = { accept: "application/json" };
    if (this.#token !== undefined) headers["authorization"] = `Bearer ${this.#token}`;
    if (key !== undefined) headers["idempotency-key"] = key;
    return headers;
  }

  async #refusal(request: WireRequest, response: Response, attempts: number): Promise<HeirloomError> {
    const text = await response.text();
    const problem = readProblem(parseJson(text));
    const location = response.headers.get("location");
    const fallback = location === null ? text.slice(0, 200) || "the answer has no text" : `redirected to ${location}`;
    return new HeirloomError({
      status: response.status,
      title: problem?.title ?? (response.statusText || "Unexpected answer"),
      detail: problem?.detail ?? fallback,
      hint: problem?.hint ?? undefined,
      request: nameRequest(request),
      attempts,
    });
  }

  #networkError(request: WireRequest, attempts: number, failure: unknown): HeirloomError {
    return new HeirloomError({
      status: 0,
      title: "Network error",
      detail: `${describeFailure(failure, this.#token)} at ${this.url}`,
      hint: "`heirloom serve` starts the server",
      request: nameRequest(request),
      attempts,
      cause: safeCause(failure, this.#token),
    });
  }

  #timeoutError(request: WireRequest, attempts: number, timeoutMs: number, last: HeirloomError): HeirloomError {
    return new HeirloomError({
      status: 0,
      title: "Timeout",
      detail: `no answer within ${timeoutMs} ms from ${this.url}`,
      request: nameRequest(request),
      attempts,
      cause: last.cause,
    });
  }
}

/** A request with everything that its attempts share. */
interface Call {
  request: WireRequest;
  url: string;
  headers: Record<string, string>;
  body?: string | undefined;
}

/** A failed attempt, with the pause that the server asks for. */
class Failure {
  constructor(
    readonly error: HeirloomError,
    readonly retryAfterMs: number,
  ) {}
}

function isRead(request: WireRequest): boolean {
  return request.method === "GET" || READS_BY_POST.has(request.template);
}

function idempotencyKey(request: WireRequest, options: SendOptions): string | undefined {
  if (options.idempotencyKey !== undefined) return options.idempotencyKey;
  return isRead(request) ? undefined : newKey();
}

function newKey(): string {
  // Node 18 has no global `crypto`; a key has to be unique, not secret.
  const source = (globalThis as { crypto?: Partial<Crypto> }).crypto;
  if (source?.randomUUID !== undefined) return source.randomUUID();
  const part = (): string => Math.random().toString(36).slice(2).padEnd(11, "0");
  return `${Date.now().toString(36)}-${part()}-${part()}`;
}

function nameRequest(request: WireRequest): string {
  return `${request.method} ${request.template}`;
}

function fillPath(request: WireRequest): string {
  return request.template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = request.path?.[name];
    if (value === undefined || value === "") throw new TypeError(`${nameRequest(request)} needs a value for ${name}`);
    return encodeURIComponent(value);
  });
}

function queryString(query: object | undefined): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {}) as [string, unknown][]) {
    if (value !== undefined && value !== null) pairs.append(name, String(value));
  }
  const text = pairs.toString();
  return text === "" ? "" : `?${text}`;
}

async function readJson(request: WireRequest, response: Response, attempts: number): Promise<unknown> {
  const text = await response.text();
  const value = parseJson(text);
  if (value !== undefined) return value;
  throw new HeirloomError({
    status: response.status,
    title: "Unexpected answer",
    detail: "the answer is not JSON",
    hint: "check that the address is that of `heirloom serve`",
    request: nameRequest(request),
    attempts,
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function checkUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new TypeError("the address of the server is not a URL, such as http://127.0.0.1:7717");
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") throw new TypeError("the URL must be http or https");
  if (url.username !== "" || url.password !== "")
    throw new TypeError("the URL must not contain credentials; use `token`");
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

function checkToken(text: string | undefined): string | undefined {
  const token = text?.trim();
  if (token === undefined || token === "") return undefined;
  // `fetch` quotes a header that it refuses; this message does not.
  if (!/^[\x21-\x7e]+$/.test(token)) throw new TypeError("the token contains characters that no token has");
  return token;
}

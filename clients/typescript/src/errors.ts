import type { components } from "./generated/api.js";

/** Problem document (RFC 9457), the form of every failure of the API. */
export type ProblemDocument = components["schemas"]["ProblemDocument"];

/** Fields of a `HeirloomError`. */
export interface HeirloomErrorFields {
  /** HTTP status; 0 if there was no answer. */
  status: number;
  title: string;
  detail: string;
  hint?: string | undefined;
  /** Method and path of the request, without its parameters. */
  request: string;
  /** Number of attempts, including the last one. */
  attempts: number;
  cause?: unknown;
}

/** A request that failed: refused by the server, unanswered, or out of time. Never contains the token. */
export class HeirloomError extends Error {
  override readonly name: string = "HeirloomError";
  /** HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** Short name of the problem: the text of the status, `Network error` or `Timeout`. */
  readonly title: string;
  /** Cause and location. */
  readonly detail: string;
  /** Next step, if the server knows one. */
  readonly hint: string | undefined;
  /** Method and path of the request, without its parameters. */
  readonly request: string;
  /** Number of attempts, including the last one. */
  readonly attempts: number;

  constructor(fields: HeirloomErrorFields) {
    const status = fields.status === 0 ? "" : `${fields.status} `;
    const hint = fields.hint === undefined ? "" : ` (${fields.hint})`;
    super(
      `${fields.request}: ${status}${fields.title}: ${fields.detail}${hint}`,
      fields.cause === undefined ? undefined : { cause: fields.cause },
    );
    this.status = fields.status;
    this.title = fields.title;
    this.detail = fields.detail;
    this.hint = fields.hint;
    this.request = fields.request;
    this.attempts = fields.attempts;
  }

  /** True if the same request may succeed later: no answer, 408, 429 or 503. */
  get isTransient(): boolean {
    return this.status === 0 || isTransientStatus(this.status);
  }
}

/** Returns true for statuses after which the same request is sent again. */
export function isTransientStatus(status: number): boolean {
  return status === 408 || status === 429 || status === 503;
}

/** Reads a problem document; undefined for any other value. */
export function readProblem(value: unknown): ProblemDocument | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { title, detail, status, hint, type } = value as Partial<Record<keyof ProblemDocument, unknown>>;
  if (typeof title !== "string" || typeof detail !== "string" || typeof status !== "number") return undefined;
  return {
    title,
    detail,
    status,
    hint: typeof hint === "string" ? hint : null,
    type: typeof type === "string" ? type : "about:blank",
  };
}

/** Describes a failure of `fetch` in one line: its innermost cause, with the token replaced. */
export function describeFailure(failure: unknown, token: string | undefined): string {
  const errors = causes(failure);
  const last = errors[errors.length - 1];
  const text = last instanceof Error ? last.message || readCode(last) || last.name : String(last);
  return withoutToken(text, token);
}

/** Returns the failure as a `cause`, or undefined if an error in its chain quotes the token. */
export function safeCause(failure: unknown, token: string | undefined): unknown {
  const quotesToken = causes(failure).some((one) => {
    const text = one instanceof Error ? `${one.message}\n${one.stack ?? ""}` : String(one);
    return withoutToken(text, token) !== text;
  });
  return quotesToken ? undefined : failure;
}

function causes(failure: unknown): unknown[] {
  const found = [failure];
  for (let at = failure; at instanceof Error && at.cause !== undefined && found.length < 8;) {
    at = at.cause;
    found.push(at);
  }
  return found;
}

function readCode(error: Error): string | undefined {
  const { code } = error as Error & { code?: unknown };
  return typeof code === "string" ? code : undefined;
}

function withoutToken(text: string, token: string | undefined): string {
  return token === undefined || token === "" ? text : text.split(token).join("[token]");
}

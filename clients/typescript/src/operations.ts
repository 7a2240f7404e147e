import type { paths } from "./generated/api.js";
import type { SendOptions } from "./transport.js";

/** HTTP methods of the API. */
export type Method = "GET" | "POST" | "PUT" | "DELETE";

/** Paths that have an operation for a method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<Lowercase<M>, { responses: object }> ? P : never;
}[keyof paths];

/** The operation of a method and a path. */
export type OperationOf<M extends Method, P extends PathOf<M>> = paths[P][Lowercase<M> & keyof paths[P]];

/** Decoded body of an operation's success; undefined if it has none. */
export type AnswerOf<Operation> = Operation extends { responses: infer Responses }
  ? { [Status in keyof Responses]: BodyOf<Responses[Status]> }[keyof Responses]
  : never;

type BodyOf<Answer> = Answer extends { content: { "application/json": infer Body } } ? Body : undefined;

type ParametersOf<Operation> = Operation extends { parameters: infer Parameters } ? Parameters : never;

type PathPart<Operation> =
  ParametersOf<Operation> extends { path: infer Values } ? { path: Values } : { path?: undefined };

type QueryPart<Operation> =
  ParametersOf<Operation> extends { query: infer Values }
    ? { query: Values }
    : ParametersOf<Operation> extends { query?: infer Values }
      ? [NonNullable<Values>] extends [never]
        ? { query?: undefined }
        : { query?: NonNullable<Values> }
      : { query?: undefined };

type BodyPart<Operation> = Operation extends { requestBody: { content: { "application/json": infer Body } } }
  ? { body: Body }
  : { body?: undefined };

/** Path, query and body of an operation, with the options of the request. */
export type RequestOf<Operation> = PathPart<Operation> & QueryPart<Operation> & BodyPart<Operation> & SendOptions;

/** The last argument of `request`, optional if the operation needs nothing. */
export type RequestArguments<Operation> =
  object extends RequestOf<Operation> ? [request?: RequestOf<Operation>] : [request: RequestOf<Operation>];

/** Paths whose `GET` returns a page of a list. */
export type ListPath = {
  [P in PathOf<"GET">]: AnswerOf<OperationOf<"GET", P>> extends { items: unknown[] } ? P : never;
}[PathOf<"GET">];

/** Item of a list. */
export type ItemOf<P extends ListPath> =
  AnswerOf<OperationOf<"GET", P>> extends { items: (infer Item)[] } ? Item : never;

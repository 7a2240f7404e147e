/** Client of Heirloom, memory and context for coding agents. */
export { HeirloomError, type ProblemDocument } from "./errors.js";
export type { EventOptions, MemoryEvent } from "./events.js";
export type { components, operations, paths } from "./generated/api.js";
export { Memory, type MemoryOptions } from "./memory.js";
export type { AnswerOf, ItemOf, ListPath, Method, OperationOf, PathOf, RequestOf } from "./operations.js";
export { SessionHandle } from "./session.js";
export { TaskHandle } from "./task.js";
export type { Fetch, SendOptions } from "./transport.js";
export type * from "./types.js";
export { Workspace } from "./workspace.js";

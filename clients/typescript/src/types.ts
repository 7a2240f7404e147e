import type { components } from "./generated/api.js";
import type { SendOptions } from "./transport.js";
import type { OptionsOf } from "./wire_names.js";

type Schemas = components["schemas"];

export type AnyRecord = Schemas["AnyRecord"];
export type Conflict = Schemas["Conflict"];
export type Context = Schemas["Context"];
export type Episode = Schemas["Episode"];
export type EventEntry = Schemas["EventEntry"];
export type ExpandedContent = Schemas["ExpandedContent"];
export type Knowledge = Schemas["Knowledge"];
export type LoggedError = Schemas["LoggedError"];
export type MessageInfo = Schemas["MessageInfo"];
export type RecallHit = Schemas["RecallHit"];
export type RecallResponse = Schemas["RecallResponse"];
export type RecordHistory = Schemas["RecordHistory"];
export type SessionSummary = Schemas["SessionSummary"];
export type SimilarAttempts = Schemas["SimilarAttempts"];
export type Status = Schemas["Status"];
export type TaskInfo = Schemas["TaskResponse"];
export type ToolResult = Schemas["ToolResult"];
export type WorkspaceSection = Schemas["WorkspaceSection"];
export type WriteOutcome = Schemas["WriteOutcome"];

/** Command of the memory tool, as the model writes it. */
export type MemoryCommand = Schemas["ToolCall"];

/** Verdict of a person on a record. */
export type Mark = Schemas["NewMark"]["mark"];

/** Kind of a record, or `message` for a conversation turn. */
export type RecordKind =
  "knowledge" | "task" | "step" | "error" | "episode" | "artifact" | "output" | "note" | "summary" | "message";

/** The project of a call; by default the client's, the token's or the served one. */
export interface ProjectOption {
  project?: string | undefined;
}

/** Options of each method: the project, the time limit, the signal. */
export type CallOptions = ProjectOption & SendOptions;

/** Options with which a fact is remembered. */
export type RememberOptions = OptionsOf<Schemas["NewKnowledge"], "value"> & SendOptions;

/** Filters and limits of a search. */
export type RecallOptions = Omit<OptionsOf<Schemas["RecallParams"], "query">, "kinds"> & {
  /** Only these kinds. */
  kinds?: readonly RecordKind[] | undefined;
} & SendOptions;

/** The reader and the size of a context. */
export type ContextOptions = OptionsOf<Schemas["ContextParams"]> & SendOptions;

/** Scope of a logged error. */
export type LogErrorOptions = OptionsOf<Schemas["NewError"], "text"> & SendOptions;

/** The author of a resolution. */
export type ResolveErrorOptions = OptionsOf<Schemas["ResolveErrorRequest"], "resolution"> & SendOptions;

/** An attempt at a task. */
export type EpisodeOptions = OptionsOf<Schemas["EpisodeRequest"]> & SendOptions;

/** The scope in which attempts are compared. */
export interface TriedOptions extends CallOptions {
  /** Only attempts at this task. */
  task?: string | undefined;
}

/** Filters of a list of records. */
export type RecordFilter = OptionsOf<
  NonNullable<import("./generated/api.js").operations["list_records"]["parameters"]["query"]>,
  "cursor"
> &
  SendOptions;

/** Fields of a task. */
export type TaskOptions = OptionsOf<Schemas["TaskRequest"]> & { agent?: string | undefined } & SendOptions;

/** Approach and outcome of a task that ends. */
export type EndTaskOptions = OptionsOf<Schemas["EndTaskRequest"], "state"> & SendOptions;

/** Sender and owner of a turn. */
export type MessageOptions = OptionsOf<Schemas["MessageRequest"], "role" | "text"> & SendOptions;

/** Speaker of a turn. */
export type MessageRole = Schemas["MessageRequest"]["role"];

/** Window of a conversation that is shortened. */
export type CompactOptions = OptionsOf<Schemas["CompactRequest"], "messages"> & SendOptions;

/** A message in the format of a provider: OpenAI, Anthropic or OpenAI Responses. */
export interface ProviderMessage {
  role?: string;
  content?: unknown;
}

/** A shortened conversation. */
export interface Compacted<Message> {
  /** The messages to send, in the format of the request. */
  messages: Message[];
  notes: string[];
  /** Actions and token counts of the compaction. */
  report: Record<string, unknown>;
}

/** Author and solution of a workspace entry. */
export type EntryOptions = OptionsOf<Schemas["NewEntry"], "text" | "type"> & SendOptions;

/** Result of adding a workspace entry. */
export type EntryReport = Schemas["EntryReport"];

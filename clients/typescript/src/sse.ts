/** A message of an event stream. */
export interface ServerSentEvent {
  /** The newest id of the stream, up to this message. */
  id: string | undefined;
  /** `message` by default. */
  type: string;
  data: string;
}

/** Decodes an event stream (WHATWG HTML, section 9.2). */
export class EventStreamDecoder {
  #rest = "";
  #isFirst = true;
  #id: string | undefined;
  #type = "";
  #data: string[] = [];
  /** Pause before a reconnection that the server asked for, in milliseconds. */
  retryMs: number | undefined;

  /** The newest id, with or without data. */
  get lastId(): string | undefined {
    return this.#id;
  }

  /** Adds text, and returns the messages that it completes. */
  push(text: string): ServerSentEvent[] {
    if (this.#isFirst && text !== "") {
      this.#isFirst = false;
      if (text.startsWith("\uFEFF")) text = text.slice(1);
    }
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    const events: ServerSentEvent[] = [];
    for (const line of lines) {
      const event = this.#takeLine(line);
      if (event !== undefined) events.push(event);
    }
    return events;
  }

  #takeLine(line: string): ServerSentEvent | undefined {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return undefined;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#type = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    else if (field === "retry" && /^\d+$/.test(value)) this.retryMs = Number(value);
    return undefined;
  }

  #dispatch(): ServerSentEvent | undefined {
    const type = this.#type || "message";
    const data = this.#data;
    this.#type = "";
    this.#data = [];
    return data.length === 0 ? undefined : { id: this.#id, type, data: data.join("\n") };
  }
}

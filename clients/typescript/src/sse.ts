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
  #endedWithReturn = false;
  #id: string | undefined;
  /** Id of the current message: it takes effect with its end, because a lost connection may cut the message off. */
  #nextId: string | undefined;
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
    // A line ends at its carriage return, so that a message does not wait for the next part.
    if (this.#endedWithReturn && text.startsWith("\n")) text = text.slice(1);
    else if (text === "") return [];
    this.#endedWithReturn = text.endsWith("\r");
    const lines = (this.#rest + text).split(/\r\n|\n|\r/);
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
    else if (field === "id" && !value.includes("\0")) this.#nextId = value;
    else if (field === "retry" && /^\d+$/.test(value)) this.retryMs = Number(value);
    return undefined;
  }

  #dispatch(): ServerSentEvent | undefined {
    this.#id = this.#nextId;
    const type = this.#type || "message";
    const data = this.#data;
    this.#type = "";
    this.#data = [];
    return data.length === 0 ? undefined : { id: this.#id, type, data: data.join("\n") };
  }
}

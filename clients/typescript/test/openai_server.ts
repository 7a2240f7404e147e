import { LocalServer, answerJson } from "./local_server.js";

/** A message of a chat request. */
export interface ChatMessage {
  role: string;
  content?: string | null;
  tool_call_id?: string;
}

/** A chat request, as far as the tests read it. */
export interface ChatRequest {
  model: string;
  messages: ChatMessage[];
  tools?: { function: { name: string; parameters: unknown } }[];
}

/** A turn of the scripted model: a text, or a tool call. */
export type Turn = string | { tool: string; input: unknown };

/** An OpenAI-compatible server whose turns a test writes; each sees the request. */
export class ScriptedModelServer {
  readonly requests: ChatRequest[] = [];

  private constructor(readonly local: LocalServer) {}

  static async start(...turns: ((request: ChatRequest) => Turn)[]): Promise<ScriptedModelServer> {
    const local = await LocalServer.start((received, response, number) => {
      const request = JSON.parse(received.body) as ChatRequest;
      server.requests.push(request);
      const turn = turns[number - 1]?.(request);
      if (turn === undefined) answerJson(response, 400, { error: { message: "the script has no further turn" } });
      else answerJson(response, 200, completion(number, turn));
    });
    const server = new ScriptedModelServer(local);
    return server;
  }

  /** Address for `baseURL`. */
  get url(): string {
    return `${this.local.url}/v1`;
  }

  stop(): Promise<void> {
    return this.local.stop();
  }
}

function completion(number: number, turn: Turn): object {
  const message =
    typeof turn === "string"
      ? { role: "assistant", content: turn }
      : {
          role: "assistant",
          content: null,
          tool_calls: [
            {
              id: `call_${number}`,
              type: "function",
              function: { name: turn.tool, arguments: JSON.stringify(turn.input) },
            },
          ],
        };
  return {
    id: `chat-${number}`,
    object: "chat.completion",
    created: 1,
    model: "scripted",
    choices: [{ index: 0, message, finish_reason: typeof turn === "string" ? "stop" : "tool_calls" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

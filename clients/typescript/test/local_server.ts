import { createServer, request as send, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that a local server received. */
export interface Received {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** Answers a request; `number` counts from 1. */
export type Answer = (received: Received, response: ServerResponse, number: number) => void;

/** A server on this machine whose answers a test chooses. */
export class LocalServer {
  readonly received: Received[] = [];
  readonly #server: Server;

  private constructor(answer: Answer) {
    this.#server = createServer((incoming, response) => {
      const parts: Buffer[] = [];
      incoming.on("data", (part: Buffer) => parts.push(part));
      incoming.on("end", () => {
        const received = {
          method: incoming.method ?? "",
          url: incoming.url ?? "",
          headers: incoming.headers,
          body: Buffer.concat(parts).toString(),
        };
        answer(received, response, this.received.push(received));
      });
    });
  }

  static async start(answer: Answer): Promise<LocalServer> {
    const local = new LocalServer(answer);
    await new Promise<void>((resolve) => local.#server.listen(0, "127.0.0.1", resolve));
    return local;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Answers with JSON. */
export function answerJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  const type = status >= 400 ? "application/problem+json" : "application/json";
  response.writeHead(status, { "content-type": type, ...headers }).end(JSON.stringify(body));
}

/** Answers with a problem document. */
export function answerProblem(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  answerJson(response, status, { type: "about:blank", title: "Problem", status, detail: "the store is held" }, headers);
}

/** Passes a request on to another server, and its answer back unless `keepsAnswer` is set: then the connection breaks. */
export function passOn(received: Received, response: ServerResponse, to: string, keepsAnswer: boolean): void {
  const { method, headers } = received;
  const outgoing = send(
    new URL(received.url, to),
    { method, headers: { ...headers, host: new URL(to).host } },
    (answer) => {
      if (keepsAnswer) {
        answer.resume().on("end", () => response.destroy());
      } else {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      }
    },
  );
  outgoing.on("error", () => response.destroy());
  outgoing.end(received.body);
}

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { HeirloomError, Memory, type EventOptions, type MemoryEvent } from "heirloom-client";
import { LocalServer } from "./local_server.js";
import { TestServer } from "./server.js";

const EVENT = { at: "2026-01-01T00:00:00Z", action: "created", by: "user", id: "r" };

/** Takes events until there are as many as expected; fails after 20 seconds. */
async function take(memory: Memory, count: number, options: EventOptions = {}): Promise<MemoryEvent[]> {
  const taken: MemoryEvent[] = [];
  const signal = AbortSignal.timeout(20_000);
  for await (const event of memory.events({ ...options, signal })) if (taken.push(event) === count) break;
  assert.equal(taken.length, count, `${JSON.stringify(taken)} after 20 seconds`);
  return taken;
}

/** A client, and a promise that is fulfilled when the server has opened its first stream. */
function observedMemory(server: TestServer): { memory: Memory; opened: Promise<void> } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const response = await globalThis.fetch(url, init);
    if (url.includes("/api/events")) open();
    return response;
  };
  return { memory: server.memory({ fetch }), opened };
}

describe("events of a real server", () => {
  let server: TestServer;
  beforeEach(async () => void (server = await TestServer.start()));
  afterEach(() => server.remove());

  it("changes_by_this_server_and_by_other_processes_arrive", async () => {
    const { memory, opened } = observedMemory(server);
    const events = memory.events();
    const first = events.next();
    await opened;
    const { id } = await memory.remember("a fact");
    server.run("remember", "a fact by the command line");
    const one = await first;
    assert.ok(one.value);
    assert.deepEqual([one.value.id, one.value.action, one.value.by], [id, "created", "orchestrator"]);
    const two = await events.next();
    assert.equal(two.value?.by, "user");
    await events.return();
  });

  it("stream_continues_after_a_restart_without_loss", async () => {
    const { memory, opened } = observedMemory(server);
    const stop = new AbortController();
    const seen: (string | null | undefined)[] = [];
    const loop = (async () => {
      for await (const event of memory.events({ signal: stop.signal })) seen.push(event.id);
    })();
    try {
      await opened;
      const before = await memory.remember("before the restart");
      await waitFor(() => seen.length === 1);
      await server.stop();
      server.run("remember", "while the server is down", "--key", "down");
      await server.restart();
      await waitFor(() => seen.length === 2);
      const after = await memory.remember("after the restart");
      await waitFor(() => seen.length === 3);
      const { items } = await memory.request("GET", "/api/memory/knowledge", { query: { key: "down" } });
      assert.deepEqual(seen, [before.id, items[0]?.id, after.id]);
    } finally {
      stop.abort();
      await loop;
    }
  });

  it("stream_that_saw_no_event_loses_none_in_a_restart", async () => {
    const { memory, opened } = observedMemory(server);
    const events = memory.events();
    const first = events.next();
    await opened;
    await server.stop();
    server.run("remember", "while the server is down");
    await server.restart();
    const { value } = await first;
    assert.equal(value?.action, "created");
    await events.return();
  });

  it("last_event_id_resumes", async () => {
    const { memory, opened } = observedMemory(server);
    const events = memory.events();
    const first = events.next();
    await opened;
    await memory.remember("one");
    const position = (await first).value;
    assert.ok(position);
    await events.return();
    const { id } = await memory.remember("two");
    const [missed] = await take(memory, 1, { lastEventId: position.eventId });
    assert.equal(missed?.id, id);
  });

  it("refused_token_ends_the_stream_with_its_problem", async () => {
    const events = server.memory({ token: "hl_unknown" }).events();
    await assert.rejects(events.next(), (error: unknown) => error instanceof HeirloomError && error.status === 401);
  });
});

describe("events of a local server", () => {
  async function withParts(
    parts: string[][],
    work: (memory: Memory, local: LocalServer) => Promise<void>,
  ): Promise<void> {
    const local = await LocalServer.start((_, response, number) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const own = parts[Math.min(number, parts.length) - 1] ?? [];
      own.forEach((part, at) =>
        setTimeout(() => (at === own.length - 1 ? response.end(part) : response.write(part)), at * 5),
      );
    });
    try {
      await work(new Memory({ url: local.url }), local);
    } finally {
      await local.stop();
    }
  }

  const block = (id: string, record: string): string =>
    `id: ${id}\nevent: created\ndata: ${JSON.stringify({ ...EVENT, id: record })}\n\n`;

  it("parts_that_split_lines_are_joined", async () => {
    const text = `\uFEFF: comment\r\n\r\n${block("1-a", "ä€😀").replaceAll("\n", "\r\n")}${block("2-b", "two").replaceAll("\n", "\r")}`;
    await withParts([[...text]], async (memory) => {
      const events = await take(memory, 2);
      assert.deepEqual(
        events.map((event) => [event.eventId, event.id]),
        [
          ["1-a", "ä€😀"],
          ["2-b", "two"],
        ],
      );
    });
  });

  it("reconnection_sends_last_id_and_drops_repeated_events", async () => {
    const first = [block("1-a", "one"), block("2-b", "two")];
    const second = [block("2-b", "two"), "retry: 10\nid: 3-c\n\n"];
    const third = [block("4-d", "four")];
    await withParts([first, second, third], async (memory, local) => {
      const events = await take(memory, 3, { lastEventId: "0-z" });
      assert.deepEqual(
        events.map((event) => event.id),
        ["one", "two", "four"],
      );
      assert.deepEqual(
        local.received.map((one) => one.headers["last-event-id"]),
        ["0-z", "2-b", "3-c"],
      );
    });
  });

  it("event_that_was_cut_off_is_not_counted_as_delivered", async () => {
    const first = [block("1-a", "one"), "id: 2-b\nevent: created\nda"];
    await withParts([first, [block("2-b", "two")]], async (memory, local) => {
      const events = await take(memory, 2);
      assert.deepEqual(
        events.map((event) => event.id),
        ["one", "two"],
      );
      assert.equal(local.received[1]?.headers["last-event-id"], "1-a");
    });
  });

  it("abort_ends_the_loop_without_an_error", async () => {
    const local = await LocalServer.start((_, response) => void response.writeHead(200).write(":\n\n"));
    try {
      const memory = new Memory({ url: local.url });
      const stop = new AbortController();
      const stopped = waitFor(() => local.received.length === 1).then(() => stop.abort());
      for await (const event of memory.events({ signal: stop.signal })) assert.fail(JSON.stringify(event));
      for await (const event of memory.events({ signal: stop.signal })) assert.fail(JSON.stringify(event));
      await stopped;
      assert.equal(local.received.length, 1);
    } finally {
      await local.stop();
    }
  });

  it("leaving_the_loop_closes_the_connection", async () => {
    let closed = false;
    const local = await LocalServer.start((_, response) => {
      response.on("close", () => (closed = true));
      response.writeHead(200).write(block("1-a", "one"));
    });
    try {
      await take(new Memory({ url: local.url }), 1);
      await waitFor(() => closed);
    } finally {
      await local.stop();
    }
  });

  it("limit_of_reconnections_ends_with_the_error", async () => {
    const events = new Memory({ url: "http://127.0.0.1:9" }).events({ reconnects: 1 });
    await assert.rejects(events.next(), (error: unknown) => error instanceof HeirloomError && error.status === 0);
  });
});

async function waitFor(condition: () => boolean): Promise<void> {
  for (const end = Date.now() + 20_000; !condition();) {
    assert.ok(Date.now() < end, "the condition was not met in 20 seconds");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

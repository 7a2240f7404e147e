import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { inspect } from "node:util";
import { HeirloomError, Memory } from "heirloom-client";
import { TestServer } from "./server.js";

const SECRET = "hl_0123456789abcdef0123456789abcdef";

/** Everything of a value that a log could contain. */
function printed(value: unknown): string {
  const options = { depth: 20, showHidden: true, getters: true };
  const own = value instanceof Error ? [value.message, value.stack, String(value.cause)] : [];
  return [inspect(value, options), JSON.stringify(value), String(value), ...own].join("\n");
}

describe("HeirloomError", () => {
  let server: TestServer;
  before(async () => void (server = await TestServer.start()));
  after(() => server.remove());

  const failureOf = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => assert.fail("the call succeeded"),
      (error: unknown) => error,
    );

  it("refused_token_has_status_hint_and_no_token", async () => {
    const failure = await failureOf(server.memory({ token: SECRET }).status());
    assert.ok(failure instanceof HeirloomError);
    assert.equal(failure.status, 401);
    assert.match(failure.hint ?? "", /heirloom token create/);
    assert.match(failure.message, /^GET \/api\/status: 401 Unauthorized: this token is unknown/);
    assert.ok(!printed(failure).includes(SECRET));
  });

  it("invalid_value_has_detail", async () => {
    const failure = await failureOf(server.memory().logError(""));
    assert.ok(failure instanceof HeirloomError);
    assert.deepEqual([failure.status, failure.detail, failure.hint], [400, "the error has no text", undefined]);
  });

  it("role_that_may_not_is_refused", async () => {
    const agent = server.memory({ token: server.createToken("--role", "agent") });
    const failure = await failureOf(agent.request("GET", "/api/tokens"));
    assert.ok(failure instanceof HeirloomError && failure.status === 403);
  });

  it("unreachable_server_is_named_without_token", async () => {
    const memory = new Memory({ url: "http://127.0.0.1:9", token: SECRET, retries: 0 });
    const failure = await failureOf(memory.status());
    assert.ok(failure instanceof HeirloomError);
    assert.deepEqual([failure.status, failure.title, failure.isTransient], [0, "Network error", true]);
    assert.match(failure.message, /127\.0\.0\.1:9/);
    assert.ok(!printed(failure).includes(SECRET));
  });

  it("token_quoted_by_fetch_is_replaced", async () => {
    const fetch = (_: string, init: RequestInit): Promise<Response> => {
      const header = new Headers(init.headers).get("authorization");
      return Promise.reject(new TypeError("fetch failed", { cause: new Error(`bad header ${header}`) }));
    };
    const failure = await failureOf(new Memory({ token: SECRET, retries: 0, fetch }).status());
    assert.match(String(failure), /bad header Bearer \[token\]/);
    assert.ok(!printed(failure).includes(SECRET));
  });

  it("printed_client_has_no_token", () => {
    const memory = new Memory({ url: "http://localhost:7717/", token: SECRET, project: "shop" });
    const parts = [memory, memory.workspace, memory.task("1"), memory.session("2")];
    for (const part of parts) assert.ok(!printed(part).includes(SECRET));
    assert.equal(JSON.stringify(memory), '{"url":"http://localhost:7717","project":"shop"}');
  });

  it("invalid_settings_are_refused_without_quoting_them", () => {
    for (const options of [
      { token: `${SECRET}\nx` },
      { token: `${SECRET}ä` },
      { url: `http://u:${SECRET}@h` },
      { url: SECRET },
    ]) {
      assert.throws(
        () => new Memory(options),
        (error: unknown) => error instanceof TypeError && !printed(error).includes(SECRET),
      );
    }
  });

  it("path_value_is_encoded_and_required", async () => {
    const urls: string[] = [];
    const fetch = (url: string): Promise<Response> => {
      urls.push(url);
      return Promise.resolve(Response.json({ id: "1", outcome: "created" }));
    };
    const memory = new Memory({ fetch });
    await memory.task("shop/42?x").step("one");
    assert.deepEqual(urls, ["http://127.0.0.1:7717/api/tasks/shop%2F42%3Fx/steps"]);
    await assert.rejects(memory.get(""), /needs a value for id/);
  });
});

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Memory, TaskInfo } from "heirloom-client";
import { TestServer } from "./server.js";

describe("TaskHandle", () => {
  let server: TestServer;
  let memory: Memory;
  before(async () => {
    server = await TestServer.start();
    memory = server.memory();
  });
  after(() => server.remove());

  const texts = (items: TaskInfo["files"]): string[] => items.map((item) => item.text);

  it("task_with_steps_ends_as_done", async () => {
    const task = await memory
      .task("42", { title: "Fix the login", type: "issue", agent: "coder" })
      .start({ phase: "CODE" });
    await task.pending("Run the full suite");
    await task.step("Wrote the test");
    await task.logError("TestLogin: 500");
    await task.remember("The login needs a session cookie", { key: "login" });
    await task.set({ branch: "fix-login" });
    const info = await task.info();
    assert.deepEqual([info.title, info.phase, info.branch, info.state], ["Fix the login", "CODE", "fix-login", "open"]);
    assert.deepEqual(texts(info.pending_steps), ["Run the full suite"]);
    assert.deepEqual(texts(info.completed_steps), ["Wrote the test"]);
    assert.deepEqual(texts(info.open_errors), ["TestLogin: 500"]);
    assert.match((await task.context()).text, /Issue #42: Fix the login \(Phase: CODE\)/);
    await task.done({ approach: "set the cookie", outcome: "all green" });
    assert.equal((await task.info()).state, "done");
    assert.equal((await task.tried("set the cookie")).failed, false);
  });

  it("with_task_returns_result_and_ends_as_done", async () => {
    const result = await memory.withTask("43", async (task) => {
      await task.attempt({ action: "attempted", approach: "guess" });
      return 7;
    });
    assert.equal(result, 7);
    assert.equal((await memory.task("43").info()).state, "done");
  });

  it("with_task_exception_ends_as_failed_with_its_message", async () => {
    const failure = new RangeError("out of budget");
    await assert.rejects(
      memory.withTask("44", () => Promise.reject(failure)),
      failure,
    );
    assert.equal((await memory.task("44").info()).state, "failed");
    const episodes = await memory.request("GET", "/api/memory/episodes", { query: { task_id: "44" } });
    assert.match(episodes.items[0]?.outcome ?? "", /RangeError: out of budget/);
  });

  it("with_task_keeps_explicit_end", async () => {
    await memory.withTask("45", (task) => task.fail({ outcome: "it cannot be done" }));
    assert.equal((await memory.task("45").info()).state, "failed");
  });

  it("disposal_fails_task_that_was_left", async () => {
    await assert.rejects(async () => {
      await using task = await memory.task("46").start();
      await task.step("began");
      throw new Error("interrupted");
    }, /interrupted/);
    assert.equal((await memory.task("46").info()).state, "failed");
  });

  it("disposal_keeps_done_and_kept_open_tasks", async () => {
    {
      await using done = await memory.task("47").start();
      await done.done();
      await using open = await memory.task("48").start();
      open.keepOpen();
      await using unused = memory.task("49");
      assert.equal(unused.id, "49");
    }
    assert.equal((await memory.task("47").info()).state, "done");
    assert.equal((await memory.task("48").info()).state, "open");
    await assert.rejects(memory.task("49").info(), /404/);
  });
});

describe("SessionHandle", () => {
  let server: TestServer;
  let memory: Memory;
  before(async () => {
    server = await TestServer.start();
    memory = server.memory();
  });
  after(() => server.remove());

  it("messages_return_in_order_over_pages", async () => {
    const session = memory.session("chat-1");
    const added = await session.add("user", "Where are the logs?", { sender: "ann" });
    assert.equal(added.seq, 0);
    await session.add("assistant", "Under /var/log/shop");
    await session.add("user", "Thanks");
    const turns: string[] = [];
    for await (const turn of session.messages({ limit: 2 })) turns.push(`${turn.role}: ${turn.text}`);
    assert.deepEqual(turns, ["user: Where are the logs?", "assistant: Under /var/log/shop", "user: Thanks"]);
    assert.equal((await session.summary()).session_id, "chat-1");
    assert.equal(typeof (await session.context({ query: "logs" })).text, "string");
    const found = await memory.recall("where are the logs", { kinds: ["message"] });
    assert.ok(found.hits.some((hit) => hit.session_id === "chat-1"));
  });

  it("compact_shortens_and_expand_returns_the_rest", async () => {
    const output = Array.from({ length: 4_000 }, (_, at) => `line ${at} of the log of the test run`).join("\n");
    const messages = [
      { role: "system", content: "Be short." },
      { role: "user", content: "Run the tests" },
      { role: "assistant", content: null, tool_calls: [toolCall("c1", "run_tests")] },
      { role: "tool", tool_call_id: "c1", content: output },
      { role: "assistant", content: "They pass." },
      { role: "user", content: "And the linter?" },
    ];
    const session = memory.session("chat-2");
    const compacted = await session.compact(messages, { targetTokens: 4_000, format: "openai" });
    assert.ok(JSON.stringify(compacted.messages).length < JSON.stringify(messages).length / 2);
    assert.equal(compacted.messages.at(-1)?.content, "And the linter?");
    const id = /chars, id ([0-9a-f]+)\]/.exec(JSON.stringify(compacted.messages))?.[1];
    assert.ok(id, JSON.stringify(compacted).slice(0, 2_000));
    const whole = await session.expand(id);
    assert.match(whole.text ?? "", /line 2000 of the log/);
  });
});

function toolCall(
  id: string,
  name: string,
): { id: string; type: "function"; function: { name: string; arguments: string } } {
  return { id, type: "function", function: { name, arguments: "{}" } };
}

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { HeirloomError, Memory, type AnyRecord } from "heirloom-client";
import { TestServer } from "./server.js";

describe("Memory", () => {
  let server: TestServer;
  let memory: Memory;
  before(async () => {
    server = await TestServer.start();
    memory = server.memory();
  });
  after(() => server.remove());

  it("remember_with_options_stores_them", async () => {
    const saved = await memory.remember("four spaces", {
      category: "convention",
      key: "indent",
      rationale: "it is what the formatter does",
      task: "1",
      confidence: 0.9,
    });
    assert.equal(saved.outcome, "created");
    const record = await memory.get(saved.id);
    assert.equal(record.key, "indent");
    assert.equal(record.task_id, "1");
    assert.equal(record.confidence, 0.9);
    assert.equal(record.attrs["rationale"], "it is what the formatter does");
  });

  it("recall_by_kind_and_relevance_finds_fact", async () => {
    const saved = await memory.remember("The staging database is read-only on Fridays");
    const found = await memory.recall("may I write to staging?", {
      k: 3,
      kinds: ["knowledge", "error"],
      explain: true,
    });
    assert.equal(found.hits[0]?.id, saved.id);
    assert.equal(typeof found.hits[0]?.parts?.["total"], "number");
    const errors = await memory.recall("may I write to staging?", { kinds: ["error"] });
    assert.deepEqual(errors.hits, []);
    const strict = await memory.recall("bake a sourdough bread", { minRelevance: 0.9 });
    assert.deepEqual(strict.hits, []);
  });

  it("context_within_budget_contains_fact", async () => {
    await memory.remember("Deploys go through the canary", { key: "deploy" });
    const context = await memory.context({ task: "1", query: "how do we deploy?", budgetTokens: 500, agent: "coder" });
    assert.match(context.text, /Deploys go through the canary/);
    assert.ok(context.tokens <= 500);
  });

  it("forget_then_undo_restores_record", async () => {
    const { id } = await memory.remember("a fact that is retired", { key: "short-lived" });
    assert.equal((await memory.forget(id)).outcome, "retired");
    assert.notEqual((await memory.get(id)).retired_at ?? null, null);
    assert.equal((await memory.undo(id)).outcome, "restored");
    assert.equal((await memory.get(id)).retired_at ?? null, null);
  });

  it("history_of_record_and_of_all_contains_changes", async () => {
    const { id } = await memory.remember("first value", { key: "versions" });
    const second = await memory.remember("second value", { key: "versions" });
    const history = await memory.history(second.id);
    assert.deepEqual(
      history.records.map((one) => one.text),
      ["first value", "second value"],
    );
    assert.ok(history.events.some((event) => event.id === id));
    const newest = await memory.history({ limit: 2 });
    assert.equal(newest.length, 2);
  });

  it("records_iterates_over_all_pages", async () => {
    const texts = Array.from({ length: 7 }, (_, at) => `paged fact number ${at}`);
    for (const text of texts) await memory.remember(text, { category: "paged" });
    const found: AnyRecord[] = [];
    for await (const record of memory.records({ kind: "knowledge", category: "paged", limit: 2 })) found.push(record);
    assert.deepEqual(
      found.map((record) => record.text),
      texts.reverse(),
    );
  });

  it("list_of_knowledge_is_typed_by_path", async () => {
    await memory.remember("listed", { category: "listed", key: "listed.one" });
    const values: string[] = [];
    for await (const item of memory.list("/api/memory/knowledge", { query: { key_prefix: "listed." } }))
      values.push(item.value);
    assert.deepEqual(values, ["listed"]);
  });

  it("mark_pins_record", async () => {
    const { id } = await memory.remember("always in the prompt", { key: "pinned" });
    assert.equal((await memory.mark(id, "pinned")).outcome, "marked");
    const pinned = await memory.request("GET", "/api/memory/knowledge/{id}", { path: { id } });
    assert.equal(pinned.pinned, true);
  });

  it("tried_finds_failed_attempt", async () => {
    const saved = await memory.logEpisode({
      task: "42",
      agent: "coder",
      action: "failed",
      approach: "mock the database",
      outcome: "flaky",
      durationMs: 1200,
      tokensIn: 10,
    });
    const tried = await memory.tried("mock the database", { task: "42" });
    assert.equal(tried.failed, true);
    assert.equal(tried.items[0]?.id, saved.id);
    assert.equal(tried.items[0]?.duration_ms, 1200);
    assert.equal((await memory.tried("write the parser by hand", { task: "42" })).failed, false);
  });

  it("log_error_again_returns_its_resolution", async () => {
    const logged = await memory.logError("TestTokenExpiry: expected ErrExpired, got nil", {
      task: "42",
      phase: "TEST",
    });
    assert.equal((await memory.resolveError(logged.id, "froze the clock")).outcome, "resolved");
    const again = await memory.logError("TestTokenExpiry: expected ErrExpired, got nil", { task: "43" });
    assert.equal(again.resolved_before?.resolution, "froze the clock");
  });

  it("conflict_of_two_agents_is_resolved", async () => {
    const first = server.memory({ token: server.createToken("--role", "agent") });
    await first.remember("tabs", { key: "style.indent", source: "alice", confidence: 0.7 });
    await first.remember("spaces", { key: "style.indent", source: "bob", confidence: 0.7 });
    const conflicts = await memory.conflicts();
    const conflict = conflicts.find((one) => one.key === "style.indent");
    assert.ok(conflict);
    assert.deepEqual([conflict.winner.value, conflict.losers[0]?.value].sort(), ["spaces", "tabs"]);
    await memory.resolveConflict(conflict.id, conflict.winner.id);
    assert.ok(!(await memory.conflicts()).some((one) => one.key === "style.indent"));
  });

  it("memory_tool_creates_and_shows_file", async () => {
    const created = await memory.memoryTool({ command: "create", path: "/memories/plan.md", file_text: "one\n" });
    assert.equal(created.is_error, false);
    const shown = await memory.memoryTool({ command: "view", path: "/memories/plan.md" });
    assert.match(shown.content, /one/);
    const missing = await memory.memoryTool({ command: "view", path: "/memories/none.md" });
    assert.equal(missing.is_error, true);
  });

  it("workspace_contains_added_entries", async () => {
    const added = await memory.workspace.fact("The build needs four gigabytes");
    assert.equal(added.added, true);
    assert.equal((await memory.workspace.learning("Run the migration twice")).added, true);
    assert.equal((await memory.workspace.error("lock timeout", { solution: "stop the old worker" })).added, true);
    assert.equal((await memory.workspace.daily("Finished the parser")).added, true);
    assert.equal((await memory.workspace.feature("A dark theme")).added, true);
    const section = await memory.workspace.show();
    assert.match(JSON.stringify(section.items), /four gigabytes/);
  });

  it("status_counts_records", async () => {
    const status = await memory.status();
    assert.ok((status.counts["knowledge"] ?? 0) > 0);
    assert.equal(status.project, await servedProject(memory));
  });

  it("request_without_content_returns_undefined", async () => {
    const state = await memory.request("PUT", "/api/memory/working", {
      body: { current_plan: "ship", scratchpad: ["a"] },
    });
    assert.equal(state.current_plan, "ship");
    assert.equal(await memory.request("DELETE", "/api/memory/working"), undefined);
  });

  it("client_project_applies_to_reads_and_writes", async () => {
    const other = server.memory({ project: "elsewhere" });
    const { id } = await other.remember("only elsewhere", { key: "where" });
    assert.equal((await other.status()).project, "elsewhere");
    assert.equal((await memory.get(id, { project: "elsewhere" })).text, "only elsewhere");
    assert.equal((await other.recall("only elsewhere")).hits[0]?.id, id);
    assert.ok(!(await memory.recall("only elsewhere")).hits.some((hit) => hit.id === id));
    const task = await other.task("7").start();
    assert.equal((await task.info()).project, "elsewhere");
    await other.forget(id);
    assert.equal((await other.undo(id)).outcome, "restored");
  });

  it("environment_gives_url_and_token", async () => {
    process.env["HEIRLOOM_URL"] = `${server.url}/`;
    process.env["HEIRLOOM_TOKEN"] = `${server.token}\n`;
    try {
      const fromEnvironment = new Memory();
      assert.equal(fromEnvironment.url, server.url);
      assert.equal(typeof (await fromEnvironment.status()).version, "string");
    } finally {
      delete process.env["HEIRLOOM_URL"];
      delete process.env["HEIRLOOM_TOKEN"];
    }
  });

  it("aborted_call_rejects_with_the_reason", async () => {
    const reason = new Error("no longer needed");
    await assert.rejects(memory.recall("anything", { signal: AbortSignal.abort(reason) }), reason);
  });

  it("unknown_record_is_a_problem_with_status", async () => {
    const failure = await memory.get("00000000-0000-7000-8000-000000000000").catch((error: unknown) => error);
    assert.ok(failure instanceof HeirloomError);
    assert.equal(failure.status, 404);
    assert.equal(failure.title, "Not Found");
    assert.equal(failure.request, "GET /api/records/{id}");
    assert.equal(failure.attempts, 1);
  });
});

async function servedProject(memory: Memory): Promise<string | undefined> {
  const { project } = await memory.get((await memory.remember("which project", { key: "which-project" })).id);
  return project;
}

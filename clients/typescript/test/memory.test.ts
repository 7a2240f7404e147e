import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { HeirloomError, type Memory } from "heirloom-client";
import { TestServer } from "./server.js";

describe("Memory", () => {
  let server: TestServer;
  let memory: Memory;
  before(async () => {
    server = await TestServer.start();
    memory = server.memory();
  });
  after(() => server.remove());

  it("remember_fact_is_found_by_recall", async () => {
    const saved = await memory.remember("The staging database is read-only on Fridays", { category: "fact" });
    assert.equal(saved.outcome, "created");
    const found = await memory.recall("may I write to staging?", { k: 3, kinds: ["knowledge"] });
    assert.equal(found.hits[0]?.id, saved.id);
    assert.equal(found.hits[0]?.text, "The staging database is read-only on Fridays");
  });
});

describe("HeirloomError", () => {
  it("is_exported", () => assert.equal(typeof HeirloomError, "function"));
});

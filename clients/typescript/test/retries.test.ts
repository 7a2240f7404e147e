import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { HeirloomError, Memory } from "heirloom-client";
import { LocalServer, answerJson, answerProblem, passOn, type Answer } from "./local_server.js";
import { TestServer } from "./server.js";

const OUTCOME = { id: "1", outcome: "created" };

async function withLocal(answer: Answer, work: (memory: Memory, local: LocalServer) => Promise<void>): Promise<void> {
  const local = await LocalServer.start(answer);
  try {
    await work(new Memory({ url: local.url, token: "hl_secret" }), local);
  } finally {
    await local.stop();
  }
}

async function failureOf(call: Promise<unknown>): Promise<HeirloomError> {
  const failure = await call.then(
    () => assert.fail("the call succeeded"),
    (error: unknown) => error,
  );
  assert.ok(failure instanceof HeirloomError, String(failure));
  return failure;
}

describe("retries", () => {
  for (const status of [408, 429, 503]) {
    it(`write_after_two_answers_of_${status}_keeps_its_key`, async () => {
      const answer: Answer = (_, response, number) =>
        number <= 2 ? answerProblem(response, status) : answerJson(response, 201, OUTCOME);
      await withLocal(answer, async (memory, local) => {
        assert.equal((await memory.remember("a fact")).outcome, "created");
        assert.equal(local.received.length, 3);
        const keys = new Set(local.received.map((one) => one.headers["idempotency-key"]));
        assert.equal(keys.size, 1);
        assert.equal(local.received[2]?.body, local.received[0]?.body);
        assert.match(String([...keys][0]), /^[0-9a-f-]{36}$/);
      });
    });
  }

  it("broken_connection_is_retried", async () => {
    const answer: Answer = (_, response, number) => {
      if (number <= 2) response.destroy();
      else answerJson(response, 200, { hits: [], notes: [], took_us: 1, weak: 0 });
    };
    await withLocal(answer, async (memory, local) => {
      assert.deepEqual((await memory.recall("anything")).hits, []);
      assert.equal(local.received.length, 3);
      assert.equal(local.received[0]?.headers["idempotency-key"], undefined);
    });
  });

  it("each_write_has_its_own_key_unless_one_is_given", async () => {
    await withLocal(
      (_, response) => answerJson(response, 201, OUTCOME),
      async (memory, local) => {
        await memory.remember("one");
        await memory.remember("one");
        await memory.forget("1", { idempotencyKey: "mine" });
        const keys = local.received.map((one) => one.headers["idempotency-key"]);
        assert.notEqual(keys[0], keys[1]);
        assert.equal(keys[2], "mine");
      },
    );
  });

  for (const status of [400, 401, 403, 404, 409, 422, 500, 507]) {
    it(`answer_of_${status}_is_not_retried`, async () => {
      await withLocal(
        (_, response) => answerProblem(response, status),
        async (memory, local) => {
          const failure = await failureOf(memory.status());
          assert.deepEqual([failure.status, failure.attempts, local.received.length], [status, 1, 1]);
        },
      );
    });
  }

  it("retry_after_is_waited_for", async () => {
    const answer: Answer = (_, response, number) =>
      number === 1 ? answerProblem(response, 503, { "retry-after": "1" }) : answerJson(response, 201, OUTCOME);
    await withLocal(answer, async (memory) => {
      const began = Date.now();
      await memory.remember("a fact");
      assert.ok(Date.now() - began >= 990, `${Date.now() - began} ms`);
    });
  });

  it("retry_after_beyond_the_time_limit_fails_at_once", async () => {
    await withLocal(
      (_, response) => answerProblem(response, 503, { "retry-after": "60" }),
      async (memory) => {
        const began = Date.now();
        const failure = await failureOf(memory.remember("a fact", { timeoutMs: 5_000 }));
        assert.equal(failure.status, 503);
        assert.ok(Date.now() - began < 2_000);
      },
    );
  });

  it("attempts_are_limited", async () => {
    await withLocal(
      (_, response) => answerProblem(response, 429),
      async (memory, local) => {
        const failure = await failureOf(memory.remember("a fact", { retries: 2 }));
        assert.deepEqual([failure.status, failure.attempts, local.received.length], [429, 3, 3]);
        assert.equal(failure.isTransient, true);
      },
    );
  });

  it("time_limit_covers_all_attempts", async () => {
    await withLocal(
      () => undefined,
      async (memory) => {
        const began = Date.now();
        const failure = await failureOf(memory.recall("anything", { timeoutMs: 300 }));
        assert.deepEqual([failure.status, failure.title], [0, "Timeout"]);
        assert.ok(Date.now() - began < 2_000);
      },
    );
  });

  it("abort_during_the_pause_rejects_with_the_reason", async () => {
    await withLocal(
      (_, response) => answerProblem(response, 503, { "retry-after": "20" }),
      async (memory, local) => {
        const controller = new AbortController();
        const call = memory.remember("a fact", { signal: controller.signal });
        const reason = new Error("stop");
        setTimeout(() => controller.abort(reason), 100);
        await assert.rejects(call, reason);
        assert.equal(local.received.length, 1);
      },
    );
  });

  it("redirect_is_not_followed", async () => {
    const answer: Answer = (_, response) => void response.writeHead(302, { location: "http://example.org/" }).end();
    await withLocal(answer, async (memory, local) => {
      const failure = await failureOf(memory.status());
      assert.match(failure.detail, /redirected to http:\/\/example.org\//);
      assert.equal(local.received.length, 1);
    });
  });

  it("answer_of_another_program_is_named", async () => {
    await withLocal(
      (_, response) => void response.end("<html>"),
      async (memory) => {
        assert.match((await failureOf(memory.status())).message, /the answer is not JSON/);
      },
    );
  });
});

describe("idempotency", () => {
  it("write_whose_answer_was_lost_is_stored_once", async () => {
    const server = await TestServer.start();
    const proxy = await LocalServer.start((received, response, number) => {
      passOn(received, response, server.url, number <= 2);
    });
    try {
      const memory = server.memory({ url: proxy.url });
      const saved = await memory.logEpisode({ task: "42", action: "failed", approach: "mock the clock" });
      assert.equal(proxy.received.length, 3);
      const direct = server.memory();
      const episodes = await direct.request("GET", "/api/memory/episodes", { query: { task_id: "42" } });
      assert.deepEqual(
        episodes.items.map((episode) => episode.id),
        [saved.id],
      );
    } finally {
      await proxy.stop();
      await server.remove();
    }
  });

  it("reused_key_for_another_write_is_refused", async () => {
    const server = await TestServer.start();
    try {
      const memory = server.memory();
      await memory.remember("one", { idempotencyKey: "k" });
      const failure = await failureOf(memory.remember("two", { idempotencyKey: "k" }));
      assert.deepEqual([failure.status, failure.hint], [422, "use a new key for each operation"]);
    } finally {
      await server.remove();
    }
  });
});

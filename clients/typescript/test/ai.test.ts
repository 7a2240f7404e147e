import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText } from "ai";
import { MockLanguageModelV3, simulateReadableStream } from "ai/test";
import { Memory } from "heirloom-client";
import { heirloomTools, memoryMiddleware, withMemory } from "heirloom-client/ai";
import { ScriptedModelServer, type ChatRequest } from "./openai_server.js";
import { TestServer } from "./server.js";

let server: TestServer;
let memory: Memory;
before(async () => {
  server = await TestServer.start();
  memory = server.memory();
});
after(() => server.remove());

function modelOf(scripted: ScriptedModelServer) {
  return createOpenAICompatible({ name: "scripted", baseURL: scripted.url }).chatModel("scripted");
}

/** Decoded result of the newest tool call. */
function lastResult(request: ChatRequest): Record<string, unknown> {
  const message = request.messages.at(-1);
  assert.equal(message?.role, "tool");
  return JSON.parse(message.content ?? "") as Record<string, unknown>;
}

describe("heirloomTools", () => {
  it("model_recalls_and_remembers_in_a_tool_loop", async () => {
    const fact = await memory.remember("The staging database is read-only on Fridays");
    const scripted = await ScriptedModelServer.start(
      () => ({ tool: "recall", input: { query: "may I write to staging?", kinds: ["knowledge"] } }),
      (request) => {
        const [hit] = lastResult(request)["hits"] as { id: string; text: string }[];
        assert.deepEqual([hit?.id, hit?.text], [fact.id, "The staging database is read-only on Fridays"]);
        return { tool: "remember", input: { text: "Deploy on Mondays", category: "convention", key: "deploy.day" } };
      },
      (request) => {
        assert.equal(lastResult(request)["outcome"], "created");
        return "Not on a Friday.";
      },
    );
    try {
      const { text, steps } = await generateText({
        model: modelOf(scripted),
        tools: heirloomTools(memory, { task: "42", agent: "coder" }),
        stopWhen: stepCountIs(5),
        prompt: "May I write to staging today?",
      });
      assert.equal(text, "Not on a Friday.");
      assert.equal(steps.length, 3);
      const names = scripted.requests[0]?.tools?.map((tool) => tool.function.name).sort();
      assert.deepEqual(names, ["forget", "logAttempt", "logError", "recall", "remember", "resolveError", "tried"]);
      const { items } = await memory.request("GET", "/api/memory/knowledge", { query: { key: "deploy.day" } });
      assert.deepEqual(
        [items[0]?.value, items[0]?.task_id, items[0]?.agent_id, items[0]?.category],
        ["Deploy on Mondays", "42", "coder", "convention"],
      );
    } finally {
      await scripted.stop();
    }
  });

  it("errors_attempts_and_retirement_go_through_the_loop", async () => {
    let error = "";
    let fact = "";
    const scripted = await ScriptedModelServer.start(
      () => ({ tool: "logError", input: { text: "TestTokenExpiry: got nil" } }),
      (request) => {
        error = String(lastResult(request)["id"]);
        return { tool: "resolveError", input: { id: error, resolution: "froze the clock" } };
      },
      (request) => {
        const resolved = lastResult(request);
        assert.deepEqual([resolved["outcome"], typeof resolved["id"]], ["resolved", "string"]);
        error = String(resolved["id"]);
        return { tool: "logError", input: { text: "TestTokenExpiry: got nil" } };
      },
      (request) => {
        assert.equal(lastResult(request)["fix"], "froze the clock");
        return { tool: "logAttempt", input: { approach: "mock the clock", outcome: "still red", succeeded: false } };
      },
      () => ({ tool: "tried", input: { approach: "mock the clock" } }),
      (request) => {
        assert.equal(lastResult(request)["failed"], true);
        return { tool: "remember", input: { text: "soon outdated", key: "outdated" } };
      },
      (request) => {
        fact = String(lastResult(request)["id"]);
        return { tool: "forget", input: { id: fact } };
      },
      (request) => (assert.equal(lastResult(request)["outcome"], "retired"), "Done."),
    );
    try {
      const tools = heirloomTools(memory, { task: "43", agent: "coder" });
      const { text } = await generateText({ model: modelOf(scripted), tools, stopWhen: stepCountIs(10), prompt: "Go" });
      assert.equal(text, "Done.");
      assert.equal((await memory.get(error)).attrs["resolution"], "froze the clock");
      assert.notEqual((await memory.get(fact)).retired_at ?? null, null);
    } finally {
      await scripted.stop();
    }
  });

  it("failure_is_told_to_the_model_without_the_token", async () => {
    const scripted = await ScriptedModelServer.start(
      () => ({ tool: "forget", input: { id: "00000000-0000-7000-8000-000000000000" } }),
      (request) => {
        const told = request.messages.at(-1)?.content ?? "";
        assert.match(told, /404 Not Found/);
        assert.ok(!told.includes(server.token));
        return "It is not there.";
      },
    );
    try {
      const { text } = await generateText({
        model: modelOf(scripted),
        tools: heirloomTools(memory),
        stopWhen: stepCountIs(3),
        prompt: "Forget it",
      });
      assert.equal(text, "It is not there.");
    } finally {
      await scripted.stop();
    }
  });
});

describe("withMemory", () => {
  it("context_is_added_to_the_system_prompt_of_each_step", async () => {
    await memory.remember("Indent with four spaces", { category: "convention", key: "indent" });
    const scripted = await ScriptedModelServer.start(
      () => ({ tool: "remember", input: { text: "Indentation was asked for", key: "asked" } }),
      () => "Four spaces.",
    );
    try {
      const { text } = await generateText({
        model: withMemory(modelOf(scripted), memory, { agent: "coder" }),
        tools: heirloomTools(memory),
        stopWhen: stepCountIs(3),
        system: "You are a coder.",
        prompt: "How do we indent our code?",
      });
      assert.equal(text, "Four spaces.");
      const systems = scripted.requests.map((request) => request.messages[0]);
      assert.deepEqual(systems[0], systems[1]);
      assert.equal(systems[0]?.role, "system");
      assert.match(
        systems[0].content ?? "",
        /^You are a coder\.\n\n## Session Memory[^]*indent: Indent with four spaces/,
      );
    } finally {
      await scripted.stop();
    }
  });

  it("stream_without_system_prompt_gets_context", async () => {
    const usage = {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    };
    const mock = new MockLanguageModelV3({
      doStream: () =>
        Promise.resolve({
          stream: simulateReadableStream({
            chunks: [
              { type: "text-start", id: "1" },
              { type: "text-delta", id: "1", delta: "Four." },
              { type: "text-end", id: "1" },
              { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage },
            ],
          }),
        }),
    });
    const result = streamText({ model: withMemory(mock, memory), prompt: "How do we indent our code?" });
    assert.equal(await result.text, "Four.");
    const [first, second] = mock.doStreamCalls[0]?.prompt ?? [];
    assert.match(String(first?.role === "system" && first.content), /indent: Indent with four spaces/);
    assert.equal(second?.role, "user");
  });

  it("unreachable_memory_leaves_the_prompt_as_it_is", async () => {
    const errors: unknown[] = [];
    const gone = new Memory({ url: "http://127.0.0.1:9", retries: 0 });
    const scripted = await ScriptedModelServer.start(() => "Hello.");
    try {
      const model = withMemory(modelOf(scripted), gone, { onError: (error) => errors.push(error) });
      assert.equal((await generateText({ model, prompt: "Hi" })).text, "Hello.");
      assert.equal(errors.length, 1);
      assert.deepEqual(scripted.requests[0]?.messages, [{ role: "user", content: "Hi" }]);
    } finally {
      await scripted.stop();
    }
  });

  it("new_turn_gets_a_new_context", async () => {
    const middleware = memoryMiddleware(memory);
    const transform = middleware.transformParams;
    assert.ok(transform);
    const mock = new MockLanguageModelV3();
    const ask = async (): Promise<string> => {
      const prompt = [
        { role: "user" as const, content: [{ type: "text" as const, text: "What is the release codename?" }] },
      ];
      const params = await transform({ type: "generate", params: { prompt }, model: mock });
      return JSON.stringify(params.prompt);
    };
    assert.doesNotMatch(await ask(), /heron/);
    await memory.remember("The release codename is heron", { key: "codename" });
    assert.match(await ask(), /heron/);
  });
});

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ScriptedModelServer } from "./openai_server.js";
import { TestServer } from "./server.js";

const run = promisify(execFile);
const FOLDER = new URL("../readme/", import.meta.url);

/** Expected output of each example, in the order of README.md. */
const OUTPUTS = [
  /^Indent with four spaces\n## Session Memory[^]*Indent with four spaces/,
  /^$/,
  /^created [0-9a-f-]{36} orchestrator\n$/,
  /^\[[^]*\]\nindent Indent with four spaces\n$/,
  /^400 the error has no text undefined\n$/,
  /^Four spaces\.\n$/,
];

describe("README.md", () => {
  let server: TestServer;
  let scripted: ScriptedModelServer;
  before(async () => {
    server = await TestServer.start();
    scripted = await ScriptedModelServer.start(
      () => ({ tool: "remember", input: { text: "The user asked about indentation", key: "asked" } }),
      () => "Four spaces.",
    );
  });
  after(async () => {
    await scripted.stop();
    await server.remove();
  });

  it("has_as_many_examples_as_there_are_outputs", () => {
    assert.equal(readdirSync(FOLDER).filter((name) => /^example\d+\.js$/.test(name)).length, OUTPUTS.length);
  });

  OUTPUTS.forEach((expected, at) => {
    it(`example_${at + 1}_prints_what_is_expected`, async () => {
      const { PATH, HOME } = process.env;
      const env = { PATH, HOME, HEIRLOOM_URL: server.url, HEIRLOOM_TOKEN: server.token, MODEL_URL: scripted.url };
      const program = fileURLToPath(new URL(`example${at + 1}.js`, FOLDER));
      const { stdout, stderr } = await run(process.execPath, [program], { env, timeout: 30_000 });
      assert.match(stdout, expected);
      assert.equal(stderr, "");
    });
  });

  it("adapter_example_sends_context_and_stores_what_the_model_remembers", async () => {
    assert.match(scripted.requests[0]?.messages[0]?.content ?? "", /careful coder[^]*Indent with four spaces/);
    const found = await server.memory().recall("which question was asked about indentation?");
    assert.ok(found.hits.some((hit) => hit.text === "The user asked about indentation"));
  });

  it("lists_all_methods", () => {
    const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
    const memory = server.memory();
    const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(memory)) as string[];
    const hidden = new Set(["constructor", "url", "toJSON"]);
    for (const method of methods.filter((name) => !hidden.has(name))) {
      assert.ok(readme.includes(`\`${method}(`), `README.md does not list \`${method}\``);
    }
  });
});

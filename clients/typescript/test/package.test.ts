import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { TestServer } from "./server.js";

const run = promisify(execFile);
const PACKAGE = fileURLToPath(new URL("../../", import.meta.url));

const PROGRAM = `
  const memory = new Memory();
  const { id, outcome } = await memory.remember("a fact of " + name, { key: name });
  console.log(outcome, (await memory.get(id)).text);
`;

const TOOL_PROGRAM = `
  import { generateText, stepCountIs } from "ai";
  import * as mocks from "ai/test";
  import { Memory } from "heirloom-client";
  import { heirloomTools, withMemory } from "heirloom-client/ai";

  const memory = new Memory();
  await memory.remember("Indent with four spaces", { key: "indent" });
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const call = { type: "tool-call", toolCallId: "1", toolName: "recall", input: '{"query":"how do we indent?"}' };
  const prompts = [];
  const Model = mocks.MockLanguageModelV4 ?? mocks.MockLanguageModelV3;
  const model = new Model({
    doGenerate: async ({ prompt }) => {
      prompts.push(prompt);
      const last = prompts.length === 1;
      return {
        content: [last ? call : { type: "text", text: "Four." }],
        finishReason: { unified: last ? "tool-calls" : "stop", raw: "x" },
        usage,
        warnings: [],
      };
    },
  });
  const { text, steps } = await generateText({
    model: withMemory(model, memory), tools: heirloomTools(memory), stopWhen: stepCountIs(3), prompt: "How do we indent?",
  });
  const system = prompts.every((prompt) => prompt[0].role === "system" && prompt[0].content.includes("four spaces"));
  console.log(text, system, steps[0].toolResults[0].output.hits[0].text);
`;

const TYPED_PROGRAM = `
  import { generateText, stepCountIs, wrapLanguageModel } from "ai";
  import { Memory, type RecallHit } from "heirloom-client";
  import { heirloomTools, withMemory } from "heirloom-client/ai";

  export async function main(model: Parameters<typeof wrapLanguageModel>[0]["model"]): Promise<RecallHit[]> {
    const memory = new Memory();
    const tools = heirloomTools(memory);
    await generateText({ model: withMemory(model, memory), tools, stopWhen: stepCountIs(3), prompt: "Hi" });
    await using task = memory.task("42");
    return (await task.tried("x")).failed ? [] : (await memory.recall("x")).hits;
  }
`;

describe("package", () => {
  let server: TestServer;
  let folder: string;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    server = await TestServer.start();
    folder = mkdtempSync(join(tmpdir(), "heirloom-package-"));
    const { PATH, HOME } = process.env;
    env = { PATH, HOME, HEIRLOOM_URL: server.url, HEIRLOOM_TOKEN: server.token };
    await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: PACKAGE, env });
    const archive = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? assert.fail("no archive");
    writeFileSync(join(folder, "package.json"), '{"private": true}');
    const options = ["--offline", "--omit=peer", "--no-audit", "--no-fund"];
    await run("npm", ["install", ...options, `./${archive}`], { cwd: folder, env });
  });
  after(async () => {
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  async function output(file: string, program: string, nodeOptions: string[] = []): Promise<string> {
    writeFileSync(join(folder, file), program);
    const { stdout } = await run(process.execPath, [...nodeOptions, file], { cwd: folder, env });
    return stdout;
  }

  /** Gives the consumer a version of \`ai\`, by the name under which it is installed here. */
  function linkSdk(name: string): void {
    rmSync(join(folder, "node_modules", "ai"), { force: true });
    symlinkSync(join(PACKAGE, "node_modules", name), join(folder, "node_modules", "ai"));
  }

  it("contains_code_types_and_readme_and_has_no_dependencies", () => {
    const root = join(folder, "node_modules", "heirloom-client");
    assert.deepEqual(readdirSync(root).sort(), ["README.md", "dist", "package.json", "src"]);
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<string, unknown>;
    assert.equal(manifest["dependencies"], undefined);
    assert.deepEqual(
      readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith(".")),
      ["heirloom-client"],
    );
  });

  it("es_module_imports_it", async () => {
    const head = 'import { Memory } from "heirloom-client"; const name = "esm";';
    assert.equal(await output("consumer.mjs", head + PROGRAM), "created a fact of esm\n");
  });

  it("commonjs_module_requires_it", async () => {
    const head = 'const { Memory } = require("heirloom-client"); const name = "cjs";';
    const program = `${head} (async () => {${PROGRAM}})();`;
    assert.equal(await output("consumer.cjs", program), "created a fact of cjs\n");
  });

  it("commonjs_module_imports_it", async () => {
    const program = `(async () => { const { Memory } = await import("heirloom-client"); const name = "old"; ${PROGRAM} })();`;
    assert.equal(await output("older.cjs", program), "created a fact of old\n");
  });

  /** Compiles a program with the strictest options, and returns the errors. */
  async function typeErrors(file: string, program: string, skipLibCheck: boolean): Promise<string> {
    writeFileSync(join(folder, file), program);
    const compilerOptions = {
      ...{ target: "es2022", module: "nodenext", lib: ["es2022", "dom"], types: [], noEmit: true, skipLibCheck },
      ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [file] }));
    const compiler = join(PACKAGE, "node_modules", "typescript", "bin", "tsc");
    const failed = (error: { stdout: string }): { stdout: string } => error;
    return (await run(process.execPath, [compiler, "-p", "."], { cwd: folder, env }).catch(failed)).stdout;
  }

  for (const sdk of ["ai", "ai-next"]) {
    it(`adapter_works_with_${sdk}`, async () => {
      linkSdk(sdk);
      assert.equal(await output("tools.mjs", TOOL_PROGRAM), "Four. true Indent with four spaces\n");
    });

    it(`types_of_adapter_fit_${sdk}`, async () => {
      linkSdk(sdk);
      assert.equal(await typeErrors("typed.mts", TYPED_PROGRAM, true), "");
    });
  }

  it("declarations_need_no_other_types", async () => {
    const program = `
      import { Memory } from "heirloom-client";
      export const memory: Memory = new Memory();
      // @ts-expect-error: a query is a text
      export const wrong = memory.recall(1);`;
    assert.equal(await typeErrors("plain.mts", program, false), "");
    assert.equal(await typeErrors("plain.cts", program, false), "");
  });
});

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import type { Memory, ProviderMessage, RecallHit, RememberOptions, WriteOutcome } from "heirloom-client";
// The map of names is internal: the package exports the types that follow from it.
import { toFieldName } from "#internal/wire_names";

const PACKAGE = new URL("../../", import.meta.url);

interface Operation {
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}
interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  allOf?: Schema[];
  oneOf?: Schema[];
}
interface Description {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const description = JSON.parse(readFileSync(new URL("../openapi.json", PACKAGE), "utf8")) as Description;

function fieldsOf(schema: Schema | undefined): string[] {
  if (schema === undefined) return [];
  const named = schema.$ref?.split("/").at(-1);
  const parts = [...(schema.allOf ?? []), ...(schema.oneOf ?? [])];
  if (named !== undefined) parts.push(description.components.schemas[named] ?? assert.fail(named));
  return [...Object.keys(schema.properties ?? {}), ...parts.flatMap(fieldsOf)];
}

/** Operations with the fields of their queries and bodies. */
function operations(): { name: string; fields: Set<string> }[] {
  return Object.entries(description.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const query = (operation.parameters ?? []).filter((one) => one.in === "query").map((one) => one.name);
      const body = fieldsOf(operation.requestBody?.content["application/json"]?.schema);
      return { name: `${method.toUpperCase()} ${path}`, fields: new Set([...query, ...body]) };
    }),
  );
}

describe("types", () => {
  it("committed_types_equal_a_new_generation", () => {
    execFileSync(process.execPath, [fileURLToPath(new URL("scripts/generate.mjs", PACKAGE)), "--check"]);
  });

  it("option_names_lead_back_to_the_fields_of_the_api", () => {
    const fields = new Set(operations().flatMap((operation) => [...operation.fields]));
    assert.ok(fields.size > 60, `${fields.size}`);
    for (const field of fields) {
      const option = field.replace(/_id$/, "").replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      assert.equal(toFieldName(option), field);
    }
  });

  it("operations_take_the_project_of_the_client", () => {
    const without = operations()
      .filter((operation) => !operation.fields.has("project"))
      .map((operation) => operation.name);
    assert.deepEqual(without.sort(), ["DELETE /api/tokens/{id}", "GET /api/projects"]);
  });
});

/** Never called: the compiler checks what the types accept and refuse. */
export async function checkTypes(memory: Memory): Promise<void> {
  const outcome: WriteOutcome = await memory.remember("text", { category: "fact", trueFrom: "2026-01-01T00:00:00Z" });
  const hits: RecallHit[] = (await memory.recall("query", { k: 3, kinds: ["knowledge"], budgetTokens: 10 })).hits;
  const options: RememberOptions = { task: undefined, key: outcome.id };
  await memory.remember(hits[0]?.text ?? "", options);
  const { items } = await memory.request("GET", "/api/tasks", { query: { limit: 3 } });
  items[0]?.task_id.toUpperCase();
  const nothing: undefined = await memory.request("DELETE", "/api/memory/working");
  const messages: ProviderMessage[] = (await memory.compact([{ role: "user", content: "hi" }])).messages;
  void [nothing, messages];

  // @ts-expect-error: no such kind
  await memory.recall("query", { kinds: ["facts"] });
  // @ts-expect-error: options are in camel case
  await memory.recall("query", { budget_tokens: 10 });
  // @ts-expect-error: the text is an argument
  await memory.remember("text", { value: "other" });
  // @ts-expect-error: an episode needs an action
  await memory.logEpisode({ task: "42" });
  // @ts-expect-error: no such action
  await memory.logEpisode({ task: "42", action: "tried" });
  // @ts-expect-error: no such path
  await memory.request("GET", "/api/nothing");
  // @ts-expect-error: no such method of this path
  await memory.request("DELETE", "/api/status");
  // @ts-expect-error: the path needs an id
  await memory.request("GET", "/api/records/{id}");
  // @ts-expect-error: a value of the body has another type
  await memory.request("POST", "/api/errors", { body: { text: 3 } });
  // @ts-expect-error: not a list
  memory.list("/api/status");
  // @ts-expect-error: no such command
  await memory.memoryTool({ command: "erase", path: "/memories" });
}

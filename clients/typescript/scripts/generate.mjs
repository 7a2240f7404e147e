// Generates `src/generated/api.ts` from the API description; with `--check` it compares instead of writing.
//
// Failures are left out: each is a problem document, which `HeirloomError` represents, and their repetition would make
// up five sixths of the file.
//
// Fixed words of answers are `"a" | "b" | (string & {})`: an answer of a later version may have others.
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const description = new URL("../../openapi.json", import.meta.url);
const target = new URL("../src/generated/api.ts", import.meta.url);

const api = JSON.parse(readFileSync(description, "utf8"));
for (const item of Object.values(api.paths)) {
  for (const operation of Object.values(item)) {
    if (!operation.responses) continue;
    for (const status of Object.keys(operation.responses)) {
      if (!status.startsWith("2")) delete operation.responses[status];
    }
  }
}

/** Calls `visit` with each schema of a part, and with those that it refers to. */
function walk(part, visit, visited = new Set()) {
  if (part === null || typeof part !== "object" || visited.has(part)) return;
  visited.add(part);
  visit(part);
  const name = typeof part.$ref === "string" ? part.$ref.split("/").pop() : undefined;
  if (name !== undefined) walk(api.components.schemas[name], visit, visited);
  for (const value of Object.values(part)) walk(value, visit, visited);
}

const closed = new Set();
for (const item of Object.values(api.paths)) {
  for (const operation of Object.values(item)) {
    walk([operation.requestBody, operation.parameters], (part) => closed.add(part));
  }
}
walk(api.components.schemas, (part) => {
  if (Array.isArray(part.enum) && !closed.has(part)) part["x-open"] = true;
});

/** Adds all other strings to the words of an answer. */
function transform(schema) {
  if (schema["x-open"] !== true) return undefined;
  const words = schema.enum.map((word) =>
    ts.factory.createLiteralTypeNode(word === null ? ts.factory.createNull() : ts.factory.createStringLiteral(word)),
  );
  const text = ts.factory.createKeywordTypeNode(ts.SyntaxKind.StringKeyword);
  const other = ts.factory.createIntersectionTypeNode([text, ts.factory.createTypeLiteralNode([])]);
  return ts.factory.createUnionTypeNode([...words, ts.factory.createParenthesizedType(other)]);
}

const head = "// Generated from clients/openapi.json by `npm run generate`. Do not edit.\n\n";
const types = head + astToString(await openapiTS(api, { emptyObjectsUnknown: true, silent: true, transform }));
if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== types) {
    console.error("src/generated/api.ts differs from clients/openapi.json: `npm run generate`");
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, types);
}

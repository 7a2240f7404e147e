// Generates `src/generated/api.ts` from the API description; with `--check` it compares instead of writing.
//
// Failures are left out: each is a problem document, which `HeirloomError` represents, and their repetition would make
// up five sixths of the file.
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

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
const head = "// Generated from clients/openapi.json by `npm run generate`. Do not edit.\n\n";
const types = head + astToString(await openapiTS(api, { emptyObjectsUnknown: true, silent: true }));
if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== types) {
    console.error("src/generated/api.ts differs from clients/openapi.json: `npm run generate`");
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, types);
}

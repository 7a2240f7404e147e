// Writes the TypeScript examples of README.md to `readme/`, where they are compiled and run like programs of a user.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const folder = new URL("../readme/", import.meta.url);
mkdirSync(folder, { recursive: true });
const blocks = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1]);
blocks.forEach((block, at) => writeFileSync(new URL(`example${at + 1}.ts`, folder), block));

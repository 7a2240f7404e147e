import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Memory, type MemoryOptions } from "heirloom-client";

/** A real server on a project of its own, in a temporary folder. */
export class TestServer {
  #process: ChildProcess | undefined;

  private constructor(
    readonly folder: string,
    readonly url: string,
    readonly token: string,
    process: ChildProcess,
  ) {
    this.#process = process;
  }

  /** Creates a project and starts a server on it. */
  static async start(): Promise<TestServer> {
    const folder = mkdtempSync(join(tmpdir(), "heirloom-client-"));
    execFileSync("git", ["init", "-q", join(folder, "shop")]);
    heirloom(folder, ["init"]);
    const [process, line] = await serve(folder, 0);
    const listening = JSON.parse(line) as { listening: string; token: string };
    return new TestServer(folder, listening.listening, listening.token, process);
  }

  /** Returns a client with the server's first token, whose role is orchestrator. */
  memory(options: MemoryOptions = {}): Memory {
    return new Memory({ url: this.url, token: this.token, ...options });
  }

  /** Creates a token. */
  createToken(...options: string[]): string {
    const answer = heirloom(this.folder, ["token", "create", "--json", ...options]);
    return (JSON.parse(answer) as { token: string }).token;
  }

  /** Runs the command line in the project. */
  run(...command: string[]): string {
    return heirloom(this.folder, command);
  }

  /** Stops the server as Ctrl-C does, and waits for its end. */
  async stop(): Promise<void> {
    const process = this.#process;
    this.#process = undefined;
    if (process === undefined || process.exitCode !== null) return;
    const ended = new Promise((resolve) => process.once("exit", resolve));
    process.kill("SIGINT");
    await ended;
  }

  /** Starts the server again, on the same port. */
  async restart(): Promise<void> {
    await this.stop();
    [this.#process] = await serve(this.folder, Number(new URL(this.url).port));
  }

  /** Stops the server and removes the project. */
  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function binary(): string {
  const path = process.env["HEIRLOOM_BIN"];
  if (path === undefined || path === "") throw new Error("HEIRLOOM_BIN is not set: the path of the program `heirloom`");
  return path;
}

/** Environment without the settings of the person who runs the tests. */
function environment(folder: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(HEIRLOOM|XDG)_/.test(name));
  return { ...Object.fromEntries(kept), HOME: folder };
}

function heirloom(folder: string, command: string[]): string {
  const options = { cwd: join(folder, "shop"), env: environment(folder), encoding: "utf8" } as const;
  return execFileSync(binary(), command, { ...options, stdio: ["ignore", "pipe", "pipe"] });
}

function serve(folder: string, port: number): Promise<[ChildProcess, string]> {
  const child = spawn(binary(), ["serve", "--port", String(port), "--json"], {
    cwd: join(folder, "shop"),
    env: environment(folder),
    stdio: ["ignore", "pipe", "pipe"],
  });
  return new Promise((resolve, reject) => {
    let output = "";
    let errors = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      output += part;
      const line = output.split("\n")[0];
      if (output.includes("\n") && line !== undefined) resolve([child, line]);
    });
    child.stderr.setEncoding("utf8").on("data", (part: string) => (errors += part));
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${errors}`)));
  });
}

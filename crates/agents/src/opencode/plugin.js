// Heirloom plugin for opencode, written by `heirloom install opencode` and removed by `heirloom uninstall opencode`.
// It passes events to `heirloom hook opencode EVENT` and adds the answers to prompts and tool outputs. Without
// `heirloom` on the PATH, and in folders without a memory, it changes nothing.
import { randomUUID } from "node:crypto";
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import zlib from "node:zlib";

// Longer than the deadline of a hook; a call never blocks a session longer.
const TIMEOUT_MS = 10_000;
const COMMAND = "exec 2>/dev/null; heirloom hook opencode EVENT || cat >/dev/null; exit 0";
// The shell removes the copies that the hook has read, even if opencode does not wait for it.
const COPY_COMMAND = COMMAND.replace("exit 0", 'rm -rf -- "$HEIRLOOM_COPIES"; exit 0');

// Runs a hook and returns its answer; an empty one after any failure. The folder with its copies is removed.
function call(event, fields, directory, copies) {
  return new Promise((resolve) => {
    let output = "";
    const finish = () => {
      try {
        resolve(JSON.parse(output));
      } catch {
        resolve({});
      }
    };
    try {
      const env = { ...process.env, ...(copies && { HEIRLOOM_COPIES: copies }) };
      const options = { cwd: directory, env, stdio: ["pipe", "pipe", "ignore"], timeout: TIMEOUT_MS };
      const command = (copies ? COPY_COMMAND : COMMAND).replace("EVENT", event);
      // The shell of Windows also finds the `heirloom.cmd` of npm.
      const child =
        process.platform === "win32"
          ? spawn("heirloom", ["hook", "opencode", event], { ...options, shell: true, windowsHide: true })
          : spawn("/bin/sh", ["-c", command], options);
      child.on("error", finish);
      child.on("close", finish);
      child.stdout.on("data", (chunk) => (output += chunk));
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify({ hook_event_name: event, cwd: directory, ...fields }));
    } catch {
      finish();
    }
  });
}

// Returns true if the folder or one above it has a memory; a linked worktree has that of its repository.
function hasMemory(directory) {
  for (let folder = directory; ; folder = path.dirname(folder)) {
    if (fs.existsSync(path.join(folder, ".heirloom"))) return true;
    try {
      const link = fs.readFileSync(path.join(folder, ".git"), "utf8").match(/^gitdir: (.+)$/m);
      const repository = path.resolve(folder, link[1], "../../..");
      if (fs.existsSync(path.join(repository, ".heirloom"))) return true;
    } catch {}
    if (folder === path.dirname(folder)) return false;
  }
}

// The hooks that end a turn or a session read conversations from files, which exist during this call only. No call takes
// as long as COPY_AGE_MS: an older folder is that of a process that was killed. A hook reads the whole file, so the end of
// a turn leaves a larger conversation than TURN_COPY_BYTES to the end of the session.
const TURN_COPY_BYTES = 8 << 20;
const COPY_FOLDER_PREFIX = "session-end-";
const COPY_AGE_MS = 3_600_000;

function conversationFolder() {
  const data = process.env.XDG_DATA_HOME || path.join(os.homedir(), ".local/share");
  return path.join(data, "opencode/heirloom");
}

const removeFolder = (folder) => {
  try {
    fs.rmSync(folder, { recursive: true, force: true });
  } catch {}
};

function removeOldCopies() {
  const parent = conversationFolder();
  try {
    for (const name of fs.readdirSync(parent)) {
      const folder = path.join(parent, name);
      const isOld = () => fs.lstatSync(folder).mtimeMs < Date.now() - COPY_AGE_MS;
      if (name.startsWith(COPY_FOLDER_PREFIX) && isOld()) removeFolder(folder);
    }
  } catch {}
}

export const Heirloom = async ({ client, directory }) => {
  // The plugin may be installed for the person and for the project.
  const loaded = Symbol.for(`heirloom ${directory}`);
  if (globalThis[loaded] || !hasMemory(directory)) return {};
  globalThis[loaded] = true;
  removeOldCopies();
  const copies = path.join(conversationFolder(), COPY_FOLDER_PREFIX + randomUUID());
  const sessions = new Map();
  let pending = Promise.resolve();

  const sessionOf = (id) => {
    if (!sessions.has(id)) sessions.set(id, { source: "resume", texts: [] });
    return sessions.get(id);
  };
  const rootOf = (id) => {
    const parent = sessions.get(id)?.parent;
    return parent ? rootOf(parent) : id;
  };
  const copyFolder = (id) => `${copies}-${rootOf(id)}`;
  const copyFile = (id) => path.join(copyFolder(id), `${id}.json`);
  // Fields that name the session; the events of a subagent belong to the session that started it.
  const names = (id) => {
    const { parent, agent } = sessionOf(id);
    const file = copyFile(id);
    if (!parent) return { session_id: id, transcript_path: file };
    return { session_id: rootOf(id), agent_id: id, agent_type: agent, agent_transcript_path: file };
  };
  const send = (event, id, fields) => call(event, { ...names(id), ...fields }, directory);
  const contextOf = (answer) => answer.hookSpecificOutput?.additionalContext;

  // opencode keeps conversations in a database, which cannot be asked when the plugin is disposed: each turn's end
  // stores the conversation in memory, as `opencode export` prints it.
  const readConversation = async (id) => {
    try {
      const [info, messages] = await Promise.all([
        client.session.get({ path: { id } }),
        client.session.messages({ path: { id } }),
      ]);
      if (!info.data || !messages.data) return;
      const text = Buffer.from(JSON.stringify({ info: info.data, messages: messages.data }));
      const session = sessionOf(id);
      session.conversation = zlib.gzipSync(text);
      session.bytes = text.length;
    } catch {}
  };

  // Calls a hook while the conversations of these sessions are in files.
  const sendWithCopies = async (event, id, fields, ids) => {
    const folder = copyFolder(id);
    try {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      for (const one of ids) {
        const { conversation } = sessionOf(one);
        if (conversation) fs.writeFileSync(copyFile(one), zlib.gunzipSync(conversation), { mode: 0o600, flag: "wx" });
      }
    } catch {}
    await call(event, { ...names(id), ...fields }, directory, folder);
    // A shell that was killed has left the folder.
    removeFolder(folder);
  };

  const endSession = (id) => {
    const own = [...sessions.keys()].filter((one) => rootOf(one) === id);
    return sendWithCopies("dispose", id, { reason: "other" }, own);
  };

  const endTurn = async (id) => {
    const session = sessionOf(id);
    const last_assistant_message = session.texts.splice(0).join("\n\n");
    await readConversation(id);
    const event = session.parent ? "subagent.idle" : "session.idle";
    const isCopied = session.conversation && session.bytes <= TURN_COPY_BYTES;
    const fields = { last_assistant_message };
    await (isCopied ? sendWithCopies(event, id, fields, [id]) : send(event, id, fields));
  };

  const failTool = (part) => {
    const { tool, state } = part;
    return send("tool.execute.error", part.sessionID, {
      tool_name: tool,
      tool_input: inputOf(state.input),
      error: state.error || "failed",
    });
  };

  const inputOf = (args) => ({
    ...args,
    ...(args?.filePath && { file_path: args.filePath }),
    ...(args?.patchText && { patch: args.patchText }),
  });

  return {
    event: async ({ event }) => {
      const { type, properties } = event;
      const failed = type === "message.part.updated" && properties.part.state?.status === "error";
      if (type === "session.created") {
        const { id, parentID } = properties.info;
        sessions.set(id, { source: "startup", parent: parentID, texts: [] });
      } else if (type === "session.compacted") {
        sessionOf(properties.sessionID).source = "compact";
      } else if (type === "session.idle") {
        pending = pending.then(() => endTurn(properties.sessionID));
        await pending;
      } else if (failed) {
        pending = pending.then(() => failTool(properties.part));
        await pending;
      }
    },
    "chat.message": async (input, output) => {
      const session = sessionOf(input.sessionID);
      session.agent = output.message.agent;
      const last = output.parts.at(-1);
      const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic);
      const prompt = texts.map((part) => part.text).join("\n");
      const contexts = [];
      if (session.source) {
        const event = session.parent ? "subagent.created" : "session.created";
        const answer = await send(event, input.sessionID, { source: session.source });
        contexts.push(contextOf(answer));
        session.source = undefined;
      }
      if (!session.parent) {
        contexts.push(contextOf(await send("chat.message", input.sessionID, { prompt })));
      }
      for (const [n, text] of contexts.entries()) {
        if (!text || !last) continue;
        // opencode orders parts by id.
        const { sessionID, messageID } = last;
        output.parts.push({ id: `${last.id}h${n}`, sessionID, messageID, type: "text", text, synthetic: true });
      }
    },
    "experimental.text.complete": async (input, output) => {
      sessionOf(input.sessionID).texts.push(output.text);
    },
    "tool.execute.after": async (input, output) => {
      const { exit } = output.metadata ?? {};
      const answer = await send("tool.execute.after", input.sessionID, {
        tool_name: input.tool,
        tool_input: inputOf(input.args),
        tool_response: { output: output.output, ...(Number.isInteger(exit) && { exit_code: exit }) },
      });
      const replaced = answer.hookSpecificOutput?.updatedToolOutput?.output;
      if (typeof replaced === "string") output.output = replaced;
      const context = contextOf(answer);
      if (context) output.output += `\n\n${context}`;
    },
    "experimental.session.compacting": async (input) => {
      await send("experimental.session.compacting", input.sessionID, {});
    },
    dispose: async () => {
      await pending;
      const ended = [...sessions.keys()].filter((id) => !sessionOf(id).parent);
      await Promise.all(ended.map(endSession));
      delete globalThis[loaded];
    },
  };
};

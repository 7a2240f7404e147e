//! The plugin of opencode, executed by Node.js with a scripted client: what it copies, and for how long.
#![expect(
    clippy::disallowed_methods,
    reason = "a plugin as opencode loads it, and the PATH on which its interpreter is found"
)]

use crate::project::{Project, answer};
use heirloom_testkit::{Prerequisite, require};
use serde_json::Value;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Folder of the copies below the home folder.
const COPIES: &str = ".local/share/opencode/heirloom";

/// Plays a session of opencode with a subagent: two turns, then the end of the program, unless it is killed.
const HOST: &str = r#"
import fs from "node:fs";
import path from "node:path";
const [, , plugin, directory, copies, ending] = process.argv;
const isWindows = ending === "windows";
if (isWindows) Object.defineProperty(process, "platform", { value: "win32" });
const { Heirloom } = await import(plugin);
const text = (id, text) => ({ id: `${id}p`, type: "text", text, time: { start: 1775037600000 } });
const conversation = (id, parentID) => ({
  info: { id, parentID, directory, time: { created: 1775037600000 } },
  messages: [
    { info: { id: `${id}m1`, role: "user" }, parts: [text(`${id}m1`, `make the tests of ${id} pass`)] },
    { info: { id: `${id}m2`, role: "assistant" }, parts: [text(`${id}m2`, `the tests of ${id} pass`)] },
    { info: { id: `${id}m3`, role: "user" }, parts: [text(`${id}m3`, "always run make fmt before you commit")] },
  ],
});
const all = { ses_main: conversation("ses_main"), ses_aside: conversation("ses_aside", "ses_main") };
const get = (part) => async ({ path: { id } }) => ({ data: all[id][part] });
const client = { session: { get: get("info"), messages: get("messages") } };
const hooks = await Heirloom({ client, directory });
const copied = () => (fs.existsSync(copies) ? fs.readdirSync(copies, { recursive: true }) : []);
const seen = [];
const say = async (id) => {
  const message = { agent: "general" };
  const part = { id: "p", sessionID: id, messageID: "m", type: "text", text: "go" };
  await hooks["chat.message"]({ sessionID: id }, { message, parts: [part] });
  await hooks["experimental.text.complete"]({ sessionID: id }, { text: "done" });
  await hooks.event({ event: { type: "session.idle", properties: { sessionID: id } } });
  seen.push(...copied());
};
for (const id of ["ses_main", "ses_aside"]) {
  await hooks.event({ event: { type: "session.created", properties: { info: all[id].info } } });
  await say(id);
}
await say("ses_main");
if (ending === "dispose" || isWindows) await hooks.dispose();
console.log(JSON.stringify({ seen, left: copied() }));
"#;

/// Shell in the place of that of Windows; it counts its calls.
const WINDOWS_SHELL: &str =
    "#!/bin/sh\necho \"$2\" >> \"$HOME/shell-calls\"\nexec /bin/sh \"$@\"\n";

/// Returns a Node.js program that can run the plugin.
fn node() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path).map(|folder| folder.join("node"));
    found.find(|file| file.is_file())
}

/// Runs the plugin in a session; `heirloom` is found in `folder`.
fn play_session(project: &Project, node: &Path, folder: &Path) -> Value {
    play_session_to(project, node, folder, "dispose")
}

/// As `play_session`, with another ending than `dispose`.
fn play_session_to(project: &Project, node: &Path, folder: &Path, ending: &str) -> Value {
    let home = project.home.path();
    project.ok(&["install", "opencode", "--yes"]);
    let plugin = home.join("plugin.mjs");
    std::fs::copy(home.join(".config/opencode/plugins/heirloom.js"), &plugin).unwrap();
    let host = home.join("host.mjs");
    std::fs::write(&host, HOST).unwrap();
    let shell = home.join("shell");
    std::fs::write(&shell, WINDOWS_SHELL).unwrap();
    std::fs::set_permissions(&shell, PermissionsExt::from_mode(0o700)).unwrap();
    let mut path = OsString::from(folder);
    path.push(":/usr/bin:/bin");
    let mut command = Command::new(node);
    command
        .arg(host)
        .args([&plugin, project.path(), &home.join(COPIES)])
        .arg(ending)
        .current_dir(project.path())
        .env_clear()
        .env("PATH", path)
        .env("HOME", home)
        // The shell that Node.js starts where it takes the platform for Windows.
        .env("comspec", &shell)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let played = answer(&mut command);
    assert_eq!(played.code, 0, "{played:?}");
    played.json()
}

/// Writes a program with the name `heirloom`; returns its folder.
fn write_substitute(project: &Project, script: &str) -> PathBuf {
    let folder = project.home.path().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("heirloom");
    std::fs::write(&file, script).unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o700)).unwrap();
    folder
}

#[test]
fn conversations_are_imported_at_session_end_without_remaining_copies() {
    let node = require!(Prerequisite::Node, node());
    let project = Project::new();
    let folder = Path::new(env!("CARGO_BIN_EXE_heirloom")).parent().unwrap();
    let played = play_session(&project, &node, folder);
    assert_eq!(played, serde_json::json!({"seen": [], "left": []}));
    for (session, agent) in [("ses_main", Value::Null), ("ses_aside", "general".into())] {
        let shown = project.json(&["session", "show", session]);
        let text = format!("the tests of {session} pass");
        assert_eq!(shown["messages"][1]["text"], text, "{shown}");
        assert_eq!(shown["attrs"]["agent_type"], agent, "{shown}");
    }
}

#[test]
fn plugin_calls_hooks_through_the_shell_of_windows() {
    let node = require!(Prerequisite::Node, node());
    let project = Project::new();
    let folder = Path::new(env!("CARGO_BIN_EXE_heirloom")).parent().unwrap();
    let played = play_session_to(&project, &node, folder, "windows");
    assert_eq!(played["left"], serde_json::json!([]));
    let shown = project.json(&["session", "show", "ses_main"]);
    assert_eq!(shown["messages"].as_array().unwrap().len(), 3, "{shown}");
    let calls = std::fs::read_to_string(project.home.path().join("shell-calls")).unwrap();
    assert!(
        calls.contains("heirloom hook opencode session.idle\n"),
        "{calls}"
    );
}

#[test]
fn end_of_a_turn_stores_its_lessons_before_the_session_ends() {
    let node = require!(Prerequisite::Node, node());
    let project = Project::new();
    let folder = Path::new(env!("CARGO_BIN_EXE_heirloom")).parent().unwrap();
    let played = play_session_to(&project, &node, folder, "kill");
    assert_eq!(played, serde_json::json!({"seen": [], "left": []}));
    let listed = project.json(&["list", "--kind", "knowledge"]);
    let records = listed["records"].as_array().unwrap();
    let rules: Vec<&Value> = (records.iter())
        .filter(|record| record["text"].as_str().unwrap().contains("make fmt"))
        .collect();
    assert_eq!(rules.len(), 1, "{listed}");
    assert_eq!(rules[0]["source"], "user", "{listed}");
    let shown = project.json(&["session", "show", "ses_main"]);
    assert_eq!(shown["messages"].as_array().unwrap().len(), 3, "{shown}");
    assert_eq!(shown["ended_at"], Value::Null, "{shown}");
}

#[test]
fn copies_are_private_and_removed_after_failing_hooks() {
    let node = require!(Prerequisite::Node, node());
    for (event, files) in [
        ("session.idle", &["f 600 ses_main.json"][..]),
        ("subagent.idle", &["f 600 ses_aside.json"]),
        ("dispose", &["f 600 ses_main.json", "f 600 ses_aside.json"]),
    ] {
        let project = Project::new();
        let copies = project.home.path().join(COPIES);
        // The substitute lists the copies of the call and dies while it reads its event.
        let script = format!(
            "#!/bin/sh\nif [ \"$3\" = {event} ]; then find {} -printf '%y %m %f\\n' > \"$HOME/seen\"; fi\nkill -9 $$\n",
            copies.display()
        );
        let folder = write_substitute(&project, &script);
        let played = play_session(&project, &node, &folder);
        assert_eq!(played, serde_json::json!({"seen": [], "left": []}));
        let seen = std::fs::read_to_string(project.home.path().join("seen")).unwrap();
        let found: Vec<&str> = seen.lines().filter(|line| line.starts_with('f')).collect();
        assert_eq!(found.len(), files.len(), "{event}: {seen}");
        for file in files {
            assert!(found.contains(file), "{event}: {seen}");
        }
        let is_private = |line: &str| line.starts_with("d 700 session-end-");
        assert!(seen.lines().any(is_private), "{event}: {seen}");
    }
}

#[test]
fn start_removes_old_copies_of_killed_sessions_only() {
    let node = require!(Prerequisite::Node, node());
    let project = Project::new();
    let copies = project.home.path().join(COPIES);
    for name in ["session-end-old", "session-end-new", "mine"] {
        std::fs::create_dir_all(copies.join(name)).unwrap();
        std::fs::write(copies.join(name).join("ses_1.json"), "{}").unwrap();
    }
    for name in ["session-end-old", "mine"] {
        let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        let folder = std::fs::File::open(copies.join(name)).unwrap();
        folder.set_modified(old).unwrap();
    }
    let folder = write_substitute(&project, "#!/bin/sh\ncat >/dev/null\n");
    play_session(&project, &node, &folder);
    let left = |name: &str| copies.join(name).exists();
    assert_eq!(
        ["session-end-old", "session-end-new", "mine"].map(left),
        [false, true, true]
    );
}

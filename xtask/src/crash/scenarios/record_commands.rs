//! Commands that write episodes, artifacts, tasks, marks, turns and shared context, reviews and purges.

use super::super::export::ensure;
use super::atomic::{Atomic, Choice, call, call_with};
use super::{Scenario, facts, feed};
use crate::sandbox::{Sandbox, io_error};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Facts stored in advance.
const OLD: usize = 60;
/// Word that a purge removes.
const PURGED: &str = "xyzzy42";

type Choices = Result<Vec<Choice>, String>;

/// Every scenario of these.
pub(super) fn all() -> Vec<Box<dyn Scenario>> {
    let of = |name, prepare| Box::new(Atomic::new(name, prepare, |_| Ok(()))) as Box<dyn Scenario>;
    vec![
        of("episode", episode),
        of("artifact", artifact),
        of("shared", shared),
        of("workspace", workspace),
        of("share", share),
        of("mark", mark),
        of("session", session),
        of("review", review),
        of("task", task),
        of("forget", forget),
        of("restore", restore),
        Box::new(Atomic::new("group", group, check_group_file)),
        Box::new(Atomic::new("purge", purge, check_purged)),
    ]
}

/// Facts, and the ids of them.
fn old(desk: &Sandbox) -> Result<Vec<String>, String> {
    let texts = (0..OLD).map(|n| format!("an old fact, number {n}"));
    let output = feed(desk, &["remember", "--stdin"], facts(texts))?;
    let id = |answer: &Value| answer["id"].as_str().unwrap_or_default().to_owned();
    Ok(output.lines().iter().map(id).collect())
}

fn id_of(desk: &Sandbox, args: &[&str]) -> Result<String, String> {
    let output = desk.json(&[args, &["--json"]].concat())?;
    let id = output["id"].as_str().map(str::to_owned);
    id.ok_or_else(|| format!("`heirloom {}` names no id", args.join(" ")))
}

fn episode(desk: &Sandbox) -> Choices {
    old(desk)?;
    let log = ["episode", "log", "--task", "known", "--action"];
    desk.call_ok(&[&log[..], &["attempted"]].concat())?;
    let arguments = ["--agent", "ann", "--approach", "by hand", "--outcome"];
    let with = |action, outcome| call(&[&log[..], &[action], &arguments[..], &[outcome]].concat());
    Ok(vec![
        with("failed", "no luck"),
        with("completed", "it works"),
        // The attempt creates an unknown task.
        call(&[
            "episode",
            "log",
            "--task",
            "new",
            "--action",
            "retried",
            "--duration-ms",
            "7",
        ]),
    ])
}

fn artifact(desk: &Sandbox) -> Choices {
    old(desk)?;
    for (name, bytes) in [("a.txt", 3), ("b.txt", 300_000)] {
        desk.write(&desk.project().join(name), &vec![b'x'; bytes])?;
    }
    let add = |path| ["artifact", "add", path, "--task", "1", "--agent", "ann"];
    let there = id_of(desk, &add("a.txt"))?;
    desk.write(&desk.project().join("a.txt"), b"changed since")?;
    Ok(vec![
        call(&add("a.txt")),
        call(&add("b.txt")),
        call(&["artifact", "remove", &there, "--agent", "ann"]),
    ])
}

fn shared(desk: &Sandbox) -> Choices {
    old(desk)?;
    let file = |name: &str, bullets: usize| {
        let line = |n| format!("- {name} says {n}\n");
        let bullets: String = (0..bullets).map(line).collect();
        format!("# {name}\n\n## Facts of {name}\n{bullets}")
    };
    // As many as one durable write accepts.
    for (name, bullets) in [("build", 60), ("style", 80), ("layout", 50)] {
        let path = desk.project().join("docs").join(format!("{name}.md"));
        desk.write(&path, file(name, bullets).as_bytes())?;
    }
    Ok(vec![
        call(&["import", "shared", "docs"]),
        call(&["import", "shared", "docs/style.md"]),
    ])
}

fn workspace(desk: &Sandbox) -> Choices {
    old(desk)?;
    let line = |n| format!("- 2020-01-01: an entry, number {n}, {}\n", "x".repeat(600));
    let page: String = (0..120).map(line).collect();
    let path = desk.memory().join("workspace/MEMORY.md");
    desk.write(&path, format!("# Memory\n{page}").as_bytes())?;
    desk.call_ok(&["workspace", "sync"])?;
    Ok(vec![
        call(&["workspace", "fact", "a new fact"]),
        call(&["workspace", "learning", "a new learning"]),
    ])
}

fn share(desk: &Sandbox) -> Choices {
    let ids = old(desk)?;
    desk.call_ok(&["share", &ids[0]])?;
    Ok(vec![
        call(&["share", &ids[1]]),
        call(&["share", &ids[2], &ids[3]]),
        call(&["unshare", &ids[0]]),
    ])
}

fn mark(desk: &Sandbox) -> Choices {
    let ids = old(desk)?;
    desk.call_ok(&["pin", &ids[0]])?;
    desk.call_ok(&["mute", &ids[1]])?;
    Ok(vec![
        call(&["pin", &ids[2]]),
        call(&["mute", &ids[3]]),
        call(&["useful", &ids[4], "yes"]),
        call(&["useful", &ids[5], "no"]),
        call(&["pin", &ids[0], "--off"]),
        call(&["mute", &ids[1], "--off"]),
    ])
}

fn session(desk: &Sandbox) -> Choices {
    old(desk)?;
    let add = |id, role| ["session", "add", "--session", id, "--role", role];
    let first = call_with(&add("known", "user"), "what is it about?".to_owned());
    feed(desk, &add("known", "user"), "what is it about?".to_owned())?;
    let long: String = (0..20_000).map(|n| format!("word{n} ")).collect();
    Ok(vec![
        first,
        call_with(&add("new", "user"), "a new one".to_owned()),
        call_with(&add("known", "assistant"), long),
        call_with(
            &[
                &add("known", "tool")[..],
                &["--task", "9", "--agent", "bob"],
            ]
            .concat(),
            "what a tool said".to_owned(),
        ),
    ])
}

fn review(desk: &Sandbox) -> Choices {
    old(desk)?;
    desk.write(&desk.project().join("src/here.rs"), b"fn main() {}")?;
    let double = |n| {
        let line = |key: &str, text: String| format!("{}\n", json!({"text": text, "key": key}));
        let (a, b) = (format!("a{n}"), format!("b{n}"));
        line(&a, format!("said twice, part {n}")) + &line(&b, format!("Said  twice, Part {n}!"))
    };
    let doubles: String = (0..40).map(double).collect();
    feed(desk, &["remember", "--stdin"], doubles)?;
    let gone = (0..10).map(|n| format!("the entry is in src/gone{n}.rs"));
    feed(desk, &["remember", "--stdin"], facts(gone))?;
    Ok(vec![
        call(&["review", "--apply"]),
        call(&["review", "--apply", "--yes"]),
    ])
}

fn task(desk: &Sandbox) -> Choices {
    old(desk)?;
    desk.call_ok(&["task", "set", "1", "--type", "issue", "--phase", "CODE"])?;
    desk.call_ok(&["step", "pending", "write it", "--task", "1"])?;
    let error = id_of(desk, &["error", "log", "it broke at a.rs:7", "--task", "1"])?;
    Ok(vec![
        call(&["task", "set", "1", "--phase", "TEST", "--branch", "fix/1"]),
        call(&["task", "set", "2", "--blocked", "no key"]),
        call(&[
            "task",
            "done",
            "1",
            "--agent",
            "ann",
            "--outcome",
            "it works",
        ]),
        call(&["task", "fail", "1", "--approach", "by hand"]),
        call(&["step", "done", "write it", "--task", "1"]),
        call(&["step", "pending", "test it", "--task", "1"]),
        call(&["error", "log", "another error", "--task", "1"]),
        call(&["error", "log", "it broke at a.rs:7", "--task", "1"]),
        call(&["error", "resolve", &error, "--with", "turned it off and on"]),
    ])
}

fn forget(desk: &Sandbox) -> Choices {
    let ids = old(desk)?;
    Ok(ids[..8].iter().map(|id| call(&["forget", id])).collect())
}

fn restore(desk: &Sandbox) -> Choices {
    old(desk)?;
    desk.call_ok(&["backup", "small.db"])?;
    let texts = (0..400).map(|n| format!("a later fact, number {n}"));
    feed(desk, &["remember", "--stdin"], facts(texts))?;
    desk.call_ok(&["backup", "large.db"])?;
    desk.call_ok(&["remember", "the last fact"])?;
    Ok(vec![
        call(&["restore", "small.db"]),
        call(&["restore", "large.db"]),
    ])
}

fn purge(desk: &Sandbox) -> Choices {
    old(desk)?;
    let secret = |n| format!("{PURGED} is word {n}");
    let output = feed(desk, &["remember", "--stdin"], facts((0..20).map(secret)))?;
    let id = |answer: &Value| answer["id"].as_str().unwrap_or_default().to_owned();
    let ids: Vec<String> = output.lines().iter().map(id).collect();
    for n in 0..10 {
        let turn = format!("{PURGED} was said, turn {n}");
        feed(
            desk,
            &["session", "add", "--session", "s", "--role", "user"],
            turn,
        )?;
    }
    // With a mirror that contains the word as well.
    let say = format!("echo 'HEIRLOOM_MEMORY: KEY_FACT {PURGED} from a run'");
    desk.call_ok(&["run", "--iterations", "1", "--", "sh", "-c", &say])?;
    Ok(vec![
        call(&["purge", "--query", PURGED, "--yes"]),
        call(&["purge", "--id", &ids[0], &ids[1], "--yes"]),
        call(&["purge", "--session", "s", "--yes"]),
        call(&["purge", "--all", "--yes"]),
    ])
}

fn group(desk: &Sandbox) -> Choices {
    old(desk)?;
    desk.call_ok(&["group", "note", "main", "an old note"])?;
    let long = "a longer note ".repeat(900);
    Ok(vec![
        call(&["group", "note", "main", "a note"]),
        call(&["group", "note", "main", &long, "--agent", "ann"]),
        call(&["group", "note", "new", "a note"]),
    ])
}

/// Checks that each note occurs once in the file of its group.
fn check_group_file(desk: &Sandbox) -> Result<(), String> {
    desk.call_ok(&["group", "note", "main", "the last"])?;
    desk.call_ok(&["group", "note", "new", "the last"])?;
    let listed = desk.json(&["list", "--kind", "note", "--json"])?;
    let notes = listed["records"].as_array().cloned().unwrap_or_default();
    for group in ["main", "new"] {
        let of_group = notes.iter().filter(|note| note["group"] == *group);
        let path = desk.memory().join("groups").join(group).join("MEMORY.md");
        let file = fs::read_to_string(&path).map_err(|error| io_error("read", &path, &error))?;
        let entries = file.lines().filter(|line| line.starts_with("- ")).count();
        let headings = file.lines().filter(|line| line.starts_with("## ")).count();
        let wanted = of_group.count();
        ensure(entries == wanted && headings == wanted, || {
            format!("{group}: {entries} entries for {wanted} notes:\n{file}")
        })?;
    }
    Ok(())
}

/// Checks that no file contains the purged word, even after an interrupted purge.
fn check_purged(desk: &Sandbox) -> Result<(), String> {
    desk.call_ok(&["purge", "--free"])?;
    let left = desk.call_ok(&["export", "--format", "jsonl", "--all"])?;
    if left.contains(PURGED) {
        return Ok(());
    }
    let holder = find_file_with(&desk.memory(), PURGED.as_bytes());
    ensure(holder.is_none(), || {
        format!("{holder:?} still holds what was purged")
    })
}

/// Finds a file in `folder` that contains these bytes.
fn find_file_with(folder: &Path, wanted: &[u8]) -> Option<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let holds = |path: &Path| {
        let bytes = fs::read(path).unwrap_or_default();
        bytes.windows(wanted.len()).any(|window| window == wanted)
    };
    (entries.map(|entry| entry.path()))
        .find(|path| holds(path))
        .map(|path| path.display().to_string())
}

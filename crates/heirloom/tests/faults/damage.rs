//! Database files that are cut short, replaced or gone: never a new empty store, always an error that helps.

use crate::driver::Desk;
use heirloom_store::durable;
use rusqlite::Connection;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// How to call each command so that it opens the store; nothing for those that never do.
fn calls(command: &str) -> Option<Vec<&'static str>> {
    let id = "01890a5d-ac96-774b-bcce-b302099a8057";
    let lines: &[&str] = match command {
        "status" | "context" | "list" => return Some(vec![leak(command)]),
        "init" => &["init", "init --import"],
        "run" => &["run --iterations 1 -- true"],
        "outcome" => &["outcome --task t --status COMPLETE"],
        "observe" => &["observe", "observe --dry-run"],
        "remember" => &["remember x", "remember --stdin"],
        "recall" => &["recall x", "recall kind:note"],
        "tried" => &["tried x"],
        "review" => &["review", "review --apply"],
        "useful" => &["useful 01890a5d-ac96-774b-bcce-b302099a8057 yes"],
        "session" => &[
            "session add --session s --role user",
            "session show s",
            "session summary s",
            "session search x",
            "session export s",
        ],
        "output" => &[
            "output put x --plan p --agent a",
            "output get --plan p --agent a",
            "output list",
        ],
        "show" | "forget" | "undo" | "history" | "pin" | "mute" => {
            return Some(vec![leak(&format!("{command} {id}"))]);
        }
        "task" => &[
            "task set 7",
            "task show 7",
            "task list",
            "task done 7",
            "task fail 7",
        ],
        "conflicts" => &["conflicts"],
        "resolve" => {
            return Some(vec![leak(&format!("resolve {id} --keep {id} --as user"))]);
        }
        "episode" => &[
            "episode log --task 7 --action failed --approach x",
            "episode list",
        ],
        "analytics" => &["analytics"],
        "artifact" => &[
            "artifact add carried.json --task 7",
            "artifact list",
            "artifact verify",
            "artifact remove 01890a5d-ac96-774b-bcce-b302099a8057",
        ],
        "step" => &["step done x --task 7", "step pending x --task 7"],
        "error" => &["error log x", "error resolve x --with y"],
        "export" => &[
            "export --format jsonl --all",
            "export --format agentium",
            "export --format radium",
        ],
        "workspace" => &[
            "workspace fact x",
            "workspace learning x",
            "workspace error x --solution y",
            "workspace daily x",
            "workspace feature x",
            "workspace show",
            "workspace sync",
        ],
        "share" | "unshare" => return Some(vec![leak(&format!("{command} {id}"))]),
        "group" => &["group note main x", "group show", "group list"],
        "watch" => &["watch"],
        "import" => &[
            "import jsonl carried.jsonl",
            "import agentium carried.json",
            "import shared carried.md",
            "import shared carried.md --index",
            "import history carried.json --session s",
            "import claude carried.jsonl",
            "import radium .",
            "import workspace .",
            "import server-memory carried.jsonl",
        ],
        "receipts" => &[
            "receipts list",
            "receipts show 0190",
            "receipts diff 0190 0191",
        ],
        "prune" => &["prune", "prune --apply"],
        "purge" => &["purge --all --yes", "purge --free"],
        "reembed" => &["reembed", "reembed --anew"],
        "backup" => &["backup copy.db"],
        "cmd" | "demo" | "bench" | "config" | "completions" | "man" | "redact" => &[],
        // Neither a hook nor a session of MCP fails: `cli/hooks.rs` and `cli/mcp.rs` have them with a store that is none.
        "hook" | "mcp" | "install" | "uninstall" => &[],
        "propose" => &["propose x", "propose"],
        "accept" | "reject" => return Some(vec![leak(&format!("{command} {id}"))]),
        // These look at a store from outside; `cli/doctor.rs` and `cli/backup.rs` have their cases.
        "doctor" | "restore" => &[],
        other => windows_and_servers(other)?,
    };
    Some(lines.to_vec())
}

/// The same of commands about windows, and of servers.
fn windows_and_servers(command: &str) -> Option<&'static [&'static str]> {
    match command {
        "compact" => Some(&["compact --session s"]),
        "expand" => Some(&[
            "expand 0123456789abcdef",
            "expand arc-0123456789abcdef --session s",
        ]),
        "serve" => Some(&["serve --port 0"]),
        "ui" => Some(&["ui --no-open --port 0"]),
        "token" => Some(&["token create --role agent", "token list", "token revoke x"]),
        _ => None,
    }
}

/// A test's few words live as long as it does.
fn leak(words: &str) -> &'static str {
    Box::leak(words.to_owned().into_boxed_str())
}

/// Every command that the help names.
fn commands(desk: &Desk) -> Vec<String> {
    let help = desk.call(&["--help"]).expect(0).text();
    let listed = help.split("Commands:\n").nth(1).unwrap();
    let listed = listed.split("\n\n").next().unwrap();
    let names = listed.lines().filter_map(|line| {
        let name = line.strip_prefix("  ")?;
        let name = name.split(' ').next()?;
        Some(name.to_owned()).filter(|name| !name.is_empty())
    });
    let names: Vec<_> = names.collect();
    assert!(names.len() > 20, "{names:?}");
    names
}

fn database(desk: &Desk) -> PathBuf {
    desk.root().join(".heirloom/heirloom.db")
}

/// A project with something in it, and files to import.
fn filled() -> Desk {
    let desk = Desk::plain();
    for n in 0..20 {
        desk.call(&["remember", &format!("{n} {}", "x".repeat(900))])
            .expect(0);
    }
    desk.project.write("carried.jsonl", "\n").unwrap();
    desk.project.write("carried.json", "{}").unwrap();
    desk.project.write("carried.md", "# Facts\n- x\n").unwrap();
    desk
}

/// What is at a path: its bytes, or what it is.
fn state(path: &Path) -> Vec<u8> {
    match path.symlink_metadata() {
        Err(_) => b"nothing".to_vec(),
        Ok(found) if found.is_dir() => b"a folder".to_vec(),
        Ok(found) if found.is_symlink() => b"a link".to_vec(),
        Ok(_) => fs::read(path).unwrap(),
    }
}

/// A name, and how a whole database becomes it.
type Damage = (&'static str, fn(&Path));

const DAMAGES: [Damage; 8] = [
    ("empty", |path| {
        File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_len(0)
            .unwrap()
    }),
    ("cut in half", |path| {
        let file = File::options().write(true).open(path).unwrap();
        file.set_len(file.metadata().unwrap().len() / 2).unwrap();
    }),
    ("cut inside its first page", |path| {
        File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_len(100)
            .unwrap();
    }),
    ("text", |path| {
        durable::write_atomic(path, "these are words\n".repeat(500).as_bytes()).unwrap()
    }),
    ("another program's database", |path| {
        fs::remove_file(path).unwrap();
        let theirs = Connection::open(path).unwrap();
        theirs.execute_batch("CREATE TABLE theirs (x)").unwrap();
        theirs.close().unwrap();
    }),
    ("a folder", |path| {
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
    }),
    ("gone", |path| fs::remove_file(path).unwrap()),
    ("a link to nowhere", |path| {
        fs::remove_file(path).unwrap();
        symlink("/nonexistent/heirloom.db", path).unwrap();
    }),
];

#[test]
fn no_command_replaces_a_database_that_it_cannot_use() {
    for (name, damage) in DAMAGES {
        let desk = filled();
        let path = database(&desk);
        damage(&path);
        let before = state(&path);
        for command in commands(&desk) {
            let Some(lines) = calls(&command) else {
                // A command that this list does not know yet: whatever it says, the file is as it was.
                desk.call(&[&command]);
                assert!(
                    state(&path) == before,
                    "`{command}` changed a file that is {name}"
                );
                continue;
            };
            for line in lines {
                let args: Vec<&str> = line.split(' ').collect();
                let ran = desk.feed(&args, b"{\"text\": \"x\"}\n");
                let what = format!(
                    "`{line}` on a file that is {name}: {} {}",
                    ran.code, ran.stderr
                );
                let is_link = name == "a link to nowhere";
                let wanted = match ran.code {
                    1 => true,
                    3 => name == "gone",
                    4 => is_link,
                    _ => false,
                };
                assert!(wanted, "{what}");
                assert!(ran.stderr.contains("heirloom.db"), "names no file: {what}");
                assert!(ran.stderr.contains("hint: "), "says not what to do: {what}");
                let helps = ran.stderr.contains("heirloom doctor")
                    || name == "gone"
                    || (is_link && ran.stderr.contains("remove the link"));
                assert!(helps, "{what}");
                assert!(state(&path) == before, "changed: {what}");
            }
        }
    }
}

/// A `remember --stdin` that is open between two lines.
struct Open {
    child: Child,
    pipe: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Open {
    fn new(desk: &Desk) -> Self {
        let mut command = desk.heirloom(&["remember", "--stdin"]);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        Self {
            pipe: child.stdin.take().unwrap(),
            answers: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    /// Writes a line; its answer, empty when the program has ended instead.
    fn say(&mut self, text: &str) -> String {
        let mut answer = String::new();
        let written = writeln!(self.pipe, "{{\"text\": \"{text}\"}}");
        if written.is_ok() {
            self.answers.read_line(&mut answer).unwrap();
        }
        answer
    }

    /// Its end, and what it said on the way.
    fn end(self) -> (i32, String) {
        drop(self.pipe);
        let output = self.child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code().unwrap_or(-1), stderr)
    }
}

/// Somebody does `harm` while `remember --stdin` is open: the next line is not acknowledged.
fn harm_while_open(harm: fn(&Path), words: &str) -> Desk {
    let desk = filled();
    let mut open = Open::new(&desk);
    assert!(open.say("first").contains("created"));
    harm(&database(&desk));
    let answer = open.say("second");
    assert_eq!(answer, "", "acknowledged, and it is lost");
    let (code, stderr) = open.end();
    assert_eq!(code, 1, "{stderr}");
    assert!(
        stderr.contains("heirloom.db") && stderr.contains(words),
        "{stderr}"
    );
    assert!(stderr.contains("heirloom doctor"), "{stderr}");
    desk
}

#[test]
fn a_write_notices_that_its_file_was_emptied() {
    harm_while_open(DAMAGES[0].1, "it was emptied while it was in use");
}

#[test]
fn a_write_notices_that_its_file_was_removed() {
    let desk = harm_while_open(DAMAGES[6].1, "it was removed while it was in use");
    desk.call(&["list"]).expect(3);
}

#[test]
fn a_write_notices_that_its_file_was_replaced() {
    harm_while_open(
        |path| {
            let copy = path.with_extension("copy");
            fs::copy(path, &copy).unwrap();
            fs::rename(&copy, path).unwrap();
        },
        "another file took the place",
    );
}

#[test]
fn a_write_notices_that_its_journal_was_removed() {
    harm_while_open(
        |path| fs::remove_file(path.with_extension("db-wal")).unwrap(),
        "its journal was removed or replaced",
    );
}

#[test]
fn a_write_notices_that_its_journal_was_cut_short() {
    harm_while_open(
        |path| {
            let journal = path.with_extension("db-wal");
            File::options()
                .write(true)
                .open(journal)
                .unwrap()
                .set_len(40)
                .unwrap();
        },
        "acknowledged writes are missing",
    );
}

#[test]
fn a_file_that_is_cut_in_half_while_it_is_open_is_damaged_and_not_empty_afterwards() {
    let desk = filled();
    let mut open = Open::new(&desk);
    assert!(open.say("first").contains("created"));
    (DAMAGES[1].1)(&database(&desk));
    // What this process has read already it still knows, so that a line may be taken.
    open.say("second");
    open.end();
    let ran = desk.call(&["status"]).expect(1);
    let told = [&ran.text(), &ran.stderr]
        .iter()
        .any(|text| text.contains("damaged"));
    assert!(told, "{} {}", ran.text(), ran.stderr);
}

/// A project in which a process died behind its last acknowledged write.
fn after_a_kill() -> Desk {
    let desk = filled();
    let mut open = Open::new(&desk);
    for n in 0..5 {
        assert!(open.say(&format!("acknowledged {n}")).contains("created"));
    }
    open.child.kill().unwrap();
    open.child.wait().unwrap();
    assert!(database(&desk).with_extension("db-wal").exists());
    desk
}

#[test]
fn a_journal_that_is_gone_or_cut_short_after_a_kill_is_said() {
    for keep in [None, Some(0), Some(5_000)] {
        let desk = after_a_kill();
        let journal = database(&desk).with_extension("db-wal");
        let copy = fs::read(&journal).unwrap();
        match keep {
            None => fs::remove_file(&journal).unwrap(),
            Some(bytes) => File::options()
                .write(true)
                .open(&journal)
                .unwrap()
                .set_len(bytes)
                .unwrap(),
        }
        for args in [["list"].as_slice(), &["remember", "x"], &["context"]] {
            let ran = desk.call(args).expect(1);
            assert!(
                ran.stderr.contains("acknowledged writes are missing"),
                "{}",
                ran.stderr
            );
            assert!(ran.stderr.contains("heirloom.db-wal"), "{}", ran.stderr);
        }
        // Nor does looking at it take the proof away.
        for _ in 0..2 {
            let ran = desk.call(&["doctor"]).expect(1);
            assert!(ran.text().contains("acknowledged writes are missing"));
            let ran = desk.call(&["backup", "copy.db"]).expect(1);
            assert!(ran.stderr.contains("acknowledged writes are missing"));
        }
        // The ways out that the message names.
        if keep.is_none() {
            let ran = desk.call(&["doctor", "--repair"]).expect(0);
            assert!(ran.text().contains("kept the damaged"), "{}", ran.text());
            assert_eq!(desk.texts("knowledge").len(), 20);
        } else {
            durable::write_atomic(&journal, &copy).unwrap();
            assert_eq!(desk.texts("knowledge").len(), 25);
        }
        desk.healthy();
    }
}

#[test]
fn what_processes_share_may_be_garbage() {
    for garbage in [&b""[..], &[0x5a; 32_768], &[0; 100], b"words"] {
        let desk = after_a_kill();
        let shared = database(&desk).with_extension("db-shm");
        durable::write_atomic(&shared, garbage).unwrap();
        assert_eq!(desk.texts("knowledge").len(), 25);
        desk.call(&["remember", "after"]).expect(0);
        desk.healthy();
    }
}

#[test]
fn a_marker_that_was_never_written_is_made_up_for() {
    let desk = filled();
    fs::remove_file(desk.root().join(".heirloom/store.json")).unwrap();
    desk.call(&["list"]).expect(0);
    fs::remove_file(database(&desk)).unwrap();
    desk.call(&["list"]).expect(3);
    assert!(!database(&desk).exists());
}

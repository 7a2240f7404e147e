//! Database files that are truncated, replaced or missing: always a helpful error, never a new empty store.

use crate::driver::ProjectFixture;
use heirloom_fs::durable;
use rusqlite::Connection;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// Returns the arguments with which each command opens the store; empty for commands that never open it.
fn store_calls(command: &str) -> Option<Vec<&'static str>> {
    let id = "01890a5d-ac96-774b-bcce-b302099a8057";
    let lines: &[&str] = match command {
        "status" | "context" | "list" => return Some(vec![to_static(command)]),
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
            return Some(vec![to_static(&format!("{command} {id}"))]);
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
            return Some(vec![to_static(&format!(
                "resolve {id} --keep {id} --as user"
            ))]);
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
        "share" | "unshare" => return Some(vec![to_static(&format!("{command} {id}"))]),
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
        "cmd" | "demo" | "bench" | "config" | "completions" | "help" | "man" | "redact" => &[],
        "propose" => &["propose x", "propose"],
        "accept" | "reject" => return Some(vec![to_static(&format!("{command} {id}"))]),
        other => window_and_server_calls(other)?,
    };
    Some(lines.to_vec())
}

/// Returns the same for commands about windows, and for servers.
fn window_and_server_calls(command: &str) -> Option<&'static [&'static str]> {
    match command {
        // These examine a store without opening it; `cli/doctor.rs` and `cli/backup.rs` test them.
        "doctor" | "restore" => Some(&[]),
        // Hooks and MCP sessions never fail: `cli/hooks.rs` and `cli/mcp.rs` test them with a broken store.
        "hook" | "mcp" | "install" | "uninstall" => Some(&[]),
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

/// Returns the words with a static lifetime.
fn to_static(words: &str) -> &'static str {
    Box::leak(words.to_owned().into_boxed_str())
}

/// Returns every command listed in the help.
fn listed_commands(fixture: &ProjectFixture) -> Vec<String> {
    let help = fixture.call(&["--help"]).expect(0).text();
    // Groups of commands, between the usage and the options.
    let (_, listed) = help.split_once("\nStart:\n").unwrap();
    let (listed, _) = listed.split_once("\nOptions:\n").unwrap();
    let names = listed.lines().filter_map(|line| {
        let name = line.strip_prefix("  ")?;
        let name = name.split(' ').next()?;
        Some(name.to_owned()).filter(|name| !name.is_empty())
    });
    let names: Vec<_> = names.collect();
    assert!(names.len() > 20, "{names:?}");
    names
}

fn database(fixture: &ProjectFixture) -> PathBuf {
    fixture.root().join(".heirloom/heirloom.db")
}

/// Creates a project with records and with files to import.
fn project_with_records() -> ProjectFixture {
    let fixture = ProjectFixture::plain();
    for n in 0..20 {
        fixture
            .call(&["remember", &format!("{n} {}", "x".repeat(900))])
            .expect(0);
    }
    fixture.project.write("carried.jsonl", "\n").unwrap();
    fixture.project.write("carried.json", "{}").unwrap();
    fixture
        .project
        .write("carried.md", "# Facts\n- x\n")
        .unwrap();
    fixture
}

/// Returns the content of a path, or its file type.
fn path_content(path: &Path) -> Vec<u8> {
    match path.symlink_metadata() {
        Err(_) => b"nothing".to_vec(),
        Ok(found) if found.is_dir() => b"a folder".to_vec(),
        Ok(found) if found.is_symlink() => b"a link".to_vec(),
        Ok(_) => fs::read(path).unwrap(),
    }
}

/// Name of a damage, and the function that applies it to a valid database.
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
        let other_database = Connection::open(path).unwrap();
        other_database
            .execute_batch("CREATE TABLE theirs (x)")
            .unwrap();
        other_database.close().unwrap();
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
fn commands_never_replace_unusable_database() {
    for (name, damage) in DAMAGES {
        let fixture = project_with_records();
        let path = database(&fixture);
        damage(&path);
        let before = path_content(&path);
        for command in listed_commands(&fixture) {
            let Some(lines) = store_calls(&command) else {
                // A command without listed arguments: whatever it does, the file must not change.
                fixture.call(&[&command]);
                assert!(
                    path_content(&path) == before,
                    "`{command}` changed a file that is {name}"
                );
                continue;
            };
            for line in lines {
                let args: Vec<&str> = line.split(' ').collect();
                let result = fixture.feed(&args, b"{\"text\": \"x\"}\n");
                let what = format!(
                    "`{line}` on a file that is {name}: {} {}",
                    result.code, result.stderr
                );
                let is_link = name == "a link to nowhere";
                let is_expected_code = match result.code {
                    1 => true,
                    3 => name == "gone",
                    4 => is_link,
                    _ => false,
                };
                assert!(is_expected_code, "{what}");
                assert!(
                    result.stderr.contains("heirloom.db"),
                    "names no file: {what}"
                );
                assert!(result.stderr.contains("hint: "), "has no hint: {what}");
                let helps = result.stderr.contains("heirloom doctor")
                    || name == "gone"
                    || (is_link && result.stderr.contains("remove the link"));
                assert!(helps, "{what}");
                assert!(path_content(&path) == before, "changed: {what}");
            }
        }
    }
}

/// A running `remember --stdin` that waits for the next line.
struct OpenStdin {
    child: Child,
    pipe: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl OpenStdin {
    fn new(fixture: &ProjectFixture) -> Self {
        let mut command = fixture.heirloom(&["remember", "--stdin"]);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        Self {
            pipe: child.stdin.take().unwrap(),
            answers: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    /// Writes a line and returns its answer; empty if the program has ended instead.
    fn send_line(&mut self, text: &str) -> String {
        let mut answer = String::new();
        let written = writeln!(self.pipe, "{{\"text\": \"{text}\"}}");
        if written.is_ok() {
            self.answers.read_line(&mut answer).unwrap();
        }
        answer
    }

    /// Ends the input; returns the exit code and standard error.
    fn end(self) -> (i32, String) {
        drop(self.pipe);
        let output = self.child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code().unwrap_or(-1), stderr)
    }
}

/// Applies `harm` while `remember --stdin` is running, and checks that the next line is not acknowledged.
fn harm_while_open(harm: fn(&Path), words: &str) -> ProjectFixture {
    let fixture = project_with_records();
    let mut open = OpenStdin::new(&fixture);
    assert!(open.send_line("first").contains("created"));
    harm(&database(&fixture));
    let answer = open.send_line("second");
    assert_eq!(answer, "", "acknowledged, and it is lost");
    let (code, stderr) = open.end();
    assert_eq!(code, 1, "{stderr}");
    assert!(
        stderr.contains("heirloom.db") && stderr.contains(words),
        "{stderr}"
    );
    assert!(stderr.contains("heirloom doctor"), "{stderr}");
    fixture
}

#[test]
fn write_emptied_database_is_detected() {
    harm_while_open(DAMAGES[0].1, "it was emptied while it was in use");
}

#[test]
fn write_removed_database_is_detected() {
    let fixture = harm_while_open(DAMAGES[6].1, "it was removed while it was in use");
    fixture.call(&["list"]).expect(3);
}

#[test]
fn write_replaced_database_is_detected() {
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
fn write_removed_journal_is_detected() {
    harm_while_open(
        |path| fs::remove_file(path.with_extension("db-wal")).unwrap(),
        "its journal was removed or replaced",
    );
}

#[test]
fn write_truncated_journal_is_detected() {
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
fn database_truncated_while_open_is_reported_as_damaged() {
    let fixture = project_with_records();
    let mut open = OpenStdin::new(&fixture);
    assert!(open.send_line("first").contains("created"));
    (DAMAGES[1].1)(&database(&fixture));
    // Pages in this process's cache are still valid, so the line may be accepted.
    open.send_line("second");
    open.end();
    let result = fixture.call(&["status"]).expect(1);
    let is_reported = [&result.text(), &result.stderr]
        .iter()
        .any(|text| text.contains("damaged"));
    assert!(is_reported, "{} {}", result.text(), result.stderr);
}

/// Creates a project in which a process was killed after its last acknowledged write.
fn project_after_kill() -> ProjectFixture {
    let fixture = project_with_records();
    let mut open = OpenStdin::new(&fixture);
    for n in 0..5 {
        assert!(
            open.send_line(&format!("acknowledged {n}"))
                .contains("created")
        );
    }
    open.child.kill().unwrap();
    open.child.wait().unwrap();
    assert!(database(&fixture).with_extension("db-wal").exists());
    fixture
}

#[test]
fn missing_or_truncated_journal_after_kill_is_reported() {
    for keep in [None, Some(0), Some(5_000)] {
        let fixture = project_after_kill();
        let journal = database(&fixture).with_extension("db-wal");
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
            let result = fixture.call(args).expect(1);
            assert!(
                result.stderr.contains("acknowledged writes are missing"),
                "{}",
                result.stderr
            );
            assert!(
                result.stderr.contains("heirloom.db-wal"),
                "{}",
                result.stderr
            );
        }
        // Examining it does not remove the evidence.
        for _ in 0..2 {
            let result = fixture.call(&["doctor"]).expect(1);
            assert!(result.text().contains("acknowledged writes are missing"));
            let result = fixture.call(&["backup", "copy.db"]).expect(1);
            assert!(result.stderr.contains("acknowledged writes are missing"));
        }
        // The remedies that the message names.
        if keep.is_none() {
            let result = fixture.call(&["doctor", "--repair"]).expect(0);
            assert!(
                result.text().contains("kept the damaged"),
                "{}",
                result.text()
            );
            assert_eq!(fixture.texts("knowledge").len(), 20);
        } else {
            durable::write_atomic(&journal, &copy).unwrap();
            assert_eq!(fixture.texts("knowledge").len(), 25);
        }
        fixture.assert_healthy();
    }
}

#[test]
fn garbage_in_shared_memory_file_is_ignored() {
    for garbage in [&b""[..], &[0x5a; 32_768], &[0; 100], b"words"] {
        let fixture = project_after_kill();
        let shared = database(&fixture).with_extension("db-shm");
        durable::write_atomic(&shared, garbage).unwrap();
        assert_eq!(fixture.texts("knowledge").len(), 25);
        fixture.call(&["remember", "after"]).expect(0);
        fixture.assert_healthy();
    }
}

#[test]
fn missing_marker_is_recreated() {
    let fixture = project_with_records();
    fs::remove_file(fixture.root().join(".heirloom/store.json")).unwrap();
    fixture.call(&["list"]).expect(0);
    fs::remove_file(database(&fixture)).unwrap();
    fixture.call(&["list"]).expect(3);
    assert!(!database(&fixture).exists());
}

#[test]
fn flipped_bit_in_the_journal_is_refused_named_and_repaired() {
    let fixture = ProjectFixture::plain();
    fixture.call(&["remember", "first"]).expect(0);
    let holder = heirloom_store::SqliteStore::open(&database(&fixture)).unwrap();
    for n in 0..19 {
        fixture
            .call(&["remember", &format!("{n} {}", "x".repeat(900))])
            .expect(0);
    }
    // The files as a killed process leaves them.
    let files = ["heirloom.db", "heirloom.db-wal", "heirloom.db-shm"];
    let files = files.map(|name| {
        let path = database(&fixture).with_file_name(name);
        let bytes = fs::read(&path).unwrap();
        (path, bytes)
    });
    drop(holder);
    for (path, bytes) in &files {
        durable::write_atomic(path, bytes).unwrap();
    }
    let [_, (journal, intact), _] = files;
    assert!(intact.len() > 100_000, "{}", intact.len());
    let mut flipped = intact.clone();
    let half = flipped.len() / 2;
    // A low bit of a word: the checksum shows which one.
    flipped[half / 4 * 4] ^= 1;
    durable::write_atomic(&journal, &flipped).unwrap();
    let main = fs::read(database(&fixture)).unwrap();
    for args in [
        &["list"][..],
        &["remember", "more"],
        &["status"],
        &["context"],
    ] {
        let result = fixture.call(args).expect(1);
        assert!(
            result
                .stderr
                .contains("heirloom.db-wal is damaged: from byte ")
                && result.stderr.contains("heirloom doctor --repair"),
            "{args:?}: {}",
            result.stderr
        );
    }
    for _ in 0..2 {
        let doctor = fixture.call(&["doctor"]).expect(1);
        let report = format!("{}{}", doctor.text(), doctor.stderr);
        assert!(
            report.contains("BAD  database") && report.contains(" acknowledged transactions in "),
            "{report}"
        );
    }
    assert!(
        fs::read(&journal).unwrap() == flipped && fs::read(database(&fixture)).unwrap() == main
    );
    let repaired = fixture.call(&["doctor", "--repair"]).expect(0);
    assert!(
        repaired.text().contains("kept the damaged"),
        "{}",
        repaired.text()
    );
    let folder = fs::read_dir(fixture.root().join(".heirloom")).unwrap();
    let damaged_copy = folder.map(|entry| entry.unwrap().path()).find(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.contains(".damaged-") && name.ends_with("-wal")
    });
    assert!(fs::read(damaged_copy.unwrap()).unwrap() == flipped);
    let listed = fixture
        .call(&["list", "--json", "--limit", "100"])
        .expect(0)
        .json();
    assert_eq!(listed["records"].as_array().unwrap().len(), 20);
    fixture.call(&["doctor"]).expect(0);
}

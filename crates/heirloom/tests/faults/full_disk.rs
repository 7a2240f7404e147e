//! Full disks.

use crate::driver::{CallResult, ProjectFixture, finish};
use crate::small_filesystem::SmallFilesystem;
use heirloom_testkit::{Prerequisite, require};
use std::process::Command;

/// Calls that write, with their standard input.
fn writing_calls() -> Vec<(Vec<&'static str>, &'static str)> {
    let many = ["remember", "--stdin"];
    vec![
        (vec!["remember", "after"], ""),
        (many.to_vec(), "{\"text\": \"one\"}\n{\"text\": \"two\"}\n"),
        (
            vec!["observe", "--task", "t"],
            "HEIRLOOM_MEMORY: KEY_FACT seen\nHEIRLOOM_MEMORY: STEP_DONE it\n",
        ),
        (vec!["import", "jsonl", "carried.jsonl"], ""),
        (vec!["outcome", "--task", "t", "--status", "COMPLETE"], ""),
        (vec!["run", "--iterations", "1", "--", "echo", "done"], ""),
    ]
}

/// Checks for a failure with a message about the disk and a hint.
#[track_caller]
fn assert_full_disk_reported(result: &CallResult, what: &[&str]) {
    assert_eq!(
        result.code,
        1,
        "{what:?}: {} {}",
        result.text(),
        result.stderr
    );
    let full = ["the disk is full", "the disk may be full"];
    let is_reported = full.iter().any(|words| result.stderr.contains(words));
    assert!(
        is_reported && result.stderr.contains("hint: "),
        "{what:?}: {}",
        result.stderr
    );
    assert!(
        !result.stderr.contains("panic"),
        "{what:?}: {}",
        result.stderr
    );
}

/// Checks that a failed write left no temporary files.
fn assert_no_temporary_files(filesystem: &SmallFilesystem) {
    let names = filesystem.names(".heirloom");
    let left = names.iter().find(|name| name.contains(".tmp"));
    assert_eq!(left, None, "{names:?}");
}

#[test]
fn full_disk_is_reported_and_loses_nothing() {
    let filesystem = require!(Prerequisite::Mount, SmallFilesystem::initialised("3m"));
    filesystem.call(&["remember", "before"]).expect(0);
    let exported = "{\"kind\": \"note\", \"text\": \"carried\", \"id\": \"01890a5d-ac96-774b-bcce-b302099a8057\", \
        \"source\": \"user\", \"confidence\": 1.0, \"tokens\": 1, \"category\": \"Notes\", \
        \"recorded_at\": \"2026-05-01T10:00:00Z\"}\n";
    heirloom_fs::durable::write_atomic(&filesystem.path("carried.jsonl"), exported.as_bytes())
        .unwrap();
    filesystem.fill(0);
    // Reading needs no space.
    assert_eq!(filesystem.texts("knowledge"), ["before"]);
    assert!(
        filesystem
            .call(&["context"])
            .expect(0)
            .text()
            .contains("before")
    );
    for (args, input) in writing_calls() {
        assert_full_disk_reported(&filesystem.feed(&args, input), &args);
    }
    assert_eq!(filesystem.texts("knowledge"), ["before"]);
    assert_no_temporary_files(&filesystem);
    filesystem.free_space();
    filesystem.assert_healthy();
    assert_eq!(filesystem.texts("knowledge"), ["before"]);
    for (args, input) in writing_calls() {
        filesystem.feed(&args, input).expect(0);
    }
    let known = filesystem.texts("knowledge");
    assert_eq!(known, ["before", "after", "one", "two", "seen"]);
    assert_eq!(filesystem.texts("note"), ["carried"]);
    filesystem.assert_healthy();
}

#[test]
fn acknowledged_writes_survive_full_disk() {
    let filesystem = require!(Prerequisite::Mount, SmallFilesystem::initialised("24m"));
    filesystem.fill(300 << 10);
    let lines: String = (0..4_000)
        .map(|n| format!("{{\"text\": \"{n} {}\"}}\n", "x".repeat(400)))
        .collect();
    let result = filesystem.feed(&["remember", "--stdin"], &lines);
    assert_full_disk_reported(&result, &["remember", "--stdin"]);
    let acknowledged = result.events();
    assert!(
        acknowledged
            .iter()
            .all(|answer| answer["outcome"] == "created")
    );
    let known = filesystem.texts("knowledge");
    let numbers: Vec<_> = known
        .iter()
        .map(|text| text.split(' ').next().unwrap())
        .collect();
    let wanted: Vec<_> = (0..known.len()).map(|n| n.to_string()).collect();
    assert_eq!(numbers, wanted, "from the first on, without a gap");
    assert!(
        known.len() >= acknowledged.len() && known.len() < 4_000,
        "{}",
        known.len()
    );
    assert!(known.iter().all(|text| text.ends_with(&"x".repeat(400))));
    filesystem.free_space();
    filesystem.feed(&["remember", "--stdin"], &lines).expect(0);
    assert_eq!(filesystem.texts("knowledge").len(), 4_000);
    filesystem.assert_healthy();
}

#[test]
fn mirror_without_space_stays_unchanged() {
    let filesystem = require!(Prerequisite::Mount, SmallFilesystem::initialised("3m"));
    let run = [
        "run",
        "--iterations",
        "1",
        "--",
        "echo",
        "HEIRLOOM_MEMORY: KEY_FACT early",
    ];
    filesystem.call(&run).expect(0);
    for n in 0..20 {
        let fact = format!("{n} {}", "y".repeat(10_000));
        filesystem.call(&["remember", &fact]).expect(0);
    }
    let before = std::fs::read(filesystem.path(".heirloom/memory.json")).unwrap();
    assert!(before.len() > 200_000, "it follows what is remembered");
    // Enough space for an outcome in the journal, but not for a mirror of 200 kB.
    filesystem.fill(150 << 10);
    let outcome = ["outcome", "--task", "t", "--status", "COMPLETE"];
    assert_full_disk_reported(&filesystem.call(&outcome), &outcome);
    let after = std::fs::read(filesystem.path(".heirloom/memory.json")).unwrap();
    assert!(after == before, "the mirror was touched");
    assert_no_temporary_files(&filesystem);
    filesystem.free_space();
    filesystem.call(&outcome).expect(0);
    let after = std::fs::read(filesystem.path(".heirloom/memory.json")).unwrap();
    assert!(after.len() > 200_000 && after != before);
    filesystem.assert_healthy();
}

#[test]
fn init_on_full_disk_can_be_repeated() {
    let filesystem = require!(Prerequisite::Mount, SmallFilesystem::bare("1m"));
    for free_bytes in [0, 8 << 10, 24 << 10, 64 << 10, 100 << 10] {
        filesystem.fill(free_bytes);
        let result = filesystem.call(&["init"]);
        if result.code != 0 {
            assert_full_disk_reported(&result, &["init"]);
        }
        filesystem.free_space();
    }
    filesystem.call(&["init"]).expect(0);
    assert_no_temporary_files(&filesystem);
    filesystem.call(&["remember", "it works"]).expect(0);
    filesystem.assert_healthy();
}

/// Calls the program with a limit on file sizes of `blocks` of 512 bytes.
fn call_with_file_size_limit(fixture: &ProjectFixture, blocks: u32, rest: &str) -> CallResult {
    let program = fixture.heirloom(&[]);
    let mut shell = Command::new("sh");
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let binary = env!("CARGO_BIN_EXE_heirloom");
    shell.args(["-c", &format!("ulimit -f {blocks}; '{binary}' {rest}")]);
    shell
        .current_dir(fixture.root())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    finish(shell, |_| {})
}

/// Also covers machines where nothing can be mounted. The message used to be "disk I/O error … permissions".
#[test]
fn file_size_limit_is_reported() {
    let fixture = ProjectFixture::plain();
    fixture.call(&["remember", "before"]).expect(0);
    let text = "z".repeat(300_000);
    fixture
        .project
        .write("text", format!("{{\"text\": \"{text}\"}}\n"))
        .unwrap();
    fixture
        .project
        .write(
            "signals",
            format!("HEIRLOOM_MEMORY: KEY_FACT {}\n", "s".repeat(15_000)).repeat(1),
        )
        .unwrap();
    for (blocks, rest) in [(400, "remember --stdin <text"), (20, "observe <signals")] {
        let result = call_with_file_size_limit(&fixture, blocks, rest);
        assert_full_disk_reported(&result, &[rest]);
        let words = "a limit on file sizes was reached";
        assert!(result.stderr.contains(words), "{}", result.stderr);
        assert!(result.stderr.contains("ulimit -f"), "{}", result.stderr);
        fixture.assert_healthy();
        assert_eq!(fixture.texts("knowledge"), ["before"]);
    }
    fixture
        .feed(
            &["remember", "--stdin"],
            fixture.project.read("text").unwrap().as_bytes(),
        )
        .expect(0);
    assert_eq!(fixture.texts("knowledge").len(), 2);
}

#[test]
fn backup_with_full_source_or_target_disk_ends() {
    let filesystem = require!(Prerequisite::Mount, SmallFilesystem::initialised("3m"));
    for n in 0..20 {
        let fact = format!("{n} {}", "z".repeat(10_000));
        filesystem.call(&["remember", &fact]).expect(0);
    }
    // No space for the copy: an error with its name, and no partial copy.
    filesystem.fill(150 << 10);
    let result = filesystem.call(&["backup", "copy.db"]);
    assert_full_disk_reported(&result, &["backup", "copy.db"]);
    assert!(result.stderr.contains("copy.db"), "{}", result.stderr);
    let left = |name: &String| name.contains("copy.db");
    assert_eq!(filesystem.names(".").into_iter().find(left), None);
    // No space for the store, but for the copy.
    filesystem.free_space();
    filesystem.fill(0);
    let elsewhere = ProjectFixture::bare();
    let copy = elsewhere.root().join("copy.db");
    let began = std::time::Instant::now();
    filesystem
        .call(&["backup", copy.to_str().unwrap()])
        .expect(0);
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    assert!(copy.metadata().unwrap().len() > 200_000);
    assert_eq!(
        std::fs::read_dir(elsewhere.root())
            .unwrap()
            .filter(|entry| {
                let name = entry.as_ref().unwrap().file_name();
                name.to_string_lossy().contains("copy.db.")
            })
            .count(),
        0
    );
    filesystem.free_space();
    assert_eq!(filesystem.texts("knowledge").len(), 20);
    filesystem.assert_healthy();
}

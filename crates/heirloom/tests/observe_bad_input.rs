//! `heirloom observe` with huge and invalid input, and with a store that cannot be written.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;

use driver::{CallResult, ProjectFixture, finish};
use heirloom_testkit::sh;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Memory limit of an observation in kilobytes.
const PEAK_KB_MAX: u64 = 150_000;

/// Observes `megabytes` of `a` without a line feed, then `tail`.
fn observe_huge_line(
    fixture: &ProjectFixture,
    format: &str,
    head: &'static [u8],
    megabytes: usize,
    tail: &'static [u8],
) -> CallResult {
    let mut command = fixture.heirloom(&["observe", "--json", "--format", format]);
    command.stdin(Stdio::piped());
    finish(command, move |mut pipe| {
        let block = vec![b'a'; 1 << 20];
        let mut write = || -> std::io::Result<()> {
            pipe.write_all(head)?;
            for _ in 0..megabytes {
                pipe.write_all(&block)?;
            }
            pipe.write_all(tail)
        };
        drop(write());
    })
}

#[test]
fn observe_200_megabyte_line_in_bounded_memory() {
    let fixture = ProjectFixture::plain();
    let tail = b"\nHEIRLOOM_MEMORY: KEY_FACT after\n";
    for format in [
        "auto",
        "text",
        "claude-stream",
        "codex-json",
        "gemini-stream",
    ] {
        let result = observe_huge_line(&fixture, format, b"", 200, tail).expect(0);
        assert!(
            (1_000..PEAK_KB_MAX).contains(&result.peak_kb),
            "{format}: {} KB",
            result.peak_kb
        );
        assert!(result.took < Duration::from_secs(50), "{:?}", result.took);
        if matches!(format, "auto" | "text") {
            assert_eq!(
                result.json()["signals"].as_array().unwrap().len(),
                1,
                "{format}"
            );
        }
    }
    // Lines that begin like JSON, and like a signal.
    let result = observe_huge_line(
        &fixture,
        "auto",
        b"{\"type\":\"assistant\",\"x\":\"",
        200,
        tail,
    )
    .expect(0);
    assert!(result.peak_kb < PEAK_KB_MAX, "{} KB", result.peak_kb);
    let result =
        observe_huge_line(&fixture, "text", b"HEIRLOOM_MEMORY: KEY_FACT ", 200, tail).expect(0);
    assert!(result.peak_kb < PEAK_KB_MAX, "{} KB", result.peak_kb);
    assert_eq!(result.json()["diagnostics"].as_array().unwrap().len(), 1);
    assert_eq!(fixture.texts("knowledge"), ["after"]);
}

#[test]
fn observe_large_valid_message_in_bounded_memory() {
    let fixture = ProjectFixture::plain();
    let head = b"{\"type\":\"assistant\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"HEIRLOOM_MEMORY: KEY_FACT first\\n";
    let tail = b"\\nHEIRLOOM_MEMORY: KEY_FACT last\"}]}}\n";
    let result = observe_huge_line(&fixture, "claude-stream", head, 16, tail).expect(0);
    assert!(result.peak_kb < PEAK_KB_MAX, "{} KB", result.peak_kb);
    assert_eq!(fixture.texts("knowledge"), ["first", "last"]);
}

#[test]
fn observe_limits_signals_to_100000() {
    let fixture = ProjectFixture::plain();
    let text: String = (0..100_500)
        .map(|n| format!("HEIRLOOM_MEMORY: LEARNING number {n}\n"))
        .collect();
    let result = fixture
        .feed(&["observe", "--json"], text.as_bytes())
        .expect(0);
    let report = result.json();
    assert_eq!(report["signals"].as_array().unwrap().len(), 100_000);
    assert!(
        report["diagnostics"]
            .to_string()
            .contains("500 more signals"),
        "{}",
        report["diagnostics"]
    );
    assert!(result.took < Duration::from_secs(60), "{:?}", result.took);
    // On repetition, all of them are confirmed.
    let again = fixture
        .feed(&["observe", "--json"], text.as_bytes())
        .expect(0);
    assert!(
        again.json()["signals"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["outcome"] == "confirmed")
    );
    assert!(again.took < Duration::from_secs(60), "{:?}", again.took);
    println!("{:?} {:?}", result.took, again.took);
}

#[test]
fn observe_counts_diagnostics_beyond_limit() {
    let fixture = ProjectFixture::plain();
    let text: String = (0..5_000)
        .map(|n| format!("HEIRLOOM_MEMORY: WRONG{n} x\n"))
        .collect();
    let report = fixture
        .feed(&["observe", "--json"], text.as_bytes())
        .expect(0)
        .json();
    let diagnostics = report["diagnostics"].as_array().unwrap();
    assert_eq!(diagnostics.len(), 1_001);
    let rest = diagnostics.last().unwrap()["message"].as_str().unwrap();
    assert!(rest.starts_with("4000 more"), "{rest}");
    // The same limit holds for valid signals that are refused.
    let text: String = (0..3_000)
        .map(|n| format!("HEIRLOOM_MEMORY: FILE_MODIFIED ../{n}\n"))
        .collect();
    let report = fixture
        .feed(&["observe", "--json"], text.as_bytes())
        .expect(0);
    let diagnostics = report.json()["diagnostics"].as_array().unwrap().clone();
    assert_eq!(diagnostics.len(), 1_001);
    let rest = diagnostics.last().unwrap();
    assert_eq!(rest["line"], 3_000);
    assert!(
        rest["message"].as_str().unwrap().starts_with("2000 more"),
        "{rest}"
    );
}

#[test]
fn observe_invalid_utf8_is_replaced() {
    let fixture = ProjectFixture::plain();
    let text = b"\xff\xfe\x00junk\nHEIRLOOM_MEMORY: KEY_FACT a\xffb\nHEIRLOOM_MEMORY: KEY_FACT c\x00d\n\x00\n\xf0\x9f\x98\nHEIRLOOM_MEMORY: KEY_FACT e";
    fixture.feed(&["observe"], text).expect(0);
    let known = fixture.texts("knowledge");
    assert_eq!(known[0], "a\u{fffd}b");
    assert!(known.iter().all(|text| !text.contains('\0')), "{known:?}");
    assert_eq!(known.last().unwrap(), "e");
    fixture.assert_healthy();
}

#[test]
fn observe_closed_pipe_is_not_a_failure() {
    let fixture = ProjectFixture::plain();
    let text: String = (0..20_000)
        .map(|n| format!("HEIRLOOM_MEMORY: KEY_FACT number {n}\n"))
        .collect();
    let file = fixture.outside_path("input");
    let script = format!(
        "'{}' observe <'{}' | head -n 1; echo",
        env!("CARGO_BIN_EXE_heirloom"),
        file.display()
    );
    fixture.project.write("input", &text).unwrap();
    std::fs::rename(fixture.root().join("input"), &file).unwrap();
    let result = finish(shell(&fixture, &script), |_| {}).expect(0);
    assert!(result.text().starts_with("line 1"), "{}", result.text());
    assert!(
        !result.stderr.contains("panic") && !result.stderr.contains("roken pipe"),
        "{}",
        result.stderr
    );
    assert_eq!(fixture.texts("knowledge").len(), 20_000);
}

/// Builds a shell command with the environment of the program.
fn shell(fixture: &ProjectFixture, script: &str) -> Command {
    let program = fixture.heirloom(&[]);
    let mut shell = Command::new("sh");
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.args(["-c", script]).current_dir(fixture.root());
    shell
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    shell
}

/// Calls the program with a file size limit of `blocks` of 512 bytes, which acts like a full disk.
fn call_with_file_size_limit(fixture: &ProjectFixture, blocks: u32, rest: &str) -> CallResult {
    let script = format!(
        "ulimit -f {blocks}; exec '{}' {rest}",
        env!("CARGO_BIN_EXE_heirloom")
    );
    finish(shell(fixture, &script), |_| {})
}

#[test]
fn observe_full_disk_fails_and_stores_whole_records() {
    let fixture = ProjectFixture::plain();
    fixture.call(&["remember", "before"]).expect(0);
    let text: String = (0..3_000)
        .map(|n| format!("HEIRLOOM_MEMORY: KEY_FACT number {n} {}\n", "x".repeat(300)))
        .collect();
    fixture.project.write("input", &text).unwrap();
    let result = call_with_file_size_limit(&fixture, 400, "observe <input");
    assert_eq!(result.code, 1, "{} {}", result.text(), result.stderr);
    assert!(
        result.stderr.contains("heirloom: a write to ")
            && result.stderr.contains("the disk may be full")
            && result.stderr.contains("not recorded: ")
            && !result.stderr.contains("panic"),
        "{}",
        result.stderr
    );
    fixture.assert_healthy();
    let known = fixture.texts("knowledge");
    assert_eq!(known[0], "before");
    assert!(known.len() < 3_001);
    assert!(
        known[1..]
            .iter()
            .all(|text| text.starts_with("number ") && text.ends_with(&"x".repeat(300))),
        "whole records only"
    );
    // With enough space, everything is stored.
    let result = fixture
        .feed(&["observe", "--json"], text.as_bytes())
        .expect(0);
    assert_eq!(result.json()["signals"].as_array().unwrap().len(), 3_000);
    assert_eq!(fixture.texts("knowledge").len(), 3_001);
}

#[test]
fn run_full_disk_fails_and_keeps_mirror() {
    let fixture = ProjectFixture::plain();
    fixture
        .call(&sh(
            "run --iterations 1 -- echo 'HEIRLOOM_MEMORY: KEY_FACT before'",
        ))
        .expect(0);
    let before = fixture.mirror();
    let script = "run --iterations 3 -- sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); echo \"HEIRLOOM_MEMORY: KEY_FACT number $i of many facts that fill the disk\"; done; exit 1'";
    let result = call_with_file_size_limit(&fixture, 400, script);
    assert_eq!(result.code, 1, "{} {}", result.code, result.stderr);
    assert!(!result.stderr.contains("panic"), "{}", result.stderr);
    assert_eq!(
        result.stderr.matches("iteration 2 ·").count(),
        1,
        "it does not go on: {}",
        result.stderr
    );
    let after = fixture.mirror();
    assert_eq!(after["key_facts"][0], before["key_facts"][0]);
    fixture.assert_healthy();
}

#[test]
fn observe_unusable_database_fails() {
    let fixture = ProjectFixture::plain();
    fixture.call(&["remember", "before"]).expect(0);
    // Root may write everything, so a folder in place of the database simulates a store that cannot be opened.
    let database = fixture.root().join(".heirloom/heirloom.db");
    let aside = fixture.outside_path("heirloom.db");
    std::fs::rename(&database, &aside).unwrap();
    std::fs::create_dir(&database).unwrap();
    let result = fixture.feed(&["observe"], b"HEIRLOOM_MEMORY: KEY_FACT x\n");
    assert_eq!(result.code, 1, "{}", result.stderr);
    assert!(result.stderr.contains("heirloom.db"), "{}", result.stderr);
    std::fs::remove_dir(&database).unwrap();
    // A missing database is never replaced by an empty one.
    let result = fixture.feed(&["observe"], b"HEIRLOOM_MEMORY: KEY_FACT x\n");
    assert_eq!(result.code, 3, "{}", result.stderr);
    assert!(!database.exists());
    std::fs::rename(&aside, &database).unwrap();
    assert_eq!(fixture.texts("knowledge"), ["before"]);
}

//! `heirloom observe`: input without measure, and a store that cannot be written.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;

use driver::{Desk, Ran, finish};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The most memory that an observation may take, kilobytes.
const PEAK_KB_MAX: u64 = 150_000;

/// Observes `megabytes` of `a` without a line feed, then `tail`.
fn huge_line(
    desk: &Desk,
    format: &str,
    head: &'static [u8],
    megabytes: usize,
    tail: &'static [u8],
) -> Ran {
    let mut command = desk.heirloom(&["observe", "--json", "--format", format]);
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
fn a_line_of_200_megabytes() {
    let desk = Desk::plain();
    let tail = b"\nHEIRLOOM_MEMORY: KEY_FACT after\n";
    for format in [
        "auto",
        "text",
        "claude-stream",
        "codex-json",
        "gemini-stream",
    ] {
        let ran = huge_line(&desk, format, b"", 200, tail).expect(0);
        assert!(
            (1_000..PEAK_KB_MAX).contains(&ran.peak_kb),
            "{format}: {} KB",
            ran.peak_kb
        );
        assert!(ran.took < Duration::from_secs(50), "{:?}", ran.took);
        if matches!(format, "auto" | "text") {
            assert_eq!(
                ran.json()["signals"].as_array().unwrap().len(),
                1,
                "{format}"
            );
        }
    }
    // One that begins like JSON, and one that begins like a signal.
    let ran = huge_line(
        &desk,
        "auto",
        b"{\"type\":\"assistant\",\"x\":\"",
        200,
        tail,
    )
    .expect(0);
    assert!(ran.peak_kb < PEAK_KB_MAX, "{} KB", ran.peak_kb);
    let ran = huge_line(&desk, "text", b"HEIRLOOM_MEMORY: KEY_FACT ", 200, tail).expect(0);
    assert!(ran.peak_kb < PEAK_KB_MAX, "{} KB", ran.peak_kb);
    assert_eq!(ran.json()["diagnostics"].as_array().unwrap().len(), 1);
    assert_eq!(desk.texts("knowledge"), ["after"]);
}

#[test]
fn a_valid_message_of_many_megabytes() {
    let desk = Desk::plain();
    let head = b"{\"type\":\"assistant\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"HEIRLOOM_MEMORY: KEY_FACT first\\n";
    let tail = b"\\nHEIRLOOM_MEMORY: KEY_FACT last\"}]}}\n";
    let ran = huge_line(&desk, "claude-stream", head, 16, tail).expect(0);
    assert!(ran.peak_kb < PEAK_KB_MAX, "{} KB", ran.peak_kb);
    assert_eq!(desk.texts("knowledge"), ["first", "last"]);
}

#[test]
fn a_hundred_thousand_signals() {
    let desk = Desk::plain();
    let text: String = (0..100_500)
        .map(|n| format!("HEIRLOOM_MEMORY: LEARNING number {n}\n"))
        .collect();
    let ran = desk.feed(&["observe", "--json"], text.as_bytes()).expect(0);
    let said = ran.json();
    assert_eq!(said["signals"].as_array().unwrap().len(), 100_000);
    assert!(
        said["diagnostics"].to_string().contains("500 more signals"),
        "{}",
        said["diagnostics"]
    );
    assert!(ran.took < Duration::from_secs(60), "{:?}", ran.took);
    // Again: all of them are known.
    let again = desk.feed(&["observe", "--json"], text.as_bytes()).expect(0);
    assert!(
        again.json()["signals"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["outcome"] == "confirmed")
    );
    assert!(again.took < Duration::from_secs(60), "{:?}", again.took);
    println!("{:?} {:?}", ran.took, again.took);
}

#[test]
fn thousands_of_bad_lines_are_counted() {
    let desk = Desk::plain();
    let text: String = (0..5_000)
        .map(|n| format!("HEIRLOOM_MEMORY: WRONG{n} x\n"))
        .collect();
    let said = desk
        .feed(&["observe", "--json"], text.as_bytes())
        .expect(0)
        .json();
    let told = said["diagnostics"].as_array().unwrap();
    assert_eq!(told.len(), 1_001);
    let rest = told.last().unwrap()["message"].as_str().unwrap();
    assert!(rest.starts_with("4000 more"), "{rest}");
    // The same for signals that are understood and cannot be carried out.
    let text: String = (0..3_000)
        .map(|n| format!("HEIRLOOM_MEMORY: FILE_MODIFIED ../{n}\n"))
        .collect();
    let said = desk.feed(&["observe", "--json"], text.as_bytes()).expect(0);
    let told = said.json()["diagnostics"].as_array().unwrap().clone();
    assert_eq!(told.len(), 1_001);
    let rest = told.last().unwrap();
    assert_eq!(rest["line"], 3_000);
    assert!(
        rest["message"].as_str().unwrap().starts_with("2000 more"),
        "{rest}"
    );
}

#[test]
fn bytes_that_are_no_text() {
    let desk = Desk::plain();
    let text = b"\xff\xfe\x00junk\nHEIRLOOM_MEMORY: KEY_FACT a\xffb\nHEIRLOOM_MEMORY: KEY_FACT c\x00d\n\x00\n\xf0\x9f\x98\nHEIRLOOM_MEMORY: KEY_FACT e";
    desk.feed(&["observe"], text).expect(0);
    let known = desk.texts("knowledge");
    assert_eq!(known[0], "a\u{fffd}b");
    assert!(known.iter().all(|text| !text.contains('\0')), "{known:?}");
    assert_eq!(known.last().unwrap(), "e");
    desk.healthy();
}

#[test]
fn a_reader_who_leaves_early_is_no_failure() {
    let desk = Desk::plain();
    let text: String = (0..20_000)
        .map(|n| format!("HEIRLOOM_MEMORY: KEY_FACT number {n}\n"))
        .collect();
    let file = desk.aside("input");
    let script = format!(
        "'{}' observe <'{}' | head -n 1; echo",
        env!("CARGO_BIN_EXE_heirloom"),
        file.display()
    );
    desk.project.write("input", &text).unwrap();
    std::fs::rename(desk.root().join("input"), &file).unwrap();
    let ran = finish(shell(&desk, &script), |_| {}).expect(0);
    assert!(ran.text().starts_with("line 1"), "{}", ran.text());
    assert!(
        !ran.stderr.contains("panic") && !ran.stderr.contains("roken pipe"),
        "{}",
        ran.stderr
    );
    assert_eq!(desk.texts("knowledge").len(), 20_000);
}

/// A shell with the environment of the program.
fn shell(desk: &Desk, script: &str) -> Command {
    let program = desk.heirloom(&[]);
    let mut shell = Command::new("sh");
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.args(["-c", script]).current_dir(desk.root());
    shell
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    shell
}

/// Calls the program where no file may grow beyond `blocks` of 512 bytes, as on a disk that is full.
fn cramped(desk: &Desk, blocks: u32, rest: &str) -> Ran {
    let script = format!(
        "ulimit -f {blocks}; exec '{}' {rest}",
        env!("CARGO_BIN_EXE_heirloom")
    );
    finish(shell(desk, &script), |_| {})
}

#[test]
fn a_full_disk_is_a_clear_failure_and_nothing_is_half_written() {
    let desk = Desk::plain();
    desk.call(&["remember", "before"]).expect(0);
    let text: String = (0..3_000)
        .map(|n| format!("HEIRLOOM_MEMORY: KEY_FACT number {n} {}\n", "x".repeat(300)))
        .collect();
    desk.project.write("input", &text).unwrap();
    let ran = cramped(&desk, 400, "observe <input");
    assert_eq!(ran.code, 1, "{} {}", ran.text(), ran.stderr);
    assert!(
        ran.stderr.contains("heirloom: a write to ")
            && ran.stderr.contains("the disk may be full")
            && ran.stderr.contains("not recorded: ")
            && !ran.stderr.contains("panic"),
        "{}",
        ran.stderr
    );
    desk.healthy();
    let known = desk.texts("knowledge");
    assert_eq!(known[0], "before");
    assert!(known.len() < 3_001);
    assert!(
        known[1..]
            .iter()
            .all(|text| text.starts_with("number ") && text.ends_with(&"x".repeat(300))),
        "whole records only"
    );
    // With room again, all is taken.
    let ran = desk.feed(&["observe", "--json"], text.as_bytes()).expect(0);
    assert_eq!(ran.json()["signals"].as_array().unwrap().len(), 3_000);
    assert_eq!(desk.texts("knowledge").len(), 3_001);
}

#[test]
fn a_run_on_a_full_disk_fails_and_keeps_the_old_mirror() {
    let desk = Desk::plain();
    desk.call(&[
        "run",
        "--iterations",
        "1",
        "--",
        "echo",
        "HEIRLOOM_MEMORY: KEY_FACT before",
    ])
    .expect(0);
    let before = desk.mirror();
    let script = "run --iterations 3 -- sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); echo \"HEIRLOOM_MEMORY: KEY_FACT number $i of many facts that fill the disk\"; done; exit 1'";
    let ran = cramped(&desk, 400, script);
    assert_eq!(ran.code, 1, "{} {}", ran.code, ran.stderr);
    assert!(!ran.stderr.contains("panic"), "{}", ran.stderr);
    assert_eq!(
        ran.stderr.matches("iteration 2 ·").count(),
        1,
        "it does not go on: {}",
        ran.stderr
    );
    let after = desk.mirror();
    assert_eq!(after["key_facts"][0], before["key_facts"][0]);
    desk.healthy();
}

#[test]
fn a_folder_that_may_not_be_written_is_a_clear_failure() {
    let desk = Desk::plain();
    desk.call(&["remember", "before"]).expect(0);
    // Root may write everything: a folder in the database's place stands for what cannot be opened.
    let database = desk.root().join(".heirloom/heirloom.db");
    let aside = desk.aside("heirloom.db");
    std::fs::rename(&database, &aside).unwrap();
    std::fs::create_dir(&database).unwrap();
    let ran = desk.feed(&["observe"], b"HEIRLOOM_MEMORY: KEY_FACT x\n");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("heirloom.db"), "{}", ran.stderr);
    std::fs::remove_dir(&database).unwrap();
    // Gone altogether: never replaced by an empty one.
    let ran = desk.feed(&["observe"], b"HEIRLOOM_MEMORY: KEY_FACT x\n");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(!database.exists());
    std::fs::rename(&aside, &database).unwrap();
    assert_eq!(desk.texts("knowledge"), ["before"]);
}

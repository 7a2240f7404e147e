//! Memory of 100,000 records for the browser test, imported as an export of another memory.

use crate::cargo;
use std::path::Path;
use std::process::Command;

/// Number of records that are imported.
const RECORDS: u64 = 100_000;
/// Time of the first record, milliseconds since 1970: 2025-10-09.
const FIRST_MS: u64 = 1_760_000_000_000;
const WORDS: [&str; 24] = [
    "queue",
    "worker",
    "deploy",
    "retry",
    "index",
    "cache",
    "lock",
    "schema",
    "migration",
    "header",
    "token",
    "budget",
    "session",
    "replica",
    "timeout",
    "parser",
    "shard",
    "batch",
    "snapshot",
    "carrier",
    "label",
    "invoice",
    "webhook",
    "cursor",
];
const CATEGORIES: [&str; 5] = ["fact", "convention", "decision", "architecture", "pattern"];

/// Imports the records into the memory of a project.
pub(super) fn import(binary: &Path, project: &Path) -> Result<(), String> {
    let file = project.join("large.jsonl");
    std::fs::write(&file, lines())
        .map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    let mut import = Command::new(binary);
    import
        .args(["import", "jsonl"])
        .arg(&file)
        .arg("--project-dir")
        .arg(project)
        .env("HOME", project)
        .env_remove("XDG_CONFIG_HOME");
    cargo::run(&mut import)
}

/// Returns the records, one JSON object a line.
fn lines() -> String {
    let mut lines = String::new();
    for n in 0..RECORDS {
        let ms = FIRST_MS + n * 60_000;
        let mixed = n.wrapping_mul(2_654_435_761) % (1 << 32);
        let word = |at: u32| WORDS[((mixed >> (5 * at)) % WORDS.len() as u64) as usize];
        let category = CATEGORIES[(n % CATEGORIES.len() as u64) as usize];
        let (month, day) = (1 + n / 10_000, 1 + n % 27);
        let text = format!(
            "The {} of the {} waits {} s before the {}; its {} number {n} needs the {}",
            word(0),
            word(1),
            n % 97,
            word(2),
            word(3),
            word(4)
        );
        let id = format!(
            "{:08x}-{:04x}-7{:03x}-8{:03x}-{n:012x}",
            ms >> 16,
            ms & 0xffff,
            n % 4_096,
            0
        );
        lines.push_str(&format!(
            r#"{{"kind":"knowledge","id":"{id}","category":"{category}","key":"large-{n}","text":"{text}","source":"agent:codex","confidence":0.8,"recorded_at":"2026-{month:02}-{day:02}T10:00:00Z"}}
"#
        ));
    }
    lines
}

//! What redaction costs: the first text of a process, the next ones, and long texts of many sorts.

use crate::stats::Times;
use crate::{Outcome, probe};
use heirloom_engine::NewRecord;
use heirloom_engine::redact::Redactor;
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

/// Bytes of each long text.
const BYTES: usize = 16 << 20;
/// Processes that are started for the first text.
const PROCESSES: usize = 40;
/// Runs over a short text.
const RUNS: u32 = 20_000;

/// 200 characters as an agent writes them, without a secret.
const CLEAN: &str = "The password is checked in auth.rs and the token in session.rs; requests without a cookie get 401. \
    Run the migration before the tests: cargo xtask migrate --dry-run, then look at the diff of schema.sql.";

/// Ordinary texts by what they are, without secrets.
const TEXTS: &[(&str, &str)] = &[
    (
        "log lines",
        include_str!("../../crates/engine/tests/redact_clean/log.txt"),
    ),
    (
        "JSON, a lock file",
        include_str!("../../crates/engine/tests/redact_clean/package-lock.json"),
    ),
    (
        "JavaScript, minified",
        include_str!("../../crates/engine/tests/redact_clean/minified.js"),
    ),
    (
        "source code about logins",
        include_str!("../../crates/engine/tests/redact_clean/auth.ts"),
    ),
    (
        "source code, Rust",
        include_str!("../../crates/engine/src/engine/observe.rs"),
    ),
    (
        "prose about logins",
        include_str!("../../crates/engine/tests/redact_clean/notes.md"),
    ),
    ("prose", include_str!("../../docs/guide.md")),
    (
        "base64",
        include_str!("../../crates/engine/tests/redact_clean/base64.txt"),
    ),
];

pub(crate) fn measure() -> Outcome<()> {
    first_texts()?;
    let redactor = Redactor::default();
    let secret = with_a_secret();
    println!(
        "redact, 200 characters, again            {:8.2} us",
        each(|| redactor.redact(CLEAN).len())
    );
    println!(
        "redact, 200 characters with a secret     {:8.2} us",
        each(|| redactor.redact(&secret).len())
    );
    in_a_write()?;
    let mut mixed = String::new();
    for (name, text) in TEXTS {
        let long = text.repeat(BYTES / text.len() + 1);
        rate(&redactor, name, &long);
        mixed.push_str(long.get(..BYTES / TEXTS.len()).unwrap_or(text));
    }
    rate(&redactor, "all of them", &mixed);
    let line = format!("{}\n", secret.trim());
    let dense = line.repeat(BYTES / 8 / line.len());
    rate(&redactor, "a secret in every line", &dense);
    Ok(())
}

/// The first text of this process, in nanoseconds; nothing else.
pub(crate) fn first_text(name: &str) {
    let text = if name == "redact-first-secret" {
        with_a_secret()
    } else {
        CLEAN.to_owned()
    };
    let start = Instant::now();
    let redactor = Redactor::default();
    black_box(redactor.redact(&text).len());
    println!("{}", start.elapsed().as_nanos());
}

fn first_texts() -> Outcome<()> {
    for (name, only) in [
        ("", "redact-first"),
        (" with a secret", "redact-first-secret"),
    ] {
        let mut times = Vec::new();
        for _ in 0..PROCESSES {
            let output = Command::new(std::env::current_exe()?)
                .args(["--only", only])
                .output()?;
            let said = String::from_utf8_lossy(&output.stdout);
            times.push(Duration::from_nanos(said.trim().parse()?));
        }
        Times::of(&times).print(&format!("redact, first text of a process{name}"));
    }
    Ok(())
}

/// What redaction adds to a write: the same record through an engine, beside the redactions that it does.
fn in_a_write() -> Outcome<()> {
    let root = tempfile::tempdir()?;
    let engine = probe::engine(root.path())?;
    let mut times = Vec::new();
    for number in 0..300 {
        let text = format!("{} {number}", CLEAN);
        let start = Instant::now();
        engine.remember(NewRecord {
            text,
            ..NewRecord::default()
        })?;
        times.push(start.elapsed());
    }
    Times::of(&times).print("remember, durable, 200 characters");
    let redactor = engine.redactor();
    let mut attrs = serde_json::Map::new();
    attrs.insert("category".to_owned(), "fact".into());
    // Once before its key is made, once at the door; with the key, the source and the attributes.
    let share = each(|| {
        let text = redactor.redact(CLEAN).len() + redactor.redact(CLEAN).len();
        let names = redactor.redact("5f4a35532c4fee47").len() + redactor.redact("user").len();
        redactor.redact_map(&mut attrs, &mut Vec::new());
        text + names
    });
    println!("  of that redaction                      {share:8.2} us");
    Ok(())
}

fn each(mut run: impl FnMut() -> usize) -> f64 {
    let start = Instant::now();
    for _ in 0..RUNS {
        black_box(run());
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(RUNS)
}

fn rate(redactor: &Redactor, name: &str, text: &str) {
    let mut best = f64::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        black_box(redactor.redact(text).len());
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!(
        "redact, {name:32} {:8.0} MB/s",
        text.len() as f64 / 1e6 / best
    );
}

fn with_a_secret() -> String {
    let token = ["gh", "p_", "q7Zr2Kx9Lm4Tn8Vb3Wc6Yd1Fe5Gh0Js2Ku4Pa"].concat();
    CLEAN.replace("cargo xtask", &format!("TOKEN={token} cargo xtask"))
}

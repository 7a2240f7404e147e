//! Cost of redaction: the first text of a process, later ones, and long texts of many kinds.

use crate::stats::Times;
use crate::{Outcome, fixture, results};
use heirloom_engine::NewRecord;
use heirloom_redact::Redactor;
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

/// Number of bytes of each long text.
const BYTES: usize = 16 << 20;
/// Number of processes that are started for the first text.
const PROCESSES: usize = 40;
/// Number of runs over a short text.
const RUNS: u32 = 20_000;

/// 200 characters as an agent writes them, without a secret.
const CLEAN: &str = "The password is checked in auth.rs and the token in session.rs; requests without a cookie get 401. \
    Run the migration before the tests: cargo xtask migrate --dry-run, then look at the diff of schema.sql.";

/// Ordinary texts by kind, without secrets.
const TEXTS: &[(&str, &str)] = &[
    (
        "log lines",
        include_str!("../../crates/redact/tests/redact_clean/log.txt"),
    ),
    (
        "JSON, a lock file",
        include_str!("../../crates/redact/tests/redact_clean/package-lock.json"),
    ),
    (
        "JavaScript, minified",
        include_str!("../../crates/redact/tests/redact_clean/minified.js"),
    ),
    (
        "source code about logins",
        include_str!("../../crates/redact/tests/redact_clean/auth.ts"),
    ),
    (
        "source code, Rust",
        include_str!("../../crates/capture/src/observe.rs"),
    ),
    (
        "prose about logins",
        include_str!("../../crates/redact/tests/redact_clean/notes.md"),
    ),
    ("prose", include_str!("../../docs/guide.md")),
    (
        "base64",
        include_str!("../../crates/redact/tests/redact_clean/base64.txt"),
    ),
];

pub(crate) fn measure() -> Outcome<()> {
    measure_first_texts()?;
    let redactor = Redactor::default();
    let secret = text_with_secret();
    results::value(
        "redact.short",
        "redact, 200 characters, again",
        "us",
        time_each_us(|| redactor.redact(CLEAN).len()),
    );
    results::value(
        "redact.short_secret",
        "redact, 200 characters with a secret",
        "us",
        time_each_us(|| redactor.redact(&secret).len()),
    );
    measure_write_share()?;
    let mut mixed = String::new();
    for (name, text) in TEXTS {
        let long = text.repeat(BYTES / text.len() + 1);
        print_rate(&redactor, name, &long);
        mixed.push_str(long.get(..BYTES / TEXTS.len()).unwrap_or(text));
    }
    print_rate(&redactor, "all of them", &mixed);
    let log = include_str!("../../crates/redact/tests/redact_clean/log.txt");
    let coloured = with_colours(log);
    print_rate(&redactor, "log with colours", &repeat_to_size(&coloured));
    let json = json_lines(include_str!("../../docs/guide.md"));
    print_rate(&redactor, "JSON with escapes", &repeat_to_size(&json));
    let mixed = format!(
        "{mixed}{}{}",
        mixture_part(&repeat_to_size(&coloured)),
        mixture_part(&repeat_to_size(&json))
    );
    print_rate(&redactor, "all with escapes", &mixed);
    let line = format!("{}\n", secret.trim());
    let dense = line.repeat(BYTES / 8 / line.len());
    print_rate(&redactor, "a secret in every line", &dense);
    Ok(())
}

/// Returns the part of a long text that goes into a mixture.
fn mixture_part(text: &str) -> &str {
    let mut end = BYTES / TEXTS.len();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn repeat_to_size(text: &str) -> String {
    text.repeat(BYTES / text.len() + 1)
}

/// Adds terminal colours to a log: one around the second word of each line.
fn with_colours(log: &str) -> String {
    let line = |line: &str| match line.splitn(3, ' ').collect::<Vec<_>>()[..] {
        [first, second, rest] => format!("{first} \x1b[32m{second}\x1b[0m {rest}\n"),
        _ => format!("{line}\n"),
    };
    log.lines().map(line).collect()
}

/// Returns paragraphs as lines of a transcript: JSON strings with escaped line breaks and quotes.
fn json_lines(text: &str) -> String {
    let line = |part: &str| {
        let content = serde_json::Value::from(part);
        format!("{{\"type\":\"user\",\"message\":{{\"content\":{content}}}}}\n")
    };
    text.split("\n\n").map(line).collect()
}

/// Prints the time of the first text of this process, in nanoseconds.
pub(crate) fn first_text(name: &str) {
    let text = if name == "redact-first-secret" {
        text_with_secret()
    } else {
        CLEAN.to_owned()
    };
    let start = Instant::now();
    let redactor = Redactor::default();
    black_box(redactor.redact(&text).len());
    println!("{}", start.elapsed().as_nanos());
}

fn measure_first_texts() -> Outcome<()> {
    for (name, only) in [
        ("", "redact-first"),
        (" with a secret", "redact-first-secret"),
    ] {
        let mut times = Vec::new();
        for _ in 0..PROCESSES {
            let output = Command::new(std::env::current_exe()?)
                .args(["--only", only])
                .output()?;
            let printed = String::from_utf8_lossy(&output.stdout);
            times.push(Duration::from_nanos(printed.trim().parse()?));
        }
        let id = only.replacen("redact-", "redact.", 1).replace('-', "_");
        let name = format!("redact, first text of a process{name}");
        results::times(&id, &name, &Times::of(&times));
    }
    Ok(())
}

/// Measures the share of redaction in a write: the same record through an engine, and its redactions alone.
fn measure_write_share() -> Outcome<()> {
    let root = tempfile::tempdir()?;
    let engine = fixture::engine(root.path())?;
    let mut times = Vec::new();
    for number in 0..300 {
        let text = format!("{} {number}", CLEAN);
        let start = Instant::now();
        engine.records().remember(NewRecord {
            text,
            ..NewRecord::default()
        })?;
        times.push(start.elapsed());
    }
    results::times(
        "redact.write",
        "remember, durable, 200 characters",
        &Times::of(&times),
    );
    let redactor = engine.redaction().redactor();
    let mut attrs = serde_json::Map::new();
    attrs.insert("category".to_owned(), "fact".into());
    // The text is redacted before its key is made and in the redacting store, with the key, the source and the
    // attributes.
    let share = time_each_us(|| {
        let text = redactor.redact(CLEAN).len() + redactor.redact(CLEAN).len();
        let names = redactor.redact("5f4a35532c4fee47").len() + redactor.redact("user").len();
        redactor.redact_map(&mut attrs, &mut Vec::new());
        text + names
    });
    results::value(
        "redact.write_share",
        "redaction in a write of 200 characters",
        "us",
        share,
    );
    Ok(())
}

fn time_each_us(mut run: impl FnMut() -> usize) -> f64 {
    let start = Instant::now();
    for _ in 0..RUNS {
        black_box(run());
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(RUNS)
}

fn print_rate(redactor: &Redactor, name: &str, text: &str) {
    let mut best = f64::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        black_box(redactor.redact(text).len());
        best = best.min(start.elapsed().as_secs_f64());
    }
    let id: String = name
        .to_lowercase()
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("_");
    results::value(
        &format!("redact.rate.{id}"),
        &format!("redact, {name}"),
        "MB/s",
        text.len() as f64 / 1e6 / best,
    );
}

fn text_with_secret() -> String {
    let token = ["gh", "p_", "q7Zr2Kx9Lm4Tn8Vb3Wc6Yd1Fe5Gh0Js2Ku4Pa"].concat();
    CLEAN.replace("cargo xtask", &format!("TOKEN={token} cargo xtask"))
}

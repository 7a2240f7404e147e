//! Tests that samples of every rule are redacted in every surrounding, and ordinary code is not.
//!
//! The samples are generated from the table of formats and from names, so that this file contains none for a scanner
//! to find.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_redact::Redactor;
use heirloom_testkit::secrets::{
    SURROUNDINGS, SecretSample, format_sample, is_left, named_samples,
};
use std::path::{Path, PathBuf};

/// Percentage of the samples that must be found in each surrounding.
const FOUND_MIN: f64 = 99.0;
const FOUND_BY_NAME_MIN: f64 = 95.0;

/// Checks that enough samples are found in each surrounding; prints the others.
fn check(samples: &[SecretSample], found_min: f64) {
    let redactor = Redactor::default();
    let mut bad = Vec::new();
    for surrounding in SURROUNDINGS {
        let fits = |sample: &&SecretSample| sample.has_form || surrounding.has_name;
        let (mut missed, mut count) = (Vec::new(), 0);
        for sample in samples.iter().filter(fits) {
            count += 1;
            let text = (surrounding.write)(sample);
            let clean = redactor.redact(&text);
            if is_left(&clean, sample) {
                missed.push(format!("{}: {clean:?}", sample.rule));
            }
            assert!(
                redactor.is_clean(&clean),
                "{}: {text:?} left {clean:?}",
                surrounding.name
            );
            if surrounding.name.starts_with("JSON") {
                serde_json::from_str::<serde_json::Value>(&clean).unwrap();
            }
        }
        let found = 100.0 - 100.0 * missed.len() as f64 / f64::from(count.max(1));
        if found < found_min {
            missed.truncate(8);
            bad.push(format!(
                "{}: {found:.2} %\n  {}",
                surrounding.name,
                missed.join("\n  ")
            ));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn redact_every_format_in_every_surrounding() {
    let formats = heirloom_redact::formats().enumerate();
    let samples: Vec<_> = formats
        .map(|(number, rule)| {
            let name = format!("{} {}", rule.kind, rule.expression);
            format_sample(&name, rule.before, rule.expression, number as u64 + 1)
        })
        .collect();
    assert!(samples.len() > 250, "{}", samples.len());
    check(&samples, FOUND_MIN);
}

#[test]
fn redact_named_secrets_in_every_surrounding() {
    check(&named_samples(1), FOUND_BY_NAME_MIN);
}

/// Returns the repository's own files, without those that contain test secrets.
fn ordinary_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut open = ["crates", "docs", "bench", "xtask"]
        .map(|name| root.join(name))
        .to_vec();
    let mut files = Vec::new();
    while let Some(path) = open.pop() {
        let own = path.strip_prefix(&root).unwrap_or(&path);
        let shown = own.to_string_lossy();
        // Tests contain secrets that look real.
        if shown.contains("redact") || path.ends_with("tests") {
            continue;
        }
        if path.is_dir() {
            open.extend(
                std::fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if [".rs", ".md", ".toml", ".js", ".css", ".html"]
            .iter()
            .any(|end| shown.ends_with(end))
        {
            files.push(path);
        }
    }
    files
}

#[test]
fn redact_ordinary_code_false_alarms_are_rare() {
    let redactor = Redactor::default();
    let mut bytes = 0;
    let mut found = Vec::new();
    for path in ordinary_files() {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        bytes += text.len();
        for one in redactor.find(&text) {
            found.push(format!(
                "{}: {} {:?}",
                path.display(),
                one.kind,
                &text[one.start..one.end]
            ));
        }
    }
    assert!(bytes > 2_000_000, "{bytes} bytes");
    let rate = found.len() as f64 * 1e6 / bytes as f64;
    assert!(
        rate <= 1.0,
        "{rate:.2} in a megabyte of {bytes}:\n{}",
        found.join("\n")
    );
}

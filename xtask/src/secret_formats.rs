//! Rows of the table of secret formats, generated from public rule sets.
//!
//! A row has facts about a format only: its fixed characters, and the length and characters of the rest. The
//! expressions are our own, in the small language of the table.

mod row_pattern;

use row_pattern::RowPattern;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The generated rows.
const ROWS: &str = "crates/redact/src/secret_formats/rule_set_formats.rs";
/// Maximum length of a kind in bytes, as the mark has it.
const KIND_MAX: usize = 40;

/// An expression of a rule set, with the name of its rule.
struct PublicRule {
    set: &'static str,
    name: String,
    expression: String,
}

pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let [folder] = args else {
        return Err("usage: cargo xtask secret-formats FOLDER; FOLDER has checkouts of gitleaks and trufflehog, \
            `gitleaks/config/gitleaks.toml` and `trufflehog/pkg/detectors`"
            .to_owned());
    };
    let folder = Path::new(folder);
    let mut rules = gitleaks_rules(&folder.join("gitleaks/config/gitleaks.toml"))?;
    rules.extend(trufflehog_rules(&folder.join("trufflehog/pkg/detectors"))?);
    let mut rows: BTreeMap<(String, String), (String, String)> = BTreeMap::new();
    let mut readable = 0;
    for rule in &rules {
        let patterns = RowPattern::read(&rule.expression);
        readable += usize::from(!patterns.is_empty());
        for pattern in patterns {
            let key = (pattern.text(), pattern.before());
            if !is_known(&key.1, &key.0) {
                let source = format!("{} {}", rule.set, rule.name);
                rows.entry(key).or_insert_with(|| (kind_of(rule), source));
            }
        }
    }
    let mut text = String::from(
        "// Written by `cargo xtask secret-formats`; do not edit. The rules of gitleaks are under the MIT licence.\n\nformats! { GENERATED\n",
    );
    for ((pattern, before), (kind, source)) in &rows {
        writeln!(text, "    {kind:?} {before:?} {pattern:?} {source:?}")
            .map_err(|error| error.to_string())?;
    }
    let count = rows.len();
    text.push_str("}\n");
    write_rows(&text)?;
    println!(
        "{} expressions, {readable} with a fixed beginning, {count} rows that are new in {ROWS}",
        rules.len()
    );
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a source file, which git restores"
)]
fn write_rows(text: &str) -> Result<(), String> {
    fs::write(ROWS, text).map_err(|error| format!("cannot write {ROWS}: {error}"))
}

/// Returns true if a row written by hand has the same fixed characters.
fn is_known(before: &str, pattern: &str) -> bool {
    let fixed = |text: &str| text.split('[').next().unwrap_or_default().to_owned();
    let new = fixed(pattern);
    heirloom_redact::formats()
        .filter(|row| !row.is_generated)
        .any(|row| {
            row.before.is_empty() == before.is_empty() && new.starts_with(&fixed(row.expression))
        })
}

/// Returns the kind for the mark: the name of the rule in small letters and hyphens.
fn kind_of(rule: &PublicRule) -> String {
    let version = |part: &&str| {
        part.strip_prefix('v')
            .is_some_and(|n| n.parse::<u8>().is_ok())
    };
    let parts: Vec<&str> = rule.name.split('/').filter(|part| !version(part)).collect();
    let small: String = parts
        .join("-")
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let named = ["key", "token", "secret", "password", "webhook", "id", "url"];
    let mut kind = match named.iter().any(|word| small.ends_with(word)) {
        true => small,
        false => format!("{small}-key"),
    };
    kind.truncate(KIND_MAX);
    kind.trim_end_matches('-').to_owned()
}

/// Reads the rules of gitleaks: `id = "…"`, and `regex` in three quotes.
fn gitleaks_rules(file: &Path) -> Result<Vec<PublicRule>, String> {
    let text = read(file)?;
    let mut rules = Vec::new();
    let mut name = String::new();
    for line in text.lines() {
        if let Some(id) = line.strip_prefix("id = \"") {
            name = id.trim_end_matches('"').to_owned();
        } else if let Some(expression) = line.strip_prefix("regex = '''") {
            rules.push(PublicRule {
                set: "gitleaks",
                name: name.clone(),
                expression: expression.trim_end_matches("'''").to_owned(),
            });
        }
    }
    Ok(rules)
}

/// Reads the expressions of trufflehog's detectors: raw strings of Go in calls that compile them.
fn trufflehog_rules(folder: &Path) -> Result<Vec<PublicRule>, String> {
    let mut rules = Vec::new();
    for file in go_files(folder)? {
        let text = read(&file)?;
        let folder = file.strip_prefix(folder).unwrap_or(&file).parent();
        let name = folder
            .map(|folder| folder.to_string_lossy().into_owned())
            .unwrap_or_default();
        for call in text.split("MustCompile(").skip(1) {
            // An expression with a keyword in front of it has no form of its own.
            let Some(raw) = call.trim_start().strip_prefix('`') else {
                continue;
            };
            if let Some((expression, _)) = raw.split_once('`') {
                rules.push(PublicRule {
                    set: "trufflehog",
                    name: name.clone(),
                    expression: expression.to_owned(),
                });
            }
        }
    }
    Ok(rules)
}

/// Lists the sources of a folder, sorted, without tests.
fn go_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(&folder)
            .map_err(|error| format!("cannot list {}: {error}", folder.display()))?;
        for entry in entries {
            let path = entry.map_err(|error| error.to_string())?.path();
            let name = path.to_string_lossy();
            if path.is_dir() {
                open.push(path);
            } else if name.ends_with(".go") && !name.ends_with("_test.go") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("cannot read {}: {error}", file.display()))
}

//! Compiles `data/person_rules.toml` and `data/rule_words.toml` into Rust constants and the other data files into JSON, because a hook
//! has no time to parse TOML.
#![expect(
    clippy::disallowed_methods,
    reason = "Cargo passes the output folder in the environment"
)]

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

const RULES: &str = include_str!("data/person_rules.toml");
const WORDS: &str = include_str!("data/rule_words.toml");

/// Data files that are written as JSON.
const JSON_FILES: [&str; 10] = [
    "commands",
    "commits",
    "documents",
    "explanations",
    "failures",
    "outcome",
    "pasted_text",
    "reports",
    "selection",
    "summaries",
];

/// Classes of words that the model of lasting rules combines.
const NAMED_CLASSES: [&str; 25] = [
    "always",
    "change",
    "complaint",
    "contrast",
    "counted",
    "generic",
    "goal",
    "habit_start",
    "hedge",
    "idle",
    "lasting",
    "lets_start",
    "moment",
    "obligation",
    "only",
    "preference",
    "product",
    "prohibition",
    "question_start",
    "reminder",
    "report",
    "sequence",
    "task_start",
    "this_thing",
    "working",
];

type Words = BTreeMap<String, Vec<String>>;

/// Content of `person_rules.toml`.
#[derive(Deserialize)]
struct RuleFile {
    threshold: f32,
    worth: f32,
    worth_growth: f32,
    weak_worth: f32,
    turns: Words,
}

/// Content of `rule_words.toml`.
#[derive(Deserialize)]
struct WordFile {
    classes: Words,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=data");
    let folder = env::var_os("OUT_DIR").ok_or("Cargo sets OUT_DIR")?;
    let folder = PathBuf::from(folder);
    fs::write(
        folder.join("person_rules.rs"),
        rule_source(&toml::from_str(RULES)?)?,
    )?;
    let words: WordFile = toml::from_str(WORDS)?;
    fs::write(folder.join("rule_words.rs"), word_source(&words.classes)?)?;
    for name in JSON_FILES {
        let text = fs::read_to_string(format!("data/{name}.toml"))?;
        let value: toml::Table = toml::from_str(&text)?;
        fs::write(
            folder.join(format!("{name}.json")),
            serde_json::to_string(&value)?,
        )?;
    }
    Ok(())
}

/// Returns the source of a constant of type `PersonRuleCues`.
fn rule_source(file: &RuleFile) -> Result<String, Box<dyn Error>> {
    let mut out = String::new();
    writeln!(out, "PersonRuleCues {{")?;
    writeln!(out, "threshold: {:?}_f32,", file.threshold)?;
    let (worth, growth) = (file.worth, file.worth_growth);
    writeln!(out, "worth: [{worth:?}_f32, {growth:?}_f32],")?;
    writeln!(out, "weak_worth: {:?}_f32,", file.weak_worth)?;
    writeln!(out, "turns: TurnWords {{")?;
    for (name, list) in &file.turns {
        writeln!(out, "{name}: &{list:?},")?;
    }
    writeln!(out, "}} }}")?;
    Ok(out)
}

/// Returns the constants of the word classes: their names and numbers, the phrases by their first words in order, and
/// the phrases of scripts without blanks between words.
fn word_source(classes: &Words) -> Result<String, Box<dyn Error>> {
    let mut out = String::new();
    let names: Vec<&String> = classes.keys().collect();
    writeln!(
        out,
        "pub(crate) const CLASS_NAMES: [&str; {}] = {names:?};",
        names.len()
    )?;
    let mut by_first: BTreeMap<&str, BTreeSet<(Vec<&str>, usize)>> = BTreeMap::new();
    let mut unspaced = BTreeSet::new();
    for (class, (name, phrases)) in classes.iter().enumerate() {
        if NAMED_CLASSES.contains(&name.as_str()) {
            let constant = name.to_uppercase();
            writeln!(out, "pub(crate) const {constant}: usize = {class};")?;
        }
        for phrase in phrases {
            if phrase
                .chars()
                .any(|c| ('\u{3000}'..'\u{a000}').contains(&c))
            {
                unspaced.insert((phrase.as_str(), class));
                continue;
            }
            let mut words = phrase.split(' ');
            let first = words.next().unwrap_or_default();
            by_first
                .entry(first)
                .or_default()
                .insert((words.collect(), class));
        }
    }
    writeln!(
        out,
        "pub(crate) static PHRASES: [FirstWord; {}] = [",
        by_first.len()
    )?;
    for (word, rests) in by_first {
        writeln!(out, "FirstWord {{ word: {word:?}, rests: &[")?;
        for (rest, class) in rests {
            writeln!(out, "(&{rest:?}, {class}),")?;
        }
        writeln!(out, "] }},")?;
    }
    writeln!(out, "];")?;
    let unspaced: Vec<_> = unspaced.into_iter().collect();
    writeln!(
        out,
        "pub(crate) static UNSPACED_PHRASES: [(&str, usize); {}] = {unspaced:?};",
        unspaced.len()
    )?;
    Ok(out)
}

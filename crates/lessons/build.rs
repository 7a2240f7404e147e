//! Compiles the cues of `data/person_rules.toml` into Rust constants and the other data files into JSON, because a hook
//! has no time to parse TOML.
#![expect(
    clippy::disallowed_methods,
    reason = "Cargo passes the output folder in the environment"
)]

use serde::Deserialize;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

const DATA: &str = include_str!("data/person_rules.toml");

/// Data files that are written as JSON.
const JSON_FILES: [&str; 9] = [
    "commands",
    "commits",
    "documents",
    "explanations",
    "failures",
    "outcome",
    "reports",
    "selection",
    "summaries",
];

type Words = BTreeMap<String, Vec<String>>;

/// Content of the data file.
#[derive(Deserialize)]
struct CueFile {
    threshold: f32,
    worth: f32,
    worth_per_point: f32,
    worth_max: f32,
    weak_worth: f32,
    turns: Words,
    words: Words,
    cue: Vec<Cue>,
}

#[derive(Deserialize)]
struct Cue {
    name: String,
    category: Option<String>,
    weight: f32,
    at: Option<String>,
    refines: Option<String>,
    worth: Option<f32>,
    #[serde(default)]
    previous: Vec<String>,
    #[serde(default)]
    next: Vec<String>,
    #[serde(default)]
    not_next: Vec<String>,
    #[serde(default)]
    not_previous: Vec<String>,
    #[serde(default)]
    second_not: Vec<String>,
    #[serde(default)]
    with: Vec<String>,
    #[serde(default)]
    phrases: Words,
    form: Option<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=data");
    let folder = env::var_os("OUT_DIR").ok_or("Cargo sets OUT_DIR")?;
    let folder = PathBuf::from(folder);
    let file: CueFile = toml::from_str(DATA)?;
    fs::write(folder.join("person_rules.rs"), rust_source(&file)?)?;
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

/// Returns the source of the constant `CUES` of type `PersonRuleCues`.
fn rust_source(file: &CueFile) -> Result<String, Box<dyn Error>> {
    let words = |name: &str| file.words.get(name).ok_or(format!("no list {name}"));
    let mut out = String::new();
    let [worth, growth, max] = [file.worth, file.worth_per_point, file.worth_max];
    writeln!(out, "PersonRuleCues {{")?;
    writeln!(out, "threshold: {:?}_f32,", file.threshold)?;
    writeln!(out, "worth: [{worth:?}_f32, {growth:?}_f32, {max:?}_f32],")?;
    writeln!(out, "weak_worth: {:?}_f32,", file.weak_worth)?;
    writeln!(out, "turns: TurnWords {{")?;
    for (name, list) in &file.turns {
        writeln!(out, "{name}: &{list:?},")?;
    }
    writeln!(out, "}},")?;
    for name in ["connectors", "conjunctions", "determiners", "no_verbs"] {
        writeln!(out, "{name}: &{:?},", words(name)?)?;
    }
    writeln!(out, "cues: &[")?;
    for cue in &file.cue {
        write_cue(&mut out, cue, &file.words)?;
    }
    writeln!(out, "],")?;
    write_phrases(&mut out, file)?;
    writeln!(out, "form_cues: &[")?;
    for (index, cue) in file.cue.iter().enumerate() {
        if let Some(form) = &cue.form {
            writeln!(out, "(WordForm::{}, {index}),", variant(form))?;
        }
    }
    writeln!(out, "],\n}}")?;
    Ok(out)
}

fn write_cue(out: &mut String, cue: &Cue, words: &Words) -> Result<(), Box<dyn Error>> {
    let category = cue.category.as_deref().map(variant);
    let category = category.map_or("None".to_owned(), |name| {
        format!("Some(RuleCategory::{name})")
    });
    let place = variant(cue.at.as_deref().unwrap_or("any"));
    let worth = cue
        .worth
        .map_or("None".to_owned(), |worth| format!("Some({worth:?}_f32)"));
    write!(
        out,
        "Cue {{ name: {:?}, category: {category}, weight: {:?}_f32, at: CuePlace::{place}, \
         refines: {:?}, worth: {worth}, has_form: {}, ",
        cue.name,
        cue.weight,
        cue.refines,
        cue.form.is_some()
    )?;
    let lists = [
        ("previous", &cue.previous),
        ("next", &cue.next),
        ("not_next", &cue.not_next),
        ("not_previous", &cue.not_previous),
        ("second_not", &cue.second_not),
        ("with", &cue.with),
    ];
    for (name, list) in lists {
        write!(out, "{name}: &{:?}, ", expand(list, words)?)?;
    }
    writeln!(out, "}},")?;
    Ok(())
}

/// Writes the phrases in order. Each has the index of the phrase before it that is its longest beginning, so that all
/// phrases at a position of a text are found from the last one that is not behind the text in order.
fn write_phrases(out: &mut String, file: &CueFile) -> Result<(), Box<dyn Error>> {
    let mut phrases = Vec::new();
    for (index, cue) in file.cue.iter().enumerate() {
        for list in cue.phrases.values() {
            let list = expand(list, &file.words)?;
            phrases.extend(list.into_iter().map(|text| (text, index)));
        }
    }
    phrases.sort();
    writeln!(out, "phrases: &[")?;
    let mut open: Vec<usize> = Vec::new();
    for (at, (text, cue)) in phrases.iter().enumerate() {
        while open
            .last()
            .and_then(|last| phrases.get(*last))
            .is_some_and(|(beginning, _)| !text.starts_with(beginning.as_str()))
        {
            open.pop();
        }
        let beginning = open.last();
        writeln!(
            out,
            "Phrase {{ text: {text:?}, cue: {cue}, beginning: {beginning:?} }},"
        )?;
        open.push(at);
    }
    writeln!(out, "],")?;
    Ok(())
}

/// Returns the list with the words of a name in the place of `@name`.
fn expand(list: &[String], words: &Words) -> Result<Vec<String>, Box<dyn Error>> {
    let mut all = Vec::with_capacity(list.len());
    for word in list {
        match word.strip_prefix('@') {
            Some(name) => {
                all.extend_from_slice(words.get(name).ok_or(format!("no list {name}"))?);
            }
            None => all.push(word.clone()),
        }
    }
    Ok(all)
}

/// Returns the name of an enum's variant, for a name in snake case of one word.
fn variant(name: &str) -> String {
    let mut chars = name.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

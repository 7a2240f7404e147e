//! `tidy`: project rules; one file per rule, each a pure function of the source tree.

mod benchmarks;
mod changelog;
mod commands;
mod conflict_markers;
mod dependencies;
mod forbidden_names;
mod functions;
mod language;
mod leaks;
mod limits;
mod links;
mod lockfile;
mod markdown;
mod methods;
mod operations;
mod root_files;
mod sizes;
mod skipped_tests;
mod store_trait;
mod stored_forms;
mod tokens;
mod tree;

use std::fmt;

use crate::cargo;
use tree::Tree;

/// One violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Violation {
    /// Path from the root of the repository, with `/`.
    path: String,
    /// Counted from 1.
    line: usize,
    rule: &'static str,
    /// Description of the violation and its remedy.
    message: String,
}

impl Violation {
    fn new(path: &str, line: usize, rule: &'static str, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            rule,
            message: message.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            line,
            rule,
            message,
        } = self;
        write!(f, "{path}:{line}: {rule}: {message}")
    }
}

/// All rules, in the order of the architecture page.
const RULES: [fn(&Tree) -> Vec<Violation>; 19] = [
    limits::check,
    sizes::check,
    functions::check,
    methods::check,
    forbidden_names::check,
    operations::check,
    dependencies::check,
    lockfile::check,
    commands::check,
    links::check,
    leaks::check,
    conflict_markers::check,
    root_files::check,
    store_trait::check,
    changelog::check,
    benchmarks::check,
    stored_forms::check,
    skipped_tests::check,
    language::check,
];

/// Checks every file that git tracks or would track. `--update-language` writes the list of the rules of language
/// first, which may only become shorter; `--grow` lets it become longer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let root = cargo::root();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let may_grow = match words[..] {
        [] => None,
        ["--update-language"] => Some(false),
        ["--update-language", "--grow"] => Some(true),
        _ => {
            return Err(format!(
                "expected nothing or `--update-language [--grow]`, got `{}`",
                words.join(" ")
            ));
        }
    };
    if let Some(may_grow) = may_grow {
        for change in language::update(&Tree::load(&root)?, &root, may_grow)? {
            println!("language: {change}");
        }
    }
    let tree = Tree::load(&root)?;
    let mut violations: Vec<Violation> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    violations.sort();
    violations.dedup();
    for violation in &violations {
        println!("{violation}");
    }
    for figure in language::figures(&tree) {
        println!("{figure}");
    }
    match violations.len() {
        0 => {
            println!("tidy: {} files, all in order", tree.len());
            Ok(())
        }
        count => Err(format!("violations: {count}, in {} files", tree.len())),
    }
}

/// Runs one rule on files given as path and text; returns its violations as `path:line: …`.
#[cfg(test)]
fn run_rule(rule: fn(&Tree) -> Vec<Violation>, files: &[(&str, &str)]) -> Vec<String> {
    let violations = rule(&Tree::of(files));
    violations.iter().map(Violation::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violation_prints_path_and_line() {
        let violation = Violation::new("src/a.rs", 7, "sizes", "too long: split it");
        assert_eq!(
            violation.to_string(),
            "src/a.rs:7: sizes: too long: split it"
        );
    }
}

//! `tidy`: the rules of the house, each in its own file, each a pure function of the tree.

mod changelog;
mod commands;
mod functions;
mod leaks;
mod limits;
mod links;
mod lockfile;
mod markdown;
mod names;
mod operations;
mod sizes;
mod store_trait;
mod tokens;
mod tree;
mod walls;

use std::fmt;

use crate::cargo;
use tree::Tree;

/// One breach of one rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Violation {
    /// From the root of the repository, with `/`.
    path: String,
    /// Counted from 1.
    line: usize,
    rule: &'static str,
    /// What is wrong, and what to do.
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
const RULES: [fn(&Tree) -> Vec<Violation>; 12] = [
    limits::check,
    sizes::check,
    functions::check,
    names::check,
    operations::check,
    walls::check,
    lockfile::check,
    commands::check,
    links::check,
    leaks::check,
    store_trait::check,
    changelog::check,
];

/// Checks every file that git tracks or would track.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    if let Some(arg) = args.first() {
        return Err(format!("takes no arguments, got `{arg}`"));
    }
    let tree = Tree::load(&cargo::root())?;
    let mut violations: Vec<Violation> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    violations.sort();
    violations.dedup();
    for violation in &violations {
        println!("{violation}");
    }
    match violations.len() {
        0 => {
            println!("tidy: {} files, all in order", tree.len());
            Ok(())
        }
        count => Err(format!("violations: {count}, in {} files", tree.len())),
    }
}

/// Runs one rule on files given as path and text, and returns what it says as `path:line: …`.
#[cfg(test)]
fn said(rule: fn(&Tree) -> Vec<Violation>, files: &[(&str, &str)]) -> Vec<String> {
    let violations = rule(&Tree::of(files));
    violations.iter().map(Violation::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_can_be_clicked() {
        let violation = Violation::new("src/a.rs", 7, "sizes", "too long: split it");
        assert_eq!(
            violation.to_string(),
            "src/a.rs:7: sizes: too long: split it"
        );
    }
}

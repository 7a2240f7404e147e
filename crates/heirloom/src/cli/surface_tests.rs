//! Test of the command line's names against a committed list, which may grow; no name may be removed or changed.

use super::Cli;
use clap::{Arg, Command, CommandFactory};
use std::collections::BTreeSet;

const LISTED: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/command_line.txt"
));

/// Returns every command with its flags and their possible values.
fn names() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut root = Cli::command();
    root.build();
    collect("heirloom", &root, &mut names);
    names
}

fn collect(path: &str, command: &Command, names: &mut BTreeSet<String>) {
    names.insert(path.to_owned());
    let is_root = !path.contains(' ');
    // Global flags are listed once, with the program.
    let own = |arg: &&Arg| is_root || !(arg.is_global_set() || arg.get_id() == "help");
    for arg in command.get_arguments().filter(own) {
        let long = arg.get_long().map(|long| format!("--{long}"));
        let short = arg.get_short().map(|short| format!("-{short}"));
        let aliases = arg.get_all_aliases().unwrap_or_default();
        let aliases = aliases.into_iter().map(|alias| format!("--{alias}"));
        let position = arg.get_index().map(|index| format!("<{index}>"));
        for name in [long, short, position].into_iter().flatten().chain(aliases) {
            for word in arg.get_possible_values() {
                names.insert(format!("{path} {name} = {}", word.get_name()));
            }
            if !arg.is_positional() {
                names.insert(format!("{path} {name}"));
            }
        }
    }
    for sub in command.get_subcommands() {
        collect(&format!("{path} {}", sub.get_name()), sub, names);
    }
}

#[test]
fn command_line_has_every_listed_name() {
    let names = names();
    let missing: Vec<&str> = LISTED
        .lines()
        .filter(|line| !names.contains(*line))
        .collect();
    assert!(
        missing.is_empty(),
        "scripts rely on these names: keep them with `name`, `long` or `alias`: {missing:#?}"
    );
    assert!(LISTED.lines().count() > 300);
}

#[test]
#[ignore = "writes the list; run it after adding names"]
#[expect(
    clippy::disallowed_methods,
    reason = "a file of the repository, under version control"
)]
fn write_listed_names() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/command_line.txt"
    );
    let names: Vec<String> = names().into_iter().collect();
    std::fs::write(file, names.join("\n") + "\n").unwrap();
}

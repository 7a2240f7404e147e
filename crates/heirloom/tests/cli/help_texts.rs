//! Help texts of the program and of every command.

use crate::project::Project;
use crate::snapshot::Screen;
use std::collections::BTreeMap;

/// Names in the command line: commands, options and values.
const NAMES: &str = include_str!("../fixtures/command_line.txt");

/// Returns each command with its subcommands.
fn commands() -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut commands: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let names = NAMES.lines().filter(|name| !name.contains(" -"));
    for name in names.filter_map(|name| name.strip_prefix("heirloom ")) {
        let first = name.split(' ').next().unwrap();
        commands.entry(first).or_default().push(name);
    }
    commands
}

#[test]
fn help_texts_of_commands_are_accepted() {
    let project = Project::uninitialised();
    Screen::new(&project).call("--help").assert_constant("help");
    let commands = commands();
    assert!(commands.len() > 50, "{commands:?}");
    for (command, names) in commands {
        let mut screen = Screen::new(&project);
        for name in names {
            screen.call(&format!("{name} --help"));
        }
        screen.assert_constant(&format!("help_{command}"));
    }
}

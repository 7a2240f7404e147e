//! The commands of `docs/fleet.md`, run on a machine and with a database of the test.

use super::machine::{Database, Machine, text};
use heirloom_testkit::{Prerequisite, require};
use std::process::Command;
use std::time::Duration;

/// Returns the commands of the consoles of a page.
fn commands(page: &str) -> Vec<&str> {
    let mut is_console = false;
    let mut found = Vec::new();
    for line in page.lines() {
        if let Some(kind) = line.strip_prefix("```") {
            is_console = kind == "console";
        } else if is_console && let Some(command) = line.strip_prefix("$ ") {
            found.push(command);
        }
    }
    found
}

#[test]
fn every_command_of_the_page_works() {
    let database = require!(Prerequisite::Postgres, Database::new());
    let (password, url) = database.secret();
    let machine = Machine::new(&database.url(), "https://github.com/acme/shop.git");
    let page = include_str!("../../../../docs/fleet.md");
    let all = commands(page);
    let first = page.split("## Moving a memory").next().unwrap();
    assert!(commands(first).len() <= 10, "a newcomer needs ten commands");
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_heirloom"));
    let path = format!(
        "{}:{}",
        bin.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let mut variables = Vec::new();
    let mut run = 0;
    for command in all {
        // The server of the test is installed and has a role and a database.
        if command.starts_with("sudo ") {
            continue;
        }
        let command = command
            .replace(
                "postgres://heirloom@127.0.0.1:5432/memory",
                &format!("'{url}'"),
            )
            .replace("change-me", &password)
            .replace("--project shop", "--project github.com/acme/shop");
        if let Some(variable) = command.strip_prefix("export ") {
            let (name, value) = variable.split_once('=').unwrap();
            variables.push((name.to_owned(), value.trim_matches('\'').to_owned()));
            continue;
        }
        let is_server = command.starts_with("heirloom serve");
        let command = command.replace("--port 7717", "--port 0");
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &format!("exec {command}")])
            .current_dir(machine.root())
            .env_clear()
            .env("PATH", &path)
            .env("HOME", machine.home())
            .stdin(std::process::Stdio::null());
        if command.starts_with("heirloom transfer --from .heirloom") {
            // The memory of a machine that has used the file until now.
            let mut local = machine.plain_command(&["remember", "from the file"]);
            assert!(
                local
                    .arg("--project")
                    .arg("local")
                    .status()
                    .unwrap()
                    .success()
            );
        }
        shell.envs(variables.iter().map(|(name, value)| (name, value)));
        run += 1;
        if is_server {
            let mut server = shell.spawn().unwrap();
            std::thread::sleep(Duration::from_secs(2));
            assert!(server.try_wait().unwrap().is_none(), "the server ended");
            server.kill().unwrap();
            drop(server.wait());
            continue;
        }
        let done = shell.output().unwrap();
        assert!(done.status.success(), "{command}\n{}", text(&done));
        if command.contains("recall") {
            assert!(
                text(&done).contains("The deploy needs the VPN"),
                "{}",
                text(&done)
            );
        }
    }
    assert!(run >= 7, "{run} commands were run");
}

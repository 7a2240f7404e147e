//! Commands over a database server.

use super::machine::{Database, Machine, text};
use heirloom_testkit::{Prerequisite, require};
use std::fs;

const REMOTE: &str = "https://github.com/acme/shop.git";

#[test]
fn machine_recalls_what_another_remembered() {
    let database = require!(Prerequisite::Postgres, Database::new());
    let first = Machine::new(&database.url(), REMOTE);
    let refused = first.command(&["init"]).output().unwrap();
    assert!(
        text(&refused).contains("heirloom fleet init"),
        "{refused:?}"
    );
    let created = first.json(&["fleet", "init"]);
    assert_eq!(created["distributed"], false);
    first.run(&["init"]);
    let second = Machine::new(&database.url(), REMOTE);
    second.run(&["init"]);
    first.run(&["remember", "The deploy needs the VPN"]);
    let found = second.json(&["recall", "deploy"]);
    assert_eq!(found["hits"][0]["text"], "The deploy needs the VPN");
    let other = Machine::new(&database.url(), "https://github.com/acme/other.git");
    other.run(&["init"]);
    let found = other.json(&["recall", "deploy"]);
    assert_eq!(found["hits"].as_array().unwrap().len(), 0);
    assert!(!first.root().join(".heirloom/heirloom.db").exists());
    let status = first.json(&["fleet", "status"]);
    assert_eq!(status["projects"][0]["project"], "github.com/acme/shop");
    assert_eq!(status["projects"][0]["texts"], 1);
    let health = second.json(&["doctor"]);
    assert_eq!(health["ok"], true, "{health}");
}

#[test]
fn project_without_remote_is_not_shared() {
    let database = require!(Prerequisite::Postgres, Database::new());
    let machines = [0, 1].map(|_| {
        let machine = Machine::new(&database.url(), REMOTE);
        fs::remove_dir_all(machine.root().join(".git")).unwrap();
        machine.run(&["fleet", "init"]);
        machine.run(&["init"]);
        machine
    });
    let [first, second] = &machines;
    first.run(&["remember", "only here"]);
    let found = second.json(&["recall", "only here"]);
    assert_eq!(found["hits"].as_array().unwrap().len(), 0);
    first.run(&["remember", "for all", "--project", "shared"]);
    let found = second.json(&["recall", "for all", "--project", "shared"]);
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
}

#[test]
fn password_is_in_no_output_and_in_no_argument() {
    let database = require!(Prerequisite::Postgres, Database::new());
    let (password, url) = database.secret();
    assert!(
        !password.is_empty(),
        "the test needs a server with a password"
    );
    let machine = Machine::new(&database.url(), REMOTE);
    machine.run(&["fleet", "init"]);
    machine.run(&["init"]);
    for args in [
        &["status"][..],
        &["config", "store", "--show-origin"],
        &["fleet", "status"],
        &["doctor"],
    ] {
        let done = machine.command(args).output().unwrap();
        assert!(!text(&done).contains(&password), "{args:?}: {done:?}");
    }
    for args in [
        &["fleet", "status", &database.url()][..],
        &["status", "--store", &database.url()],
        &["transfer", "--from", ".heirloom", "--to", &database.url()],
    ] {
        let done = machine.plain_command(args).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{args:?}: {}", text(&done));
        assert!(!text(&done).contains(&password), "{}", text(&done));
        assert!(text(&done).contains("PGPASSWORD"), "{}", text(&done));
    }
    let mut command = machine.plain_command(&["status", "--store", &url]);
    let done = command.env("PGPASSWORD", &password).output().unwrap();
    assert!(done.status.success(), "{}", text(&done));
    let config = machine.root().join(".heirloom/config.toml");
    let mut settings = fs::read_to_string(&config).unwrap();
    settings.push_str(&format!("\n[store]\nurl = \"{url}\"\n"));
    fs::write(&config, settings).unwrap();
    let mut command = machine.plain_command(&["status"]);
    let done = command.env("PGPASSWORD", &password).output().unwrap();
    assert!(
        text(&done).contains("not taken from a project's file"),
        "{}",
        text(&done)
    );
}

#[test]
fn token_of_one_machine_is_known_to_another() {
    let database = require!(Prerequisite::Postgres, Database::new());
    let machines = [0, 1].map(|_| {
        let machine = Machine::new(&database.url(), REMOTE);
        machine.run(&["fleet", "init"]);
        machine.run(&["init"]);
        machine
    });
    let [first, second] = &machines;
    let created = first.json(&[
        "fleet", "token", "create", "--role", "agent", "--name", "ci",
    ]);
    let id = created["id"].as_str().unwrap();
    let listed = second.json(&["token", "list"]);
    assert_eq!(listed["tokens"][0]["id"], id);
    assert_eq!(listed["tokens"][0]["name"], "ci");
    second.run(&["fleet", "token", "revoke", id]);
    let listed = first.json(&["token", "list"]);
    assert_eq!(listed["tokens"].as_array().unwrap().len(), 0);
    assert!(!first.root().join(".heirloom/tokens.json").exists());
}

#[test]
fn transfer_both_ways_exports_the_same_bytes() {
    let database = require!(Prerequisite::Postgres, Database::new());
    let (password, url) = database.secret();
    let machine = Machine::new(&database.url(), REMOTE);
    machine.run(&["fleet", "init"]);
    let local = |args: &[&str]| {
        let mut command = machine.plain_command(args);
        let done = command.env("PGPASSWORD", &password).output().unwrap();
        assert!(done.status.success(), "{args:?}\n{}", text(&done));
        String::from_utf8(done.stdout).unwrap()
    };
    local(&["init"]);
    for n in 0..30 {
        local(&[
            "remember",
            &format!("fact {n}"),
            "--key",
            &format!("k{}", n % 20),
        ]);
    }
    let mut turn = machine.plain_command(&["session", "add", "--session", "s1", "--role", "user"]);
    let done = machine.run_with_input(&mut turn, "deploy with the VPN");
    assert!(done.status.success(), "{}", text(&done));
    let before = local(&["export", "--all"]);
    local(&["transfer", "--from", ".heirloom", "--to", &url]);
    let again = local(&["transfer", "--from", ".", "--to", &url]);
    assert!(again.contains("complete already"), "{again}");
    assert_eq!(machine.run(&["export", "--all"]), before);
    local(&["transfer", "--from", &url, "--to", "copy"]);
    fs::rename(
        machine.root().join(".heirloom/heirloom.db"),
        machine.root().join("old.db"),
    )
    .unwrap();
    for name in ["heirloom.db-wal", "heirloom.db-shm"] {
        drop(fs::remove_file(machine.root().join(".heirloom").join(name)));
    }
    fs::rename(
        machine.root().join("copy/heirloom.db"),
        machine.root().join(".heirloom/heirloom.db"),
    )
    .unwrap();
    assert_eq!(local(&["export", "--all"]), before);
}

#[test]
fn receipt_in_shared_database_keeps_no_text() {
    let database = require!(Prerequisite::Postgres, Database::new());
    let machine = Machine::new(&database.url(), REMOTE);
    machine.run(&["fleet", "init"]);
    machine.run(&["init"]);
    machine.run(&["remember", "The deploy needs the VPN"]);
    let context = machine.run(&["context", "--query", "deploy", "--receipt"]);
    assert!(context.contains("The deploy needs the VPN"));
    let receipts = machine.json(&["receipts", "list"]);
    let id = receipts["receipts"][0]["id"].as_str().unwrap();
    let receipt = machine.json(&["receipts", "show", id]);
    assert!(
        receipt["sections"]
            .as_array()
            .is_some_and(|all| !all.is_empty())
    );
    assert_eq!(receipt.get("text"), None, "{receipt}");
}

//! A clone that claims another project's memory on the database server.

use crate::machine::{Database, Machine, text};
use heirloom_testkit::{Prerequisite, require};
use serde_json::json;
use std::fs;

const SECRET: &str = "the console is at https://admin.corp.example:8443";

fn configure(machine: &Machine, config: &str) {
    fs::create_dir_all(machine.root().join(".heirloom")).unwrap();
    fs::write(machine.root().join(".heirloom/config.toml"), config).unwrap();
}

#[test]
fn clone_that_names_another_project_reads_and_writes_nothing_of_it() {
    let database = require!(Prerequisite::Postgres, Database::new());
    let owner = Machine::new(&database.url(), "https://github.com/corp/secret.git");
    owner.run(&["fleet", "init"]);
    owner.run(&["init", "--no-install"]);
    owner.run(&[
        "remember",
        SECRET,
        "--category",
        "convention",
        "--key",
        "deploy",
    ]);
    for (remote, config) in [
        (
            "https://github.com/stranger/tool.git",
            "[memory]\nenabled = true\n[project]\nname = \"github.com/corp/secret\"\n",
        ),
        // An archive with a git folder of its own.
        (
            "https://github.com/corp/secret.git",
            "[memory]\nenabled = true\n",
        ),
    ] {
        let clone = Machine::new(&database.url(), remote);
        configure(&clone, config);
        let event = json!({"session_id": "s", "cwd": clone.root(), "source": "startup"});
        let mut hook = clone.command(&["hook", "claude-code", "SessionStart"]);
        let told = text(&clone.run_with_input(&mut hook, &event.to_string()));
        assert!(!told.contains("admin.corp"), "{told}");
        assert!(told.contains("heirloom trust"), "{told}");
        for args in [
            &["list"][..],
            &["remember", "evil"],
            &["recall", "console"],
            &["context"],
        ] {
            let refused = clone.command(args).output().unwrap();
            assert_eq!(
                refused.status.code(),
                Some(4),
                "{args:?} {}",
                text(&refused)
            );
            assert!(!text(&refused).contains("admin.corp"), "{}", text(&refused));
        }
    }
    // `init` does not join a folder that claims another project than that of its remote.
    let clone = Machine::new(&database.url(), "https://github.com/stranger/tool.git");
    configure(
        &clone,
        "[memory]\nenabled = true\n[project]\nname = \"github.com/corp/secret\"\n",
    );
    let refused = clone.command(&["init", "--no-install"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(4), "{}", text(&refused));
    clone.run(&["trust", "memory", "--yes"]);
    assert!(clone.run(&["list"]).contains("admin.corp"));
    assert_eq!(owner.run(&["list"]).matches("evil").count(), 0);
}

#[test]
fn second_clone_of_a_project_is_joined_by_init() {
    let database = require!(Prerequisite::Postgres, Database::new());
    let remote = "https://github.com/corp/shop.git";
    let one = Machine::new(&database.url(), remote);
    one.run(&["fleet", "init"]);
    one.run(&["init", "--no-install"]);
    one.run(&["remember", "the tests need Redis"]);
    let other = Machine::new(&database.url(), remote);
    other.run(&["init", "--no-install"]);
    assert!(other.run(&["list"]).contains("Redis"));
    // A person's own name for the project needs no further decision.
    let third = Machine::new(&database.url(), "https://github.com/fork/shop.git");
    configure(&third, "[memory]\nenabled = true\n");
    assert!(
        third
            .run(&["list", "--project", "github.com/corp/shop"])
            .contains("Redis")
    );
}

//! Hostile files that a user names, and hostile files in place of the database, config and repository.

use crate::repository::{Hostile, Repository};
use std::fs;
use std::process::Command;

/// Kinds of hostile files, as far as this machine can create them.
const HOSTILE_KINDS: [Hostile; 7] = [
    Hostile::Pipe,
    Hostile::Endless,
    Hostile::Device,
    Hostile::Sparse,
    Hostile::Folder,
    Hostile::Loop,
    Hostile::Bomb,
];

/// Calls with a file that a user names, `FILE`. Except for the last ones, none of them accepts a file of these kinds.
const FILE_CALLS: &[&str] = &[
    "import jsonl FILE",
    "import agentium FILE",
    "import shared FILE",
    "import history FILE --session s",
    "import server-memory FILE",
    "import workspace FILE",
    "import radium FILE",
    "import codex FILE",
    "import gemini FILE",
    "import aider FILE",
    "import claude FILE",
    "observe --context FILE",
    "compact --policy FILE",
    "restore FILE",
    "bench window --in FILE",
    "bench recall --docs FILE --queries FILE --out out.jsonl",
    "context coder[input:FILE]",
    "artifact add FILE --task 7",
    "serve --tls-cert FILE --tls-key FILE",
];

/// Returns true if devices can be created here, which only root may do.
fn can_make_devices(repository: &Repository) -> bool {
    let path = repository.at("a-device");
    let made = Command::new("mknod")
        .arg(&path)
        .args(["c", "1", "5"])
        .output();
    let is_made = made.is_ok_and(|result| result.status.success());
    drop(fs::remove_file(path));
    is_made
}

#[test]
fn named_hostile_file_is_refused() {
    let repository = Repository::new();
    for what in HOSTILE_KINDS {
        if what == Hostile::Device && !can_make_devices(&repository) {
            // Without root, only the link to such a device, `Endless`, is tested.
            let uid = Command::new("id").arg("-u").output().unwrap();
            assert_ne!(uid.stdout, b"0\n", "root could not make a device");
            continue;
        }
        let path = repository.at("input.gz");
        what.put(&path);
        for call in FILE_CALLS {
            let file = "input.gz";
            let call = call.replace("FILE", file);
            let result = repository.call(&call.split(' ').collect::<Vec<_>>());
            // A folder may contain what a command imports. A packed file is small, and an ordinary file for commands
            // that do not unpack it.
            let is_import = call.starts_with("import ");
            let may_work = (what == Hostile::Folder && (is_import || call.starts_with("context")))
                || (what == Hostile::Bomb && !call.starts_with("bench window"));
            assert!(result.code != 0 || may_work, "{what:?} {call}: {result:?}");
        }
        if what == Hostile::Folder {
            fs::remove_dir(&path).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
    }
}

#[test]
fn gzip_bomb_is_truncated_at_limit() {
    let repository = Repository::new();
    Hostile::Bomb.put(&repository.home.path().join(".claude/projects/p/t.jsonl.gz"));
    let root = repository.root().to_str().unwrap().to_owned();
    let result = repository.call(&["import", "claude", "--recorded-in", "/"]);
    assert_eq!(result.code, 0, "{root}: {result:?}");
    assert!(
        result
            .stderr
            .contains("bytes when unpacked; the rest is left out"),
        "{result:?}"
    );
}

#[test]
fn ten_gigabyte_conversation_is_refused_with_limit() {
    let repository = Repository::new();
    Hostile::Sparse.put(&repository.at("big.jsonl"));
    let result = repository.call(&["import", "claude", "big.jsonl"]);
    assert_eq!(result.code, 2, "{result:?}");
    assert!(result.stderr.contains("10737418240 bytes"), "{result:?}");
    assert!(result.stderr.contains("hint: "), "{result:?}");
}

#[test]
fn commands_end_with_hostile_database_config_and_marker() {
    let groups: [&[&str]; 9] = [
        &[".heirloom/heirloom.db"],
        &[".heirloom/heirloom.db-wal"],
        &[".heirloom/heirloom.db-shm"],
        &[".heirloom/store.json"],
        &[".heirloom/config.toml"],
        &["HOME/.config/heirloom/config.toml"],
        &["HOME/.local/share/heirloom/heirloom.db"],
        &[".git"],
        &[".git/HEAD", ".git/config", ".git/index"],
    ];
    for names in groups {
        for what in [
            Hostile::Pipe,
            Hostile::Endless,
            Hostile::Sparse,
            Hostile::Folder,
            Hostile::Loop,
        ] {
            let repository = Repository::new();
            for name in names {
                let path = match name.strip_prefix("HOME/") {
                    Some(name) => repository.home.path().join(name),
                    None => repository.at(name),
                };
                what.put(&path);
            }
            for call in [
                "remember more",
                "recall --json deploy",
                "hook claude-code SessionStart",
                "doctor",
                "doctor --repair",
            ] {
                repository.call(&call.split(' ').collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn commands_end_with_deep_folders() {
    let repository = Repository::new();
    for start in [
        "",
        ".heirloom/commands",
        ".heirloom/shared",
        ".heirloom/workspace",
        ".heirloom/groups",
        "shared-context",
        ".radium/_internals/sessions",
    ] {
        // Every walk has its own depth limit; the one from the root meets folders whose paths are too long.
        create_nested_folders(
            &repository.at(start),
            if start.is_empty() { 10_000 } else { 500 },
        );
    }
    create_nested_folders(&repository.home.path().join(".claude/projects"), 500);
    for call in [
        "init --import --dry-run",
        "context",
        "context coder[input:**/*.md]",
        "cmd list",
        "import shared shared-context",
        "import history",
        "import aider --all",
        "import claude",
        "workspace sync",
        "group list",
        "doctor",
        "redact --check .",
        "run --iterations 1 -- true",
        "purge --all --dry-run",
    ] {
        repository.call(&call.split(' ').collect::<Vec<_>>());
    }
    // The path is too long to be removed by name.
    let folders = [repository.root(), repository.home.path()];
    for folder in folders {
        let removed = Command::new("sh")
            .args(["-c", "rm -rf .[!.]* *"])
            .current_dir(folder)
            .output();
        assert!(removed.unwrap().status.success());
    }
}

/// Creates nested folders below `start`; a shell enters each one, because the last path is too long.
fn create_nested_folders(start: &std::path::Path, folders: u32) {
    fs::create_dir_all(start).unwrap();
    let script = format!(
        "i=0; while [ $i -lt {folders} ]; do mkdir d && cd -P d || exit 1; i=$((i+1)); done"
    );
    let perl = format!("for (1..{folders}) {{ mkdir 'd'; chdir 'd' or die }}");
    let in_start = |program: &str, script: &str| {
        let made = Command::new(program)
            .args([if program == "sh" { "-c" } else { "-e" }, script])
            .current_dir(start)
            .output();
        made.is_ok_and(|result| result.status.success())
    };
    assert!(
        in_start("perl", &perl) || in_start("sh", &script),
        "{start:?}"
    );
}

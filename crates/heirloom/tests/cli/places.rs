//! Where memory lives: init, git, worktrees, clones, permissions.

use crate::project::{Project, answer, mode};
use heirloom_testkit::TempProject;
use std::fs;
use std::path::Path;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// What `init` leaves when no process has the database open.
const MADE: [&str; 6] = [
    ".gitignore",
    "config.toml",
    "heirloom.db",
    "store.json",
    "workspace",
    "workspace.lock",
];

#[test]
fn init_says_what_it_made_and_again_changes_nothing() {
    let project = Project::uninitialised();
    let said = project.json(&["init"]);
    let folder = project.file(".heirloom");
    assert_eq!(said["folder"], folder.to_str().unwrap());
    let made: Vec<_> = said["created"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p.as_str().unwrap().to_owned())
        .collect();
    for name in ["config.toml", ".gitignore", "heirloom.db"] {
        assert!(
            made.contains(&folder.join(name).to_str().unwrap().to_owned()),
            "{name}: {made:?}"
        );
    }
    assert_eq!(names(&folder), MADE);
    project
        .folder
        .write(
            ".heirloom/config.toml",
            "# mine\n[memory]\nenabled = true\n",
        )
        .unwrap();
    project.remember("kept", &[]);
    let said = project.json(&["init"]);
    assert_eq!(said["created"], serde_json::json!([]));
    assert!(
        project
            .folder
            .read(".heirloom/config.toml")
            .unwrap()
            .starts_with("# mine")
    );
    assert_eq!(project.list("knowledge").len(), 1);
    let text = project.ok(&["init"]).stdout;
    assert!(text.contains("memory is here already"), "{text}");
}

#[test]
fn init_below_a_project_finds_it() {
    let project = Project::new();
    project.folder.write("a/b/c", "").unwrap();
    let said = answer(project.command(&["init"]).current_dir(project.file("a/b")));
    assert!(said.stdout.contains("memory is here already"), "{said:?}");
    assert!(!project.file("a/b/.heirloom").exists());
}

#[test]
fn files_are_private() {
    let project = Project::new();
    project.remember("a", &[]);
    project.ok(&["outcome", "--task", "1", "--status", "PARTIAL"]);
    assert_eq!(mode(&project.file(".heirloom")), 0o700);
    for name in ["heirloom.db", "memory.json", "config.toml", "store.json"] {
        assert_eq!(mode(&project.file(".heirloom").join(name)), 0o600, "{name}");
    }
}

#[test]
fn git_ignores_the_database_and_tracks_the_config() {
    let project = Project::git();
    project.remember("a", &[]);
    project.ok(&["outcome", "--task", "1", "--status", "PARTIAL"]);
    let status = project
        .folder
        .run_git(&["status", "--porcelain", "--untracked-files=all"])
        .unwrap();
    let mut lines: Vec<_> = status.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "?? .heirloom/.gitignore",
            "?? .heirloom/config.toml",
            "?? .heirloom/workspace/AGENTS.md",
            "?? .heirloom/workspace/MEMORY.md",
            "?? .heirloom/workspace/SOUL.md",
            "?? .heirloom/workspace/TOOLS.md",
        ]
    );
    for ignored in [
        "heirloom.db",
        "heirloom.db-wal",
        "store.json",
        "memory.json",
        "memory.json.corrupt-x",
        "x/y",
    ] {
        let path = format!(".heirloom/{ignored}");
        project.folder.run_git(&["check-ignore", &path]).unwrap();
    }
    for shared in ["commands/a.md", "shared/a/b.json", "workspace/a.md"] {
        let path = format!(".heirloom/{shared}");
        assert!(
            project.folder.run_git(&["check-ignore", &path]).is_err(),
            "{path}"
        );
    }
}

#[test]
fn init_in_a_folder_of_a_repository_goes_to_its_top() {
    let project = Project::of(TempProject::git().unwrap());
    project.folder.write("a/b", "").unwrap();
    let said = answer(project.command(&["init"]).current_dir(project.file("a")));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(project.file(".heirloom/config.toml").is_file());
    assert!(!project.file("a/.heirloom").exists());
}

#[test]
fn init_for_the_user_leaves_nothing_in_the_project_and_is_found_again() {
    for project in [
        Project::uninitialised(),
        Project::of(TempProject::git().unwrap()),
    ] {
        let before = names(project.path());
        project.ok(&["init", "--user"]);
        project.remember("a", &[]);
        assert_eq!(names(project.path()), before);
        assert_eq!(project.list("knowledge").len(), 1);
        project.ok(&["outcome", "--task", "1", "--status", "PARTIAL"]);
        assert_eq!(names(project.path()), before);
        let data = project.home.path().join(".local/share/heirloom");
        let folder = data.join(&names(&data)[0]);
        assert_eq!(mode(&folder), 0o700);
        assert_eq!(mode(&folder.join("heirloom.db")), 0o600);
        assert!(folder.join("memory.json").is_file());
        assert_eq!(
            project.json(&["init", "--user"])["created"],
            serde_json::json!([])
        );
        project.folder.write("below/it/x", "").unwrap();
        let said = answer(
            project
                .command(&["list"])
                .current_dir(project.file("below/it")),
        );
        assert!(said.stdout.contains("knowledge/fact"), "{said:?}");
    }
}

#[test]
fn the_user_s_data_folder_can_be_named() {
    let project = Project::uninitialised();
    let data = project.home.path().join("data");
    for args in [&["init", "--user"][..], &["remember", "a"]] {
        let said = answer(project.command(args).env("XDG_DATA_HOME", &data));
        assert_eq!(said.code, 0, "{said:?}");
    }
    assert_eq!(names(&data.join("heirloom")).len(), 1);
    project.expect(&["list"], 3);
    let nowhere = answer(project.command(&["init", "--user"]).env_remove("HOME"));
    assert_eq!(nowhere.code, 1, "{nowhere:?}");
    assert!(nowhere.stderr.contains("HOME"), "{nowhere:?}");
}

#[test]
fn worktrees_share_one_memory() {
    let project = Project::git();
    let elsewhere = TempProject::plain().unwrap();
    let tree = elsewhere.path().join("tree");
    project
        .folder
        .run_git(&["worktree", "add", "-q", tree.to_str().unwrap()])
        .unwrap();
    let below = |args: &[&str]| answer(project.command(args).current_dir(&tree));
    assert_eq!(below(&["remember", "from the tree"]).code, 0);
    assert_eq!(project.list("knowledge").len(), 1);
    project.remember("from the main one", &[]);
    assert_eq!(
        below(&["list", "--json"]).json()["records"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert!(!tree.join(".heirloom").exists());
    let said = below(&[
        "outcome", "--task", "1", "--status", "PARTIAL", "--file", "a.rs",
    ]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(project.file(".heirloom/memory.json").is_file());
    assert_eq!(
        below(&["init", "--json"]).json()["created"],
        serde_json::json!([])
    );
}

#[test]
fn a_worktree_shares_memory_when_the_config_is_tracked_too() {
    let project = Project::git();
    project.folder.run_git(&["add", "-A"]).unwrap();
    project
        .folder
        .run_git(&["commit", "-q", "-m", "memory"])
        .unwrap();
    let elsewhere = TempProject::plain().unwrap();
    let tree = elsewhere.path().join("tree");
    project
        .folder
        .run_git(&["worktree", "add", "-q", tree.to_str().unwrap()])
        .unwrap();
    project.remember("shared", &[]);
    let said = answer(project.command(&["list"]).current_dir(&tree));
    assert!(said.stdout.contains("shared"), "{said:?}");
    assert!(!tree.join(".heirloom/heirloom.db").exists());
}

#[test]
fn worktrees_share_the_user_s_memory_too() {
    let project = Project::of(TempProject::git().unwrap());
    project.ok(&["init", "--user"]);
    project.remember("shared", &[]);
    let elsewhere = TempProject::plain().unwrap();
    let tree = elsewhere.path().join("tree");
    project
        .folder
        .run_git(&["worktree", "add", "-q", tree.to_str().unwrap()])
        .unwrap();
    let said = answer(project.command(&["list"]).current_dir(&tree));
    assert!(said.stdout.contains("shared"), "{said:?}");
}

#[test]
fn a_fresh_clone_with_the_tracked_config_works() {
    let project = Project::git();
    project.remember("stays here", &[]);
    project.folder.run_git(&["add", "-A"]).unwrap();
    project
        .folder
        .run_git(&["commit", "-q", "-m", "memory"])
        .unwrap();
    let elsewhere = TempProject::plain().unwrap();
    let clone = elsewhere.path().join("clone");
    elsewhere
        .run_git(&["clone", "-q", project.path().to_str().unwrap(), "clone"])
        .unwrap();
    assert_eq!(
        names(&clone.join(".heirloom")),
        [".gitignore", "config.toml", "workspace"]
    );
    let there = |args: &[&str]| answer(project.command(args).current_dir(&clone));
    let children: Vec<_> = (0..12)
        .map(|n| {
            project
                .command(&["remember", &format!("fact {n}")])
                .current_dir(&clone)
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
    }
    assert_eq!(
        there(&["list", "--json"]).json()["records"]
            .as_array()
            .unwrap()
            .len(),
        12
    );
    assert_eq!(mode(&clone.join(".heirloom/heirloom.db")), 0o600);
    assert_eq!(project.list("knowledge").len(), 1);
}

#[test]
fn a_database_that_is_gone_is_an_error_and_no_empty_store() {
    let project = Project::new();
    project.remember("a", &[]);
    for name in ["heirloom.db", "heirloom.db-wal", "heirloom.db-shm"] {
        let _ = fs::remove_file(project.file(".heirloom").join(name));
    }
    for args in [
        &["list"][..],
        &["remember", "x"],
        &["context"],
        &["init"],
        &["status"],
    ] {
        let said = project.run(args);
        assert!([1, 3].contains(&said.code), "{args:?} {said:?}");
        assert!(said.stderr.contains("store.json"), "{args:?} {said:?}");
    }
    assert!(!project.file(".heirloom/heirloom.db").exists());
    fs::remove_file(project.file(".heirloom/store.json")).unwrap();
    assert_eq!(project.list("knowledge").len(), 0);
}

#[test]
fn a_file_that_is_no_database_is_left_alone() {
    let project = Project::new();
    for damaged in [
        "",
        "not a database, but long enough to be looked at by anybody who cares"
            .repeat(40)
            .as_str(),
    ] {
        for name in ["heirloom.db-wal", "heirloom.db-shm"] {
            let _ = fs::remove_file(project.file(".heirloom").join(name));
        }
        project
            .folder
            .write(".heirloom/heirloom.db", damaged)
            .unwrap();
        let said = project.expect(&["list"], 1);
        assert!(said.stderr.contains("heirloom.db"), "{said:?}");
        assert_eq!(
            project.folder.read(".heirloom/heirloom.db").unwrap(),
            damaged
        );
    }
}

#[test]
fn two_projects_never_share() {
    let first = Project::new();
    let second = Project::new();
    first.remember("mine", &[]);
    assert_eq!(second.list("knowledge").len(), 0);
    let nested = first.folder.write("inner/x", "").unwrap();
    let inner = nested.parent().unwrap();
    first
        .folder
        .write("inner/.heirloom/config.toml", "[memory]\nenabled = true\n")
        .unwrap();
    let said = answer(first.command(&["list", "--json"]).current_dir(inner));
    assert_eq!(said.json()["records"], serde_json::json!([]));
}

#[test]
fn a_repository_is_called_by_its_remote_whatever_its_folder() {
    let project = Project::of(TempProject::git().unwrap());
    project
        .folder
        .run_git(&["remote", "add", "origin", "git@git.example:Acme/Api.git"])
        .unwrap();
    let said = project.json(&["init"]);
    assert_eq!(
        said["project"].as_str().unwrap().to_lowercase(),
        "git.example/acme/api"
    );
}

#[test]
fn many_may_init_at_once() {
    let project = Project::uninitialised();
    let children: Vec<_> = (0..8)
        .map(|_| project.command(&["init"]).spawn().unwrap())
        .collect();
    for child in children {
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
    }
    assert_eq!(names(&project.file(".heirloom")), MADE);
    project.remember("a", &[]);
}

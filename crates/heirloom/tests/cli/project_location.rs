//! Location of memory: init, git, worktrees, clones, permissions.

use crate::project::{Project, answer, mode};
use heirloom_testkit::{TempProject, sh};
use std::fs;
use std::path::Path;

fn file_names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut file_names: Vec<_> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    file_names.sort();
    file_names
}

/// Files that `init` creates, while no process has the database open.
const INIT_FILES: [&str; 6] = [
    ".gitignore",
    "config.toml",
    "heirloom.db",
    "store.json",
    "workspace",
    "workspace.lock",
];

#[test]
fn init_lists_created_files_and_repeated_init_changes_nothing() {
    let project = Project::uninitialised();
    let output = project.json(&["init"]);
    let folder = project.file(".heirloom");
    assert_eq!(output["folder"], folder.to_str().unwrap());
    let made: Vec<_> = output["created"]
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
    assert_eq!(file_names(&folder), INIT_FILES);
    project
        .folder
        .write(
            ".heirloom/config.toml",
            "# mine\n[memory]\nenabled = true\n",
        )
        .unwrap();
    project.remember("kept", &[]);
    let output = project.json(&["init"]);
    assert_eq!(output["created"], serde_json::json!([]));
    assert!(
        project
            .folder
            .read(".heirloom/config.toml")
            .unwrap()
            .starts_with("# mine")
    );
    assert_eq!(project.list("knowledge").len(), 1);
    let text = project.ok(&["init"]).stdout;
    assert!(text.contains("memory is already enabled here"), "{text}");
}

#[test]
fn init_in_a_subfolder_finds_the_project() {
    let project = Project::new();
    project.folder.write("a/b/c", "").unwrap();
    let output = answer(project.command(&["init"]).current_dir(project.file("a/b")));
    assert!(
        output.stdout.contains("memory is already enabled here"),
        "{output:?}"
    );
    assert!(!project.file("a/b/.heirloom").exists());
}

#[test]
fn memory_files_are_private() {
    let project = Project::new();
    project.remember("a", &[]);
    project.ok(&sh("outcome --task 1 --status PARTIAL"));
    assert_eq!(mode(&project.file(".heirloom")), 0o700);
    for name in ["heirloom.db", "memory.json", "config.toml", "store.json"] {
        assert_eq!(mode(&project.file(".heirloom").join(name)), 0o600, "{name}");
    }
}

#[test]
fn git_ignores_the_database_and_tracks_the_config() {
    let project = Project::git();
    project.remember("a", &[]);
    project.ok(&sh("outcome --task 1 --status PARTIAL"));
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
fn init_in_a_subfolder_of_a_repository_uses_its_root() {
    let project = Project::in_folder(TempProject::git().unwrap());
    project.folder.write("a/b", "").unwrap();
    let output = answer(project.command(&["init"]).current_dir(project.file("a")));
    assert_eq!(output.code, 0, "{output:?}");
    assert!(project.file(".heirloom/config.toml").is_file());
    assert!(!project.file("a/.heirloom").exists());
}

#[test]
fn init_user_writes_only_to_the_data_folder() {
    for project in [
        Project::uninitialised(),
        Project::in_folder(TempProject::git().unwrap()),
    ] {
        let before = file_names(project.path());
        project.ok(&["init", "--user"]);
        project.remember("a", &[]);
        assert_eq!(file_names(project.path()), before);
        assert_eq!(project.list("knowledge").len(), 1);
        project.ok(&sh("outcome --task 1 --status PARTIAL"));
        assert_eq!(file_names(project.path()), before);
        let data = project.home.path().join(".local/share/heirloom");
        let folder = data.join(&file_names(&data)[0]);
        assert_eq!(mode(&folder), 0o700);
        assert_eq!(mode(&folder.join("heirloom.db")), 0o600);
        assert!(folder.join("memory.json").is_file());
        assert_eq!(
            project.json(&["init", "--user"])["created"],
            serde_json::json!([])
        );
        project.folder.write("below/it/x", "").unwrap();
        let output = answer(
            project
                .command(&["list"])
                .current_dir(project.file("below/it")),
        );
        assert!(output.stdout.contains("  fact  "), "{output:?}");
    }
}

#[test]
fn xdg_data_home_moves_the_data_folder() {
    let project = Project::uninitialised();
    let data = project.home.path().join("data");
    for args in [&["init", "--user"][..], &["remember", "a"]] {
        let output = answer(project.command(args).env("XDG_DATA_HOME", &data));
        assert_eq!(output.code, 0, "{output:?}");
    }
    assert_eq!(file_names(&data.join("heirloom")).len(), 1);
    project.expect(&["list"], 3);
    let nowhere = answer(project.command(&["init", "--user"]).env_remove("HOME"));
    assert_eq!(nowhere.code, 1, "{nowhere:?}");
    assert!(nowhere.stderr.contains("HOME"), "{nowhere:?}");
}

#[test]
fn git_worktrees_share_one_memory() {
    let project = Project::git();
    let elsewhere = TempProject::plain().unwrap();
    let tree = elsewhere.path().join("tree");
    project
        .folder
        .run_git(&["worktree", "add", "-q", tree.to_str().unwrap()])
        .unwrap();
    let run_in_tree = |args: &[&str]| answer(project.command(args).current_dir(&tree));
    assert_eq!(run_in_tree(&["remember", "from the tree"]).code, 0);
    assert_eq!(project.list("knowledge").len(), 1);
    project.remember("from the main one", &[]);
    assert_eq!(
        run_in_tree(&["list", "--json"]).json()["records"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert!(!tree.join(".heirloom").exists());
    let output = run_in_tree(&[
        "outcome", "--task", "1", "--status", "PARTIAL", "--file", "a.rs",
    ]);
    assert_eq!(output.code, 0, "{output:?}");
    assert!(project.file(".heirloom/memory.json").is_file());
    assert_eq!(
        run_in_tree(&["init", "--json"]).json()["created"],
        serde_json::json!([])
    );
}

#[test]
fn worktree_with_tracked_config_shares_the_memory() {
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
    let output = answer(project.command(&["list"]).current_dir(&tree));
    assert!(output.stdout.contains("shared"), "{output:?}");
    assert!(!tree.join(".heirloom/heirloom.db").exists());
}

#[test]
fn worktrees_share_a_memory_in_the_data_folder() {
    let project = Project::in_folder(TempProject::git().unwrap());
    project.ok(&["init", "--user"]);
    project.remember("shared", &[]);
    let elsewhere = TempProject::plain().unwrap();
    let tree = elsewhere.path().join("tree");
    project
        .folder
        .run_git(&["worktree", "add", "-q", tree.to_str().unwrap()])
        .unwrap();
    let output = answer(project.command(&["list"]).current_dir(&tree));
    assert!(output.stdout.contains("shared"), "{output:?}");
}

#[test]
fn fresh_clone_with_tracked_config_has_its_own_memory() {
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
        file_names(&clone.join(".heirloom")),
        [".gitignore", "config.toml", "workspace"]
    );
    let run_in_clone = |args: &[&str]| answer(project.command(args).current_dir(&clone));
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
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(
        run_in_clone(&["list", "--json"]).json()["records"]
            .as_array()
            .unwrap()
            .len(),
        12
    );
    assert_eq!(mode(&clone.join(".heirloom/heirloom.db")), 0o600);
    assert_eq!(project.list("knowledge").len(), 1);
}

#[test]
fn missing_database_is_an_error_and_not_recreated() {
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
        let output = project.run(args);
        assert!([1, 3].contains(&output.code), "{args:?} {output:?}");
        assert!(output.stderr.contains("store.json"), "{args:?} {output:?}");
    }
    assert!(!project.file(".heirloom/heirloom.db").exists());
    fs::remove_file(project.file(".heirloom/store.json")).unwrap();
    assert_eq!(project.list("knowledge").len(), 0);
}

#[test]
fn invalid_database_file_is_refused_and_unchanged() {
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
        let output = project.expect(&["list"], 1);
        assert!(output.stderr.contains("heirloom.db"), "{output:?}");
        assert_eq!(
            project.folder.read(".heirloom/heirloom.db").unwrap(),
            damaged
        );
    }
}

#[test]
fn separate_and_nested_projects_share_no_memory() {
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
    let output = answer(first.command(&["list", "--json"]).current_dir(inner));
    assert_eq!(output.json()["records"], serde_json::json!([]));
}

#[test]
fn repository_with_a_remote_is_named_after_it() {
    let project = Project::in_folder(TempProject::git().unwrap());
    project
        .folder
        .run_git(&["remote", "add", "origin", "git@git.example:Acme/Api.git"])
        .unwrap();
    let output = project.json(&["init"]);
    assert_eq!(
        output["project"].as_str().unwrap().to_lowercase(),
        "git.example/acme/api"
    );
}

#[test]
fn concurrent_inits_create_one_memory() {
    let project = Project::uninitialised();
    let children: Vec<_> = (0..8)
        .map(|_| project.command(&["init"]).spawn().unwrap())
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(file_names(&project.file(".heirloom")), INIT_FILES);
    project.remember("a", &[]);
}

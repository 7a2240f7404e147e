//! The identity of a project without an explicit name: moves, copies, remotes, worktrees, stores of older versions.

#![expect(
    clippy::disallowed_methods,
    reason = "files as a person or an older version wrote them"
)]

use crate::hooks::{CLAUDE, injected_text};
use crate::project::{Answer, Project, answer, string, texts};
use heirloom_model::text::hash16;
use heirloom_testkit::TempProject;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs the program in a folder, with the home of `project`.
fn run_in(project: &Project, folder: &Path, args: &[&str]) -> Answer {
    answer(project.command(args).current_dir(folder))
}

#[track_caller]
fn ok_in(project: &Project, folder: &Path, args: &[&str]) -> Answer {
    let output = run_in(project, folder, args);
    assert_eq!(output.code, 0, "{args:?} {output:?}");
    output
}

#[track_caller]
fn json_in(project: &Project, folder: &Path, args: &[&str]) -> Value {
    ok_in(project, folder, &[args, &["--json"]].concat()).json()
}

/// Returns the texts of knowledge in a folder, sorted.
#[track_caller]
fn knowledge_texts(project: &Project, folder: &Path) -> Vec<String> {
    let listed = json_in(project, folder, &["list", "--kind", "knowledge"]);
    let mut texts = texts(&listed["records"]);
    texts.sort();
    texts
}

fn run_git(folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=T", "-c", "user.email=t@example.com"]);
    let output = answer(command.args(args).current_dir(folder));
    assert_eq!(output.code, 0, "{args:?} {output:?}");
}

fn copy_folder(from: &Path, to: &Path) {
    let output = answer(Command::new("cp").arg("-a").arg(from).arg(to));
    assert_eq!(output.code, 0, "{output:?}");
}

/// Copies a folder, and trusts the memory of the copy.
fn copy_trusted(project: &Project, from: &Path, to: &Path) {
    copy_folder(from, to);
    ok_in(project, to, &["trust", "memory", "--yes"]);
}

/// Creates a folder `proj` with a project that remembers `alpha`; its git repository has no remote.
fn project_with_alpha(is_git: bool) -> (Project, PathBuf) {
    let project = Project::uninitialised();
    let folder = project.file("proj");
    fs::create_dir(&folder).unwrap();
    if is_git {
        run_git(&folder, &["init", "-q"]);
    }
    ok_in(&project, &folder, &["init"]);
    let alpha = ["remember", "alpha", "--category", "convention"];
    ok_in(&project, &folder, &alpha);
    (project, folder)
}

fn move_project(project: &Project, folder: &Path, name: &str) -> PathBuf {
    let to = project.file(name);
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::rename(folder, &to).unwrap();
    to
}

/// Removes the locations, which a store of an older version does not have.
fn forget_locations(folder: &Path) {
    let store = Connection::open(folder.join(".heirloom/heirloom.db")).unwrap();
    store.execute("DELETE FROM locations", []).unwrap();
}

#[test]
fn project_that_is_renamed_or_moved_keeps_its_memory() {
    for is_git in [true, false] {
        let (project, first) = project_with_alpha(is_git);
        let before = json_in(&project, &first, &["status"]);
        assert_eq!(before["name"], "proj");
        let renamed = move_project(&project, &first, "renamed");
        let elsewhere = move_project(&project, &renamed, "else/where/again");
        assert_eq!(knowledge_texts(&project, &elsewhere), ["alpha"]);
        let found = json_in(&project, &elsewhere, &["recall", "alpha"]);
        assert!(found.to_string().contains("alpha"), "{found}");
        ok_in(&project, &elsewhere, &["remember", "beta"]);
        assert_eq!(knowledge_texts(&project, &elsewhere), ["alpha", "beta"]);
        let status = json_in(&project, &elsewhere, &["status"]);
        assert_eq!(status["project"], before["project"]);
        assert_eq!(status["name"], "again");
        assert_eq!(
            (&status["others"], &status["copy_of"]),
            (&json!([]), &Value::Null)
        );
        let doctor = json_in(&project, &elsewhere, &["doctor"]);
        let checks = doctor["checks"].as_array().unwrap();
        let identity = checks.iter().find(|check| check["name"] == "identity");
        assert_eq!(identity.unwrap()["level"], "ok", "{doctor}");
        let init = ok_in(&project, &elsewhere, &["init"]);
        assert!(
            init.stdout.contains("memory is already enabled here"),
            "{init:?}"
        );
    }
}

#[test]
fn project_at_another_mount_path_keeps_its_memory_silently() {
    let (project, folder) = project_with_alpha(true);
    let new_folder = move_project(&project, &folder, "workspace");
    let listed = ok_in(&project, &new_folder, &["list"]);
    assert!(listed.stdout.contains("alpha"), "{listed:?}");
    assert_eq!(listed.stderr, "");
    let back = move_project(&project, &new_folder, "proj");
    let listed = ok_in(&project, &back, &["list"]);
    assert!(listed.stdout.contains("alpha"), "{listed:?}");
    assert_eq!(listed.stderr, "");
}

#[test]
fn store_that_is_linked_at_two_paths_is_not_a_copy() {
    let (project, folder) = project_with_alpha(false);
    let other = project.file("mounted");
    fs::create_dir_all(other.join(".heirloom")).unwrap();
    for name in ["heirloom.db", "config.toml", "store.json"] {
        let (from, to) = (
            folder.join(".heirloom").join(name),
            other.join(".heirloom").join(name),
        );
        fs::hard_link(from, to).unwrap();
    }
    ok_in(&project, &other, &["trust", "memory", "--yes"]);
    let listed = ok_in(&project, &other, &["list"]);
    assert!(listed.stdout.contains("alpha"), "{listed:?}");
    assert_eq!(listed.stderr, "");
    assert_eq!(
        json_in(&project, &other, &["status"])["copy_of"],
        Value::Null
    );
}

#[test]
fn output_for_people_has_the_short_project_name() {
    let (project, folder) = project_with_alpha(true);
    let path = folder.join(".git");
    let path = path.to_str().unwrap();
    for args in [
        &["init"][..],
        &["status"],
        &["doctor"],
        &["task", "show", "9"],
    ] {
        let output = run_in(&project, &folder, args);
        let all = output.stdout + &output.stderr;
        assert!(!all.contains(path), "{args:?} {all}");
    }
    let status = ok_in(&project, &folder, &["status"]).stdout;
    assert!(status.starts_with("project     proj\n"), "{status}");
    let init = json_in(&project, &folder, &["init"]);
    assert_eq!(
        (&init["project"], &init["name"]),
        (&json!(path), &json!("proj"))
    );
}

#[test]
fn git_init_after_the_first_record_keeps_the_memory() {
    let (project, folder) = project_with_alpha(false);
    run_git(&folder, &["init", "-q"]);
    assert_eq!(knowledge_texts(&project, &folder), ["alpha"]);
}

#[test]
fn remote_added_changed_or_removed_keeps_the_memory() {
    let (project, folder) = project_with_alpha(true);
    let before = json_in(&project, &folder, &["status"])["project"].clone();
    for args in [
        &["remote", "add", "origin", "git@git.example:acme/api.git"][..],
        &[
            "remote",
            "set-url",
            "origin",
            "https://git.example/new/name.git",
        ],
        &["remote", "remove", "origin"],
    ] {
        run_git(&folder, args);
        assert_eq!(knowledge_texts(&project, &folder), ["alpha"], "{args:?}");
        assert_eq!(json_in(&project, &folder, &["status"])["project"], before);
    }
}

#[test]
fn store_of_an_older_version_is_adopted_after_a_move() {
    let (project, folder) = project_with_alpha(true);
    forget_locations(&folder);
    let new_folder = move_project(&project, &folder, "moved");
    assert_eq!(knowledge_texts(&project, &new_folder), ["alpha"]);
    // A remote was added after the upgrade.
    let (project, folder) = project_with_alpha(true);
    forget_locations(&folder);
    run_git(
        &folder,
        &["remote", "add", "origin", "git@git.example:acme/api.git"],
    );
    assert_eq!(knowledge_texts(&project, &folder), ["alpha"]);
}

#[test]
fn explicit_name_in_a_store_of_an_older_version_is_not_adopted() {
    let (project, folder) = project_with_alpha(true);
    ok_in(
        &project,
        &folder,
        &["--project", "team", "remember", "of the team"],
    );
    forget_locations(&folder);
    let store = Connection::open(folder.join(".heirloom/heirloom.db")).unwrap();
    store
        .execute("UPDATE projects SET name = 'mine' WHERE name <> 'team'", [])
        .unwrap();
    drop(store);
    assert_eq!(knowledge_texts(&project, &folder), Vec::<String>::new());
    let team = json_in(&project, &folder, &["--project", "team", "list"]);
    assert_eq!(texts(&team["records"]), ["of the team"]);
}

#[test]
fn second_memory_after_a_move_is_reported_and_can_be_adopted() {
    let (project, folder) = project_with_alpha(true);
    let old = string(&json_in(&project, &folder, &["status"])["project"]);
    let new_folder = move_project(&project, &folder, "moved");
    let new = new_folder.join(".git");
    let new = new.to_str().unwrap();
    ok_in(
        &project,
        &new_folder,
        &["--project", new, "remember", "beta"],
    );
    forget_locations(&new_folder);
    assert_eq!(knowledge_texts(&project, &new_folder), ["beta"]);
    let status = json_in(&project, &new_folder, &["status"]);
    assert_eq!(status["others"], json!([{"project": old, "records": 1}]));
    let hint = format!("heirloom init --adopt {old}");
    assert!(
        ok_in(&project, &new_folder, &["status"])
            .stdout
            .contains(&hint)
    );
    let doctor = json_in(&project, &new_folder, &["doctor"]).to_string();
    assert!(
        doctor.contains(&hint) && doctor.contains("warn"),
        "{doctor}"
    );
    let adopted = json_in(&project, &new_folder, &["init", "--adopt", &old]);
    assert_eq!(
        (&adopted["adopted"]["from"], &adopted["adopted"]["records"]),
        (&json!(old), &json!(1))
    );
    assert_eq!(knowledge_texts(&project, &new_folder), ["alpha", "beta"]);
    assert_eq!(
        json_in(&project, &new_folder, &["status"])["others"],
        json!([])
    );
    let missing = run_in(
        &project,
        &new_folder,
        &["init", "--adopt", "/no/such", "--json"],
    );
    assert_eq!(missing.code, 3, "{missing:?}");
}

#[test]
fn adopt_into_an_empty_memory_takes_over_the_project() {
    let (project, folder) = project_with_alpha(true);
    ok_in(
        &project,
        &folder,
        &["--project", "/gone/x/.git", "remember", "of x"],
    );
    let store = Connection::open(folder.join(".heirloom/heirloom.db")).unwrap();
    store
        .execute_batch("UPDATE locations SET name = '/not/yet/.git'")
        .unwrap();
    drop(store);
    ok_in(&project, &folder, &["init", "--adopt", "/gone/x/.git"]);
    assert_eq!(knowledge_texts(&project, &folder), ["of x"]);
}

#[test]
fn copied_project_works_and_asks_once_for_its_identity() {
    let (project, folder) = project_with_alpha(true);
    let new_folder = project.file("copied");
    copy_trusted(&project, &folder, &new_folder);
    let listed = ok_in(&project, &new_folder, &["list"]);
    assert!(listed.stdout.contains("alpha"), "{listed:?}");
    for command in [
        "init --identity same",
        "init --identity new",
        folder.to_str().unwrap(),
    ] {
        assert!(listed.stderr.contains(command), "{command}: {listed:?}");
    }
    assert_eq!(ok_in(&project, &new_folder, &["list"]).stderr, "");
    ok_in(&project, &new_folder, &["remember", "beta"]);
    assert_eq!(knowledge_texts(&project, &new_folder), ["alpha", "beta"]);
    assert_eq!(knowledge_texts(&project, &folder), ["alpha"]);
    let status = json_in(&project, &new_folder, &["status"]);
    assert_eq!(status["copy_of"], folder.to_str().unwrap());
    assert!(
        ok_in(&project, &new_folder, &["status"])
            .stdout
            .contains("--identity new")
    );
    let doctor = json_in(&project, &new_folder, &["doctor"]);
    let checks = doctor["checks"].as_array().unwrap();
    let identity = checks.iter().find(|check| check["name"] == "identity");
    let identity = identity.unwrap();
    assert_eq!(
        (&identity["level"], &doctor["ok"]),
        (&json!("warn"), &json!(true))
    );
    let hint = string(&identity["hint"]);
    assert!(hint.contains("same") && hint.contains("new"), "{hint}");
    assert_eq!(ok_in(&project, &folder, &["list"]).stderr, "");
    assert_eq!(
        json_in(&project, &folder, &["status"])["copy_of"],
        Value::Null
    );
}

#[test]
fn identity_decision_about_a_copy_persists() {
    for decision in ["same", "new"] {
        let (project, folder) = project_with_alpha(true);
        ok_in(&project, &folder, &["token", "create", "--role", "agent"]);
        let old = string(&json_in(&project, &folder, &["status"])["project"]);
        ok_in(
            &project,
            &folder,
            &["--project", &old, "token", "create", "--role", "agent"],
        );
        // The stored working memory of an agent, in a file named after the project.
        let working = |folder: &Path, name: &str| {
            let file = format!("{}-session-agent.json", hash16(name));
            folder.join(".heirloom/working").join(file)
        };
        fs::create_dir(folder.join(".heirloom/working")).unwrap();
        fs::write(working(&folder, &old), "{}").unwrap();
        let new_folder = project.file("copied");
        copy_folder(&folder, &new_folder);
        let output = json_in(&project, &new_folder, &["init", "--identity", decision]);
        let new = new_folder.join(".git");
        let expected = if decision == "new" {
            new.to_str().unwrap()
        } else {
            &old
        };
        assert_eq!(output["project"], expected);
        assert_eq!(knowledge_texts(&project, &new_folder), ["alpha"]);
        let status = json_in(&project, &new_folder, &["status"]);
        assert_eq!(
            (&status["copy_of"], &status["others"]),
            (&Value::Null, &json!([]))
        );
        assert_eq!(ok_in(&project, &new_folder, &["list"]).stderr, "");
        let tokens = json_in(&project, &new_folder, &["token", "list"]);
        assert_eq!(tokens["tokens"][1]["project"], expected, "{tokens}");
        assert!(working(&new_folder, expected).is_file());
        // Moving the copy asks no further question.
        let again = move_project(&project, &new_folder, "again");
        assert_eq!(ok_in(&project, &again, &["list"]).stderr, "");
        assert_eq!(knowledge_texts(&project, &again), ["alpha"]);
        assert_eq!(knowledge_texts(&project, &folder), ["alpha"]);
    }
}

#[test]
fn copy_of_a_store_of_an_older_version_asks_for_its_identity() {
    let (project, folder) = project_with_alpha(true);
    forget_locations(&folder);
    let new_folder = project.file("copied");
    copy_trusted(&project, &folder, &new_folder);
    let listed = ok_in(&project, &new_folder, &["list"]);
    assert!(listed.stdout.contains("alpha"), "{listed:?}");
    assert!(listed.stderr.contains("--identity new"), "{listed:?}");
}

#[test]
fn copy_without_its_original_asks_nothing() {
    let (project, folder) = project_with_alpha(true);
    let new_folder = project.file("copied");
    copy_trusted(&project, &folder, &new_folder);
    ok_in(&project, &new_folder, &["list"]);
    fs::remove_dir_all(&folder).unwrap();
    let status = json_in(&project, &new_folder, &["status"]);
    assert_eq!(status["copy_of"], Value::Null);
}

#[test]
fn new_project_at_the_old_path_makes_the_moved_one_no_copy() {
    let (project, folder) = project_with_alpha(true);
    let new_folder = move_project(&project, &folder, "moved");
    fs::create_dir(&folder).unwrap();
    run_git(&folder, &["init", "-q"]);
    ok_in(&project, &folder, &["init"]);
    ok_in(&project, &folder, &["remember", "of another"]);
    let listed = ok_in(&project, &new_folder, &["list"]);
    assert!(listed.stdout.contains("alpha"), "{listed:?}");
    assert_eq!(listed.stderr, "");
    assert_eq!(knowledge_texts(&project, &folder), ["of another"]);
}

#[test]
fn hook_in_a_copied_project_injects_memory_and_asks_nothing() {
    let (project, folder) = project_with_alpha(true);
    let new_folder = project.file("copied");
    copy_trusted(&project, &folder, &new_folder);
    let started = json!({"session_id": "s", "cwd": new_folder, "source": "startup"});
    let mut command = project.command(&["hook", CLAUDE, "SessionStart"]);
    let file = project
        .folder
        .write("event.json", started.to_string())
        .unwrap();
    command
        .current_dir(&new_folder)
        .stdin(fs::File::open(file).unwrap());
    let output = answer(&mut command);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{output:?}");
    let injected_text = injected_text(&output.json());
    assert!(
        injected_text.starts_with("<heirloom-memory project=\"copied\">"),
        "{injected_text}"
    );
    assert!(
        injected_text.contains("alpha") && !injected_text.contains("--identity"),
        "{injected_text}"
    );
    // The user is still asked at the command line.
    assert!(
        ok_in(&project, &new_folder, &["list"])
            .stderr
            .contains("--identity")
    );
}

#[test]
fn worktree_of_a_moved_repository_shares_its_memory() {
    let (project, folder) = project_with_alpha(true);
    run_git(&folder, &["commit", "-q", "--allow-empty", "-m", "first"]);
    run_git(&folder, &["worktree", "add", "-q", "../tree"]);
    let new_folder = move_project(&project, &folder, "moved");
    let tree = project.file("tree");
    run_git(&new_folder, &["worktree", "repair", "../tree"]);
    assert_eq!(knowledge_texts(&project, &tree), ["alpha"]);
    ok_in(&project, &tree, &["remember", "beta"]);
    assert_eq!(knowledge_texts(&project, &new_folder), ["alpha", "beta"]);
    assert_eq!(json_in(&project, &tree, &["status"])["name"], "moved");
}

#[test]
fn bare_repositories_beside_each_other_have_separate_memories() {
    let project = Project::uninitialised();
    let shared = project.file("shared");
    for name in ["one", "two"] {
        let bare = shared.join(format!("{name}.git"));
        fs::create_dir_all(&bare).unwrap();
        run_git(&bare, &["init", "-q", "--bare"]);
        let empty = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
        run_git(&bare, &["hash-object", "-t", "tree", "-w", "/dev/null"]);
        let commit = answer(
            Command::new("git")
                .args(["-c", "user.name=T", "-c", "user.email=t@example.com"])
                .args(["commit-tree", "-m", "first", empty])
                .current_dir(&bare),
        );
        run_git(&bare, &["update-ref", "HEAD", commit.stdout.trim()]);
        run_git(
            &bare,
            &[
                "worktree",
                "add",
                "-q",
                "-f",
                &format!("../{name}-tree"),
                commit.stdout.trim(),
            ],
        );
        let tree = shared.join(format!("{name}-tree"));
        ok_in(&project, &tree, &["init"]);
        ok_in(&project, &tree, &["remember", &format!("of {name}")]);
    }
    assert!(shared.join("one.git/.heirloom/heirloom.db").is_file());
    for name in ["one", "two"] {
        let tree = shared.join(format!("{name}-tree"));
        assert_eq!(knowledge_texts(&project, &tree), [format!("of {name}")]);
        assert_eq!(json_in(&project, &tree, &["status"])["name"], name);
    }
    let new_folder = move_project(&project, &shared, "moved");
    for is_older in [false, true] {
        for name in ["one", "two"] {
            let tree = new_folder.join(format!("{name}-tree"));
            let bare = new_folder.join(format!("{name}.git"));
            if is_older {
                forget_locations(&bare);
            }
            run_git(&bare, &["worktree", "repair", tree.to_str().unwrap()]);
            assert_eq!(
                knowledge_texts(&project, &tree),
                [format!("of {name}")],
                "{is_older}"
            );
            let status = json_in(&project, &tree, &["status"]);
            assert_eq!(status["others"], json!([]), "{is_older}");
        }
    }
}

#[test]
fn restore_of_a_backup_of_another_project_adopts_its_identity() {
    let (project, folder) = project_with_alpha(true);
    let file = project.file("copy.db");
    ok_in(&project, &folder, &["backup", file.to_str().unwrap()]);
    fs::remove_dir_all(&folder).unwrap();
    let other = project.file("other");
    fs::create_dir(&other).unwrap();
    ok_in(&project, &other, &["init"]);
    let output = ok_in(&project, &other, &["restore", file.to_str().unwrap()]);
    assert!(
        !output.stderr.contains("has no records of this project"),
        "{output:?}"
    );
    assert_eq!(knowledge_texts(&project, &other), ["alpha"]);
}

/// Creates a project without files of Heirloom in it, whose memory is in the data folder.
fn project_with_external_store() -> (Project, PathBuf) {
    let project = Project::uninitialised();
    let folder = project.file("proj");
    fs::create_dir(&folder).unwrap();
    run_git(&folder, &["init", "-q"]);
    ok_in(&project, &folder, &["init", "--user"]);
    let alpha = ["remember", "alpha", "--category", "convention"];
    ok_in(&project, &folder, &alpha);
    (project, folder)
}

#[test]
fn remote_added_or_changed_keeps_the_memory_in_the_data_folder() {
    let (project, folder) = project_with_external_store();
    for args in [
        &["remote", "add", "origin", "git@git.example:acme/api.git"][..],
        &[
            "remote",
            "set-url",
            "origin",
            "https://git.example/new/name.git",
        ],
        &["remote", "remove", "origin"],
    ] {
        run_git(&folder, args);
        assert_eq!(knowledge_texts(&project, &folder), ["alpha"], "{args:?}");
        let again = json_in(&project, &folder, &["init", "--user"]);
        assert_eq!(again["created"], json!([]), "{args:?}");
    }
}

#[test]
fn moved_project_with_an_external_store_gets_the_adopt_command() {
    for is_initialised in [true, false] {
        let (project, folder) = project_with_external_store();
        let new_folder = move_project(&project, &folder, "moved");
        assert_eq!(run_in(&project, &new_folder, &["list"]).code, 3);
        let old = folder.to_str().unwrap();
        if is_initialised {
            let output = ok_in(&project, &new_folder, &["init", "--user"]);
            let command = format!("heirloom init --user --adopt {old}");
            assert!(output.stderr.contains(&command), "{output:?}");
            assert!(output.stderr.contains("1 record of "), "{output:?}");
            ok_in(&project, &new_folder, &["remember", "beta"]);
        }
        let output = json_in(&project, &new_folder, &["init", "--user", "--adopt", old]);
        assert_eq!(output["adopted"]["from"], old);
        let expected: &[&str] = if is_initialised {
            &["alpha", "beta"]
        } else {
            &["alpha"]
        };
        assert_eq!(knowledge_texts(&project, &new_folder), expected);
        assert_eq!(json_in(&project, &new_folder, &["status"])["name"], "moved");
        // The old path is free for another project, which begins with an empty memory.
        fs::create_dir(&folder).unwrap();
        run_git(&folder, &["init", "-q"]);
        assert_eq!(run_in(&project, &folder, &["list"]).code, 3);
        let output = json_in(&project, &folder, &["init", "--user"]);
        assert_eq!(output["lost"], json!([]));
        assert_eq!(knowledge_texts(&project, &folder), Vec::<String>::new());
        assert_eq!(knowledge_texts(&project, &new_folder), expected);
    }
}

#[test]
fn clones_of_one_remote_share_a_memory_in_the_data_folder() {
    let project = Project::uninitialised();
    for name in ["one", "two"] {
        let folder = project.file(name);
        fs::create_dir(&folder).unwrap();
        run_git(&folder, &["init", "-q"]);
        run_git(
            &folder,
            &["remote", "add", "origin", "git@git.example:acme/api.git"],
        );
        ok_in(&project, &folder, &["init", "--user"]);
        ok_in(&project, &folder, &["remember", name]);
    }
    for name in ["one", "two"] {
        assert_eq!(
            knowledge_texts(&project, &project.file(name)),
            ["one", "two"]
        );
    }
}

#[test]
fn oversized_homes_file_leaves_the_store_found_by_name() {
    let (project, folder) = project_with_external_store();
    let data = project.home.path().join(".local/share/heirloom");
    let store = data.read_dir().unwrap().next().unwrap().unwrap().path();
    let most = usize::try_from(heirloom_model::limits::STORE_HOMES_BYTES_MAX).unwrap();
    for bytes in [most, most + 1] {
        let mut text = format!("{}\n", folder.display());
        text.push_str(&"x".repeat(bytes - text.len()));
        fs::write(store.join("homes"), text).unwrap();
        assert_eq!(knowledge_texts(&project, &folder), ["alpha"], "{bytes}");
    }
}

#[test]
fn project_names_with_special_characters_survive_moves() {
    let project = Project::in_folder(TempProject::plain().unwrap());
    let long = "ü".repeat(100);
    for name in ["it's mine", "with space", &long] {
        let folder = project.file(name);
        fs::create_dir(&folder).unwrap();
        run_git(&folder, &["init", "-q"]);
        ok_in(&project, &folder, &["init"]);
        ok_in(&project, &folder, &["remember", "alpha"]);
        let new_folder = move_project(&project, &folder, &format!("{name}2"));
        assert_eq!(knowledge_texts(&project, &new_folder), ["alpha"], "{name}");
        assert_eq!(
            json_in(&project, &new_folder, &["status"])["name"],
            format!("{name}2")
        );
        forget_locations(&new_folder);
        let again = move_project(&project, &new_folder, &format!("{name}3"));
        assert_eq!(knowledge_texts(&project, &again), ["alpha"], "{name}");
    }
}

/// Runs the program in a folder at a terminal of `script`, where a user types `input`.
fn run_at_terminal(project: &Project, folder: &Path, args: &str, input: &str) -> String {
    let line = format!("{} {args}", env!("CARGO_BIN_EXE_heirloom"));
    let mut command = Command::new("script");
    command
        .args(["-qec", &line, "/dev/null"])
        .current_dir(folder)
        .env("HOME", project.home.path())
        .env_remove("XDG_DATA_HOME")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut typed = child.stdin.take().unwrap();
    typed.write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(typed);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn init_at_a_terminal_asks_for_the_identity_of_a_copy() {
    for (typed, is_new) in [("yes\n", true), ("no\n", false)] {
        let (project, folder) = project_with_alpha(true);
        let new_folder = project.file("copied");
        copy_trusted(&project, &folder, &new_folder);
        let unattended = run_at_terminal(&project, &new_folder, "init --yes", "");
        assert!(!unattended.contains("Type yes"), "{unattended}");
        let output = run_at_terminal(&project, &new_folder, "init", typed);
        assert!(output.contains("a copy of the project in"), "{output}");
        let status = json_in(&project, &new_folder, &["status"]);
        let new = new_folder.join(".git");
        assert_eq!(
            status["project"] == new.to_str().unwrap(),
            is_new,
            "{status}"
        );
        assert_eq!(status["copy_of"], Value::Null);
        let again = run_at_terminal(&project, &new_folder, "init", "");
        assert!(!again.contains("Type yes"), "{again}");
    }
}

#[test]
fn init_user_at_a_terminal_asks_if_the_project_was_moved() {
    for (typed, expected) in [("yes\n", &["alpha"][..]), ("no\n", &[])] {
        let (project, folder) = project_with_external_store();
        let new_folder = move_project(&project, &folder, "moved");
        let output = run_at_terminal(&project, &new_folder, "init --user", typed);
        assert!(output.contains("Is this the same project?"), "{output}");
        assert_eq!(knowledge_texts(&project, &new_folder), expected);
    }
}

//! User memory: `--user`, and proposals of agents for it.

use crate::project::{Project, string};
use heirloom_testkit::{TempProject, sh};
use serde_json::json;
use std::fs;

fn user_memory_folder(project: &Project) -> std::path::PathBuf {
    project.home.path().join(".local/share/heirloom/user")
}

#[test]
fn reading_absent_user_memory_creates_no_folder() {
    let project = Project::new();
    project.ok(&["recall", "anything"]);
    assert_eq!(project.json(&["list", "--user"]), json!({"records": []}));
    project.expect(
        &["show", "--user", "01890a5d-ac96-774b-bcce-b302099a8057"],
        3,
    );
    project.ok(&["propose", "--user"]);
    assert!(!user_memory_folder(&project).exists());
}

#[test]
fn user_memory_is_recalled_in_every_project() {
    let mut project = Project::new();
    let own = project.remember("I prefer small commits", &["--user"]);
    assert_eq!(project.list("knowledge"), Vec::<serde_json::Value>::new());
    assert!(
        !project
            .ok(&["export", "--format", "jsonl", "--all"])
            .stdout
            .contains("commits")
    );
    project.folder = TempProject::plain().unwrap();
    project.ok(&["init"]);
    project.remember("commits are squashed here", &[]);
    let hits = project.json(&["recall", "small commits"]);
    let hits = hits["hits"].as_array().unwrap();
    let mine = hits.iter().find(|hit| hit["id"] == json!(own)).unwrap();
    assert_eq!(mine["from"], json!("user"));
    assert!(hits.iter().any(|hit| hit.get("from").is_none()));
    assert!(
        project
            .ok(&["recall", "small commits"])
            .stdout
            .contains("user · ")
    );
    project.ok(&["pin", "--user", &own]);
    assert_eq!(
        project.json(&["show", "--user", &own])["pinned"],
        json!(true)
    );
    project.ok(&["forget", "--user", &own]);
    assert_eq!(project.json(&["list", "--user"]), json!({"records": []}));
    project.ok(&["undo", "--user", &own]);
    assert!(
        project
            .ok(&["list", "--user"])
            .stdout
            .contains("small commits")
    );
    project.expect(&["forget", &own], 3);
}

#[test]
fn user_memory_proposal_is_hidden_until_accepted() {
    let project = Project::new();
    let propose = ["propose", "--user", "They like tabs", "--source", "claude"];
    let id = string(&project.json(&propose)["id"]);
    assert!(
        !project
            .ok(&["recall", "tabs"])
            .stdout
            .contains("They like tabs")
    );
    let waiting = project.json(&["propose", "--user"]);
    assert_eq!(waiting["records"][0]["id"], json!(id));
    project.expect(&sh("propose --user x --source user"), 4);
    project.ok(&["accept", &id]);
    assert!(
        project
            .ok(&["recall", "tabs"])
            .stdout
            .contains("They like tabs")
    );
    assert_eq!(project.json(&["propose", "--user"]), json!({"records": []}));
    project.expect(&["accept", &id], 2);
    let second = string(&project.json(&["propose", "--user", "They like spaces"])["id"]);
    project.ok(&["reject", &second]);
    assert_eq!(project.json(&["propose", "--user"]), json!({"records": []}));
    project.expect(&["reject", "01900000-0000-7000-8000-000000000000"], 3);
}

#[test]
fn project_proposal_is_recalled_until_rejected() {
    let project = Project::new();
    let id = string(&project.json(&["propose", "Builds run on arm", "--source", "ann"])["id"]);
    let has = |text: &str| project.ok(&["recall", text]).stdout.contains("Builds run");
    assert!(has("builds arm"));
    assert_eq!(project.json(&["propose"])["records"][0]["id"], json!(id));
    project.ok(&["accept", &id]);
    assert_eq!(project.json(&["propose"]), json!({"records": []}));
    project.expect(&["reject", &id], 2);
    let id = string(&project.json(&["propose", "Builds run at night"])["id"]);
    project.ok(&["reject", &id]);
    assert!(!project.ok(&["recall", "night"]).stdout.contains("at night"));
}

#[test]
fn damaged_user_memory_leaves_project_recall_working() {
    let project = Project::new();
    project.remember("I prefer small commits", &["--user"]);
    project.remember("commits are squashed here", &[]);
    let database = ".local/share/heirloom/user/heirloom.db";
    project.home.write(database, "no database at all").unwrap();
    let answer = project.ok(&["recall", "commits"]);
    assert!(answer.stdout.contains("squashed"));
    assert!(answer.stderr.contains("your own memory"), "{answer:?}");
    project.expect(&["list", "--user"], 1);
    fs::remove_file(user_memory_folder(&project).join("heirloom.db")).unwrap();
    assert!(
        project
            .ok(&["recall", "commits"])
            .stderr
            .contains("your own memory")
    );
    assert!(
        !user_memory_folder(&project).join("heirloom.db").exists(),
        "never replaced by an empty one"
    );
}

#[test]
fn xdg_data_home_moves_user_memory() {
    let project = Project::new();
    let data = project.home.path().join("elsewhere");
    let mut command = project.command(&["remember", "--user", "x"]);
    let output = command.env("XDG_DATA_HOME", &data).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(data.join("heirloom/user/heirloom.db").exists());
    assert!(!user_memory_folder(&project).exists());
}

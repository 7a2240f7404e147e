//! Team memory in files that git distributes.

use crate::project::{Project, string};
use heirloom_testkit::TempProject;
use std::fs;
use std::path::Path;
use std::process::Command;

fn run_git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b.c"]);
    if ["clone", "pull"]
        .iter()
        .any(|word| args.first() == Some(word))
    {
        // Git's log has whole seconds, and the edit that follows is made within the same one.
        command.env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z");
    }
    let output = command.args(args).current_dir(folder).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "git {args:?}: {stdout}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    stdout
}

fn remember(project: &Project, args: &[&str]) -> String {
    string(&project.json(&[&["remember"], args].concat())["id"])
}

fn shared_texts(project: &Project) -> Vec<String> {
    let records = project.json(&["list", "--source", "team"]);
    let mut texts: Vec<_> = records["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| string(&one["text"]))
        .collect();
    texts.sort();
    texts
}

#[test]
fn branches_with_shared_records_merge_without_conflict() {
    let mine = Project::git();
    remember(&mine, &["not shared"]);
    for text in ["a first fact", "z last fact"] {
        let id = remember(&mine, &[text]);
        mine.ok(&["share", &id]);
    }
    run_git(mine.path(), &["add", "-A"]);
    let tracked = run_git(mine.path(), &["ls-files"]);
    assert!(
        tracked.contains(".heirloom/shared/fact.md")
            && tracked.contains(".heirloom/shared/.gitattributes"),
        "{tracked}"
    );
    assert!(
        !tracked.contains("heirloom.db") && !tracked.contains("index"),
        "{tracked}"
    );
    run_git(mine.path(), &["commit", "-qm", "shared"]);

    let other = Project::in_folder(TempProject::plain().unwrap());
    run_git(
        other.path(),
        &["clone", "-q", mine.path().to_str().unwrap(), "."],
    );
    other.ok(&["init"]);
    assert_eq!(shared_texts(&other), [""; 0], "a clone is not trusted yet");
    other.ok(&["trust", "--yes"]);
    assert_eq!(shared_texts(&other), ["a first fact", "z last fact"]);

    // Both branches add at the same position.
    for (project, texts) in [
        (&mine, ["m one of mine", "n two of mine"]),
        (&other, ["m one of theirs", "n two of theirs"]),
    ] {
        for text in texts {
            let id = remember(project, &[text, "--category", "fact"]);
            project.ok(&["share", &id]);
        }
        run_git(project.path(), &["add", "-A"]);
        run_git(project.path(), &["commit", "-qm", "more"]);
    }
    run_git(other.path(), &["pull", "-q", "--no-rebase", "--no-edit"]);
    other.ok(&["trust", "--yes"]);
    let all = [
        "a first fact",
        "m one of mine",
        "m one of theirs",
        "n two of mine",
        "n two of theirs",
        "z last fact",
    ];
    assert_eq!(shared_texts(&other), all);
    let hits = other.json(&["recall", "one of mine"]);
    assert_eq!(hits["hits"][0]["text"], "m one of mine");
    assert_eq!(hits["hits"][0]["file"], ".heirloom/shared/fact.md");
    assert!(other.ok(&["context"]).stdout.contains("m one of mine"));

    // After a pull request, both clones replace changed records and retire deleted ones.
    let file = other.file(".heirloom/shared/fact.md");
    let text = fs::read_to_string(&file)
        .unwrap()
        .replace("a first fact", "a better fact");
    let text: String = text
        .lines()
        .filter(|line| !line.contains("z last"))
        .map(|line| format!("{line}\n"))
        .collect();
    other
        .folder
        .write(".heirloom/shared/fact.md", &text)
        .unwrap();
    run_git(other.path(), &["commit", "-qam", "review"]);
    run_git(
        mine.path(),
        &[
            "pull",
            "-q",
            "--no-rebase",
            "--no-edit",
            other.path().to_str().unwrap(),
        ],
    );
    let remaining = [
        "a better fact",
        "m one of mine",
        "m one of theirs",
        "n two of mine",
        "n two of theirs",
    ];
    mine.ok(&["trust", "--yes"]);
    assert_eq!(shared_texts(&mine), remaining);
    // Without a question: the person edited the file here.
    assert_eq!(shared_texts(&other), remaining);
}

#[test]
fn unshared_record_stays_in_the_local_memory() {
    let project = Project::git();
    let id = remember(
        &project,
        &[
            "the port is 80",
            "--key",
            "port",
            "--category",
            "convention",
            "--rationale",
            "why --> not",
        ],
    );
    let file = ".heirloom/shared/convention.md";
    assert_eq!(
        project.json(&["share", &id])["entries"][0]["outcome"],
        "shared"
    );
    let text = fs::read_to_string(project.file(file)).unwrap();
    assert_eq!(
        project.json(&["share", &id])["entries"][0]["outcome"],
        "unchanged"
    );
    assert_eq!(fs::read_to_string(project.file(file)).unwrap(), text);
    assert!(
        text.starts_with("# convention\n\n- the port is 80 <!-- ")
            && text.contains("\"key\":\"port\""),
        "{text}"
    );
    let record = &project.json(&["list", "--category", "convention"])["records"][0];
    assert_eq!(
        (string(&record["key"]), string(&record["by"])),
        ("port".to_owned(), "user".to_owned())
    );
    project.ok(&["unshare", &id]);
    assert!(
        !fs::read_to_string(project.file(file))
            .unwrap()
            .contains("80")
    );
    let record = &project.json(&["list", "--category", "convention"])["records"][0];
    assert_eq!(
        (string(&record["text"]), string(&record["source"])),
        ("the port is 80".to_owned(), "user".to_owned())
    );
    assert!(record["file"].is_null());
    project.expect(&["unshare", &id], 3);
}

#[test]
fn invalid_shared_files_are_reported() {
    let project = Project::git();
    let long = format!(".heirloom/shared/{}.md", "x".repeat(240));
    project.folder.write(&long, "- long\n").unwrap();
    project
        .folder
        .write(".heirloom/shared/a%0ab.md", "- odd\n")
        .unwrap();
    project.folder.write(".heirloom/shared/fact.md", "<<<<<<< HEAD\n- by hand ghp_16C7e42F292c6912E7710c838347Ae178B4a\n=======\n- theirs\n>>>>>>> x\n").unwrap();
    let answer = project.ok(&["context"]);
    for words in ["not a valid category", "not resolved"] {
        assert!(answer.stderr.contains(words), "{answer:?}");
    }
    let texts = shared_texts(&project);
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts[0].starts_with("by hand [redacted:"), "{texts:?}");
    let note = string(&project.json(&["remember", "--category", &"y".repeat(199), "z"])["id"]);
    project.expect(&["share", &note], 2);
}

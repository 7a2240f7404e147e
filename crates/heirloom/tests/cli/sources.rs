//! Context sources after Session Memory, their budget, and receipts.
#![expect(
    clippy::disallowed_methods,
    reason = "files of a test need no durable write"
)]

use crate::project::Project;
use heirloom_model::limits::{
    GIT_INDEX_BYTES_MAX, PLAN_FILES_MAX, PLAN_FOLDER_ENTRIES_MAX, PROJECT_FILE_BYTES_MAX,
    STANDING_CHARS_DEFAULT, STANDING_CHARS_MAX,
};
use heirloom_testkit::sh;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::Command;

const PLAN: &str = "---\nreq_id: REQ-7\ntitle: Fast login\nstatus: open\n---\n# Fast login\n\nHalf the time.\n\n\
                    - [ ] measure it\n- [x] profile it\n";

fn project_with_plan() -> Project {
    let project = Project::new();
    project.ok(&["remember", "the port is 8080", "--key", "port"]);
    let plan = project.file("radium/build/REQ-7");
    fs::create_dir_all(&plan).unwrap();
    fs::write(plan.join("plan.md"), PLAN).unwrap();
    fs::write(
        project.file("ARCHITECTURE.md"),
        "# Map\n\nThe door is the only way.\n",
    )
    .unwrap();
    project
}

#[test]
fn context_without_plan_or_agent_is_session_memory_only() {
    let project = project_with_plan();
    let context = project.ok(&["context"]).stdout;
    assert_eq!(
        context,
        "## Session Memory\n\n### Key Facts\n- the port is 8080\n"
    );
}

#[test]
fn context_with_a_plan_contains_plan_and_architecture() {
    let project = project_with_plan();
    let context = project.ok(&sh("context --plan REQ-7 --agent coder")).stdout;
    assert!(context.starts_with("## Session Memory\n"), "{context}");
    for expected in [
        "\n## Plan\n- REQ-7: Fast login (open)\n- Goal: Half the time.\n- [ ] measure it\n- 1 done\n",
        "\n## Architecture\n- # Map\n  The door is the only way.\n",
    ] {
        assert!(
            context.contains(expected),
            "{expected} is not in\n{context}"
        );
    }
    let staged = project.ok(&["context", "--plan", "build/REQ-7"]).stdout;
    assert!(staged.contains("Fast login"), "{staged}");
    let none = project.ok(&["context", "--plan", "REQ-8"]).stdout;
    assert!(!none.contains("## Plan"), "{none}");
    project.ok(&["context", "--plan", "../../etc"]);
}

#[test]
fn learned_fixes_are_ranked_by_the_query() {
    let project = Project::new();
    for (error, fix) in [
        ("the cache panicked on an empty key", "skip empty keys"),
        ("the parser looped on a tab", "expand tabs"),
    ] {
        project.ok(&["error", "log", error, "--task", "1"]);
        project.ok(&["error", "resolve", error, "--with", fix]);
    }
    let query = ["context", "--query", "why does the cache panic"];
    let context = project.json(&query);
    let text = context["text"].as_str().unwrap();
    let learned = &text[text.find("## Learned before").unwrap()..];
    let cache = learned.find("skip empty keys").unwrap();
    let parser = learned.find("expand tabs");
    assert!(parser.is_none_or(|parser| cache < parser), "{learned}");
    let sections = context["sections"].as_array().unwrap();
    let chars: u64 = sections.iter().map(|s| s["chars"].as_u64().unwrap()).sum();
    assert_eq!(chars, context["chars"].as_u64().unwrap());
}

#[test]
fn unusable_source_files_become_notes() {
    let project = project_with_plan();
    let architecture = project.file("ARCHITECTURE.md");
    let plan = project.file("radium/build/REQ-7");
    let notes = || {
        let report = project.json(&["context", "--plan", "REQ-7"]);
        report["notes"].to_string()
    };
    assert_eq!(notes(), "[]");
    File::create(&architecture)
        .unwrap()
        .set_len(PROJECT_FILE_BYTES_MAX)
        .unwrap();
    assert!(notes().contains("is not a text file"), "{}", notes());
    File::create(&architecture)
        .unwrap()
        .set_len(PROJECT_FILE_BYTES_MAX + 1)
        .unwrap();
    assert!(notes().contains("bytes"), "{}", notes());
    fs::remove_file(&architecture).unwrap();
    symlink("/etc/passwd", &architecture).unwrap();
    assert!(notes().contains("outside"), "{}", notes());
    fs::remove_file(&architecture).unwrap();
    let made = Command::new("mkfifo").arg(&architecture).status().unwrap();
    assert!(made.success());
    assert!(notes().contains("architecture"), "{}", notes());
    fs::remove_file(&architecture).unwrap();
    for n in 1..PLAN_FILES_MAX {
        fs::write(plan.join(format!("{n}.md")), "x").unwrap();
    }
    assert_eq!(notes(), "[]");
    fs::write(plan.join("z.md"), "x").unwrap();
    assert!(notes().contains("only"), "{}", notes());
    fs::remove_file(plan.join("z.md")).unwrap();
    for n in 0..PLAN_FOLDER_ENTRIES_MAX - PLAN_FILES_MAX {
        File::create(plan.join(format!("e{n}"))).unwrap();
    }
    assert_eq!(notes(), "[]");
    File::create(plan.join("more")).unwrap();
    assert!(notes().contains("entries"), "{}", notes());
}

#[test]
fn codebase_section_lists_tracked_files() {
    let project = project_with_plan();
    let git = |args: &[&str]| {
        let done = Command::new("git")
            .args(args)
            .current_dir(project.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    fs::create_dir_all(project.file("src/deep")).unwrap();
    fs::write(project.file("src/deep/a.rs"), "").unwrap();
    fs::write(project.file("untracked.rs"), "").unwrap();
    git(&["add", "src", "ARCHITECTURE.md"]);
    let context = project.ok(&["context", "--agent", "coder"]).stdout;
    let expected =
        "\n## Codebase\n- ./: ARCHITECTURE.md, src/ (1)\n- src/: deep/ (1)\n- src/deep/: a.rs\n";
    assert!(context.ends_with(expected), "{context}");
    let index = project.file(".git/index");
    for (size, note) in [
        (GIT_INDEX_BYTES_MAX, "unknown format"),
        (GIT_INDEX_BYTES_MAX + 1, "bytes"),
    ] {
        File::create(&index).unwrap().set_len(size).unwrap();
        let context = project.json(&["context", "--agent", "coder"]);
        assert!(
            context["notes"].to_string().contains(note),
            "{}",
            context["notes"]
        );
    }
}

#[test]
fn context_sources_setting_selects_the_sources() {
    let project = project_with_plan();
    let set = "context.sources=[\"architecture 100\"]";
    let context = project
        .ok(&["context", "--plan", "REQ-7", "--set", set])
        .stdout;
    assert!(
        context.contains("## Architecture") && !context.contains("## Plan"),
        "{context}"
    );
    for bad in [
        "[\"nobody 3\"]",
        "[\"plan 101\"]",
        "[\"plan 3\", \"plan 4\"]",
    ] {
        project.expect(&["context", "--set", &format!("context.sources={bad}")], 2);
    }
}

#[test]
fn unknown_selection_is_refused() {
    let project = project_with_plan();
    let wrong = ["context", "--set", "context.selection=loudest"];
    let output = project.expect(&wrong, 2);
    assert!(output.stderr.contains("worth or priority"), "{output:?}");
    for selection in ["worth", "priority"] {
        project.ok(&[
            "context",
            "--set",
            &format!("context.selection={selection}"),
        ]);
    }
    let most = STANDING_CHARS_MAX;
    for (chars, exit_code) in [
        (0, 0),
        (STANDING_CHARS_DEFAULT, 0),
        (most, 0),
        (most + 1, 2),
    ] {
        let set = format!("context.standing_chars={chars}");
        project.expect(&["context", "--set", &set], exit_code);
    }
    let listed = project.ok(&["config", "--show-origin"]).stdout;
    for key in ["context.selection", "context.standing_chars"] {
        assert!(listed.contains(key), "{listed}");
    }
}

#[test]
fn receipts_are_listed_shown_and_compared() {
    let project = project_with_plan();
    let none = project.json(&["receipts", "list"]);
    assert_eq!(none["receipts"].as_array().unwrap().len(), 0);
    project.ok(&["context"]);
    project.ok(&["remember", "the host is example.org"]);
    project.ok(&["context", "--plan", "REQ-7", "--receipt"]);
    let listed = project.json(&["receipts", "list"]);
    let ids: Vec<&str> = listed["receipts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), 2);
    assert_eq!(listed["receipts"][0]["plan"], "REQ-7");
    let shown = project.json(&["receipts", "show", ids[0]]);
    let names: Vec<&str> = shown["sections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"plan") && names.contains(&"Key Facts"),
        "{names:?}"
    );
    let file = shown["sections"].to_string();
    assert!(file.contains("radium/build/REQ-7/plan.md"), "{file}");
    let diff = project.json(&["receipts", "diff", ids[1], ids[0]]);
    assert_eq!(diff["stayed"], 1);
    assert!(diff["came"].to_string().contains("example.org"), "{diff}");
    assert_eq!(diff["went"].as_array().unwrap().len(), 0);
    project.expect(&["receipts", "show", "ffffffff"], 3);
    project.expect(&["receipts", "show", "ff"], 2);
}

#[test]
fn record_counts_its_contexts_and_purge_removes_its_receipts() {
    let project = Project::new();
    let id = project.json(&["remember", "the port is 8080"])["id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(project.json(&["show", &id])["used"], 0);
    project.ok(&["context"]);
    project.ok(&["context"]);
    assert_eq!(project.json(&["show", &id])["used"], 2);
    project.ok(&["purge", "--id", &id, "--yes"]);
    let listed = project.json(&["receipts", "list"]);
    assert_eq!(listed["receipts"].as_array().unwrap().len(), 0);
}

/// Creates a project in which every source has content.
fn project_with_every_source() -> Project {
    let mut project = project_with_plan();
    project.set_clock("2026-05-01T10:00:00Z");
    project.ok(&["remember", "--user", "I prefer small commits"]);
    let own = project.json(&["remember", "releases are cut on Mondays"]);
    project.ok(&["share", own["id"].as_str().unwrap()]);
    project.ok(&["workspace", "fact", "the staging host is blue"]);
    project.ok(&["group", "note", "core", "nobody deploys on Fridays"]);
    for (agent, output) in [("coder", "one\ntwo\nthree\n"), ("critic", "too slow\n")] {
        let put = ["output", "put", "--plan", "REQ-7", "--agent", agent];
        project.input(&put, output.as_bytes());
    }
    let add = ["session", "add", "--session", "s1", "--role", "user"];
    project.input(&add, b"is the login fast now?");
    project.ok(&sh("error log 'the login timed out' --task 7"));
    project.ok(&sh(
        "error resolve 'the login timed out' --with 'warm the cache'",
    ));
    project
        .folder
        .write("notes/a.md", "a file of the project\n")
        .unwrap();
    project
}

const EVERY_SOURCE_ARGS: [&str; 16] = [
    "context",
    "coder[input:notes/a.md][tail:2]",
    "--task",
    "7",
    "--plan",
    "REQ-7",
    "--group",
    "core",
    "--session",
    "s1",
    "--query",
    "login release on Mondays",
    "--budget-chars",
    "20000",
    "--receipt",
    "--json",
];

#[test]
fn context_with_all_options_contains_every_source() {
    let project = project_with_every_source();
    let mut args = EVERY_SOURCE_ARGS.to_vec();
    args.pop();
    let report = project.json(&args);
    let text = report["text"].as_str().unwrap();
    for expected in [
        "## Session Memory\n",
        "\n## Input\n\nFile notes/a.md:\n```\na file of the project\n```\n",
        "\n## Last Output\n\nOutput of \"coder\", lines 2-3 of 3:\n```\ntwo\nthree\n```\n",
        "\n## Plan\n- REQ-7: Fast login (open)\n",
        "the login timed out → fixed by: warm the cache\n",
        "\n## Outputs of Other Agents\n- [critic]: too slow\n",
        "is the login fast now?",
        "\n## Remembered Facts\n",
        "- nobody deploys on Fridays\n",
        "\n=== WORKSPACE KNOWLEDGE ===\n",
        "the staging host is blue\n",
        "\n=== END OF WORKSPACE KNOWLEDGE ===\n",
        "releases are cut on Mondays\n",
        "\n## About the Person\n- I prefer small commits\n",
        "\n## Architecture\n",
    ] {
        assert!(text.contains(expected), "{expected} is not in\n{text}");
    }
    assert!(
        !text.contains("## Your Last Output"),
        "the tail replaces it:
        {text}"
    );
    assert_eq!(report["notes"], serde_json::json!([]), "{text}");
}

#[test]
fn context_of_every_source_keeps_any_budget_and_adds_up() {
    let project = project_with_every_source();
    let full = project.json(&EVERY_SOURCE_ARGS[..14])["chars"]
        .as_u64()
        .unwrap();
    for budget in (0..=full).step_by(usize::try_from(full / 23).unwrap()) {
        let budget = budget.to_string();
        let mut args = EVERY_SOURCE_ARGS[..14].to_vec();
        args[13] = &budget;
        let report = project.json(&args);
        let text = report["text"].as_str().unwrap();
        assert!(
            text.chars().count() as u64 <= budget.parse().unwrap(),
            "{budget}: {text}"
        );
        let sections = report["sections"].as_array().unwrap();
        let chars: u64 = sections.iter().map(|s| s["chars"].as_u64().unwrap()).sum();
        assert_eq!(chars, text.chars().count() as u64, "{budget}: {report}");
    }
}

//! `import shared`: knowledge from Markdown files, and its export.

use crate::project::{Project, string};
use heirloom_model::limits;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

const PAGE: &str = "\
---
title: Shared context
---
<!-- summary: How we work in the shop -->
# Conventions

## Indentation
- tabs

# Decisions
- use SQLite
- no server
";

fn write(project: &Project, name: &str, text: &str) {
    project.folder.write(name, text).unwrap();
}

fn knowledge_lines(project: &Project) -> Vec<String> {
    let line = |one: &Value| {
        format!(
            "{}/{}: {}",
            string(&one["category"]),
            string(&one["key"]),
            string(&one["text"])
        )
    };
    let mut lines: Vec<_> = project.list("knowledge").iter().map(line).collect();
    lines.sort();
    lines
}

#[test]
fn markdown_headings_and_bullets_import_as_knowledge() {
    let project = Project::new();
    write(&project, "shared.md", PAGE);
    let report = project.json(&["import", "shared", "shared.md"]);
    assert_eq!(
        (&report["created"], &report["known"]),
        (&json!(3), &json!(0))
    );
    let lines = knowledge_lines(&project);
    assert_eq!(lines[0], "convention/indentation: tabs");
    assert!(lines[1].starts_with("decision/") && lines[2].starts_with("decision/"));
    assert!(project.ok(&["context"]).stdout.contains("- use SQLite\n"));
    let again = project.json(&["import", "markdown", "shared.md"]);
    assert_eq!((&again["created"], &again["known"]), (&json!(0), &json!(3)));
    assert_eq!(knowledge_lines(&project), lines);
    project.ok(&["undo", &string(&report["import"])]);
    assert_eq!(knowledge_lines(&project), Vec::<String>::new());
    assert!(project.file("shared.md").exists());
}

#[test]
fn folder_import_skips_hidden_and_linked_files_and_reports_conflicts() {
    let project = Project::new();
    let facts = |n: &str| format!("# Facts\n- fact {n}\n");
    for name in ["docs/a.md", "docs/deep/er/b.MD", "docs/c.markdown"] {
        write(&project, name, &facts(name));
    }
    for name in ["docs/d.txt", "docs/.hidden.md", "docs/.git/e.md"] {
        write(&project, name, &facts(name));
    }
    let outside = Project::uninitialised();
    write(&outside, "f.md", &facts("outside"));
    symlink(outside.file("f.md"), project.file("docs/f.md")).unwrap();
    symlink(outside.path(), project.file("docs/linked")).unwrap();
    let report = project.json(&["import", "shared", "docs"]);
    assert_eq!(report["created"], 3);
    write(&project, "docs/a.md", "# Facts\n## port\n- 80\n");
    write(&project, "docs/c.markdown", "# Facts\n## port\n- 81\n");
    let report = project.json(&["import", "shared", "docs"]);
    let diagnostics = report["diagnostics"].to_string();
    assert!(
        diagnostics.contains("docs/c.markdown:3") && diagnostics.contains("`80`"),
        "{diagnostics}"
    );
    let empty = project.file("empty");
    std::fs::create_dir(&empty).unwrap();
    let nothing = project.json(&["import", "shared", "empty"]);
    assert_eq!(
        (&nothing["created"], &nothing["import"]),
        (&json!(0), &Value::Null)
    );
}

#[test]
fn index_option_lists_a_summary_for_each_file() {
    let project = Project::new();
    write(&project, "docs/a.md", PAGE);
    write(&project, "docs/b.md", "# The \u{1b}[31mother\n");
    let index = project.json(&["import", "shared", "docs", "--index"]);
    assert_eq!(
        index,
        json!({"files": [
            {"path": "docs/a.md", "size": PAGE.len(), "summary": "How we work in the shop"},
            {"path": "docs/b.md", "size": 17, "summary": "The \u{fffd}[31mother"},
        ]})
    );
    let text = project
        .ok(&["import", "shared", "docs/a.md", "--index"])
        .stdout;
    assert!(text.contains("How we work in the shop"), "{text}");
    assert_eq!(project.list("knowledge").len(), 0);
}

#[test]
fn missing_and_oversized_markdown_files_are_refused() {
    let project = Project::new();
    project.expect(&["import", "shared"], 2);
    project.expect(&["import", "shared", "nothing.md"], 3);
    project.expect(&["import", "jsonl", "x", "--index"], 2);
    let bytes = b"# Facts\n- \xff x\n";
    heirloom_fs::durable::write_atomic(&project.file("bytes.md"), bytes).unwrap();
    assert_eq!(
        project.json(&["import", "shared", "bytes.md"])["created"],
        1
    );
    let file = std::fs::File::create_new(project.file("large.md")).unwrap();
    file.set_len(limits::SHARED_FILE_BYTES_MAX + 1).unwrap();
    let answer = project.expect(&["import", "shared", "large.md"], 2);
    assert!(
        answer
            .stderr
            .contains(&limits::SHARED_FILE_BYTES_MAX.to_string())
    );
}

#[test]
fn folder_import_skips_deep_files_and_refuses_too_many_files() {
    let project = Project::new();
    let deepest = "d/".repeat(limits::SHARED_FOLDER_DEPTH_MAX - 1);
    write(&project, &format!("docs/{deepest}in.md"), "# in\n- in\n");
    write(
        &project,
        &format!("docs/{deepest}d/out.md"),
        "# out\n- out\n",
    );
    let report = project.json(&["import", "shared", "docs"]);
    assert_eq!(report["created"], 1);
    for n in 0..limits::SHARED_FILES_MAX {
        write(&project, &format!("many/{n}.md"), "");
    }
    project.ok(&["import", "shared", "many"]);
    write(&project, "many/one-more.md", "");
    let answer = project.expect(&["import", "shared", "many"], 2);
    assert!(answer.stderr.contains("Markdown files"), "{answer:?}");
}

#[test]
fn markdown_export_is_imported_again_without_loss() {
    let project = Project::new();
    project.remember("the tests need Redis", &[]);
    project.remember("8080", &["--key", "port", "--category", "convention"]);
    project.ok(&["error", "log", "no part of it"]);
    let page = project.ok(&["export", "--format", "markdown"]).stdout;
    assert_eq!(
        page,
        "# Project memory\n\n## convention\n\n- **port**: 8080\n\n## fact\n\n- the tests need Redis\n"
    );
    let other = Project::new();
    other.folder.write("memory.md", &page).unwrap();
    other.ok(&["import", "shared", "memory.md"]);
    let texts = |project: &Project| {
        let line = |one: &Value| format!("{} {} {}", one["category"], one["key"], one["text"]);
        let mut all: Vec<_> = project.list("knowledge").iter().map(line).collect();
        all.sort();
        all
    };
    assert_eq!(texts(&other), texts(&project));
}

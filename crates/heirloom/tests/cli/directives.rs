//! `context INVOCATION`: what an invocation injects, and the exit code of each mistake.

use crate::project::Project;
use serde_json::Value;

fn project() -> Project {
    let project = Project::new();
    project.folder.write("docs/a.md", "one\ntwo\n").unwrap();
    project.folder.write("docs/b.md", "three\n").unwrap();
    project.remember("the deploy needs Redis", &[]);
    project
}

#[test]
fn what_is_injected_stands_behind_session_memory() {
    let project = project();
    let said = "coder[input:docs/*.md;recall:deploy]";
    let text = project.ok(&["context", said]).stdout;
    assert_eq!(
        text,
        "## Session Memory\n\n### Key Facts\n- the deploy needs Redis\n\n## Input\n\n\
         File docs/a.md:\n```\none\ntwo\n```\n\nFile docs/b.md:\n```\nthree\n```\n\n\
         ## Recalled: deploy\n- the deploy needs Redis\n"
    );
    let json = project.json(&["context", said]);
    assert_eq!(json["text"], text.as_str());
    assert_eq!(json["notes"], serde_json::json!([]));
    let names: Vec<&Value> = json["sections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["name"])
        .collect();
    assert_eq!(names, ["Key Facts", "input", "recall"]);
    let input = &json["sections"][1]["items"];
    assert_eq!(input[0]["included"], true);
    assert_eq!(input[1]["id"], Value::Null);
    assert!(json["sections"][2]["items"][0]["id"].is_string());
}

#[test]
fn a_budget_cuts_in_whole_lines_and_says_so() {
    let project = Project::new();
    project
        .folder
        .write("a.md", "a line\n".repeat(100))
        .unwrap();
    let said = project.ok(&["context", "coder[input:a.md][budget:200]", "--receipt"]);
    assert!(said.stdout.chars().count() <= 200);
    assert!(said.stdout.contains("a line\n```\n… "), "{}", said.stdout);
    assert!(said.stdout.ends_with(" more lines did not fit\n"));
    assert!(said.stderr.contains("in "), "{}", said.stderr);
    assert!(
        said.stderr.contains("input: 1 of 1 items"),
        "{}",
        said.stderr
    );
    let less = project.ok(&[
        "context",
        "coder[input:a.md][budget:200]",
        "--budget-chars",
        "20",
    ]);
    assert_eq!(less.stdout, "");
}

#[test]
fn mistakes_have_their_exit_codes() {
    let project = project();
    project.folder.write("bin", [0_u8, 1, 2]).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", project.file("out")).unwrap();
    let say = |invocation: &str, code: i32| {
        let said = project.expect(&["context", invocation], code);
        assert_eq!(said.stdout, "");
        said.stderr
    };
    let said = say("coder[inptu:a]", 2);
    assert!(
        said.contains("column 7: unknown directive `inptu`"),
        "{said}"
    );
    assert!(said.contains("\n  coder[inptu:a]\n        ^\n"), "{said}");
    assert!(said.contains("did you mean `input`?"), "{said}");
    say("coder[input:a", 2);
    let said = say("coder[input:docs/aa.md]", 3);
    assert!(
        said.contains("`docs/aa.md`") && said.contains("`docs/a.md`"),
        "{said}"
    );
    say("coder[input:*.rs]", 3);
    assert!(say("coder[input:bin]", 4).contains("binary, 3 bytes"));
    assert!(say("coder[input:out]", 4).contains("outside"));
    say("coder[input:../x]", 4);
    let json = project.expect(&["--json", "context", "x["], 2).error();
    assert_eq!(json["kind"], "usage");
}

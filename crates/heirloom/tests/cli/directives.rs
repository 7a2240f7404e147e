//! `context INVOCATION`: injected content, and the exit code of each mistake.

use crate::project::Project;
use heirloom_testkit::sh;
use serde_json::Value;

fn project() -> Project {
    let project = Project::new();
    project.folder.write("docs/a.md", "one\ntwo\n").unwrap();
    project.folder.write("docs/b.md", "three\n").unwrap();
    project.remember("the deploy needs Redis", &[]);
    project
}

#[test]
fn directive_content_follows_session_memory() {
    let project = project();
    let invocation = "coder[input:docs/*.md;recall:deploy]";
    let text = project.ok(&["context", invocation]).stdout;
    assert_eq!(
        text,
        "## Session Memory\n\n### Key Facts\n- the deploy needs Redis\n\n## Input\n\n\
         File docs/a.md:\n```\none\ntwo\n```\n\nFile docs/b.md:\n```\nthree\n```\n\n\
         ## Recalled: deploy\n- the deploy needs Redis\n"
    );
    let json = project.json(&["context", invocation]);
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
fn directive_budget_cuts_whole_lines_and_counts_the_rest() {
    let project = Project::new();
    project
        .folder
        .write("a.md", "a line\n".repeat(100))
        .unwrap();
    let output = project.ok(&["context", "coder[input:a.md][budget:200]", "--receipt"]);
    assert!(output.stdout.chars().count() <= 200);
    assert!(
        output.stdout.contains("a line\n```\n… "),
        "{}",
        output.stdout
    );
    assert!(output.stdout.ends_with(" more lines did not fit\n"));
    assert!(output.stderr.contains("in "), "{}", output.stderr);
    assert!(
        output.stderr.contains("input: 1 of 1 item,"),
        "{}",
        output.stderr
    );
    let less = project.ok(&sh(
        "context coder[input:a.md][budget:200] --budget-chars 20",
    ));
    assert_eq!(less.stdout, "");
}

#[test]
fn invalid_directives_fail_with_their_exit_codes() {
    let project = project();
    project.folder.write("bin", [0_u8, 1, 2]).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", project.file("out")).unwrap();
    let failure = |invocation: &str, code: i32| {
        let output = project.expect(&["context", invocation], code);
        assert_eq!(output.stdout, "");
        output.stderr
    };
    let output = failure("coder[inptu:a]", 2);
    assert!(
        output.contains("column 7: unknown directive `inptu`"),
        "{output}"
    );
    assert!(
        output.contains("\n  coder[inptu:a]\n        ^\n"),
        "{output}"
    );
    assert!(output.contains("did you mean `input`?"), "{output}");
    failure("coder[input:a", 2);
    let output = failure("coder[input:docs/aa.md]", 3);
    assert!(
        output.contains("`docs/aa.md`") && output.contains("`docs/a.md`"),
        "{output}"
    );
    failure("coder[input:*.rs]", 3);
    assert!(failure("coder[input:bin]", 4).contains("binary, 3 bytes"));
    assert!(failure("coder[input:out]", 4).contains("outside"));
    failure("coder[input:../x]", 4);
    let json = project.expect(&["--json", "context", "x["], 2).error();
    assert_eq!(json["kind"], "usage");
}

#[test]
fn comma_between_directives_and_tail_without_output_are_reported() {
    let project = Project::new();
    project.folder.write("spec.md", "the spec").unwrap();
    let output = project.expect(&["context", "coder[input:spec.md,tail:5]"], 3);
    assert!(
        output.stderr.contains("`tail` is a directive of its own"),
        "{output:?}"
    );
    let output = project.ok(&["context", "coder[tail:5]"]);
    assert!(
        output.stderr.contains("`coder` has no output yet"),
        "{output:?}"
    );
}

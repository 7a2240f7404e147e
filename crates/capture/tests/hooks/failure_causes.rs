//! Failures of one command with several causes: which one a run resolves, by what, and what is not recorded.

use super::HookedProject;
use super::resolutions::COMMAND;
use heirloom_agents::AgentProgram;
use heirloom_fs::durable;
use heirloom_model::kinds::ErrorRecord;
use serde_json::{Value, json};

const UNITTEST: &str = "PYTHONPATH=src python3 -m unittest discover -s tests";

/// Returns the output of a run with failing tests: name and message of each.
fn unittest(tests: &[(&str, &str)]) -> String {
    let one = |(name, message): &(&str, &str)| {
        format!("ERROR: {name} (test_shop.ShopTest.{name})\n{message}\n\n")
    };
    let all: String = tests.iter().map(one).collect();
    format!(
        "{all}Ran 8 tests in 0.002s\n\nFAILED (errors={})",
        tests.len()
    )
}

#[test]
fn two_failing_tests_of_one_command_have_their_own_fixes() {
    let connects = ("test_connects", "KeyError: 'SHOP_STORE_URL'");
    let rounds = ("test_fee_is_rounded", "AssertionError: 299 != 300");
    let with_url = format!("SHOP_STORE_URL=sqlite:///:memory: {UNITTEST}");
    let one = unittest(&[rounds]);
    let project = HookedProject::new();
    project.command("s", UNITTEST, Some(&unittest(&[connects, rounds])));
    project.command("s", &with_url, Some(&one));
    project.edit("s", "src/shop/fees.py");
    project.command("s", &with_url, Some(&one));
    project.command("s", "git checkout -- src/shop/fees.py", None);
    project.edit("s", "src/shop/fees.py");
    project.command("s", &with_url, None);
    assert_eq!(project.open(), [""; 0]);
    let errors = project.errors();
    assert_eq!(errors.len(), 2, "{errors:#?}");
    let fix = |words: &str| {
        let error = errors.iter().find(|error| error.text.contains(words));
        error.unwrap().attr_str("resolution").map(str::to_owned)
    };
    assert_eq!(
        fix("KeyError").as_deref(),
        Some("set `SHOP_STORE_URL=sqlite:///:memory:`, then it passed")
    );
    // Hooks do not know the lines of the edit; the lessons of the transcript name them.
    assert_eq!(fix("299 != 300"), None);
    for told in [project.start("startup"), project.before("later", UNITTEST)] {
        assert!(
            !told.contains("git checkout") && !told.contains("edited"),
            "{told}"
        );
    }
}

#[test]
fn failure_that_comes_back_keeps_its_fix() {
    let project = HookedProject::new();
    let error = "connection refused";
    project.command("one", COMMAND, Some(error));
    project.command("one", "docker compose up -d db", None);
    project.command("one", COMMAND, None);
    project.command("two", COMMAND, Some(error));
    project.command("two", COMMAND, Some(error));
    let back = project.error();
    assert_eq!(back.state(), Some(ErrorRecord::OPEN));
    assert_eq!(
        back.attr_str(ErrorRecord::HELPED),
        Some("ran `docker compose up -d db`, then it passed")
    );
    let start = project.start("startup");
    assert!(start.contains("→ ran `docker compose up -d db`"), "{start}");
    // It passes again, and nothing else is known to have helped.
    project.command("three", COMMAND, None);
    let closed = project.error();
    assert_eq!(
        closed.attr_str("resolution"),
        Some("ran `docker compose up -d db`, then it passed")
    );
}

#[test]
fn other_failure_of_the_same_command_has_another_fix() {
    let project = HookedProject::new();
    project.command("one", COMMAND, Some("connection refused"));
    project.command("one", "docker compose up -d db", None);
    project.command("one", COMMAND, None);
    let told = project.command("two", COMMAND, Some("KeyError: 'price'"));
    assert!(!told.contains("docker"), "{told}");
}

#[test]
fn run_without_the_edits_closes_nothing() {
    for steps in [
        vec!["git stash && python3 tool.py; git stash pop"],
        vec!["git stash", COMMAND, "git stash pop"],
        vec!["git checkout main", COMMAND],
    ] {
        let project = HookedProject::new();
        project.command("s", COMMAND, Some("KeyError: 'price'"));
        for step in &steps {
            project.command("s", step, None);
        }
        assert_eq!(project.open().len(), 1, "{steps:?}");
    }
}

#[test]
fn failure_on_purpose_and_of_a_guessed_path_is_not_recorded() {
    for (command, error) in [
        (
            "python3 -c \"raise RuntimeError('report')\"",
            "RuntimeError: report",
        ),
        ("make check; exit 1", "stopped"),
        (
            "python3 tools/send.py",
            "python3: can't open file '/p/tools/send.py': [Errno 2] No such file or directory",
        ),
        ("git stash && make check", "error: unknown target"),
    ] {
        let project = HookedProject::new();
        project.command("s", command, Some(error));
        assert_eq!(project.errors().len(), 0, "{command}");
    }
}

/// Transcript of Claude Code that is written line by line.
struct Transcript {
    lines: Vec<String>,
    root: std::path::PathBuf,
}

impl Transcript {
    fn add(&mut self, kind: &str, content: &Value) {
        let at = 1_775_000_000 + 5 * i64::try_from(self.lines.len()).unwrap();
        let at = heirloom_model::Timestamp::from_second(at).unwrap();
        let line = json!({"type": kind, "uuid": format!("u{}", self.lines.len()), "sessionId": "s",
            "cwd": self.root, "timestamp": at, "message": {"role": kind, "content": content}});
        self.lines.push(line.to_string());
    }

    fn call(&mut self, name: &str, input: &Value, error: Option<&str>) {
        let id = format!("c{}", self.lines.len());
        let used = json!([{"type": "tool_use", "id": id, "name": name, "input": input}]);
        self.add("assistant", &used);
        let output = error.map_or("OK".to_owned(), |error| format!("Exit code 1\n{error}"));
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": output,
            "is_error": error.is_some()}]);
        self.add("user", &result);
    }

    fn run(&mut self, command: &str, error: Option<&str>) {
        self.call("Bash", &json!({"command": command}), error);
    }

    fn edit(&mut self, old: &str, new: &str) {
        let file = self.root.join("src/shop/fees.py");
        let input = json!({"file_path": file, "old_string": old, "new_string": new});
        self.call("Edit", &input, None);
    }

    fn say(&mut self, text: &str) {
        self.add("assistant", &json!([{"type": "text", "text": text}]));
    }
}

#[test]
fn turn_with_a_dead_end_leaves_the_true_fix_and_the_failed_attempt() {
    let project = HookedProject::new();
    let root = project.memory().parent().unwrap().to_owned();
    let connects = ("test_connects", "KeyError: 'SHOP_STORE_URL'");
    let rounds = ("test_fee_is_rounded", "AssertionError: 299 != 300");
    let with_url = format!("SHOP_STORE_URL=sqlite:///:memory: {UNITTEST}");
    let (both, one) = (unittest(&[connects, rounds]), unittest(&[rounds]));
    let (old, wrong, right) = (
        "    return int(cents * rate / 1000)",
        "    return int(cents * rate / 1000 + 0.49)",
        "    return (cents * rate + 500) // 1000",
    );
    let mut talk = Transcript {
        lines: Vec::new(),
        root,
    };
    talk.add("user", &json!("Run the test suite and fix what is broken."));
    talk.run(UNITTEST, Some(&both));
    talk.run(&with_url, Some(&one));
    talk.edit(old, wrong);
    talk.run(&with_url, Some(&one));
    talk.say("Adding 0.49 does not work because the value is truncated before it is stored, I'll revert that.");
    talk.run("git checkout -- src/shop/fees.py", None);
    talk.edit(old, right);
    talk.run(&with_url, None);
    talk.say("All tests pass.");
    // The hooks see the same calls.
    project.command("s", UNITTEST, Some(&both));
    project.command("s", &with_url, Some(&one));
    project.edit("s", "src/shop/fees.py");
    project.command("s", &with_url, Some(&one));
    project.command("s", "git checkout -- src/shop/fees.py", None);
    project.edit("s", "src/shop/fees.py");
    project.command("s", &with_url, None);
    let path = talk.root.join("talk.jsonl");
    durable::write_atomic(&path, (talk.lines.join("\n") + "\n").as_bytes()).unwrap();
    let end = json!({"transcript_path": path});
    project.send(AgentProgram::ClaudeCode, "Stop", end.clone());
    project.send(AgentProgram::ClaudeCode, "SessionEnd", end);
    let errors = project.errors();
    let fix = |words: &str| {
        let error = errors.iter().find(|error| error.text.contains(words));
        error
            .unwrap()
            .attr_str("resolution")
            .unwrap_or_default()
            .to_owned()
    };
    assert!(
        fix("KeyError").contains("SHOP_STORE_URL=sqlite"),
        "{errors:#?}"
    );
    assert!(fix("299 != 300").contains("+ 500) // 1000"), "{errors:#?}");
    for part in ["0.49", "git checkout"] {
        assert!(
            !errors
                .iter()
                .any(|error| fix("299").contains(part) || error.text.contains(part))
        );
    }
    let startup = json!({"source": "startup"});
    let told = project.send_in("next", AgentProgram::ClaudeCode, "SessionStart", startup);
    assert!(
        told.contains("Run the test suite and fix what is broken; src/shop/fees.py"),
        "{told}"
    );
    assert!(!told.contains("0.49"), "{told}");
    let tried = project.engine.tasks();
    let tried = tried
        .similar_attempts("add 0.49 before truncating", None)
        .unwrap();
    assert!(tried.has_failed, "{tried:#?}");
    let outcome = tried.attempts[0].episode.outcome.clone();
    assert!(
        outcome.unwrap().contains("does not work because"),
        "{tried:#?}"
    );
}

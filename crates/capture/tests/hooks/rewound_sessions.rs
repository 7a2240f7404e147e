//! Running sessions in which a person goes back to an earlier message.

use super::HookedProject;
use super::killed_sessions::recording;
use heirloom_agents::AgentProgram;
use heirloom_fs::durable;
use heirloom_model::{Kind, Record, Role, Timestamp};
use heirloom_store::Filter;
use serde_json::{Value, json};

const RULE: &str = "never mock the payment service in tests, use the recorded answers";
const LOST: &str =
    "Please add a page for the refunds of a customer, with a test for the empty list";
const FIRST: &str =
    "Please add a page for the orders of a customer, with a test for the empty list";

/// Lines of a transcript under construction.
#[derive(Default)]
struct Lines(Vec<Value>);

impl Lines {
    fn add(&mut self, parent: &str, uuid: &str, kind: &str, content: &Value) {
        let minute = self.0.len();
        self.0.push(json!({"type": kind, "uuid": uuid, "parentUuid": Some(parent).filter(|one| !one.is_empty()),
            "sessionId": "s", "cwd": "/home/dev/shop", "version": "2.1.0",
            "timestamp": format!("2026-11-01T10:{minute:02}:00.000Z"),
            "message": {"id": format!("m-{uuid}"), "content": content}}));
    }

    /// Adds a prompt, and an edit of a file as the answer to it; returns the last line.
    fn add_work(&mut self, parent: &str, name: &str, prompt: &str, file: &str) -> String {
        let names: Vec<String> = (0..4).map(|n| format!("{name}-{n}")).collect();
        let edit = json!([{"type": "tool_use", "id": format!("call-{name}"), "name": "Write",
            "input": {"file_path": file, "content": "export const list = [];"}}]);
        let result = json!([{"type": "tool_result", "tool_use_id": format!("call-{name}"), "content": "ok"}]);
        let text = json!([{"type": "text", "text": format!("The work {name} is done.")}]);
        self.add(parent, &names[0], "user", &json!(prompt));
        self.add(&names[0], &names[1], "assistant", &edit);
        self.add(&names[1], &names[2], "user", &result);
        self.add(&names[2], &names[3], "assistant", &text);
        names[3].clone()
    }
}

fn end_turn(project: &HookedProject, lines: &Lines) {
    let path = project.memory().join("t.jsonl");
    let root = project
        .memory()
        .parent()
        .unwrap()
        .to_string_lossy()
        .into_owned();
    let text: String = lines.0.iter().map(|line| format!("{line}\n")).collect();
    let text = text.replace("/home/dev/shop", &root);
    durable::write_atomic(&path, text.as_bytes()).unwrap();
    let more = json!({ "transcript_path": path, "cwd": root });
    project.send_in("s", AgentProgram::ClaudeCode, "Stop", more);
}

fn records(project: &HookedProject, kind: Kind, word: &str) -> Vec<Record> {
    let filter = Filter::current(&[kind], Timestamp::MAX);
    let mut all = project.engine.records().find(&filter).unwrap();
    all.retain(|one| one.text.contains(word));
    all
}

#[test]
fn branch_that_is_abandoned_after_a_turn_ended_leaves_no_case_but_the_rule_of_the_person() {
    let project = recording();
    let mut lines = Lines::default();
    let base = lines.add_work("", "first", FIRST, "/home/dev/shop/src/orders.ts");
    end_turn(&project, &lines);
    project.prompt(RULE);
    let after = lines.add_work(&base, "rule", RULE, "/home/dev/shop/src/pay.ts");
    end_turn(&project, &lines);
    project.prompt(LOST);
    lines.add_work(&after, "lost", LOST, "/home/dev/shop/src/refunds.ts");
    end_turn(&project, &lines);
    assert_eq!(records(&project, Kind::Episode, "refunds of a").len(), 1);
    let next = "also sort it by date";
    project.prompt(next);
    lines.add_work(&base, "next", next, "/home/dev/shop/src/orders.ts");
    end_turn(&project, &lines);
    assert_eq!(records(&project, Kind::Episode, "refunds of a"), []);
    assert_eq!(records(&project, Kind::Episode, "orders of a").len(), 1);
    let rules = records(&project, Kind::Knowledge, "payment service");
    assert_eq!(rules.len(), 1, "{rules:?}");
    assert_eq!(rules[0].source, "user");
    let turns = project.engine.sessions().get("s", None).unwrap().1;
    for words in [FIRST, RULE, LOST, next] {
        let said = |turn: &&heirloom_model::Message| turn.role == Role::User && turn.text == words;
        assert_eq!(turns.iter().filter(said).count(), 1, "{words}");
    }
}

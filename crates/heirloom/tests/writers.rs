//! Summaries and judgements by a model, over real HTTP, through the program.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests: what cannot be done fails the test"
)]

#[path = "support/answer_validation.rs"]
mod answer_validation;
#[path = "writers/budget.rs"]
mod budget;
#[expect(dead_code, reason = "each test file uses a part of it")]
#[path = "support/driver.rs"]
mod driver;
#[path = "writers/failures.rs"]
mod failures;
#[path = "writers/lesson_judging.rs"]
mod lesson_judging;
#[expect(dead_code, reason = "each test file uses a part of it")]
#[path = "cli/project.rs"]
mod project;
#[path = "writers/summaries.rs"]
mod summaries;
#[path = "writers/summary_publishing.rs"]
mod summary_publishing;

#[expect(dead_code, reason = "each test file uses a part of it")]
#[path = "cli/transcript_fixture.rs"]
mod transcript_fixture;

use heirloom_testkit::{ModelService, Reply, Turn};
use project::{Answer, Project};
use serde_json::{Value, json};

/// Summary text that the model service returns.
const SUMMARY: &str =
    "GOAL: mend the Monday deploy\nDECISIONS: queue_7 is drained first\nNEXT: run deploy_9";
const GOAL: &str = "find out why the deploy fails on every second Monday, and mend it";
/// A secret that the built-in rules recognise.
const SECRET: &str = "ghp_Zq81kLmXvB4cRt8WzY1pQs5dFgH2nJ7uTe3A";
/// Options with a low target, so that a short conversation is summarised.
const LOW_TARGET: [&str; 4] = ["--session", "s", "--target-tokens", "9000"];

fn summary_reply() -> Reply {
    Turn::text(SUMMARY).into()
}

/// Writes the user's config: the service, and further keys of `[writer]`.
fn configure(project: &Project, kind: &str, url: &str, more: &str) {
    let config = format!(
        "[writer]\nkind = \"{kind}\"\nurl = \"{url}\"\nmodel = \"claude-sonnet-4-5\"\n{more}\n"
    );
    let path = ".config/heirloom/config.toml";
    project.home.write(path, config).unwrap();
}

/// Creates a project and a service that answers with these replies.
fn project_with_service(answers: Vec<Reply>, more: &str) -> (Project, ModelService) {
    let project = Project::new();
    let service = ModelService::start(answers).unwrap();
    configure(&project, "anthropic", &service.base_url(), more);
    (project, service)
}

/// Builds a conversation with this number of turns.
fn conversation(turns: usize) -> Vec<Value> {
    let line = |n: usize, at: usize| format!("{n}.{at}: src/deploy_{n}.rs says queue_{at} is busy");
    let mut all = vec![
        json!({"role": "system", "content": "You are careful."}),
        json!({"role": "user", "content": GOAL}),
    ];
    for n in 0..turns {
        let call = json!({"id": format!("c{n}"), "type": "function",
            "function": {"name": "bash", "arguments": format!("{{\"command\":\"cat src/deploy_{n}.rs\"}}")}});
        all.push(
            json!({"role": "assistant", "content": format!("step {n}"), "tool_calls": [call]}),
        );
        let output: Vec<String> = (0..60).map(|at| line(n, at)).collect();
        all.push(
            json!({"role": "tool", "tool_call_id": format!("c{n}"), "content": output.join("\n")}),
        );
    }
    all
}

impl Project {
    /// Runs `compact`; returns the window on standard output, and the messages.
    #[track_caller]
    fn compact(&self, args: &[&str], history: &[Value]) -> Answer {
        let history = Value::Array(history.to_vec()).to_string();
        let answer = self.input(&[&["compact"], args].concat(), history.as_bytes());
        assert_eq!(answer.code, 0, "{answer:?}");
        answer
    }

    /// Returns the writer's usage from `status`.
    #[track_caller]
    fn writer_usage(&self) -> Value {
        self.json(&["status"])["writer"].clone()
    }
}

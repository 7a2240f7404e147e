//! Three agents, each its own process, on a graph of six tasks with one memory: a failed approach is not repeated.

use crate::project::{Project, string};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Stdio};

/// Each task with the tasks that it depends on.
const GRAPH: [(&str, &[&str]); 6] = [
    ("schema", &[]),
    ("parser", &["schema"]),
    ("login", &["schema"]),
    ("api", &["parser", "login"]),
    ("docs", &["api"]),
    ("release", &["api"]),
];

const AGENTS: [&str; 3] = ["ada", "bob", "cleo"];

/// Script of an agent. It reads the context first, which shows it earlier failures.
const AGENT: &str = r#"
set -e
"$HEIRLOOM" context --task "$TASK" > "context-$TASK-$AGENT.txt"
"$HEIRLOOM" step pending "do the $TASK" --task "$TASK" > /dev/null
"$HEIRLOOM" remember "the port of the service is $PORT" --key service-port --source "$AGENT" \
    --confidence 0.8 --task "$TASK" > /dev/null
if [ "$APPROACH" = "mock the clock of the session" ]; then
    "$HEIRLOOM" task fail "$TASK" --agent "$AGENT" --approach "$APPROACH" \
        --outcome "tokens still expire in the middle of a test" > /dev/null
    exit 3
fi
"$HEIRLOOM" remember "the $TASK is in src/$TASK.rs" --source "$AGENT" --task "$TASK" > /dev/null
"$HEIRLOOM" step done "do the $TASK" --task "$TASK" > /dev/null
"$HEIRLOOM" task done "$TASK" --agent "$AGENT" --approach "$APPROACH" --outcome "all green" > /dev/null
"#;

fn start_agent(project: &Project, task: &str, agent: &str, approach: &str) -> Child {
    // The environment of a run, so that the agent's calls reach only this project.
    let call = project.command(&["status"]);
    let mut agent_process = std::process::Command::new("sh");
    agent_process
        .args(["-c", AGENT])
        .current_dir(project.path());
    for (name, value) in call.get_envs() {
        match value {
            Some(value) => agent_process.env(name, value),
            None => agent_process.env_remove(name),
        };
    }
    agent_process
        .env("HEIRLOOM", env!("CARGO_BIN_EXE_heirloom"))
        .env("TASK", task)
        .env("AGENT", agent)
        .env("APPROACH", approach)
        .env("PORT", if agent == "ada" { "8080" } else { "9090" })
        .stdin(Stdio::null())
        .spawn()
        .unwrap()
}

/// Returns the first approach to a task that is not similar to a failed one.
fn choose_approach<'a>(project: &Project, approaches: &[&'a str]) -> &'a str {
    let untried = approaches.iter().find(|approach| {
        let answer = project.json(&["tried", approach]);
        answer["failed"] == false
    });
    untried.unwrap()
}

fn approaches(task: &str) -> Vec<&'static str> {
    match task {
        "login" => vec![
            "mock the clock of the session",
            "hand a fixed time to the handler",
        ],
        _ => vec!["write the smallest thing that works"],
    }
}

#[test]
fn agents_avoid_failed_approaches_and_conflicts_are_resolved() {
    let project = Project::new();
    for (task, _) in GRAPH {
        project.ok(&["task", "set", task, "--type", "issue"]);
    }
    let mut done: BTreeSet<&str> = BTreeSet::new();
    let mut failures = 0;
    let mut rounds = 0;
    while done.len() < GRAPH.len() {
        rounds += 1;
        assert!(rounds < 20, "the graph comes to no end: {done:?}");
        let ready = GRAPH.iter().filter(|(task, needs)| {
            !done.contains(task) && needs.iter().all(|need| done.contains(need))
        });
        let mut running: BTreeMap<&str, Child> = BTreeMap::new();
        for (n, (task, _)) in ready.take(AGENTS.len()).enumerate() {
            let approach = choose_approach(&project, &approaches(task));
            let agent = AGENTS[(n + failures) % AGENTS.len()];
            running.insert(task, start_agent(&project, task, agent, approach));
        }
        for (task, mut child) in running {
            if child.wait().unwrap().success() {
                done.insert(task);
            } else {
                failures += 1;
            }
        }
    }
    assert_eq!(failures, 1, "the failed approach was tried once");

    let login = project.json(&["episode", "list", "--task", "login"]);
    let actions: Vec<String> = login["episodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|episode| string(&episode["action"]))
        .collect();
    assert_eq!(actions, ["completed", "failed"], "newest first");
    let context = project.ok(&["context", "--task", "login"]).stdout;
    assert!(context.contains("tokens still expire"), "{context}");

    let conflicts = project.json(&["conflicts"])["conflicts"].clone();
    let [conflict] = conflicts.as_array().unwrap().as_slice() else {
        panic!("{conflicts}");
    };
    let text_of = |value: &Value| string(&value["text"]);
    assert_ne!(
        text_of(&conflict["winner"]),
        text_of(&conflict["losers"][0])
    );
    let id = string(&conflict["id"]);
    let keep = string(&conflict["losers"][0]["id"]);
    project.expect(&["resolve", &id, "--keep", &keep, "--as", "bob"], 4);
    project.ok(&["resolve", &id, "--keep", &keep, "--as", "orchestrator"]);
    assert_eq!(
        project.json(&["conflicts"])["conflicts"],
        serde_json::json!([])
    );
    let port = project.json(&["recall", "port of the service"]);
    assert_eq!(port["hits"][0]["text"], conflict["losers"][0]["text"]);

    let history = project.json(&["history", "-n", "500"]);
    let actions: Vec<String> = history["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| string(&event["action"]))
        .collect();
    for action in ["created", "replaced", "resolved"] {
        assert!(
            actions.iter().any(|found| found == action),
            "{action} is not in {actions:?}"
        );
    }
    for (task, _) in GRAPH {
        let shown = project.json(&["task", "show", task]);
        assert_eq!(shown["state"], "done", "{task}");
    }
    assert_eq!(project.json(&["doctor"])["ok"], true);
}

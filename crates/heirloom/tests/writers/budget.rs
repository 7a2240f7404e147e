//! What a day may cost, whichever process and project asks.

use super::{LOW, Project, chat, configure, good, with_service};
use heirloom_model::limits;
use heirloom_testkit::ModelService;
use serde_json::json;
use std::process::Stdio;

#[test]
fn over_the_day_s_budget_nothing_is_sent() {
    for (more, key) in [
        ("daily_tokens = 500", "tokens"),
        (
            "daily_cents = 1\nprices = [\"claude-sonnet-4-5 100 500 10\"]",
            "$0.0100",
        ),
    ] {
        let (project, service) = with_service(vec![good()], more);
        let answer = project.compact(&LOW, &chat(60));
        assert!(
            answer
                .stderr
                .contains("the summary is made without a model"),
            "{answer:?}"
        );
        assert!(answer.stderr.contains(key), "{key}: {answer:?}");
        assert_eq!(service.requests().len(), 0, "{key}");
        assert_eq!(project.metered()["calls"], 0);
    }
}

#[test]
fn a_day_is_one_budget_for_all_sessions_and_ends_at_midnight() {
    let answers = (0..4).map(|_| good()).collect();
    let (mut project, service) = with_service(answers, "daily_tokens = 60000");
    let all = chat(60);
    project.at("2026-05-01T10:00:00Z");
    let mut sessions = 0;
    loop {
        let name = format!("s{sessions}");
        let args = ["--session", &name, LOW[2], LOW[3]];
        if project
            .compact(&args, &all)
            .stderr
            .contains("without a model")
        {
            break;
        }
        sessions += 1;
        assert!(sessions < 4, "{}", project.metered());
    }
    assert!(sessions > 0);
    assert_eq!(service.requests().len(), sessions);
    let meter = project.metered();
    assert_eq!(meter["day"], "2026-05-01");
    assert_eq!(meter["calls"], sessions);
    let used = meter["input_tokens"].as_u64().unwrap() + meter["output_tokens"].as_u64().unwrap();
    assert!(used <= 60_000, "{meter}");
    project.at("2026-05-02T00:00:01Z");
    assert_eq!(project.metered()["calls"], 0);
    let fresh = project.compact(&["--session", "next", LOW[2], LOW[3]], &all);
    assert!(!fresh.stderr.contains("without a model"), "{fresh:?}");
}

#[test]
fn processes_at_once_say_the_same_and_are_all_counted() {
    let answers = (0..3).map(|_| good()).collect();
    let (project, service) = with_service(answers, "");
    let history = project.file("history.json");
    #[expect(clippy::disallowed_methods, reason = "a file of a test")]
    std::fs::write(&history, serde_json::Value::Array(chat(60)).to_string()).unwrap();
    let start = || {
        let mut command = project.command(&[&["compact"], &LOW[..]].concat());
        command
            .stdin(std::fs::File::open(&history).unwrap())
            .stdout(Stdio::piped());
        command.spawn().unwrap()
    };
    let running = [start(), start(), start()];
    let ended = running.map(|child| child.wait_with_output().unwrap());
    for one in &ended {
        assert!(one.status.success(), "{one:?}");
        assert_eq!(one.stdout, ended[0].stdout);
    }
    assert_eq!(project.metered()["calls"], service.requests().len());
}

#[test]
fn a_budget_that_cannot_be_read_is_not_guessed() {
    let (project, service) = with_service(vec![good(), good()], "");
    let file = ".local/share/heirloom/writer.json";
    for said in [
        "{\"calls\": -",
        &"x".repeat(limits::WRITER_SPENT_BYTES_MAX as usize + 1),
    ] {
        project.home.write(file, said).unwrap();
        let name = said.len().to_string();
        let answer = project.compact(&["--session", &name, LOW[2], LOW[3]], &chat(60));
        assert!(answer.stderr.contains("writer.json"), "{answer:?}");
        assert_eq!(service.requests().len(), 0);
        assert!(project.metered()["problem"].is_string());
    }
    project
        .home
        .write(file, json!({"day": "2026-05-01"}).to_string())
        .unwrap();
    project.compact(&LOW, &chat(60));
    assert_eq!(service.requests().len(), 1);
    // Another project of the same person spends from the same budget.
    let mut other = Project::new();
    other.home = project.home;
    configure(&other, "anthropic", &service.base_url(), "");
    other.compact(&LOW, &chat(60));
    assert_eq!(other.metered()["calls"], 2);
}

#[test]
fn nothing_is_said_of_a_meter_where_no_model_writes() {
    let project = Project::new();
    assert!(project.metered().is_null());
    assert!(!project.ok(&["status"]).stdout.contains("writer"));
    drop(ModelService::start(vec![good()]).unwrap());
}

//! Daily budget, shared by processes and projects.

use super::{LOW_TARGET, Project, configure, conversation, project_with_service, summary_reply};
use heirloom_model::limits;
use heirloom_testkit::ModelService;
use serde_json::json;
use std::process::Stdio;

#[test]
fn compact_over_daily_budget_sends_no_request() {
    for (more, key) in [
        ("daily_tokens = 500", "tokens"),
        (
            "daily_cents = 1\nprices = [\"claude-sonnet-4-5 100 500 10\"]",
            "$0.0100",
        ),
    ] {
        let (project, service) = project_with_service(vec![summary_reply()], more);
        let answer = project.compact(&LOW_TARGET, &conversation(60));
        assert!(
            answer
                .stderr
                .contains("the summary is made without a model"),
            "{answer:?}"
        );
        assert!(answer.stderr.contains(key), "{key}: {answer:?}");
        assert_eq!(service.requests().len(), 0, "{key}");
        assert_eq!(project.writer_usage()["calls"], 0);
    }
}

#[test]
fn daily_budget_is_shared_by_sessions_and_resets_at_midnight() {
    let answers = (0..4).map(|_| summary_reply()).collect();
    let (mut project, service) = project_with_service(answers, "daily_tokens = 60000");
    let all = conversation(60);
    project.set_clock("2026-05-01T10:00:00Z");
    let mut sessions = 0;
    loop {
        let name = format!("s{sessions}");
        let args = ["--session", &name, LOW_TARGET[2], LOW_TARGET[3]];
        if project
            .compact(&args, &all)
            .stderr
            .contains("without a model")
        {
            break;
        }
        sessions += 1;
        assert!(sessions < 4, "{}", project.writer_usage());
    }
    assert!(sessions > 0);
    assert_eq!(service.requests().len(), sessions);
    let usage = project.writer_usage();
    assert_eq!(usage["day"], "2026-05-01");
    assert_eq!(usage["calls"], sessions);
    let used = usage["input_tokens"].as_u64().unwrap() + usage["output_tokens"].as_u64().unwrap();
    assert!(used <= 60_000, "{usage}");
    project.set_clock("2026-05-02T00:00:01Z");
    assert_eq!(project.writer_usage()["calls"], 0);
    let fresh = project.compact(&["--session", "next", LOW_TARGET[2], LOW_TARGET[3]], &all);
    assert!(!fresh.stderr.contains("without a model"), "{fresh:?}");
}

#[test]
fn concurrent_processes_agree_and_are_all_counted() {
    let answers = (0..3).map(|_| summary_reply()).collect();
    let (project, service) = project_with_service(answers, "");
    let history = project.file("history.json");
    #[expect(clippy::disallowed_methods, reason = "a file of a test")]
    std::fs::write(
        &history,
        serde_json::Value::Array(conversation(60)).to_string(),
    )
    .unwrap();
    let start = || {
        let mut command = project.command(&[&["compact"], &LOW_TARGET[..]].concat());
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
    assert_eq!(project.writer_usage()["calls"], service.requests().len());
}

#[test]
fn unreadable_spend_ledger_prevents_requests() {
    let (project, service) = project_with_service(vec![summary_reply(), summary_reply()], "");
    let file = ".local/share/heirloom/writer.json";
    for content in [
        "{\"calls\": -",
        &"x".repeat(limits::SPEND_LEDGER_BYTES_MAX as usize + 1),
    ] {
        project.home.write(file, content).unwrap();
        let name = content.len().to_string();
        let answer = project.compact(
            &["--session", &name, LOW_TARGET[2], LOW_TARGET[3]],
            &conversation(60),
        );
        assert!(answer.stderr.contains("writer.json"), "{answer:?}");
        assert_eq!(service.requests().len(), 0);
        assert!(project.writer_usage()["problem"].is_string());
    }
    project
        .home
        .write(file, json!({"day": "2026-05-01"}).to_string())
        .unwrap();
    project.compact(&LOW_TARGET, &conversation(60));
    assert_eq!(service.requests().len(), 1);
    // Another project of the same user has the same budget.
    let mut other = Project::new();
    other.home = project.home;
    other.ok(&["trust", "memory", "--yes"]);
    configure(&other, "anthropic", &service.base_url(), "");
    other.compact(&LOW_TARGET, &conversation(60));
    assert_eq!(other.writer_usage()["calls"], 2);
}

#[test]
fn status_without_writer_has_no_usage() {
    let project = Project::new();
    assert!(project.writer_usage().is_null());
    assert!(!project.ok(&["status"]).stdout.contains("writer"));
    drop(ModelService::start(vec![summary_reply()]).unwrap());
}

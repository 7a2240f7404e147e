//! Judgement of lessons by a model.

use super::{Project, SECRET, configure, project_with_service};
use crate::driver::wait_until;
use crate::project::string;
use crate::transcript_fixture::TranscriptFixture;
use heirloom_testkit::{ModelService, RecordedRequest, Reply, Script, Turn};
use serde_json::{Value, json};
use std::time::Duration;

const RULE: &str = "Always use pnpm, never npm, in this repository.";
const LATER_RULE: &str = "From now on always run the linter before a commit.";
const CAUSE: &str = "The root cause is that `pnpm build` needs `SVELTE_ENV` in `config/build.toml`, because the plugin \
                     reads it at startup.";
const OTHER_CAUSE: &str = "The root cause is that `make docs` needs `DOCS_HOME` in `config/docs.toml`, because the theme \
                           reads it.";
/// Words of a person that set no rule.
const REMARK: &str =
    "the staging database answers on port 8081, the one on 5432 is a copy of last year.";

/// Returns the turns of a conversation with two explanations and two rules.
fn turns() -> Vec<(&'static str, &'static str)> {
    vec![
        ("user", "Make the pages build again"),
        ("assistant", CAUSE),
        ("user", RULE),
        ("assistant", OTHER_CAUSE),
        ("user", REMARK),
        ("assistant", "Understood."),
        ("user", LATER_RULE),
        ("assistant", "Understood."),
    ]
}

/// Stores the conversation and its lessons.
fn teach(project: &Project) {
    for (role, text) in turns() {
        let add = ["session", "add", "--session", "s", "--role", role];
        let added = project.input(&add, text.as_bytes());
        assert!(added.code == 0, "{added:?}");
    }
    project.ok(&["learn", "s"]);
}

/// Returns the texts of the stored knowledge, sorted.
fn texts(project: &Project) -> Vec<String> {
    let list = project.list("knowledge");
    let mut texts: Vec<String> = list.iter().map(|record| string(&record["text"])).collect();
    texts.sort();
    texts
}

fn has(project: &Project, words: &str) -> bool {
    texts(project).iter().any(|text| text.contains(words))
}

fn data(request: &RecordedRequest) -> String {
    string(&request.body["messages"][0]["content"])
}

/// Returns the number of the candidate, or of the sentence, with these words.
fn number(data: &str, words: &str) -> u64 {
    let is_numbered = |line: &&str| line.contains(words) && !line.starts_with('|');
    let line = data.lines().find(is_numbered).unwrap();
    let number = line.split(' ').next().unwrap();
    number.trim_start_matches('L').parse().unwrap()
}

/// Starts a service that answers each request with what `answer` makes of its data.
fn judge_service(answer: impl Fn(&str) -> Value + Send + 'static) -> (Project, ModelService) {
    let script = Script::function(move |request| Turn::text(answer(&data(request)).to_string()));
    let service = ModelService::start(script).unwrap();
    let project = Project::new();
    configure(&project, "anthropic", &service.base_url(), "");
    (project, service)
}

/// Returns the opinion on the candidate with these words.
fn opinion(explained: &Value, words: &str) -> Value {
    let lessons = explained["lessons"].as_array().unwrap();
    let found = lessons
        .iter()
        .find(|lesson| string(&lesson["text"]).contains(words) && lesson["what"] != "episode");
    found.unwrap()["opinion"].clone()
}

#[test]
fn verdicts_change_what_is_stored_and_undo_reverts_them() {
    let (project, service) = judge_service(|data| {
        json!({
            "drop": [number(data, "SVELTE_ENV")],
            "wrong": [number(data, "never npm")],
            "same": [[number(data, "DOCS_HOME"), number(data, "the linter")]],
        })
    });
    teach(&project);
    let before = texts(&project);
    assert!(before.iter().any(|text| text.contains("SVELTE_ENV")));
    assert_eq!(service.requests().len(), 0, "learning alone asks nothing");
    let done = project.json(&["learn", "s", "--judge"]);
    let judged = json!({"model": "claude-sonnet-4-5", "verdicts": 3, "spans": 0});
    assert_eq!((&done["judged"], &done["retired"]), (&judged, &json!(2)));
    assert!(!has(&project, "SVELTE_ENV") && !has(&project, "DOCS_HOME"));
    assert!(has(&project, "never npm") && has(&project, "the linter"));
    let sent = data(&service.requests()[0]);
    for line in ["needs `SVELTE_ENV` in", RULE, "| ", "L1 "] {
        assert!(sent.contains(line), "{line}: {sent}");
    }

    let explained = project.json(&["learn", "s", "--dry-run", "--explain"]);
    let linter = json!("From now on always run the linter before a commit.");
    for (words, verdict, other, followed) in [
        ("SVELTE_ENV", "drop", Value::Null, true),
        ("never npm", "wrong", Value::Null, false),
        ("DOCS_HOME", "same_as", linter, true),
    ] {
        let wanted = json!({"verdict": verdict, "other": other, "followed": followed});
        assert_eq!(opinion(&explained, words), wanted, "{words}");
    }
    let printed = project.ok(&["learn", "s", "--dry-run", "--explain"]).stdout;
    for line in [
        "no use           learning: ",
        "  model: drop\n",
        "  model: wrong, not followed\n",
        "  model: same as \"From now on always",
    ] {
        assert!(printed.contains(line), "{line}: {printed}");
    }

    // Judged once; learning again keeps the decisions.
    let after = texts(&project);
    let again = project.ok(&["learn", "s", "--judge"]);
    assert!(again.stderr.contains("nothing new to judge"), "{again:?}");
    project.ok(&["learn", "--all"]);
    assert_eq!(texts(&project), after);
    assert_eq!(service.requests().len(), 1);
    let retirements = done["retirements"].as_array().unwrap();
    assert_eq!((retirements.len(), &done["batch"]), (2, &Value::Null));
    for retired in retirements {
        project.ok(&["undo", &string(&retired["record"])]);
    }
    assert_eq!(texts(&project), before);
    project.ok(&["learn", "s", "--judge"]);
    assert_eq!(texts(&project), before, "what a person took back stays so");
}

#[test]
fn later_rule_of_a_person_replaces_an_earlier_one() {
    let (project, _service) = judge_service(|data| {
        let (rule, later) = (number(data, "never npm"), number(data, "the linter"));
        json!({"replaced": [[rule, later], [later, rule], [rule, later]]})
    });
    teach(&project);
    let done = project.json(&["learn", "s", "--judge"]);
    assert_eq!(done["retired"], 1, "{done}");
    assert!(!has(&project, "never npm") && has(&project, "the linter"));
    let explained = project.json(&["learn", "s", "--dry-run", "--explain"]);
    assert_eq!(opinion(&explained, "the linter")["followed"], false);
}

#[test]
fn record_that_a_person_pinned_or_repeated_stays() {
    let (project, _service) = judge_service(
        |data| json!({"wrong": [number(data, "SVELTE_ENV")], "drop": [number(data, "DOCS_HOME")]}),
    );
    teach(&project);
    let list = project.list("knowledge");
    let record = |words: &str| {
        let mut records = list.iter();
        let found = records.find(|record| string(&record["text"]).contains(words));
        found.unwrap().clone()
    };
    project.ok(&["pin", &string(&record("SVELTE_ENV")["id"])]);
    project.ok(&["remember", &string(&record("DOCS_HOME")["text"])]);
    let done = project.json(&["learn", "s", "--judge"]);
    assert_eq!(
        (&done["judged"]["verdicts"], &done["retired"]),
        (&json!(2), &json!(1))
    );
    assert!(has(&project, "SVELTE_ENV"));
    let list = project.list("knowledge");
    let repeated = (list.iter()).filter(|record| string(&record["text"]).contains("DOCS_HOME"));
    let sources: Vec<&Value> = repeated.map(|record| &record["source"]).collect();
    assert_eq!(sources, ["user"]);
}

#[test]
fn picked_span_is_stored_in_the_words_of_the_person() {
    let (project, _service) = judge_service(|data| {
        let line = number(data, "port 8081");
        json!({"spans": [[line, line]], "keep": [4_000]})
    });
    teach(&project);
    assert!(!has(&project, "8081"));
    let done = project.json(&["learn", "s", "--judge"]);
    assert_eq!(
        (&done["judged"]["spans"], &done["created"]),
        (&json!(1), &json!(1))
    );
    let list = project.list("knowledge");
    let picked = list
        .iter()
        .find(|record| string(&record["text"]).contains("8081"));
    let picked = picked.unwrap();
    assert_eq!(
        (&picked["text"], &picked["source"]),
        (&json!(REMARK), &json!("user"))
    );
    let shown = project
        .ok(&["show", &string(&picked["id"]), "--source"])
        .stdout;
    assert!(shown.contains("a person"), "{shown}");
    project.ok(&["learn", "s"]);
    assert!(has(&project, "8081"));
    project.ok(&["undo", &string(&done["batch"])]);
    project.ok(&["learn", "s", "--judge"]);
    assert!(!has(&project, "8081"));
}

/// Checks that an answer leaves everything as it is, with this reason.
#[track_caller]
fn check_unchanged(replies: Vec<Reply>, more: &str, reason: &str, requests: usize) {
    let (project, service) = project_with_service(replies, more);
    teach(&project);
    let before = project.ok(&["export", "--all"]).stdout;
    let done = project.ok(&["learn", "s", "--judge"]);
    let says = &done.stderr;
    assert!(says.contains("the lessons stay as they are"), "{done:?}");
    assert!(says.contains(reason), "{reason}: {done:?}");
    assert_eq!(service.requests().len(), requests, "{reason}");
    assert_eq!(project.ok(&["export", "--all"]).stdout, before, "{reason}");
    let explained = project.json(&["learn", "s", "--dry-run", "--explain"]);
    assert_eq!(opinion(&explained, "SVELTE_ENV"), Value::Null);
}

#[test]
fn answer_of_another_form_changes_nothing() {
    let secret = format!(r#"{{"drop": [1], "text": "Use {SECRET}"}}"#);
    for answer in [
        "I would drop 1.",
        r#"{"drop": ["1"]}"#,
        r#"{"drop": [1]"#,
        r#"[[1]]"#,
        secret.as_str(),
    ] {
        check_unchanged(vec![Turn::text(answer).into()], "", "not the JSON", 1);
    }
}

#[test]
fn failing_slow_or_missing_service_changes_nothing() {
    let drop_all = || Turn::text(r#"{"drop": [1, 2, 3, 4, 5]}"#);
    check_unchanged(vec![Reply::Status(500), Reply::Status(500)], "", "500", 2);
    check_unchanged(vec![Reply::InvalidJson], "", "JSON", 1);
    let late = Reply::Delayed(drop_all(), Duration::from_secs(600));
    check_unchanged(vec![late.clone(), late], "timeout_s = 1", "", 2);
}

#[test]
fn spent_budget_sends_nothing() {
    let answer = || vec![Turn::text(r#"{"drop": [1]}"#).into()];
    check_unchanged(answer(), "daily_tokens = 500", "tokens", 0);
    let prices = "daily_cents = 1\nprices = [\"claude-sonnet-4-5 100 500 10\"]";
    check_unchanged(answer(), prices, "$0.0100", 0);
}

#[test]
fn requests_are_counted_in_the_daily_spend() {
    let (project, _service) = judge_service(|_| json!({}));
    teach(&project);
    project.ok(&["learn", "s", "--judge"]);
    assert_eq!(project.writer_usage()["calls"], 1);
}

#[test]
fn judging_without_a_model_is_refused() {
    let project = Project::new();
    teach(&project);
    let refused = project.run(&["learn", "s", "--judge"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("[writer]"), "{refused:?}");
}

/// Ends a session of Claude Code whose transcript has the conversation.
fn end_session(project: &Project) {
    let mut transcript = TranscriptFixture::new("s", project.path());
    for (role, text) in turns() {
        match role {
            "user" => transcript.add_user_message(text),
            _ => transcript.add_assistant_message(text),
        };
    }
    let path = transcript.write_file(project);
    let event = json!({
        "session_id": "s", "cwd": project.path(), "transcript_path": path, "reason": "other",
    });
    let answer = project.input(
        &["hook", "claude-code", "SessionEnd"],
        event.to_string().as_bytes(),
    );
    assert_eq!((answer.code, answer.stderr.as_str()), (0, ""));
}

#[test]
fn ended_session_is_judged_in_the_background() {
    let (project, service) = judge_service(|data| json!({"wrong": [number(data, "SVELTE_ENV")]}));
    end_session(&project);
    wait_until("the verdict is applied", || {
        service.requests().len() == 1 && !has(&project, "SVELTE_ENV")
    });
    assert!(has(&project, "DOCS_HOME") && has(&project, "never npm"));
    // A later end of the same conversation asks nothing and keeps the decision.
    end_session(&project);
    assert!(!has(&project, "SVELTE_ENV"));
}

#[test]
fn hook_does_not_wait_for_the_model() {
    let late = Reply::Delayed(Turn::text("{}"), Duration::from_secs(600));
    let (project, service) = project_with_service(vec![late], "timeout_s = 2");
    end_session(&project);
    assert!(has(&project, "SVELTE_ENV"));
    let log = project.folder.read(".heirloom/hooks.log");
    assert!(log.is_err() || !log.unwrap().contains("not finished in time"));
    wait_until("the model is asked", || service.requests().len() == 1);
}

#[test]
fn sessions_are_judged_on_request_only_if_the_setting_says_so() {
    let (project, service) = project_with_service(
        vec![Turn::text(r#"{"drop": [1]}"#).into()],
        "lessons = false",
    );
    end_session(&project);
    assert_eq!(service.requests().len(), 0);
    project.ok(&["learn", "s", "--judge"]);
    assert_eq!(service.requests().len(), 1);
}

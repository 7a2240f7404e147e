//! Starts of sessions: which records the list has, and what a continued conversation is told.

use super::HookedProject;
use heirloom_agents::AgentProgram;
use heirloom_engine::{NewRecord, TaskChange};
use heirloom_fs::durable;
use heirloom_model::kinds::{StepState, TaskState};
use heirloom_model::mark::Mark;
use heirloom_model::record::Attrs;
use heirloom_model::{Kind, MergeRule, Record, RecordId, Scope, Session, Timestamp, limits, text};
use heirloom_store::Change;
use serde_json::{Value, json};
use std::time::Duration;

const RULE: &str = "The nightly export writes CSV with semicolons";

impl HookedProject {
    /// Remembers a convention of a person.
    pub(super) fn rule(&self, text: &str) -> RecordId {
        let rule = NewRecord {
            category: Some("convention".to_owned()),
            ..super::fact(text)
        };
        self.engine.records().remember(rule).unwrap().id
    }

    /// Returns a record of some days ago that a session taught, to be stored.
    fn lesson(&self, kind: Kind, text: &str, session: &str, days: u64, more: Value) -> Record {
        let source = match more["category"].as_str() {
            Some("convention" | "preference") => "user",
            _ => "claude-code",
        };
        let scope = Scope {
            session: Some(session.to_owned()),
            ..Scope::default()
        };
        let mut record = self.engine.records().draft(kind, text, scope, source);
        record.recorded_at = self.days_ago(days);
        record.key = Some(text::hash16(text));
        let Value::Object(attrs) = more else {
            panic!("{more}");
        };
        record.attrs = attrs;
        let lesson = json!({
            "session": session, "source": "person_rule", "speaker": "person", "worth": 0.9,
            "learned_at": record.recorded_at, "evidence": [],
        });
        record.attrs.insert("lesson".to_owned(), lesson);
        record
    }

    fn store(&self, record: Record) -> RecordId {
        let change = Change::Put {
            record: Box::new(record),
            merge: MergeRule::Keep,
        };
        self.engine.apply(&[change]).unwrap()[0].id
    }

    /// Stores a rule that a person stated in a session.
    fn said(&self, text: &str, session: &str) -> RecordId {
        let attrs = json!({"category": "convention"});
        self.store(self.lesson(Kind::Knowledge, text, session, 2, attrs))
    }

    /// Stores a failure of a command with what helped.
    pub(super) fn failed(
        &self,
        command: &str,
        error: &str,
        fix: &str,
        session: &str,
        days: u64,
    ) -> RecordId {
        let attrs = json!({"state": "resolved", "resolution": fix});
        let text = format!("`{command}` failed: {error}");
        self.store(self.lesson(Kind::Error, &text, session, days, attrs))
    }

    pub(super) fn case(&self, request: &str, outcome: &str, session: &str, days: u64) -> RecordId {
        let attrs = json!({"action": "completed", "approach": request, "outcome": outcome});
        let text = format!("{request}: {outcome}");
        self.store(self.lesson(Kind::Episode, &text, session, days, attrs))
    }

    /// Stores a session that began and ended some days ago.
    pub(super) fn session(&self, id: &str, days: u64) {
        let session = Session {
            project: self.engine.project().clone(),
            id: id.to_owned(),
            agent: Some("claude-code".to_owned()),
            task: None,
            started_at: self.days_ago(days),
            ended_at: Some(self.days_ago(days)),
            attrs: Attrs::new(),
        };
        self.engine.sessions().put_session(&session).unwrap();
    }

    fn days_ago(&self, days: u64) -> Timestamp {
        self.engine.now() - Duration::from_secs(days * 86_400)
    }

    fn started(&self, session: &str, source: &str) -> String {
        let more = json!({"source": source});
        self.send_in(session, AgentProgram::ClaudeCode, "SessionStart", more)
    }
}

/// Returns the items of a start.
pub(super) fn items(start: &str) -> Vec<&str> {
    start
        .lines()
        .filter(|line| line.starts_with("- "))
        .collect()
}

/// Stores rules of people, and what looks like one.
fn add_rules(project: &HookedProject) {
    let pinned = super::fact("Staging runs on port 7443.");
    let pinned = project.engine.records().remember(pinned).unwrap().id;
    let marks = project.engine.records();
    marks.mark(pinned, Mark::Pinned(true)).unwrap();
    project.rule("Commit messages are in English.");
    project.said("Never edit a migration that is merged.", "one");
    project.said("Never edit a migration that is merged!", "two");
    project.said("Push it up and open the pull request.", "two");
    project.said("I thought we removed the old exporter.", "two");
    let of_agent = NewRecord {
        category: Some("convention".to_owned()),
        source: Some("codex".to_owned()),
        ..super::fact("Files are named in snake case.")
    };
    project.engine.records().remember(of_agent).unwrap();
    project.remember("The warehouse has nine shelves.");
    let muted = project.rule("Use tabs everywhere.");
    project
        .engine
        .records()
        .mark(muted, Mark::Muted(true))
        .unwrap();
}

/// Stores failures of commands, of which two are known pitfalls.
fn add_failures(project: &HookedProject) {
    let fixed = "`npm test -- --runInBand` works.";
    project.failed(
        "npm test part",
        "too many workers",
        "`npm test part --one` works.",
        "one",
        3,
    );
    project.failed("npm test", "too many workers", fixed, "two", 2);
    project.failed(
        "make",
        "no compiler",
        "ran `make setup`, then it passed",
        "three",
        1,
    );
    project.failed(
        "npm run lint",
        "old trouble",
        "`npm run lint:js` works.",
        "old",
        9,
    );
    project.failed(
        "npm run build",
        "type error",
        "edited `src/a.ts`, then it passed",
        "two",
        2,
    );
    project.failed(
        "git stash pop",
        "would be overwritten",
        "ran `git checkout a.txt`.",
        "two",
        2,
    );
    let open = project.engine.errors();
    open.log(
        "`node export.js` failed: no such file",
        Scope::default(),
        "codex",
    )
    .unwrap();
}

/// Stores work of sessions that ended, and of tasks.
fn add_work(project: &HookedProject) {
    let todo = json!({"state": "pending"});
    project.store(project.lesson(Kind::Step, "Audit the code quality", "old", 9, todo.clone()));
    project.store(project.lesson(Kind::Step, "Write the summary page", "three", 1, todo));
    project.case("Make the export faster.", "It streams rows now.", "two", 2);
    project.case("Round discounts half up.", "All tests pass.", "three", 1);
    let tasks = project.engine.tasks();
    let named = |title: &str| TaskChange {
        title: Some(title.to_owned()),
        ..TaskChange::default()
    };
    tasks.set("T12", &named("billing export"), "user").unwrap();
    tasks
        .step("T12", "write the migration", StepState::Pending, "user")
        .unwrap();
    tasks
        .step("T12", "draw the page", StepState::Done, "user")
        .unwrap();
    tasks
        .step("T9", "ship the old thing", StepState::Pending, "user")
        .unwrap();
    let done = TaskChange {
        state: Some(TaskState::Done),
        ..TaskChange::default()
    };
    tasks.set("T9", &done, "user").unwrap();
    let other = TaskChange {
        branch: Some("feat/other".to_owned()),
        ..TaskChange::default()
    };
    tasks.set("T7", &other, "user").unwrap();
    let root = project.memory().parent().unwrap().to_owned();
    std::fs::create_dir(root.join(".git")).unwrap();
    durable::write_atomic(&root.join(".git/HEAD"), b"ref: refs/heads/main\n").unwrap();
    tasks
        .step(
            "T7",
            "the work of another branch",
            StepState::Pending,
            "user",
        )
        .unwrap();
    tasks
        .step("main", "rotate the staging key", StepState::Pending, "user")
        .unwrap();
}

#[test]
fn session_start_tells_what_holds_now_and_nothing_else() {
    let project = HookedProject::new();
    for (session, days) in [("old", 9), ("one", 3), ("two", 2), ("three", 1)] {
        project.session(session, days);
    }
    add_rules(&project);
    add_failures(&project);
    add_work(&project);
    let start = project.started("now", "startup");
    let today = project.engine.now().strftime("%Y-%m-%d").to_string();
    let earlier = project.days_ago(2).strftime("%Y-%m-%d").to_string();
    let told = items(&start);
    let expected = [
        format!("- Staging runs on port 7443. ({today})"),
        format!("- Commit messages are in English. ({today})"),
        format!("- Never edit a migration that is merged. ({earlier})"),
        "- rotate the staging key".to_owned(),
        "- Task T12, billing export: write the migration".to_owned(),
        format!(
            "- 2 new lessons since {}, newest: The warehouse has nine shelves.",
            project.days_ago(1).strftime("%Y-%m-%d")
        ),
        "- `make` failed: no compiler → ran `make setup`".to_owned(),
        "- `npm test` failed: too many workers → `npm test -- --runInBand` works".to_owned(),
    ];
    let mut sorted = told.clone();
    sorted.sort_unstable();
    let mut wanted: Vec<&str> = expected.iter().map(String::as_str).collect();
    // Of two equal rules either may be the one that stays.
    sorted.iter_mut().for_each(|line| {
        if line.starts_with("- Never edit a migration") {
            *line = wanted[2];
        }
    });
    wanted.sort_unstable();
    assert_eq!(sorted, wanted, "{start}");
    let headings = ["Rules here:", "Open work:", "Last time:", "Known pitfalls:"];
    let places: Vec<usize> = headings
        .iter()
        .map(|one| start.find(one).unwrap())
        .collect();
    assert!(places.is_sorted(), "{start}");
    assert!(text::chars(&start) <= limits::HOOK_START_CHARS_MAX);
}

#[test]
fn rules_of_conversations_are_few_and_the_lasting_ones() {
    let project = HookedProject::new();
    let lasting: Vec<String> = (0..limits::HOOK_START_SAID_RULES_MAX)
        .map(|n| format!("Never change the schema of table {n}."))
        .collect();
    for rule in &lasting {
        project.said(rule, "one");
    }
    // Newer, and about one day.
    project.said("Docker is running on the build machine.", "two");
    let start = project.started("now", "startup");
    assert!(!start.contains("Docker"), "{start}");
    for rule in &lasting {
        assert!(start.contains(rule.as_str()), "{rule} in {start}");
    }
    project.said("Never push to the release branch.", "two");
    let start = project.started("next", "startup");
    let told = items(&start)
        .iter()
        .filter(|line| line.contains("Never"))
        .count();
    assert_eq!(told, limits::HOOK_START_SAID_RULES_MAX, "{start}");
}

#[test]
fn session_start_names_the_newest_case_when_nothing_was_learned_since() {
    let project = HookedProject::new();
    project.session("one", 3);
    project.session("two", 2);
    project.case("Make the export faster.", "It streams rows now.", "one", 3);
    let newest = project.case("Round discounts half up.", "All tests pass.", "two", 2);
    // An answer to the agent is no request.
    project.case("resume please", "Subagents did the work.", "two", 1);
    let start = project.started("now", "startup");
    let day = project.days_ago(2).strftime("%Y-%m-%d").to_string();
    assert_eq!(
        items(&start),
        [format!(
            "- {day}: Round discounts half up; All tests pass. (heirloom show {newest})"
        )],
        "{start}"
    );
}

#[test]
fn empty_memory_and_memory_without_anything_to_tell_start_with_nothing() {
    let project = HookedProject::new();
    assert_eq!(project.start("startup"), "");
    project.remember("The warehouse has nine shelves.");
    project.prompt("count the shelves");
    let more =
        json!({"tool_name": "Edit", "tool_input": {"file_path": "src/a.rs"}, "tool_response": {}});
    project.send(AgentProgram::ClaudeCode, "PostToolUse", more);
    assert_eq!(project.started("other", "startup"), "");
}

#[test]
fn resumed_conversation_is_told_only_what_is_new() {
    let project = HookedProject::new();
    project.session("one", 2);
    project.rule(RULE);
    let start = project.start("startup");
    assert!(start.contains(RULE), "{start}");
    for source in ["resume", "fork"] {
        assert_eq!(project.start(source), "", "{source}");
    }
    project.rule("The importer is written in Go");
    // What the session itself taught is in its conversation.
    project.said("Never round prices.", "s");
    let mut own = project.lesson(
        Kind::Error,
        "`make` failed: x",
        "s",
        0,
        json!({"state": "resolved", "resolution": "`make all` works."}),
    );
    own.scope = Scope::default();
    project.store(own);
    let resumed = project.start("resume");
    assert_eq!(items(&resumed).len(), 1, "{resumed}");
    assert!(
        resumed.contains("The importer is written in Go"),
        "{resumed}"
    );
    assert_eq!(project.start("resume"), "");
    // A conversation whose start is unknown may have been told nothing.
    let other = project.started("unknown", "resume");
    assert!(
        other.contains(RULE) && other.contains("importer"),
        "{other}"
    );
    let cleared = project.start("clear");
    assert!(
        cleared.contains(RULE) && cleared.contains("importer"),
        "{cleared}"
    );
    assert!(!cleared.contains("round prices"), "{cleared}");
}

/// Returns short texts that share no word.
fn distinct(count: usize) -> Vec<String> {
    let one = |n: usize| format!("keep{n} part{n} tidy{n} daily{n}");
    (0..count).map(one).collect()
}

#[test]
fn start_has_a_limited_number_of_rules_in_addition_to_pinned_records() {
    let most = limits::HOOK_START_RULES_MAX;
    for count in [most, most + 1] {
        let project = HookedProject::new();
        let pinned = super::fact("Staging runs on port 7443.");
        let records = project.engine.records();
        let pinned = records.remember(pinned).unwrap().id;
        records.mark(pinned, Mark::Pinned(true)).unwrap();
        let rules = distinct(count);
        for rule in &rules {
            project.rule(rule);
        }
        let start = project.started("now", "startup");
        assert_eq!(items(&start).len(), most + 1, "{count}: {start}");
        assert!(start.contains("port 7443"), "{start}");
        let told: Vec<&String> = rules.iter().filter(|rule| start.contains(*rule)).collect();
        let newest: Vec<&String> = rules.iter().skip(count - most).collect();
        assert_eq!(told, newest, "{start}");
    }
}

#[test]
fn start_has_a_limited_number_of_steps_and_of_pitfalls() {
    let most = limits::HOOK_START_ITEMS_MAX;
    for count in [most, most + 1] {
        let project = HookedProject::new();
        for words in distinct(count) {
            let tasks = project.engine.tasks();
            let step = tasks.step("T1", &words, StepState::Pending, "user");
            step.unwrap();
        }
        for n in 0..count {
            let fix = format!("`tool{n} --flag{n}` works.");
            project.failed(&format!("tool{n}"), &format!("cause{n}"), &fix, "one", 1);
        }
        let start = project.started("now", "startup");
        let of = |words: &str| {
            let told = items(&start).into_iter();
            told.filter(|item| item.contains(words)).count()
        };
        assert_eq!(of("Task T1"), most, "{count}: {start}");
        assert_eq!(of("failed: cause"), most, "{count}: {start}");
    }
}

#[test]
fn pitfalls_are_those_of_a_limited_number_of_sessions() {
    let most = limits::HOOK_START_SESSIONS as u64;
    for (sessions, has_older) in [(most - 1, true), (most, false), (most + 1, false)] {
        let project = HookedProject::new();
        for days in 1..=sessions {
            project.session(&format!("session{days}"), days);
        }
        for days in [most, most + 1] {
            let fix = format!("`tool{days} --flag{days}` works.");
            project.failed(&format!("tool{days}"), "cause", &fix, "other", days);
        }
        let start = project.started("now", "startup");
        assert!(start.contains(&format!("`tool{most}` failed")), "{start}");
        let older = format!("`tool{}` failed", most + 1);
        assert_eq!(start.contains(&older), has_older, "{sessions}: {start}");
    }
}

#[test]
fn old_work_is_no_open_work() {
    let project = HookedProject::new();
    let limit = u64::try_from(limits::HOOK_START_WORK_DAYS).unwrap() * 86_400;
    let tasks = project.engine.tasks();
    // The task itself is new.
    tasks
        .step("main", "read the plan", StepState::Done, "user")
        .unwrap();
    for (text, age) in [
        // The clock goes on while the session starts.
        ("rotate the staging key", limit - 60),
        ("draw the summary page", limit + 1),
    ] {
        let records = project.engine.records();
        let mut step = records.draft(Kind::Step, text, Scope::of_task("main"), "user");
        step.recorded_at = project.engine.now() - Duration::from_secs(age);
        step.key = Some(text::hash16(text));
        let Value::Object(attrs) = json!({"state": "pending"}) else {
            panic!("an object");
        };
        step.attrs = attrs;
        project.store(step);
    }
    let start = project.started("now", "startup");
    assert_eq!(items(&start), ["- rotate the staging key"], "{start}");
}

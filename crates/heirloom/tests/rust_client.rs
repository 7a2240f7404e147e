//! The Rust client and its examples against a real server.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests: what cannot be done fails the test"
)]

#[expect(dead_code, reason = "the test only needs a server with TLS")]
#[path = "serve/client.rs"]
mod client;
#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;
#[expect(dead_code, reason = "the test calls `run`, not `main`")]
#[path = "../../client/examples/events.rs"]
mod events_example;
#[expect(dead_code, reason = "the test calls `run`, not `main`")]
#[path = "../../client/examples/recall.rs"]
mod recall_example;
#[expect(dead_code, reason = "the test calls `run`, not `main`")]
#[path = "../../client/examples/task.rs"]
mod task_example;
#[expect(dead_code, reason = "the test calls `run`, not `main`")]
#[path = "../../client/examples/window.rs"]
mod window_example;

use driver::ProjectFixture;
use heirloom_client::{
    CompactRequest, ContextQuery, EntryType, EpisodeAction, Error, ErrorKind, LocalServer, Mark,
    Memory, MessageRole, NewEpisode, NewKnowledge, NewNote, RecallQuery, RecordFilter, RetryPolicy,
    RunningServer,
};
use serde_json::{Value, json};
use std::time::Duration;

/// Server in a project of its own; stopped before the project is removed.
struct Fixture {
    server: RunningServer,
    project: ProjectFixture,
}

impl Fixture {
    fn start(role: &str) -> Self {
        let project = ProjectFixture::bare();
        let server = local_server(&project).role(role).create(true);
        Self {
            server: server.start().unwrap(),
            project,
        }
    }

    fn memory(&self) -> &Memory {
        self.server.memory()
    }
}

fn local_server(project: &ProjectFixture) -> LocalServer {
    let mut server = LocalServer::new(project.root()).program(env!("CARGO_BIN_EXE_heirloom"));
    for (name, folder) in [
        ("HOME", ""),
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_DATA_HOME", "data"),
    ] {
        server = server.env(name, project.outside_path(folder));
    }
    server
}

/// Returns the texts of the hits.
fn recall(memory: &Memory, query: &str) -> Vec<String> {
    let hits = memory
        .recall(RecallQuery::new(query).min_relevance(0.0))
        .unwrap();
    hits.into_iter().map(|hit| hit.text).collect()
}

#[test]
fn knowledge_is_stored_replaced_forgotten_and_restored() {
    let fixture = Fixture::start("orchestrator");
    let memory = fixture.memory();
    let indent = |value: &str| {
        NewKnowledge::new(value)
            .category("convention")
            .key("indent")
            .rationale("the formatter")
            .confidence(0.9)
    };
    let first = memory.remember(indent("indent with two spaces")).unwrap();
    assert_eq!(first.outcome, "created");
    let second = memory.remember(indent("indent with four spaces")).unwrap();
    assert_eq!(second.outcome, "replaced");
    let retired = memory.get(&first.id).unwrap();
    assert_eq!(retired.replaced_by.as_ref(), Some(&second.id));
    assert_eq!(recall(memory, "indent spaces"), ["indent with four spaces"]);

    let record = memory.get(&second.id).unwrap();
    assert_eq!(record.key.as_deref(), Some("indent"));
    assert_eq!(record.attrs["rationale"], "the formatter");
    let history = memory.history(&second.id).unwrap();
    let texts: Vec<_> = history.records.iter().map(|record| &record.text).collect();
    assert_eq!(texts, ["indent with two spaces", "indent with four spaces"]);

    assert_eq!(memory.forget(&second.id).unwrap().outcome, "retired");
    assert_eq!(recall(memory, "indent spaces").len(), 0);
    memory.undo(&second.id).unwrap();
    assert_eq!(recall(memory, "indent spaces"), ["indent with four spaces"]);

    memory.mark(&second.id, Mark::Pinned).unwrap();
    let changes = memory.changes(2).unwrap();
    assert_eq!(changes.len(), 2);
    assert_eq!(changes[0].action, "marked");
    assert_eq!(changes[0].id.as_ref(), Some(&second.id));
    let filter = RecordFilter::new().kind("knowledge").all(true);
    let listed: Result<Vec<_>, _> = memory.records(&filter).collect();
    assert_eq!(listed.unwrap().len(), 2);
    assert_eq!(memory.status().unwrap().counts["knowledge"], 1);
}

#[test]
fn task_scope_ends_the_task_with_an_episode() {
    let fixture = Fixture::start("orchestrator");
    let memory = fixture.memory();
    let task = memory.task("a/42").title("Checkout").agent("coder");
    let done = task.clone().approach("replace the clock").run(|task| {
        task.plan("Write a test")?;
        task.remember("The checkout reads the clock twice")?;
        let context = task.context(&ContextQuery::new().budget_tokens(2_000))?;
        assert!(context.text.contains("Write a test"), "{context}");
        assert!(context.tokens > 0 && context.receipt.is_some());
        task.step("Write a test")?;
        task.details()
    });
    let done = done.unwrap();
    assert_eq!(
        (done.state.as_str(), done.title.as_str()),
        ("open", "Checkout")
    );
    assert_eq!(done.completed_steps[0].text, "Write a test");
    assert_eq!(done.pending_steps, []);
    assert_eq!(task.details().unwrap().state, "done");

    let failed = task.clone().approach("mock the database").run(|task| {
        let logged = task.log_error("TestLogin: got 500")?;
        assert_eq!(logged.resolved_before, None);
        memory.resolve_error(&logged.id, "set the cookie")?;
        Err::<(), _>(Error::InvalidArgument("the mock has no rows".to_owned()))
    });
    failed.unwrap_err();
    assert_eq!(task.details().unwrap().state, "failed");
    let tried = memory.tried("mock the database").unwrap();
    assert!(tried.failed);
    let outcome = tried.items[0].outcome.as_deref();
    assert_eq!(outcome, Some("the mock has no rows"));
    assert_eq!(tried.items[0].agent_id.as_deref(), Some("coder"));
    assert!(!memory.tried("replace the clock").unwrap().failed);
    let again = memory.log_error("TestLogin: got 500").unwrap();
    assert_eq!(again.resolved_before.unwrap().resolution, "set the cookie");

    drop(memory.task("43").open().unwrap());
    memory.task("44").open().unwrap().keep_open();
    memory.task("45").open().unwrap().done("all green").unwrap();
    let mut states: Vec<_> = memory
        .tasks()
        .map(|task| task.unwrap())
        .map(|task| (task.task_id, task.state))
        .collect();
    states.sort();
    let expected = [
        ("43", "failed"),
        ("44", "open"),
        ("45", "done"),
        ("a/42", "failed"),
    ];
    assert_eq!(
        states,
        expected.map(|(id, state)| (id.to_owned(), state.to_owned()))
    );
}

#[test]
fn errors_have_the_class_and_the_hint_of_the_server() {
    let fixture = Fixture::start("agent");
    let memory = fixture.memory();
    let missing = memory.get("no-such-record").unwrap_err();
    assert_eq!(missing.kind(), Some(ErrorKind::NotFound));
    let invalid = memory.log_error("").unwrap_err();
    assert_eq!(invalid.kind(), Some(ErrorKind::InvalidRequest));
    let kind = NewKnowledge::new("x").confidence(7.0);
    let invalid = memory.remember(kind).unwrap_err();
    assert_eq!(invalid.kind(), Some(ErrorKind::InvalidRequest));
    let purge = json!({"session_id": "s"});
    let forbidden = memory
        .request("POST", "/api/purge", Some(&purge))
        .unwrap_err();
    assert_eq!(forbidden.kind(), Some(ErrorKind::Forbidden));
    assert!(forbidden.hint().is_some(), "{forbidden:?}");

    let stranger = Memory::builder()
        .url(fixture.server.url())
        .token("hl_wrong");
    let refused = stranger.build().unwrap().status().unwrap_err();
    assert_eq!(refused.kind(), Some(ErrorKind::Unauthorized));
    let hint = refused.hint().unwrap();
    assert!(refused.to_string().ends_with(&format!("({hint})")));
    assert!(!refused.to_string().contains("hl_wrong"));
}

#[test]
fn repetition_with_the_same_key_has_no_second_effect() {
    let fixture = Fixture::start("orchestrator");
    let memory = fixture.memory();
    let keyed = memory.with_idempotency_key("build-1042");
    let note = NewNote::new("the build is slow").category("Builds");
    let first = keyed.add_note(note.clone()).unwrap();
    assert_eq!(keyed.add_note(note.clone()).unwrap(), first);
    let notes: Vec<_> = memory.notes().map(|note| note.unwrap().text).collect();
    assert_eq!(notes, ["the build is slow"]);
    let other = keyed.add_note("another note").unwrap_err();
    assert_eq!(other.kind(), Some(ErrorKind::InvalidRequest), "{other}");
    assert_ne!(memory.add_note(note).unwrap().id, first.id);
    let episode = NewEpisode::new("7", EpisodeAction::Retried).duration_ms(5);
    let ids: Vec<_> = (0..2)
        .map(|_| memory.log_episode(&episode).unwrap().id)
        .collect();
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn events_arrive_and_resume() {
    let fixture = Fixture::start("orchestrator");
    let memory = fixture.memory();
    let mut events = memory.events();
    events.connect().unwrap();
    let first = memory.remember("one fact about deploys").unwrap();
    let second = memory.remember("another fact about databases").unwrap();
    let limit = Duration::from_secs(30);
    let received = events.wait(limit).unwrap().unwrap();
    assert_eq!(received.action, "created");
    assert_eq!(received.change.id, Some(first.id));
    let mut resumed = memory.events_after(received.id);
    let received = resumed.wait(limit).unwrap().unwrap();
    assert_eq!(received.change.id, Some(second.id));

    let stranger = Memory::builder()
        .url(fixture.server.url())
        .token("hl_wrong");
    let mut refused = stranger.build().unwrap().events();
    let error = refused.next().unwrap().unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::Unauthorized));
}

#[test]
fn conversation_window_and_workspace_are_served() {
    let fixture = Fixture::start("orchestrator");
    let memory = fixture.memory();
    let session = memory.session("planning 1").agent("coder");
    session
        .add(MessageRole::User, "Why is the checkout flaky?")
        .unwrap();
    let added = session
        .add(MessageRole::Assistant, "It reads the clock twice.")
        .unwrap();
    assert_eq!(added.seq, 1);
    let turns: Result<Vec<_>, _> = session.messages().collect();
    assert_eq!(turns.unwrap()[0].text, "Why is the checkout flaky?");
    assert_eq!(session.messages_from(1).count(), 1);
    assert_eq!(session.search("clock", 5).unwrap()[0].id, added.id);
    assert_eq!(session.summary().unwrap().session_id, "planning 1");
    let missing = memory.session("none").messages().next().unwrap();
    assert_eq!(missing.unwrap_err().kind(), Some(ErrorKind::NotFound));

    let log = "connection reset by peer\n".repeat(2_000);
    let messages = json!([
        {"role": "user", "content": "Read the log."},
        {"role": "assistant", "content": log},
        {"role": "user", "content": "And now?"},
    ]);
    let request = CompactRequest::new(messages.clone()).target_tokens(1_000);
    let fitting = memory.compact(&request.session("s")).unwrap();
    assert!(fitting.messages.to_string().len() < messages.to_string().len() / 2);
    assert!(!fitting.report.is_empty());

    let entry = memory
        .workspace()
        .add(EntryType::Fact, "CI has four cores")
        .unwrap();
    assert!(entry.added && entry.file.ends_with(".md"), "{entry:?}");
    let section = memory.workspace().read().unwrap();
    assert!(
        section
            .items
            .iter()
            .any(|item| item.text.contains("four cores"))
    );
    let view = json!({"command": "view", "path": "/memories"});
    assert!(!memory.memory_tool(&view).unwrap().is_error);
}

#[test]
fn conflict_is_listed_and_resolved() {
    let fixture = Fixture::start("orchestrator");
    let memory = fixture.memory();
    let database = |value: &str, source: &str| {
        let database = NewKnowledge::new(value).source(source);
        memory.remember(database.category("architecture").key("database"))
    };
    database("PostgreSQL", "planner").unwrap();
    database("SQLite", "reviewer").unwrap();
    let conflicts = memory.conflicts().unwrap();
    assert_eq!(conflicts.len(), 1, "{conflicts:?}");
    let keep = &conflicts[0].losers[0];
    memory.resolve_conflict(&conflicts[0].id, &keep.id).unwrap();
    assert_eq!(memory.conflicts().unwrap(), []);
    assert_eq!(recall(memory, "database"), [keep.value.as_str()]);
}

#[test]
fn local_server_stops_and_revokes_its_token() {
    let fixture = Fixture::start("user");
    let (url, token) = (
        fixture.server.url().to_owned(),
        fixture.server.token().to_owned(),
    );
    let Fixture { server, project } = fixture;
    drop(server);
    let memory = Memory::builder().url(url).token(&token);
    let memory = memory.retry(RetryPolicy::with_attempts(1)).build().unwrap();
    let gone = memory.status().unwrap_err();
    assert!(matches!(gone, Error::Connection(_)), "{gone:?}");
    // The memory exists: nothing is created again.
    let second = local_server(&project).start().unwrap();
    let memory = Memory::builder().url(second.url()).token(token);
    let revoked = memory.build().unwrap().status().unwrap_err();
    assert_eq!(revoked.kind(), Some(ErrorKind::Unauthorized));

    let missing = local_server(&project)
        .program("/nonexistent/heirloom")
        .start();
    assert!(matches!(missing.unwrap_err(), Error::ServerStart(_)));
    let empty = ProjectFixture::bare();
    let error = local_server(&empty).start().unwrap_err();
    assert!(matches!(error, Error::ServerStart(_)), "{error:?}");
}

#[test]
fn server_with_an_own_certificate_authority_is_trusted_on_request() {
    let files = [
        ("certificate.pem", include_str!("serve/tls/certificate.pem")),
        ("key.pem", include_str!("serve/tls/key.pem")),
    ];
    let project = ProjectFixture::plain();
    for (name, text) in files {
        project.project.write(name, text).unwrap();
    }
    let options = ["--tls-cert", "certificate.pem", "--tls-key", "key.pem"];
    let server = client::Server::start_in(project, &options);
    let url = format!("https://localhost:{}", server.address.port());
    let memory = Memory::builder().url(url).token(&server.token);
    let memory = memory.retry(RetryPolicy::with_attempts(1));
    let root = include_str!("serve/tls/root.pem");
    let trusting = memory.clone().root_certificates(root).build().unwrap();
    trusting.remember("sent over TLS").unwrap();
    let error = memory.build().unwrap().status().unwrap_err();
    assert!(matches!(error, Error::Connection(_)), "{error:?}");
}

#[test]
fn examples_run() {
    let fixture = Fixture::start("orchestrator");
    let memory = fixture.memory();
    recall_example::run(memory).unwrap();
    task_example::run(memory).unwrap();
    events_example::run(memory).unwrap();
    window_example::run(memory).unwrap();
    let task = memory.request("GET", "/api/tasks/42", None).unwrap();
    assert_eq!(task["state"], "done");
    let cleared = memory
        .request("DELETE", "/api/memory/working", None)
        .unwrap();
    assert_eq!(cleared, Value::Null);
    assert_eq!(fixture.project.records("knowledge").len(), 3);
}

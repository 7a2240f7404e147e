//! Pairs of a failed and a successful command, over tools and languages: which resolution is told.
#![expect(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    clippy::print_stdout,
    reason = "a test fails by panicking, looks at one kind of lesson, and prints its figures"
)]

use heirloom_agents::failures::Failure;
use heirloom_agents::transcripts::{EventBody, FileEdit, ToolAction, ToolOutcome, TranscriptEvent};
use heirloom_lessons::{Candidate, LessonContent, LessonExtractor, SourceKind};
use serde::Deserialize;

/// Worth from which on a record is kept.
const KEPT: f32 = 0.45;

#[derive(Debug, Deserialize)]
struct Table {
    pair: Vec<Pair>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Pair {
    name: String,
    command: String,
    output: String,
    /// True if the exit status is hidden by a filter.
    failed: bool,
    says: String,
    ran: Vec<String>,
    also: Vec<Edit>,
    path: String,
    removed: String,
    added: String,
    passes: String,
    cause: String,
    names: Vec<String>,
    not: Vec<String>,
    dropped: bool,
    dropped_ok: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct Edit {
    path: String,
    removed: String,
    added: String,
}

fn pairs() -> Vec<Pair> {
    let table: Table = toml::from_str(include_str!("data/fail_edit_pass.toml")).unwrap();
    table.pair
}

/// Conversation that is written step by step.
#[derive(Default)]
struct Session {
    extractor: LessonExtractor,
    events: u64,
}

impl Session {
    fn push(&mut self, body: EventBody) {
        self.extractor.push(&TranscriptEvent {
            id: self.events.to_string(),
            at: None,
            agent: None,
            body,
        });
        self.events += 1;
    }

    fn run(&mut self, command: &str, outcome: ToolOutcome, output: &str) {
        let call = format!("call {}", self.events);
        self.push(EventBody::Call {
            call: call.clone(),
            tool: "Bash".to_owned(),
            action: ToolAction::Command(command.to_owned()),
        });
        self.push(EventBody::Result {
            call,
            outcome,
            text: output.to_owned(),
        });
    }

    fn edit(&mut self, edit: &Edit) {
        let call = format!("call {}", self.events);
        self.push(EventBody::Call {
            call: call.clone(),
            tool: "Edit".to_owned(),
            action: ToolAction::Edit(vec![FileEdit {
                path: edit.path.clone(),
                removed: edit.removed.clone(),
                added: edit.added.clone(),
            }]),
        });
        self.push(EventBody::Result {
            call,
            outcome: ToolOutcome::Succeeded,
            text: String::new(),
        });
    }

    fn say(&mut self, text: &str) {
        if !text.is_empty() {
            self.push(EventBody::AssistantText(text.to_owned()));
        }
    }

    fn errors(&self) -> Vec<Candidate> {
        let mut found = self.extractor.candidates();
        found.retain(|one| matches!(one.source, SourceKind::Failure | SourceKind::CommandVariant));
        found
    }
}

fn play(pair: &Pair) -> Vec<Candidate> {
    let mut session = Session::default();
    session.say("Let me run it.");
    let outcome = match pair.failed {
        true => ToolOutcome::Succeeded,
        false => ToolOutcome::Failed,
    };
    session.run(&pair.command, outcome, &pair.output);
    session.say(&pair.says);
    for edit in &pair.also {
        session.edit(edit);
    }
    for command in &pair.ran {
        session.run(command, ToolOutcome::Succeeded, "");
    }
    if !pair.path.is_empty() {
        session.edit(&Edit {
            path: pair.path.clone(),
            removed: pair.removed.clone(),
            added: pair.added.clone(),
        });
    }
    let passes = match pair.passes.as_str() {
        "" => &pair.command,
        passes => passes,
    };
    session.run(passes, ToolOutcome::Succeeded, "");
    session.errors()
}

fn error_of(candidate: &Candidate) -> (&str, &str, &str) {
    match &candidate.content {
        LessonContent::Error {
            key,
            text,
            resolution,
        } => (key, text, resolution.as_deref().unwrap_or_default()),
        other => panic!("{other:?}"),
    }
}

/// Returns what is wrong with the record of a pair: a false claim, and a change that is not named.
fn check(pair: &Pair) -> (Option<String>, Option<String>) {
    let found = play(pair);
    let kept: Vec<&Candidate> = found.iter().filter(|one| one.worth >= KEPT).collect();
    let told: Vec<String> = found.iter().map(Candidate::full_text).collect();
    println!("{}:\n    {}", pair.name, told.join("\n    "));
    let claimed = pair
        .not
        .iter()
        .find(|part| told.iter().any(|text| text.contains(part.as_str())));
    if let Some(part) = claimed {
        return (
            Some(format!("{}: claims {part}: {told:?}", pair.name)),
            None,
        );
    }
    if pair.dropped {
        let wrong = kept
            .first()
            .map(|one| format!("{}: kept {one:?}", pair.name));
        return (wrong, None);
    }
    let is_named = kept.iter().any(|one| {
        let (_, text, resolution) = error_of(one);
        text.contains(&pair.cause)
            && pair
                .names
                .iter()
                .all(|part| resolution.contains(part.as_str()))
    });
    let missing = (!is_named && !pair.dropped_ok).then(|| format!("{}: {told:?}", pair.name));
    (None, missing)
}

#[test]
fn resolutions_name_the_change_and_claim_nothing_else() {
    let pairs = pairs();
    let (mut wrong, mut missing) = (Vec::new(), Vec::new());
    for pair in &pairs {
        let (claim, unnamed) = check(pair);
        wrong.extend(claim);
        missing.extend(unnamed);
    }
    let resolved = pairs.iter().filter(|pair| !pair.dropped).count();
    assert!(resolved >= 40, "{resolved} pairs");
    assert!(wrong.is_empty(), "{wrong:#?}");
    let share = 100 * (resolved - missing.len()) / resolved;
    println!("{share} % of {resolved} resolutions name the change");
    assert!(share >= 95, "{share} %: {missing:#?}");
}

#[test]
fn records_are_short_and_have_the_key_of_hooks() {
    for pair in pairs().iter().filter(|pair| !pair.dropped) {
        for candidate in play(pair) {
            let (key, text, resolution) = error_of(&candidate);
            let chars = text.chars().count() + 1 + resolution.chars().count();
            assert!(chars <= 400, "{}: {chars} {text} {resolution}", pair.name);
            assert!(
                !resolution.is_empty() && text.starts_with('`'),
                "{}: {text} {resolution}",
                pair.name
            );
            assert_eq!(
                key,
                Failure::new(&pair.command, &pair.output).key(),
                "{}",
                pair.name
            );
            assert!((0.0..=0.95).contains(&candidate.worth), "{}", pair.name);
            assert!(candidate.evidence.len() >= 2, "{}", pair.name);
        }
    }
}

#[test]
fn pair_is_kept_if_the_command_is_decorated() {
    for pair in pairs()
        .iter()
        .filter(|pair| !pair.dropped && !pair.failed && pair.passes.is_empty())
    {
        let decorated = Pair {
            passes: format!(
                "cd /home/u/p && timeout 120 {} 2>&1 | tail -40",
                pair.command
            ),
            ..play_again(pair)
        };
        let (one, other) = (play(pair), play(&decorated));
        assert_eq!(one.len(), other.len(), "{}: {other:?}", pair.name);
    }
}

fn play_again(pair: &Pair) -> Pair {
    Pair {
        name: pair.name.clone(),
        command: pair.command.clone(),
        output: pair.output.clone(),
        says: pair.says.clone(),
        ran: pair.ran.clone(),
        also: pair.also.clone(),
        path: pair.path.clone(),
        removed: pair.removed.clone(),
        added: pair.added.clone(),
        ..Pair::default()
    }
}

#[test]
fn failures_of_one_command_are_chained() {
    let test = "mix test test/live_test.exs";
    let failing = |message: &str| {
        format!(
            "  1) test shows (Shop.LiveTest)\n     test/live_test.exs:9\n     {message}\n\n1 test, 1 failure"
        )
    };
    let mut session = Session::default();
    session.run(
        test,
        ToolOutcome::Failed,
        &failing("** (RuntimeError) no :secret_key configuration found in Shop.Endpoint."),
    );
    session.say("The test environment has no endpoint configuration.");
    session.edit(&Edit {
        path: "config/test.exs".to_owned(),
        added: "config :shop, Shop.Endpoint, secret_key: \"x\"".to_owned(),
        ..Edit::default()
    });
    session.run(
        test,
        ToolOutcome::Failed,
        &failing("** (RuntimeError) LiveViewTest requires lazy_dom as a test dependency."),
    );
    session.edit(&Edit {
        path: "mix.exs".to_owned(),
        added: "{:lazy_dom, \"~> 1.0\", only: :test},".to_owned(),
        ..Edit::default()
    });
    session.run("mix deps.get", ToolOutcome::Succeeded, "");
    session.run(
        test,
        ToolOutcome::Failed,
        &failing("** (DBConnection.OwnershipError) cannot find ownership process"),
    );
    session.say("The live view runs in a separate process that can't see the sandbox.");
    session.edit(&Edit {
        path: "test/live_test.exs".to_owned(),
        added: "Sandbox.mode(Repo, {:shared, self()})".to_owned(),
        ..Edit::default()
    });
    session.run(test, ToolOutcome::Succeeded, "1 test, 0 failures");
    let found = session.errors();
    assert_eq!(found.len(), 3, "{found:#?}");
    for (candidate, (cause, change, other)) in found.iter().zip([
        ("secret_key", "config/test.exs: added", "lazy_dom"),
        ("lazy_dom", "mix deps.get", "config/test.exs"),
        ("ownership process", "{:shared, self()}", "mix.exs"),
    ]) {
        let (_, text, resolution) = error_of(candidate);
        assert!(
            text.contains(cause) && resolution.contains(change) && !resolution.contains(other),
            "{text} {resolution}"
        );
    }
}

#[test]
fn error_that_comes_back_is_resolved_by_the_later_change() {
    let run = "cargo build";
    let mut session = Session::default();
    let edit = |added: &str| Edit {
        path: "Cargo.toml".to_owned(),
        added: added.to_owned(),
        ..Edit::default()
    };
    session.run(
        run,
        ToolOutcome::Failed,
        "error: linking with `cc` failed: cannot find -lfoo",
    );
    session.say("The linker flag `-lbar` is missing.");
    session.edit(&edit("links = \"bar\""));
    session.run(
        run,
        ToolOutcome::Failed,
        "error: linking with `cc` failed: cannot find -lfoo",
    );
    session.edit(&edit("links = \"foo\""));
    session.run(run, ToolOutcome::Succeeded, "");
    let found = session.errors();
    assert_eq!(found.len(), 1);
    let (_, _, resolution) = error_of(&found[0]);
    assert!(
        resolution.contains("links = \"foo\"") && !resolution.contains("bar"),
        "{resolution}"
    );
}

#[test]
fn compile_error_hides_a_failing_test() {
    let run = "cargo test";
    let failing = "test cart::adds ... FAILED\n---- cart::adds stdout ----\nthread 'cart::adds' panicked at src/cart.rs:9:5:\nassertion `left == right` failed\n  left: 3\n right: 4\n";
    let mut session = Session::default();
    let edit = |removed: &str, added: &str| Edit {
        path: "src/cart.rs".to_owned(),
        removed: removed.to_owned(),
        added: added.to_owned(),
    };
    session.run(run, ToolOutcome::Failed, failing);
    session.edit(&edit("sum - 1", "summ"));
    session.run(
        run,
        ToolOutcome::Failed,
        "error[E0425]: cannot find value `summ` in this scope\n --> src/cart.rs:9:5",
    );
    session.edit(&edit("summ", "sum"));
    session.run(
        run,
        ToolOutcome::Succeeded,
        "test result: ok. 1 passed; 0 failed",
    );
    let found = session.errors();
    let adds = found
        .iter()
        .find(|one| error_of(one).1.contains("cart::adds"))
        .unwrap();
    assert!(error_of(adds).2.contains("sum"), "{adds:?}");
    assert!(
        found
            .iter()
            .all(|one| !error_of(one).1.contains("summ") || one.worth < KEPT),
        "{found:?}"
    );
}

#[test]
fn other_test_file_resolves_nothing() {
    let failing = "FAILED tests/test_a.py::test_x - KeyError: 'rate'\n1 failed";
    let mut session = Session::default();
    session.run("pytest tests/test_a.py", ToolOutcome::Failed, failing);
    session.edit(&Edit {
        path: "shop/rates.py".to_owned(),
        added: "RATES['rate'] = 1".to_owned(),
        ..Edit::default()
    });
    session.run("pytest tests/test_b.py", ToolOutcome::Succeeded, "3 passed");
    assert!(session.errors().is_empty());
    session.run(
        "pytest tests/test_a.py -k test_x",
        ToolOutcome::Succeeded,
        "1 passed",
    );
    assert_eq!(session.errors().len(), 1);
}

#[test]
fn failures_of_other_agents_are_apart() {
    let mut session = Session::default();
    session.run(
        "make all",
        ToolOutcome::Failed,
        "error: unknown key \"a\" in b.toml",
    );
    session.edit(&Edit {
        path: "b.toml".to_owned(),
        removed: "a = 1".to_owned(),
        ..Edit::default()
    });
    let call = EventBody::Call {
        call: "sub".to_owned(),
        tool: "Bash".to_owned(),
        action: ToolAction::Command("make all".to_owned()),
    };
    let result = EventBody::Result {
        call: "sub".to_owned(),
        outcome: ToolOutcome::Succeeded,
        text: String::new(),
    };
    for body in [call, result] {
        session.extractor.push(&TranscriptEvent {
            id: "s".to_owned(),
            at: None,
            agent: Some("sub".to_owned()),
            body,
        });
    }
    assert!(session.errors().is_empty());
}

//! Properties of the source: any events, bounded state.

use super::*;
use heirloom_agents::transcripts::FileEdit;
use proptest::prelude::*;

/// Bytes of the stored state.
const STATE_BYTES_MAX: usize = 48 << 10;

fn event(position: u64, body: EventBody) -> TranscriptEvent {
    TranscriptEvent {
        id: format!("event {position}"),
        at: None,
        agent: None,
        author: heirloom_agents::transcripts::TurnAuthor::Person,
        body,
    }
}

fn call(name: &str, action: ToolAction) -> EventBody {
    EventBody::Call {
        call: name.to_owned(),
        tool: "Bash".to_owned(),
        action,
    }
}

fn result(name: &str, outcome: ToolOutcome, output: &str) -> EventBody {
    EventBody::Result {
        call: name.to_owned(),
        outcome,
        text: output.to_owned(),
    }
}

fn play(bodies: impl IntoIterator<Item = EventBody>) -> Failures {
    let mut source = Failures::default();
    for (position, body) in (0_u64..).zip(bodies) {
        source.push(position, &event(position, body), Cues::get());
        source.add_candidates(Cues::get(), &mut Vec::new());
    }
    source
}

fn state_bytes(source: &Failures) -> usize {
    serde_json::to_string(source).unwrap().len()
}

#[test]
fn state_of_long_texts_is_bounded() {
    let mut bodies = Vec::new();
    for number in 0..60 {
        let name = format!("{}{number}", "\"".repeat(500));
        let long = format!("{number}{}", "\"\\é\u{1}".repeat(2_000));
        let words = format!("a{number} bcd_{number} \"{number}\" ").repeat(400);
        let command = format!("make{number} {words} && x {long}");
        bodies.push(call(&name, ToolAction::Command(command)));
        bodies.push(result(
            &name,
            ToolOutcome::Failed,
            &format!("error: {words}\nerror: {long}\n  1) {long}\n Assertion {words}"),
        ));
        bodies.push(EventBody::AssistantText(format!(
            "The `{words}` is missing because of {number}. "
        )));
        let edit = FileEdit {
            path: format!("/p/{long}"),
            removed: format!("{words}\n").repeat(10),
            added: format!("{words} = 1\n").repeat(10),
        };
        bodies.push(call(&name, ToolAction::Edit(vec![edit; 9])));
        bodies.push(result(&name, ToolOutcome::Succeeded, &long));
        if number % 3 == 0 {
            bodies.push(call(
                &name,
                ToolAction::Command(format!("make{number} {words}")),
            ));
            bodies.push(result(&name, ToolOutcome::Succeeded, ""));
        }
        bodies.push(call(&format!("open {number}"), ToolAction::Command(long)));
    }
    let source = play(bodies);
    let bytes = state_bytes(&source);
    assert!(bytes <= STATE_BYTES_MAX, "{bytes}");
}

#[test]
fn large_outputs_are_read_in_linear_time() {
    let start = std::time::Instant::now();
    let lines = "error: something failed in a.rs:1: and more\n".repeat(20_000);
    let line = "error ".repeat(200_000);
    let mut bodies = Vec::new();
    for output in [&lines, &line, &lines.replace('\n', " && ")] {
        bodies.push(call(
            "1",
            ToolAction::Command(format!("make {}", output.get(..200_000).unwrap())),
        ));
        bodies.push(result("1", ToolOutcome::Failed, output));
        bodies.push(EventBody::AssistantText(output.clone()));
        let edit = FileEdit {
            path: "a".to_owned(),
            removed: lines.clone(),
            added: line.clone(),
        };
        bodies.push(call("2", ToolAction::Edit(vec![edit])));
        bodies.push(result("2", ToolOutcome::Succeeded, ""));
    }
    play(bodies);
    let seconds = start.elapsed().as_secs();
    assert!(seconds < 20, "{seconds} s");
}

/// Texts with the forms that the source looks for.
fn text() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "cargo test -p a",
        "cd é && ",
        "mix test",
        " test/a_test.exs",
        "git push",
        " -f",
        " | tail -3",
        "'",
        "\"",
        "`",
        "(",
        "<<E",
        "\n",
        "&&",
        "error: x",
        "error[E1]: `é`",
        "  1) test é (A)",
        "E   assert 1",
        "1 failed",
        "--- FAIL: T",
        "thread 'é' panicked at",
        "Caused by: y",
        "; left: 1",
        "The `x` is missing.",
        "Expected.",
        "actually",
        "npm install é",
        "sed -i s/a/b/ f",
        "A=1 ",
        "\u{0}",
        "…",
        "a = 1",
        "import é",
        "Exit code 1",
        "command running in background",
        "failed in sandbox x, exit code: 1, no matches found",
        "日本語。",
        ": ",
        "/",
        ".rs",
        "--x=1",
    ]);
    prop::collection::vec(parts, 0..8).prop_map(|parts| parts.concat())
}

fn body() -> impl Strategy<Value = EventBody> {
    let name = prop::sample::select(vec!["1", "2", "3", ""]);
    let outcome = prop::sample::select(vec![
        ToolOutcome::Failed,
        ToolOutcome::Succeeded,
        ToolOutcome::Rejected,
    ]);
    prop_oneof![
        (name.clone(), text()).prop_map(|(name, line)| call(name, ToolAction::Command(line))),
        (name.clone(), text(), text(), text()).prop_map(|(name, path, removed, added)| {
            call(
                name,
                ToolAction::Edit(vec![FileEdit {
                    path,
                    removed,
                    added,
                }]),
            )
        }),
        (name, outcome, text()).prop_map(|(name, outcome, output)| result(name, outcome, &output)),
        text().prop_map(EventBody::AssistantText),
        text().prop_map(EventBody::FileChanged),
        Just(EventBody::ConversationStart(String::new())),
    ]
}

proptest! {
    #[test]
    fn any_events_leave_short_records_and_a_bounded_state(bodies in prop::collection::vec(body(), 0..60)) {
        let source = play(bodies);
        prop_assert!(state_bytes(&source) <= STATE_BYTES_MAX);
        let stored: Failures = serde_json::from_str(&serde_json::to_string(&source).unwrap()).unwrap();
        let (mut one, mut other) = (Vec::new(), Vec::new());
        source.add_candidates(Cues::get(), &mut one);
        stored.add_candidates(Cues::get(), &mut other);
        prop_assert_eq!(&one, &other);
        for candidate in one {
            prop_assert!(candidate.full_text().chars().count() <= 400, "{:?}", candidate);
        }
    }
}

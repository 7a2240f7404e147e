//! Tests of explanations, with the examples of the data file.

use super::*;
use heirloom_agents::transcripts::ToolOutcome;

fn event(position: u64, body: EventBody) -> TranscriptEvent {
    TranscriptEvent {
        id: position.to_string(),
        at: None,
        agent: None,
        author: heirloom_agents::transcripts::TurnAuthor::Person,
        body,
    }
}

fn texts(bodies: Vec<EventBody>) -> Vec<String> {
    let mut source = Explanations::default();
    for (position, body) in (0_u64..).zip(bodies) {
        source.push(position, &event(position, body), Cues::get());
    }
    let mut found = Vec::new();
    source.add_candidates(Cues::get(), &mut found);
    found.iter().map(Candidate::full_text).collect()
}

fn said(text: &str) -> EventBody {
    EventBody::AssistantText(text.to_owned())
}

fn edit(path: &str, removed: &str, added: &str) -> EventBody {
    EventBody::Call {
        call: "1".to_owned(),
        tool: "Edit".to_owned(),
        action: ToolAction::Edit(vec![FileEdit {
            path: path.to_owned(),
            removed: removed.to_owned(),
            added: added.to_owned(),
        }]),
    }
}

fn run(call: &str, line: &str, outcome: ToolOutcome, output: &str) -> [EventBody; 2] {
    [
        EventBody::Call {
            call: call.to_owned(),
            tool: "shell".to_owned(),
            action: ToolAction::Command(line.to_owned()),
        },
        EventBody::Result {
            call: call.to_owned(),
            outcome,
            text: output.to_owned(),
        },
    ]
}

#[test]
fn examples_of_the_data_file_hold() {
    let data = &Cues::get().explanations;
    assert!(!data.keep.is_empty() && !data.drop.is_empty());
    for sentence in &data.keep {
        assert_eq!(texts(vec![said(sentence)]).len(), 1, "{sentence}");
    }
    for sentence in &data.drop {
        assert_eq!(
            texts(vec![said(sentence)]),
            Vec::<String>::new(),
            "{sentence}"
        );
    }
}

#[test]
fn remedy_is_kept_if_an_edit_agrees() {
    let text = "The generated migration uses `ALTER COLUMN`, which SQLite doesn't support. I need to rewrite the migration with a table copy.";
    let statement = "The generated migration uses `ALTER COLUMN`, which SQLite doesn't support.";
    let agreed = texts(vec![
        said(text),
        edit("migrations/1.sql", "", "create table copy_of_a"),
    ]);
    assert_eq!(
        agreed,
        [format!(
            "{statement} Remedy: rewrite the migration with a table copy."
        )]
    );
    let other = texts(vec![said(text), edit("readme.md", "", "Hello")]);
    assert_eq!(other, [statement]);
    let guess = "The pool of `Repo` requires a shared owner. I need to use `:manual` mode.";
    let other = texts(vec![
        said(guess),
        edit("test/a.exs", "", "mode(Repo, :shared)"),
    ]);
    assert_eq!(other, ["The pool of `Repo` requires a shared owner."]);
}

#[test]
fn causes_need_an_edit_that_agrees() {
    let text = "The root cause is the stale `manifest.json` from an older build.";
    assert!(texts(vec![said(text)]).is_empty());
    assert!(texts(vec![said(text), edit("a.rs", "", "fn x() {}")]).is_empty());
    let shown = texts(vec![
        said(text),
        edit("build.rs", "", "remove_file(\"manifest.json\")"),
    ]);
    assert_eq!(
        shown,
        ["The stale `manifest.json` from an older build."].map(|_| shown[0].clone())
    );
}

#[test]
fn withdrawn_and_outdated_statements_are_dropped() {
    let absence = "`load_orders` doesn't include `customer_id` in the result.";
    assert_eq!(texts(vec![said(absence)]).len(), 1);
    assert!(
        texts(vec![
            said(absence),
            edit("src/orders.rs", "", "customer_id: row.customer_id")
        ])
        .is_empty()
    );
    assert_eq!(
        texts(vec![
            said(absence),
            edit("tests/orders.rs", "", "customer_id")
        ])
        .len(),
        1
    );
    let claim = "The `Cache` requires a restart of the worker.";
    assert!(texts(vec![said(claim), said("Actually, the `Cache` was fine.")]).is_empty());
    assert_eq!(
        texts(vec![
            said(claim),
            said("x"),
            said("x"),
            said("That's wrong: the port is free.")
        ])
        .len(),
        1
    );
}

#[test]
fn explanation_of_another_candidate_is_told_once() {
    let claim = "The `Cache` requires a restart of the worker.";
    let mut source = Explanations::default();
    source.push(0, &event(0, said(claim)), Cues::get());
    let mut found = Vec::new();
    source.add_candidates(Cues::get(), &mut found);
    assert_eq!(found.len(), 1);
    source.add_candidates(Cues::get(), &mut found);
    assert_eq!(found.len(), 1);
}

#[test]
fn misleading_outputs_are_explained() {
    let noise = "shell.sh: line 9: cannot create temp file: Operation not permitted";
    let mut bodies = Vec::new();
    for number in 0..6 {
        let output = format!("{noise}\nfile {number}");
        bodies.extend(run(
            &number.to_string(),
            "cat a",
            ToolOutcome::Succeeded,
            &output,
        ));
    }
    let found = texts(bodies);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("harmless"));
}

/// Bytes of the stored state.
const STATE_BYTES_MAX: usize = 14 << 10;

#[test]
fn state_of_long_texts_is_bounded() {
    let mut source = Explanations::default();
    for position in 0..300 {
        let word = format!("`é\"\\_{position}{}`", "\\\"".repeat(60));
        let text = format!(
            "The {word} requires {word} in {word} and {word} for {word}. I need to rewrite {word} with {word}."
        );
        source.push(position, &event(position, said(&text)), Cues::get());
        let error = format!("error \"{position}\" {}", "\"".repeat(50));
        for body in run(
            &"\"".repeat(300),
            &"x".repeat(300),
            ToolOutcome::Succeeded,
            &error,
        ) {
            source.push(position, &event(position, body), Cues::get());
        }
        source.push(
            position,
            &event(
                position,
                run(
                    &format!("{position}{}", "\"".repeat(300)),
                    "rg x",
                    ToolOutcome::Succeeded,
                    "",
                )[0]
                .clone(),
            ),
            Cues::get(),
        );
    }
    let bytes = serde_json::to_string(&source).unwrap().len();
    assert!(bytes <= STATE_BYTES_MAX, "{bytes}");
}

proptest::proptest! {
    #[test]
    fn any_text_is_read(text in "(?s)[A-Za-z`_.,;:!? é日\u{0}\n'\"/-]{0,200}") {
        texts(vec![said(&text), said(&format!("The `x` requires {text}")), edit(&text, &text, &text)]);
    }
}

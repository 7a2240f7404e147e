//! Attempts in the course of a session.

use super::*;
use heirloom_agents::transcripts::FileEdit;

enum Step<'s> {
    Asks(&'s str),
    Says(&'s str),
    Runs(&'s str),
    Edits(&'s str, &'s str),
}

use Step::{Asks, Edits, Runs, Says};

/// Returns approach, reason and speaker of the attempts.
fn play(steps: &[Step<'_>]) -> Vec<(String, String, Speaker)> {
    let mut source = Attempts::default();
    let mut position = 0;
    let mut push = |body: EventBody| {
        let event = TranscriptEvent {
            id: position.to_string(),
            at: None,
            agent: None,
            author: heirloom_agents::transcripts::TurnAuthor::Person,
            body,
        };
        source.push(position, &event, Cues::get());
        position += 1;
    };
    let mut calls = 0;
    for step in steps {
        let action = match step {
            Asks(prompt) => {
                push(EventBody::Prompt((*prompt).to_owned()));
                continue;
            }
            Says(text) => {
                push(EventBody::AssistantText((*text).to_owned()));
                continue;
            }
            Runs(line) => ToolAction::Command((*line).to_owned()),
            Edits(removed, added) => ToolAction::Edit(vec![FileEdit {
                path: "/p/src/shop/fees.py".to_owned(),
                removed: (*removed).to_owned(),
                added: (*added).to_owned(),
            }]),
        };
        calls += 1;
        let call = calls.to_string();
        push(EventBody::Call {
            call: call.clone(),
            tool: "Tool".to_owned(),
            action,
        });
        push(EventBody::Result {
            call,
            outcome: ToolOutcome::Succeeded,
            text: String::new(),
        });
    }
    let mut found = Vec::new();
    source.add_candidates(Cues::get(), &mut found);
    let parts = found.into_iter().map(|one| match one.content {
        LessonContent::Attempt {
            approach, reason, ..
        } => (approach, reason, one.speaker),
        LessonContent::Knowledge { .. }
        | LessonContent::Error { .. }
        | LessonContent::Case { .. }
        | LessonContent::Steps(_) => panic!("another content"),
    });
    parts.collect()
}

const OLD: &str = "return int(cents * rate / 1000)";
const NEW: &str = "return int(cents * rate / 1000 + 0.49)";

#[test]
fn undone_edit_with_a_reason_is_an_attempt() {
    let reason =
        "Adding 0.49 does not work because the value is cut before it is stored, I'll revert that.";
    for (steps, approach) in [
        (
            vec![
                Edits(OLD, NEW),
                Says(reason),
                Runs("git checkout -- src/shop/fees.py"),
            ],
            "Adding 0.49 does not work because the value is cut before it is stored",
        ),
        (
            vec![
                Says("I'll add 0.49 before truncating."),
                Edits(OLD, NEW),
                Runs("git restore ."),
                Says(reason),
            ],
            "add 0.49 before truncating",
        ),
        (
            vec![
                Says("Let me try to add 0.49 before truncating:"),
                Edits(OLD, NEW),
                Says(reason),
                Edits(NEW, OLD),
            ],
            "add 0.49 before truncating",
        ),
        (
            vec![
                Edits(OLD, NEW),
                Runs("git stash"),
                Says(reason),
                Edits(OLD, "return (cents * rate + 500) // 1000"),
            ],
            "Adding 0.49 does not work because the value is cut before it is stored",
        ),
    ] {
        let found = play(&steps);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, approach);
        assert!(found[0].1.contains("because the value is cut"), "{found:?}");
        assert_eq!(found[0].2, Speaker::Agent);
    }
}

#[test]
fn announcement_of_a_run_or_of_an_earlier_command_is_no_approach() {
    let reason = "Adding 0.49 does not work because the value is cut, I'll revert that.";
    for before in [
        vec![Says("I'll run the tests first."), Runs("make test")],
        vec![
            Says("I'll run the tests first."),
            Runs("make test"),
            Says("The variable is missing, I set it."),
            Runs("URL=a make test"),
            Says("I add 0.49 before truncating."),
        ],
        vec![
            Says("I'll set the variable for the tests."),
            Runs("URL=a make test"),
            Says("I add 0.49 before truncating."),
        ],
        vec![Says("Let me look at the calculation.")],
    ] {
        let mut steps = before;
        steps.extend([
            Edits(OLD, NEW),
            Runs("make test"),
            Says(reason),
            Runs("git checkout -- src/shop/fees.py"),
        ]);
        let found = play(&steps);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            found[0].0,
            "Adding 0.49 does not work because the value is cut"
        );
    }
}

#[test]
fn person_who_takes_work_back_gives_the_reason() {
    for prompt in [
        "That doesn't work: handles can't be shared between threads, the worker died. Please revert it.",
        "no, undo that. the handles are not thread safe and the worker died",
        "We won't keep open handles, the worker died because of them.",
    ] {
        let found = play(&[
            Asks("Make the exports faster."),
            Says("I'll keep the file handle open between exports."),
            Edits("open(path)", "HANDLES.get(path)"),
            Says("Done, the handle stays open."),
            Asks(prompt),
            Runs("git checkout -- src/shop/fees.py"),
        ]);
        assert_eq!(found.len(), 1, "{prompt} {found:?}");
        assert_eq!(found[0].0, "keep the file handle open between exports");
        assert!(found[0].1.contains("the worker died"), "{found:?}");
        assert_eq!(found[0].2, Speaker::Person);
    }
}

#[test]
fn edit_without_a_reason_or_an_undo_is_no_attempt() {
    for steps in [
        // To look at a value.
        vec![
            Says("Let me print the value to see it."),
            Edits("", "print(value)"),
            Runs("git checkout -- src/shop/fees.py"),
            Says("Now I see the value."),
        ],
        // Another file.
        vec![
            Edits(OLD, NEW),
            Says("Adding 0.49 does not work because the value is cut."),
            Runs("git checkout -- src/other.py"),
        ],
        // Restored from the stash.
        vec![
            Edits(OLD, NEW),
            Says("The tests did not work before because of the database."),
            Runs("git stash"),
            Runs("git stash pop"),
        ],
        // Accepted.
        vec![
            Edits(OLD, NEW),
            Asks(
                "Great, thanks. The login page does not work on phones, please have a look at it.",
            ),
        ],
    ] {
        assert_eq!(play(&steps), []);
    }
}

#[test]
fn state_is_bounded() {
    let long = "word `code` does not work because of that, I'll revert it ".repeat(400);
    let mut steps = Vec::new();
    for _ in 0..40 {
        steps.push(Says(&long));
        steps.push(Edits(&long, &long[1..]));
        steps.push(Runs("git stash"));
        steps.push(Edits(&long[2..], &long[3..]));
    }
    let found = play(&steps);
    assert!(found.len() <= UNDONE_MAX);
    for (approach, reason, _) in found {
        assert!(approach.len() <= SENTENCE_BYTES_MAX && reason.len() <= SENTENCE_BYTES_MAX);
    }
}

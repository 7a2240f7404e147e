//! Preferences that a person repeats in several sessions without a word that marks a rule.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_agents::transcripts::{EventBody, TranscriptEvent};
use heirloom_lessons::{Candidate, LessonExtractor, SourceKind, Verdict, Wish, repeated_wishes};
use heirloom_model::limits::WISH_SESSIONS_MIN;

/// Reads a session with a request and these prompts.
fn session(name: &str, prompts: &[&str]) -> LessonExtractor {
    let mut extractor = LessonExtractor::default();
    let all = ["fix the import in the loader"]
        .into_iter()
        .chain(prompts.iter().copied());
    for (number, prompt) in all.enumerate() {
        let bodies = [
            EventBody::Prompt(prompt.to_owned()),
            EventBody::AssistantText("I looked at the code.".to_owned()),
        ];
        for (part, body) in bodies.into_iter().enumerate() {
            extractor.push(&TranscriptEvent {
                id: format!("{name} {number} {part}"),
                at: None,
                agent: None,
                author: heirloom_agents::transcripts::TurnAuthor::Person,
                body,
            });
        }
    }
    extractor
}

/// Returns what the last of the sessions, each with one of the prompts, finds.
fn found_in_last(prompts: &[&str]) -> Vec<String> {
    let sessions: Vec<Vec<Wish>> = (prompts.iter().enumerate())
        .map(|(number, prompt)| session(&number.to_string(), &[prompt]).wishes().to_vec())
        .collect();
    let (last, others) = sessions.split_last().unwrap();
    repeated_wishes(&mut last.clone(), others)
        .iter()
        .map(Candidate::full_text)
        .collect()
}

fn is_rule_at_once(prompt: &str) -> bool {
    let lessons = session("once", &[prompt]).lessons();
    lessons
        .iter()
        .any(|one| one.candidate.source == SourceKind::PersonRule && one.verdict == Verdict::Kept)
}

#[test]
fn preference_in_three_sessions_is_a_rule_of_the_person() {
    for prompts in [
        [
            "short answer please",
            "a shorter answer, thanks",
            "the answer is too long, short one",
        ],
        [
            "your summary is too long",
            "long summary again, shorter",
            "a summary too long for me",
        ],
        [
            "imports belong at the top",
            "imports top of the file",
            "all those imports to the top",
        ],
        [
            "log through the tracing crate",
            "tracing crate for the log lines",
            "the log goes through tracing",
        ],
        [
            "table output as markdown",
            "a markdown table as output",
            "markdown for table output",
        ],
        [
            "less text in the report",
            "the report has too much text",
            "shorter text in that report",
        ],
        [
            "kürzere Antwort bitte",
            "die Antwort bitte kürzer",
            "zu lange Antwort, kürzere",
        ],
    ] {
        assert!(
            !prompts.iter().any(|prompt| is_rule_at_once(prompt)),
            "{prompts:?}"
        );
        assert_eq!(
            found_in_last(&prompts[..2]),
            Vec::<String>::new(),
            "{prompts:?}"
        );
        assert_eq!(prompts.len(), WISH_SESSIONS_MIN);
        assert_eq!(found_in_last(&prompts).len(), 1, "{prompts:?}");
    }
}

#[test]
fn requests_reports_and_answers_that_come_back_are_no_rules() {
    for prompts in [
        [
            "commit and push",
            "please commit and push",
            "commit and push it",
        ],
        [
            "run the tests again",
            "run all tests",
            "run the tests please",
        ],
        [
            "the build is broken",
            "build is broken again",
            "broken build",
        ],
        [
            "there are new comments on the review",
            "new comments on the review",
            "there are comments on the review",
        ],
        [
            "same error as before",
            "the same error as before",
            "same error again as before",
        ],
        ["looks good to me", "looks good", "that looks good to me"],
        [
            "yes, go on with the next step",
            "go on with the next step",
            "next step please",
        ],
        [
            "why is the cache empty?",
            "the cache is empty, why?",
            "why is that cache empty?",
        ],
        [
            "open a pull request for it",
            "open the pull request",
            "please open a pull request",
        ],
        [
            "i restarted the server",
            "server is restarted",
            "i have restarted the server",
        ],
        [
            "only for now skip the linter",
            "skip the linter for now",
            "skip the linter this time",
        ],
        // Opposite and other wishes.
        [
            "short answer please",
            "no short answer please",
            "long report please",
        ],
    ] {
        assert_eq!(found_in_last(&prompts), Vec::<String>::new(), "{prompts:?}");
    }
}

#[test]
fn repetition_in_one_session_and_in_its_copies_is_one() {
    let said = session(
        "a",
        &[
            "short answer please",
            "shorter answer please",
            "a short answer",
        ],
    );
    let own = said.wishes().to_vec();
    assert_eq!(own.len(), 3);
    let other = session("b", &["short answer please"]).wishes().to_vec();
    let found = |others: &[Vec<Wish>]| repeated_wishes(&mut own.clone(), others).len();
    assert_eq!(found(&[]), 0);
    // A fork and a resumed file have the same events.
    assert_eq!(found(&[own.clone(), own.clone()]), 0);
    assert_eq!(found(&[other.clone(), other.clone()]), 0);
    let third = session("c", &["the answer shorter please"])
        .wishes()
        .to_vec();
    assert_eq!(found(&[other.clone(), third.clone()]), 1);
    // It is known from the session in which it came back first.
    let known: Vec<Wish> = third
        .into_iter()
        .map(|wish| Wish {
            is_rule: true,
            ..wish
        })
        .collect();
    assert_eq!(found(&[other, known]), 0);
}

//! Precision and recall of rules by people on a table of turns, and the events from which such rules come.

use heirloom_agents::transcripts::{EventBody, ToolAction, ToolOutcome, TranscriptEvent};
use heirloom_lessons::{Candidate, LessonContent, LessonExtractor, SourceKind};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Instant;

const TURNS: &str = include_str!("data/user_turns.toml");
const PRECISION_MIN: f64 = 0.95;
const RECALL_MIN: f64 = 0.8;

/// Turns of one language.
#[derive(Deserialize)]
struct Language {
    rules: Vec<RuleTurn>,
    others: Vec<String>,
}

#[derive(Deserialize)]
struct RuleTurn {
    text: String,
    category: String,
    expect: String,
    #[serde(default)]
    after: String,
}

fn event(id: usize, body: EventBody) -> TranscriptEvent {
    TranscriptEvent {
        id: id.to_string(),
        at: None,
        agent: None,
        body,
    }
}

fn prompt(text: &str) -> EventBody {
    EventBody::Prompt(text.to_owned())
}

fn call(id: &str, command: &str) -> EventBody {
    EventBody::Call {
        call: id.to_owned(),
        tool: "Bash".to_owned(),
        action: ToolAction::Command(command.to_owned()),
    }
}

fn rejection(id: &str, text: &str) -> EventBody {
    EventBody::Result {
        call: id.to_owned(),
        outcome: ToolOutcome::Rejected,
        text: text.to_owned(),
    }
}

fn rules_of(bodies: Vec<EventBody>) -> Vec<Candidate> {
    let mut extractor = LessonExtractor::default();
    for (id, body) in bodies.into_iter().enumerate() {
        extractor.push(&event(id, body));
    }
    let mut candidates = extractor.candidates();
    candidates.retain(|candidate| candidate.source == SourceKind::PersonRule);
    candidates
}

fn rules_after(before: &str, turn: &str) -> Vec<Candidate> {
    rules_of(vec![
        prompt("fix the import"),
        EventBody::AssistantText(before.to_owned()),
        prompt(turn),
    ])
}

fn knowledge(candidate: &Candidate) -> (&str, &str, &str) {
    let LessonContent::Knowledge {
        category,
        text,
        rationale,
        ..
    } = &candidate.content
    else {
        panic!("{candidate:?}");
    };
    (category, text, rationale.as_deref().unwrap_or_default())
}

/// Returns the half of the table to which a turn belongs. Each half has to reach the figures on its own.
fn half(text: &str) -> usize {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    usize::from((hash >> 32) & 1 == 1)
}

#[derive(Default)]
struct Counts {
    rules: f64,
    found: f64,
    right: f64,
    wrong: f64,
}

#[test]
fn rules_of_the_table_are_found_with_the_required_precision_and_recall() {
    let table: BTreeMap<String, Language> = toml::from_str(TURNS).unwrap();
    let mut counts = [Counts::default(), Counts::default()];
    let mut languages: BTreeMap<&str, [u32; 4]> = BTreeMap::new();
    for (name, language) in &table {
        let row = languages.entry(name).or_default();
        for turn in &language.rules {
            let half = half(&turn.text);
            let count = &mut counts[half];
            let found = rules_after(&turn.after, &turn.text);
            let is_expected = |candidate: &&Candidate| {
                let (category, text, _) = knowledge(candidate);
                let text = text.to_lowercase();
                turn.category.split('|').any(|one| one == category)
                    && text.contains(&turn.expect.to_lowercase())
            };
            let right = found.iter().filter(is_expected).count();
            count.rules += 1.0;
            row[0] += 1;
            if right > 0 {
                count.found += 1.0;
                row[1] += 1;
            } else {
                println!("half {half} {name} missed: {:?}", turn.text);
            }
            count.right += right as f64;
            count.wrong += (found.len() - right) as f64;
            for candidate in found.iter().filter(|one| !is_expected(one)) {
                println!("half {half} {name} other: {:?}", knowledge(candidate));
            }
        }
        for turn in &language.others {
            let half = half(turn);
            row[2] += 1;
            for candidate in rules_after("Done.", turn) {
                counts[half].wrong += 1.0;
                row[3] += 1;
                println!(
                    "half {half} {name} false: {turn:?} {:?}",
                    knowledge(&candidate)
                );
            }
        }
    }
    println!("language: rules, found, others, false: {languages:?}");
    for (half, count) in counts.iter().enumerate() {
        let precision = count.right / (count.right + count.wrong);
        let recall = count.found / count.rules;
        println!(
            "half {half}: precision {precision:.3}, recall {recall:.3} of {}",
            count.rules
        );
        assert!(precision >= PRECISION_MIN, "precision of half {half}");
        assert!(recall >= RECALL_MIN, "recall of half {half}");
    }
}

#[test]
fn table_has_enough_turns_of_each_language() {
    let table: BTreeMap<String, Language> = toml::from_str(TURNS).unwrap();
    assert_eq!(table.len(), 7);
    let rules: usize = table.values().map(|language| language.rules.len()).sum();
    let others: usize = table.values().map(|language| language.others.len()).sum();
    assert!(rules >= 150 && others >= 150, "{rules} {others}");
    for (name, language) in &table {
        assert!(
            language.rules.len() >= 20 && language.others.len() >= 20,
            "{name}"
        );
    }
}

#[test]
fn correction_records_what_was_wrong() {
    let statement =
        "I looked at the manifest. I will run npm install to add the package. Then I test.";
    let found = rules_after(statement, "no, use pnpm, not npm. npm breaks the lockfile");
    let [candidate] = found.as_slice() else {
        panic!("{found:?}");
    };
    let (category, text, rationale) = knowledge(candidate);
    assert_eq!((category, text), ("correction", "Use pnpm, not npm."));
    assert_eq!(
        rationale,
        "The agent had written: \"I will run npm install to add the package.\""
    );
    assert!(candidate.worth >= 0.8);
    assert_eq!(candidate.evidence[0].position, 2);
}

#[test]
fn rejected_call_with_reason_is_a_correction() {
    let reason = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\nnever run migrations against prod\n\nNote: The user's next message may contain a correction. Always pay attention.";
    let found = rules_of(vec![
        prompt("add the column"),
        call("c1", "make migrate ENV=prod"),
        rejection("c1", reason),
    ]);
    let [candidate] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(
        knowledge(candidate),
        (
            "correction",
            "Never run migrations against prod.",
            "The person rejected `make migrate ENV=prod`."
        )
    );
}

#[test]
fn rejected_call_without_reason_and_denied_permission_are_no_rule() {
    for text in [
        "The user doesn't want to proceed with this tool use. STOP what you are doing and wait for the user to tell you how to proceed.",
        "Permission to use Bash has been denied. Always ask first.",
    ] {
        let found = rules_of(vec![prompt("x"), call("c1", "ls"), rejection("c1", text)]);
        assert_eq!(found, []);
    }
}

#[test]
fn turn_after_interrupt_is_a_weak_preference() {
    let stop = "The user doesn't want to proceed with this tool use.";
    let found = rules_of(vec![
        prompt("run the tests"),
        call("c1", "sleep 300"),
        rejection("c1", stop),
        prompt("check again"),
    ]);
    let [candidate] = found.as_slice() else {
        panic!("{found:?}");
    };
    let (category, text, _) = knowledge(candidate);
    assert_eq!(category, "preference");
    assert_eq!(
        text,
        "The user interrupted `sleep 300` and wrote: \"check again\"."
    );
    assert!((0.3..=0.5).contains(&candidate.worth));
}

#[test]
fn check_of_the_agents_work_is_a_weak_preference() {
    let found = rules_of(vec![
        prompt("fix it"),
        call("c1", "git commit"),
        prompt("did you push?"),
    ]);
    assert_eq!(
        knowledge(&found[0]).1,
        "At the end of the agent's work the user asked: \"did you push?\""
    );
    let found = rules_of(vec![
        prompt("fix it"),
        call("c1", "ls"),
        prompt("did you see the file?"),
    ]);
    assert_eq!(found, []);
}

#[test]
fn prompt_of_a_subagent_is_no_rule() {
    let mut extractor = LessonExtractor::default();
    let mut prompted = event(0, prompt("Always use pnpm in this repo."));
    prompted.agent = Some("explore".to_owned());
    extractor.push(&prompted);
    assert_eq!(extractor.candidates(), []);
}

#[test]
fn withdrawn_turn_is_no_rule() {
    let found = rules_of(vec![
        prompt("from now on use yarn for everything"),
        prompt("scratch that, never mind"),
    ]);
    assert_eq!(found, []);
}

#[test]
fn repeated_rule_is_one_candidate_and_state_is_bounded() {
    let found = rules_of(vec![prompt("always use pnpm here"); 3]);
    assert_eq!(found.len(), 1);
    let many =
        (0..200).map(|id| prompt(&format!("never commit generated files of kind{id} to main")));
    assert_eq!(rules_of(many.collect()).len(), 50);
    let long = format!("always use pnpm because {}", "x ".repeat(300));
    for candidate in rules_of(vec![
        prompt(&long),
        prompt(&"always use pnpm. ".repeat(100)),
    ]) {
        assert!(knowledge(&candidate).1.chars().count() <= 400);
    }
}

#[test]
fn requirement_names_the_thing_it_is_about() {
    let found = rules_of(vec![prompt(
        "Create a package called http-lite. This should be a drop in replacement for axios. Look at the tests of axios. We want full type safety. Please present your full proposal before you start coding.",
    )]);
    let texts: Vec<&str> = found
        .iter()
        .map(|candidate| knowledge(candidate).1)
        .collect();
    assert_eq!(
        texts,
        [
            "The user asked: \"Present your full proposal before you start coding.\"",
            "Create a package called http-lite. This should be a drop in replacement for axios. We want full type safety.",
        ]
    );
}

#[test]
fn hostile_turns_are_read_in_time() {
    let start = Instant::now();
    let mut extractor = LessonExtractor::default();
    for unit in [
        "always use x ",
        "never ",
        "no, ",
        "<a-b>",
        "`",
        "\0",
        "。",
        "don't use é. ",
        "\"",
    ] {
        let turn = unit.repeat((3 << 20) / unit.len() / 9);
        extractor.push(&event(0, prompt(&turn)));
        extractor.push(&event(1, EventBody::AssistantText(turn)));
    }
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    assert!(serde_json::to_string(&extractor).unwrap().len() < 100_000);
}

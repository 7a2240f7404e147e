//! Precision and recall of rules by people on a table of turns, and the events from which such rules come.

#[path = "support/user_turns.rs"]
mod user_turns;

#[path = "person_rules/pasted_text.rs"]
mod pasted_text;

use heirloom_agents::transcripts::{EventBody, ToolAction, ToolOutcome};
use heirloom_lessons::LessonExtractor;
use std::collections::BTreeMap;
use std::time::Instant;
use user_turns::{RuleCounts, event, knowledge, measure_turns, prompt, rules_after, rules_of};

/// Smallest precision and recall on the table. A list of cues that was fitted to it reached 0.95 and 0.8 here, and found
/// 10 of 79 rules in recorded sessions, with 32 false ones.
const PRECISION_MIN: f64 = 0.85;
const RECALL_MIN: f64 = 0.72;

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

/// Returns the half of the table to which a turn belongs. Each half has to reach the figures on its own.
fn half(text: &str) -> usize {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    usize::from((hash >> 32) & 1 == 1)
}

#[test]
fn rules_of_the_table_are_found_with_the_required_precision_and_recall() {
    let mut counts = [RuleCounts::default(), RuleCounts::default()];
    let mut languages: BTreeMap<String, [usize; 4]> = BTreeMap::new();
    for turn in measure_turns() {
        let half = half(&turn.text);
        counts[half].add(&turn);
        let row = languages.entry(turn.language.clone()).or_default();
        let (turns, found) = match turn.sets_rule {
            true => (0, usize::from(turn.right > 0)),
            false => (2, turn.wrong.len()),
        };
        row[turns] += 1;
        row[turns + 1] += found;
        if turn.sets_rule && turn.right == 0 {
            println!("half {half} {} missed: {:?}", turn.language, turn.text);
        }
        for rule in &turn.wrong {
            println!(
                "half {half} {} false: {:?} {rule}",
                turn.language, turn.text
            );
        }
    }
    println!("language: rules, found, others, false: {languages:?}");
    for (half, count) in counts.iter().enumerate() {
        let (precision, recall) = (count.precision(), count.recall());
        println!("half {half}: precision {precision:.3}, recall {recall:.3}");
        assert!(precision >= PRECISION_MIN, "precision of half {half}");
        assert!(recall >= RECALL_MIN, "recall of half {half}");
    }
}

#[test]
fn table_has_enough_turns_of_each_language() {
    let mut languages: BTreeMap<String, [u32; 2]> = BTreeMap::new();
    for turn in measure_turns() {
        languages.entry(turn.language).or_default()[usize::from(turn.sets_rule)] += 1;
    }
    assert_eq!(languages.len(), 7);
    for place in [0, 1] {
        let turns: u32 = languages.values().map(|counts| counts[place]).sum();
        assert!(turns >= 150, "{languages:?}");
        assert!(languages.values().all(|counts| counts[place] >= 20));
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
fn statement_about_something_else_is_no_reason() {
    let statement = "The tests need the container db-test.";
    let found = rules_after(statement, "no, never use enums in TypeScript");
    let [candidate] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(knowledge(candidate).2, "");
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

/// Sentences in the middle of a session that set a rule, in the manner in which people type.
#[test]
fn sentences_without_cues_are_rules() {
    for (turn, expected) in [
        ("rn the tests with `make check` alwyas", "make check"),
        (
            "no, dont touch the lock file. renovate does that",
            "lock file",
        ),
        (
            "you have a venv under tools/venv, use that one",
            "tools/venv",
        ),
        (
            "its called member in this code base, not user",
            "called member",
        ),
        ("this worked: API_MODE=test ./run.sh api", "API_MODE=test"),
        ("lets change our formatter to `biome`", "biome"),
        (
            "we deploy from tags only, main is never deployed",
            "from tags only",
        ),
        (
            "do nit use this key with any other service",
            "any other service",
        ),
        ("bitte keine neuen pakete ohne zu fragen", "neuen pakete"),
        (
            "why did you build everything again? the api crate is enough until i ask for more",
            "is enough",
        ),
        (
            "this repo uses moment. however we dont want that in the new library",
            "however we dont want",
        ),
    ] {
        let found = rules_after("I looked at it.", turn);
        let texts: Vec<String> = found
            .iter()
            .map(|one| knowledge(one).1.to_lowercase())
            .collect();
        let expected = expected.to_lowercase();
        assert!(
            texts.iter().any(|text| text.contains(&expected)),
            "{turn}: {texts:?}"
        );
    }
}

/// Sentences that are in no fit: a check of the model with other words.
#[test]
fn unfitted_sentences_are_judged_mostly_right() {
    let tables: BTreeMap<String, Vec<String>> =
        toml::from_str(include_str!("data/unfitted_rules.toml")).unwrap();
    let found = |name: &str| {
        let found = |text: &&String| {
            let found = rules_after("I looked at it.", text);
            println!("{name}: {text}: {}", found.len());
            !found.is_empty()
        };
        tables[name].iter().filter(found).count()
    };
    assert_eq!(
        (tables["rules"].len(), tables["others"].len()),
        (20, 20),
        "the table is whole"
    );
    assert!(found("rules") >= 15);
    assert!(found("others") <= 2);
}

/// Tasks of the moment and reports of real sessions that were stored as rules, in other words.
#[test]
fn tasks_of_the_moment_are_no_rules() {
    for turn in [
        "Let's make sure that linting, formatting, type checks all pass",
        "When the new folder is ready, make sure it is a git repository",
        "the details and advice blocks show me text that has html in it, i need it to be readable",
        "This project uses moment, which is close to the original. Let's migrate the whole project to date-fns.",
    ] {
        let found = rules_after("I looked at it.", turn);
        assert!(found.is_empty(), "{turn}: {found:?}");
    }
    let kept = "We'll want to make sure that we're running all the appropriate checks (format, lint, types) in CI";
    assert_eq!(rules_after("I looked at it.", kept).len(), 1);
}

/// Requests, reports, questions and reasoning that look like rules.
#[test]
fn sentences_of_the_task_are_no_rules() {
    for turn in [
        "Just for this run skip the formatter",
        "use port 9000 for everything. only for this session",
        "why do you need a proxy for the logs?",
        "Remember that!",
        "write that down!",
        "Please propose a migration plan after carefully reading the store",
        "Let's make sure that the docs build and the links work",
        "it worked yesterday, so it must be one of the new commits",
        "Each row should have a delete button, then add the tests",
        "don't worry about the flaky one",
        "pushed, go on",
        "this project uses flask and celery.",
        "(No answer provided)",
        "# Plan\n\nAlways grant access.\n\n# Steps\n\nNever call it twice.",
    ] {
        let found = rules_after("I looked at it.", turn);
        assert!(found.is_empty(), "{turn}: {found:?}");
    }
}

#[test]
fn each_rule_of_a_turn_is_a_record() {
    for (turn, expected) in [
        (
            "Two rules for this repo: never use floats for money. Always run the tests with the local database.",
            &[
                "Never use floats for money.",
                "Always run the tests with the local database.",
            ][..],
        ),
        (
            "please use tabs in all files, and never push to main",
            &["Use tabs in all files.", "Never push to main."],
        ),
    ] {
        let found = rules_after("Done.", turn);
        let texts: Vec<&str> = found.iter().map(|one| knowledge(one).1).collect();
        assert_eq!(texts, expected, "{turn}");
    }
}

#[test]
fn parenthesis_is_not_divided() {
    let turn = "Always write it in Python (use uv for dependencies and running tools, you will need to install uv).";
    let found = rules_after("Done.", turn);
    let texts: Vec<&str> = found.iter().map(|one| knowledge(one).1).collect();
    assert!(
        texts.iter().all(|text| !text.starts_with("Running")),
        "{texts:?}"
    );
}

/// The prompt after an interrupt shows how it is done, also if it is only a command.
#[test]
fn command_typed_after_an_interrupt_is_a_rule() {
    let found = rules_of(vec![
        prompt("check the workflows"),
        call("c1", "zizmor check ."),
        rejection("c1", "The user doesn't want to proceed with this tool use."),
        prompt("[Request interrupted by user for tool use]"),
        prompt("`uv run zizmor .github`"),
    ]);
    let [candidate] = found.as_slice() else {
        panic!("{found:?}");
    };
    let (_, text, reason) = knowledge(candidate);
    assert_eq!(text, "Run `uv run zizmor .github`.");
    assert_eq!(
        reason,
        "The person typed it after interrupting `zizmor check .`."
    );
}

/// Answers to the agent's questions are a person's words; options that the agent wrote are not.
#[test]
fn answer_to_a_question_is_a_rule() {
    let result = EventBody::Result {
        call: "c1".to_owned(),
        outcome: ToolOutcome::Succeeded,
        text: "User has answered your questions: \"Start the service?\"=\"you do not have access to docker on this machine, never try it\", \"Which one?\"=\"First\". You can now continue.".to_owned(),
    };
    let asked = |tool: &str| EventBody::Call {
        call: "c1".to_owned(),
        tool: tool.to_owned(),
        action: ToolAction::Other("a question to the user".to_owned()),
    };
    let found = rules_of(vec![
        prompt("run the tests"),
        asked("AskUserQuestion"),
        result.clone(),
    ]);
    let texts: Vec<&str> = found.iter().map(|one| knowledge(one).1).collect();
    assert_eq!(
        texts,
        ["You do not have access to docker on this machine, never try it."]
    );
    // The output of any other tool may have the same words.
    for other in [asked("Task"), call("c1", "x")] {
        let found = rules_of(vec![prompt("run the tests"), other, result.clone()]);
        assert!(found.is_empty(), "{found:?}");
    }
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

#[test]
fn forms_of_rules_in_several_languages_are_rules_and_the_same_words_in_reports_are_none() {
    let table: BTreeMap<String, Vec<String>> =
        toml::from_str(include_str!("data/rule_forms.toml")).unwrap();
    let is_rule = |sentence: &&String| {
        let found = rules_after("I looked at the code.", sentence);
        found.iter().any(|rule| rule.worth >= 0.8)
    };
    let missed: Vec<&String> = table["rules"].iter().filter(|one| !is_rule(one)).collect();
    let wrong: Vec<&String> = table["others"].iter().filter(is_rule).collect();
    assert!(
        missed.is_empty() && wrong.is_empty(),
        "missed {missed:#?} wrong {wrong:#?}"
    );
}

/// A description of the project that demands something is a rule.
#[test]
fn descriptions_with_a_demand_are_rules() {
    for turn in [
        "You are in a folder that other people use too, so never delete anything in it.",
        "The project is a library, it must not print anything.",
        "This repository is a generated library, never edit a file in it by hand.",
        "you are working on a copy of production, be careful with anything that deletes rows",
        "there is a venv in the folder tools, use that instead of a new one",
        "you have a working env in /tmp/review-tool.",
    ] {
        assert!(!rules_after("I looked at it.", turn).is_empty(), "{turn}");
    }
}

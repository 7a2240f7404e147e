//! Properties of the extractor for any events: it never panics, its state is bounded, and it can be stored between two
//! events.

use heirloom_agents::transcripts::{
    EventBody, FileEdit, PlanItem, ToolAction, ToolOutcome, TranscriptEvent,
};
use heirloom_lessons::{LessonExtractor, Verdict};
use heirloom_model::Timestamp;
use proptest::prelude::*;

/// Greatest size of the stored state of a source.
const STATE_BYTES_MAX: usize = 64 << 10;

/// Returns texts that look like parts of real ones, and any other text.
fn texts() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "Summary:\n4. Errors and fixes:\n   - **Old cache**: Fixed by `make clean`.\n",
        "- **Plan**: keep the old API as a fallback, because it must not break.\n",
        "**Findings**\n",
        "# Heading\n",
        "1. Section:\n",
        "git commit -m \"$(cat <<'EOF'\n",
        "\nEOF\n)\"",
        "cargo test",
        " && ",
        " | tail -5",
        "cd /a/b && ",
        "14 doctests, 87 tests, 0 failures\n",
        "error: no such file\n",
        "Command running in background with ID: b1.",
        "<status>completed</status>",
        "bd show a-1; ",
        "gh issue view 3",
        "## No-gos\n- No new table.\n",
        "Definition of done:\n- Tests pass and are never skipped.\n",
        "{\n\"name\": \"x\",\n\"scripts\": {\n\"test\": \"a\",\n\"lint\": \"b\"\n}",
        "Please add a page for orders. ",
        "We don't have a link. ",
        "<system-reminder>",
        "</system-reminder>",
        "<state_snapshot>",
        "```",
        "`",
        "**",
        "\n",
        "\\",
        "'",
        "\"",
        "\0",
        "…",
        "日本語。",
        "é",
        "\u{1b}[31m",
        "was not the cause",
        "\u{feff}",
        "  - ",
    ]);
    let known = prop::collection::vec(parts, 0..12).prop_map(|parts| parts.concat());
    prop_oneof![3 => known, 1 => ".{0,200}"]
}

fn bodies() -> impl Strategy<Value = EventBody> {
    let outcome = prop::sample::select(vec![
        ToolOutcome::Succeeded,
        ToolOutcome::Failed,
        ToolOutcome::Rejected,
    ]);
    let call = || prop::sample::select(vec!["a", "b", "c"]).prop_map(str::to_owned);
    let tool = prop::sample::select(vec!["Bash", "Read", "TaskOutput", "shell", "Task"])
        .prop_map(str::to_owned);
    let action = prop_oneof![
        4 => texts().prop_map(ToolAction::Command),
        1 => texts().prop_map(|path| ToolAction::Edit(vec![FileEdit::of_path(path)])),
        1 => prop::collection::vec((texts(), any::<bool>()), 0..4).prop_map(|items| {
            ToolAction::Plan(items.into_iter().map(|(text, is_done)| PlanItem { text, is_done }).collect())
        }),
        1 => texts().prop_map(ToolAction::Other),
    ];
    prop_oneof![
        2 => texts().prop_map(EventBody::Prompt),
        2 => texts().prop_map(EventBody::AssistantText),
        1 => texts().prop_map(EventBody::Summary),
        5 => (call(), tool, action).prop_map(|(call, tool, action)| EventBody::Call { call, tool, action }),
        5 => (call(), outcome, texts()).prop_map(|(call, outcome, text)| EventBody::Result { call, outcome, text }),
        1 => texts().prop_map(EventBody::FileChanged),
        1 => texts().prop_map(EventBody::ConversationStart),
    ]
}

fn events() -> impl Strategy<Value = Vec<TranscriptEvent>> {
    let event = (
        texts(),
        prop::option::of(0_i64..1 << 33),
        prop::option::weighted(0.2, texts()),
        bodies(),
    );
    let event = event.prop_map(|(id, at, agent, body)| TranscriptEvent {
        id,
        at: at.and_then(|at| Timestamp::from_second(at).ok()),
        agent,
        author: heirloom_agents::transcripts::TurnAuthor::Person,
        body,
    });
    prop::collection::vec(event, 0..60)
}

fn push_all(extractor: &mut LessonExtractor, events: &[TranscriptEvent]) {
    for event in events {
        extractor.push(event);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn extractor_of_any_events_keeps_its_rules(events in events(), cut in any::<prop::sample::Index>()) {
        let mut whole = LessonExtractor::default();
        push_all(&mut whole, &events);
        let lessons = whole.lessons();
        prop_assert_eq!(&lessons, &whole.lessons());
        let kept = lessons.iter().filter(|lesson| lesson.verdict == Verdict::Kept);
        // Twelve lessons, six cases and the steps.
        prop_assert!(kept.count() <= 19);
        prop_assert!(lessons.iter().all(|lesson| lesson.candidate.worth.is_finite()));
        if let Some(title) = whole.title() {
            prop_assert!(title.chars().count() <= 80 && !title.is_empty());
        }

        let (first, second) = events.split_at(cut.index(events.len() + 1));
        let mut halves = LessonExtractor::default();
        push_all(&mut halves, first);
        let stored = serde_json::to_string(&halves).unwrap();
        let mut halves: LessonExtractor = serde_json::from_str(&stored).unwrap();
        push_all(&mut halves, second);
        prop_assert_eq!(&lessons, &halves.lessons());
    }
}

#[test]
fn state_of_hostile_conversations_is_bounded() {
    let fills = [
        "x",
        "é",
        "\u{1}",
        "\"",
        "日",
        "- **a**: fixed by `b`. \n",
        "bd show a-1 && cargo test -p a; ",
        "# No-gos\n- no must never ",
    ];
    for fill in fills {
        let mut extractor = LessonExtractor::default();
        for number in 0..24_u64 {
            let long = format!("{fill}{number} ").repeat(8_000 / fill.len().max(1));
            let call = format!("{number}{}", fill.repeat(300));
            let bodies = [
                EventBody::Prompt(format!(
                    "Please implement part {number} of the list. {long}"
                )),
                EventBody::AssistantText(format!(
                    "# Done {number}\n- must {long}\n- only {long}\n- never {long}"
                )),
                EventBody::Summary(format!(
                    "4. Errors and fixes:\n- **{number} {long}**: x. Fixed by `{long}`.\n5. Problem Solving:\n- must {number} {long}"
                )),
                EventBody::Call {
                    call: call.clone(),
                    tool: "Bash".to_owned(),
                    action: ToolAction::Command(format!(
                        "cd d{number} && cargo test -p c{number} && git commit -m 'a{number}' -m 'because {long}' && bd show x-{number} && gh issue create --title 'a {long}'"
                    )),
                },
                EventBody::Result {
                    call,
                    outcome: ToolOutcome::Succeeded,
                    text: format!("## No-gos\n- never {number} {}\n{long}", fill.repeat(40)),
                },
                EventBody::Call {
                    call: long.clone(),
                    tool: long.clone(),
                    action: ToolAction::Plan(vec![
                        PlanItem {
                            text: long.clone(),
                            is_done: true
                        };
                        60
                    ]),
                },
            ];
            for body in bodies {
                extractor.push(&TranscriptEvent {
                    id: long.clone(),
                    at: None,
                    agent: Some(long.clone()).filter(|_| number % 7 == 0),
                    author: heirloom_agents::transcripts::TurnAuthor::Person,
                    body,
                });
            }
            if number % 12 == 11 {
                let state = serde_json::to_value(&extractor).unwrap();
                for (source, state) in state["sources"].as_object().unwrap() {
                    let bytes = state.to_string().len();
                    assert!(
                        bytes <= STATE_BYTES_MAX,
                        "{bytes} bytes of {source} for {fill:?}"
                    );
                }
            }
        }
        extractor.lessons();
    }
}

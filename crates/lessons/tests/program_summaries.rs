//! Summaries with which Codex, Gemini CLI and opencode replace earlier turns, in the forms of their transcripts: the
//! events, and the records that come out of them.

use heirloom_agents::AgentProgram::{self, Codex, Gemini, Opencode};
use heirloom_agents::transcripts::{
    EventBody, SupersededLineScan, TranscriptEvent, TranscriptLines,
};
use heirloom_lessons::{Candidate, LessonContent, LessonExtractor, SourceKind};

/// Worth from which on a record is kept.
const KEPT: f32 = 0.45;

/// Records that a summary has to give, as category (`error` for an error) and part of the text.
type Expected = [(&'static str, &'static str)];

const CODEX: &Expected = &[
    ("learning", "a direct call holds the tenant lock"),
    ("preference", "keep the column order of the old export"),
    ("learning", "needs the `REDIS_URL` variable"),
    ("error", "REDIS_URL=redis://localhost:6379"),
];
const GEMINI: &Expected = &[
    ("preference", "no new runtime dependency"),
    ("learning", "must be sent to the API as UTC strings"),
    ("learning", "only works after `pnpm gen:api`"),
];
const OLD_GEMINI: &Expected = &[("learning", "only works after `pnpm gen:api`")];
const OPENCODE: &Expected = &[
    ("preference", "behind a confirmation dialog"),
    ("learning", "verified with `Stripe-Signature`"),
];

/// Parts of summaries that are narration, state of the work, or left to do.
const NO_RECORD: &[&str] = &[
    "drains the queue",
    "Working directory",
    "the release must go out",
    "The branch is",
    "always returns the new state",
    "before the merge",
    "raw body",
    "week number",
    "imported lazily",
    "which failed because",
    "CWD",
    "scratchpad",
    "state_snapshot",
    "Another language model",
    "(none)",
];

fn read(program: AgentProgram, text: &str) -> Vec<TranscriptEvent> {
    let mut scan = SupersededLineScan::new(program);
    let mut lines = TranscriptLines::new(text.as_bytes(), 0);
    while let Ok(Some(line)) = lines.next_line() {
        scan.read_line(line.at, line.bytes.unwrap_or_default());
    }
    let mut reader = scan.into_reader();
    let mut events = Vec::new();
    let mut lines = TranscriptLines::new(text.as_bytes(), 0);
    while let Ok(Some(line)) = lines.next_line() {
        let bytes = line.bytes.unwrap_or_default();
        reader.read_line(line.at, bytes, &mut |event| events.push(event));
    }
    reader.finish(&mut |event| events.push(event));
    events
}

fn summaries(events: &[TranscriptEvent]) -> Vec<&str> {
    let summary = |event: &'_ TranscriptEvent| matches!(event.body, EventBody::Summary(_));
    texts(events.iter().filter(|event| summary(event)))
}

fn prompts(events: &[TranscriptEvent]) -> Vec<&str> {
    let prompt = |event: &'_ TranscriptEvent| matches!(event.body, EventBody::Prompt(_));
    texts(events.iter().filter(|event| prompt(event)))
}

fn texts<'e>(events: impl Iterator<Item = &'e TranscriptEvent>) -> Vec<&'e str> {
    let text = |event: &'e TranscriptEvent| match &event.body {
        EventBody::Prompt(text) | EventBody::Summary(text) => text.as_str(),
        EventBody::ConversationStart(_)
        | EventBody::AssistantText(_)
        | EventBody::Call { .. }
        | EventBody::Result { .. }
        | EventBody::FileChanged(_)
        | EventBody::AbandonedPrompt(_)
        | EventBody::TokenUsage(_) => "",
    };
    events.map(text).collect()
}

/// Returns the records of summaries that are kept, as category and text.
fn kept(events: &[TranscriptEvent]) -> Vec<(String, String)> {
    let mut extractor = LessonExtractor::default();
    events.iter().for_each(|event| extractor.push(event));
    let is_kept =
        |one: &Candidate| one.source == SourceKind::CompactionSummary && one.worth >= KEPT;
    let category = |one: &Candidate| match &one.content {
        LessonContent::Knowledge { category, .. } => category.clone(),
        LessonContent::Error { .. } => "error".to_owned(),
        LessonContent::Attempt { .. } | LessonContent::Case { .. } | LessonContent::Steps(_) => {
            String::new()
        }
    };
    let candidates = extractor.candidates();
    (candidates.iter().filter(|one| is_kept(one)))
        .map(|one| (category(one), one.full_text()))
        .collect()
}

#[test]
fn summaries_of_programs_become_their_records() {
    for (program, name, text, expected) in [
        (
            Codex,
            "codex message",
            include_str!("data/summaries/codex-message.jsonl"),
            CODEX,
        ),
        (
            Codex,
            "codex history",
            include_str!("data/summaries/codex-history.jsonl"),
            CODEX,
        ),
        (
            Codex,
            "codex encrypted",
            include_str!("data/summaries/codex-encrypted.jsonl"),
            &[],
        ),
        (
            Gemini,
            "gemini",
            include_str!("data/summaries/gemini-snapshot.jsonl"),
            GEMINI,
        ),
        (
            Gemini,
            "gemini scratchpad",
            include_str!("data/summaries/gemini-scratchpad.jsonl"),
            GEMINI,
        ),
        (
            Gemini,
            "gemini fenced",
            include_str!("data/summaries/gemini-fenced.jsonl"),
            GEMINI,
        ),
        (
            Gemini,
            "gemini old",
            include_str!("data/summaries/gemini-old.jsonl"),
            OLD_GEMINI,
        ),
        (
            Opencode,
            "opencode objective",
            include_str!("data/summaries/opencode-objective.json"),
            OPENCODE,
        ),
        (
            Opencode,
            "opencode goal",
            include_str!("data/summaries/opencode-goal.json"),
            OPENCODE,
        ),
        (
            Opencode,
            "opencode discoveries",
            include_str!("data/summaries/opencode-discoveries.json"),
            OPENCODE,
        ),
    ] {
        let events = read(program, text);
        let records = kept(&events);
        println!("{name}: {records:#?}");
        for (category, part) in expected {
            let is_found =
                |(found, text): &&(String, String)| found == category && text.contains(part);
            assert!(
                records.iter().any(|record| is_found(&record)),
                "{name}: {part}: {records:#?}"
            );
        }
        for part in NO_RECORD {
            let wrong = records.iter().find(|(_, text)| text.contains(part));
            assert!(wrong.is_none(), "{name}: {wrong:?}");
        }
        assert!(records.len() <= expected.len() + 1, "{name}: {records:#?}");
    }
}

#[test]
fn summaries_are_no_prompts_and_begin_without_wrapping() {
    for (program, text, beginning) in [
        (
            Codex,
            include_str!("data/summaries/codex-message.jsonl"),
            "**Goal**",
        ),
        (
            Codex,
            include_str!("data/summaries/codex-history.jsonl"),
            "**Goal**",
        ),
        (
            Gemini,
            include_str!("data/summaries/gemini-scratchpad.jsonl"),
            "<state_snapshot>",
        ),
        (
            Gemini,
            include_str!("data/summaries/gemini-fenced.jsonl"),
            "<state_snapshot>",
        ),
        (
            Opencode,
            include_str!("data/summaries/opencode-goal.json"),
            "## Goal",
        ),
    ] {
        let events = read(program, text);
        let summaries = summaries(&events);
        assert_eq!(summaries.len(), 1, "{events:#?}");
        assert!(summaries[0].starts_with(beginning), "{summaries:?}");
        let prompts = prompts(&events);
        assert!(prompts.len() <= 2, "{prompts:?}");
        assert!(
            prompts.iter().all(|prompt| prompt.len() < 60),
            "{prompts:?}"
        );
    }
    let encrypted = read(Codex, include_str!("data/summaries/codex-encrypted.jsonl"));
    assert!(summaries(&encrypted).is_empty());
}

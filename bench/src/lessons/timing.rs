//! Time of the extraction: a whole session, one more turn, and the first use of the cue data in a process.

use super::transcript::transcript_of_tables;
use crate::stats::Times;
use crate::{Outcome, results};
use heirloom_agents::AgentProgram;
use heirloom_agents::transcripts::{
    EventBody, SupersededLineScan, TranscriptEvent, TranscriptLines,
};
use heirloom_lessons::LessonExtractor;
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

/// Size of the constructed session, bytes.
const SESSION_BYTES: usize = 3_000_000;
/// Number of runs over the whole session.
const RUNS: usize = 15;
/// Number of runs of one turn.
const TURNS: usize = 100;
/// Number of processes that are started for the first use.
const PROCESSES: usize = 40;
/// Greatest number of candidates of a session.
const CANDIDATES_MAX: usize = 10_000;

/// Time of a session and of its last event.
pub(super) struct ExtractionTimes {
    /// Reading all events but the last one, and their lessons.
    pub(super) session: Duration,
    /// Reading the last event: restored state, event, lessons, stored state.
    pub(super) turn: Duration,
}

/// Measures the constructed session.
pub(super) fn measure() -> Outcome<()> {
    measure_first_use()?;
    let text = transcript_of_tables(SESSION_BYTES);
    let mut sessions = Vec::new();
    for _ in 0..RUNS {
        sessions.push(time_extraction(AgentProgram::ClaudeCode, text.as_bytes())?.session);
    }
    let name = format!(
        "lessons of a transcript of {:.1} MB",
        text.len() as f64 / 1e6
    );
    results::times("lessons.session", &name, &Times::of(&sessions));
    let end = text.trim_end().rfind('\n').map_or(0, |end| end + 1);
    let (before, turn) = text.split_at(end);
    let mut extractor = LessonExtractor::default();
    read_events(AgentProgram::ClaudeCode, before.as_bytes(), &mut |event| {
        extractor.push(&event);
    })?;
    let state = serde_json::to_string(&extractor)?;
    let mut turns = Vec::new();
    for _ in 0..TURNS {
        turns.push(time_turn(&state, turn.as_bytes())?);
    }
    results::times(
        "lessons.turn",
        "lessons of one more turn",
        &Times::of(&turns),
    );
    let kilobytes = state.len() as f64 / 1e3;
    results::value(
        "lessons.state",
        "state after that transcript",
        "KB",
        kilobytes,
    );
    Ok(())
}

/// Prints the time of the first extraction of this process, in nanoseconds.
pub(crate) fn first_use() {
    let event = TranscriptEvent {
        id: "first".to_owned(),
        at: None,
        agent: None,
        author: heirloom_agents::transcripts::TurnAuthor::Person,
        body: EventBody::Prompt("Always run the linter before you commit.".to_owned()),
    };
    let start = Instant::now();
    let mut extractor = LessonExtractor::default();
    extractor.push(&event);
    black_box(extractor.lessons());
    println!("{}", start.elapsed().as_nanos());
}

fn measure_first_use() -> Outcome<()> {
    let mut times = Vec::new();
    for _ in 0..PROCESSES {
        let output = Command::new(std::env::current_exe()?)
            .args(["--only", "lessons-first"])
            .output()?;
        let printed = String::from_utf8_lossy(&output.stdout);
        times.push(Duration::from_nanos(printed.trim().parse()?));
    }
    let name = "first use of the cues in a process";
    results::times("lessons.first", name, &Times::of(&times));
    Ok(())
}

/// Measures a transcript: parsing and extraction of all but its last event, and its last event with a stored state.
pub(super) fn time_extraction(program: AgentProgram, bytes: &[u8]) -> Outcome<ExtractionTimes> {
    let start = Instant::now();
    let mut extractor = LessonExtractor::default();
    let mut last: Option<TranscriptEvent> = None;
    read_events(program, bytes, &mut |event| {
        if let Some(before) = last.replace(event) {
            extractor.push(&before);
        }
    })?;
    let found = extractor.lessons().len();
    let session = start.elapsed();
    assert!(found <= CANDIDATES_MAX, "candidates are not bounded");
    let state = serde_json::to_string(&extractor)?;
    let start = Instant::now();
    let mut extractor: LessonExtractor = serde_json::from_str(&state)?;
    if let Some(last) = &last {
        extractor.push(last);
    }
    black_box(extractor.lessons());
    serde_json::to_string(&extractor)?;
    let turn = start.elapsed();
    Ok(ExtractionTimes { session, turn })
}

/// Measures one more turn: stored state, its lines, lessons, state to store.
fn time_turn(state: &str, turn: &[u8]) -> Outcome<Duration> {
    let start = Instant::now();
    let mut extractor: LessonExtractor = serde_json::from_str(state)?;
    read_events(AgentProgram::ClaudeCode, turn, &mut |event| {
        extractor.push(&event);
    })?;
    black_box(extractor.lessons());
    black_box(serde_json::to_string(&extractor)?);
    Ok(start.elapsed())
}

/// Reads all events of a transcript.
pub(crate) fn read_events(
    program: AgentProgram,
    bytes: &[u8],
    take: &mut dyn FnMut(TranscriptEvent),
) -> Outcome<()> {
    let mut scan = SupersededLineScan::new(program);
    let mut lines = TranscriptLines::new(bytes, 0);
    while let Some(line) = lines.next_line()? {
        scan.read_line(line.at, line.bytes.unwrap_or_default());
    }
    let mut reader = scan.into_reader();
    let mut lines = TranscriptLines::new(bytes, 0);
    while let Some(line) = lines.next_line()? {
        reader.read_line(line.at, line.bytes.unwrap_or_default(), take);
    }
    reader.finish(take);
    Ok(())
}

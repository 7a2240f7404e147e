//! Transcript readers: events do not depend on buffer sizes, and every event has an id.
#![no_main]

use heirloom_agents::AgentProgram;
use heirloom_agents::failures::{Failure, failure_text, is_probe};
use heirloom_agents::transcripts::{
    EventBody, HeaderReader, SupersededLineScan, TranscriptEvent, TranscriptLines, preview,
    without_injected_text,
};
use libfuzzer_sys::fuzz_target;
use std::io::{BufRead, BufReader};

/// Returns all events of a file, and the offsets of its lines.
fn read_events(
    agent: AgentProgram,
    bytes: impl Fn() -> Box<dyn BufRead>,
) -> (Vec<TranscriptEvent>, Vec<u64>) {
    let mut scan = SupersededLineScan::new(agent);
    let mut lines = TranscriptLines::new(bytes(), 0);
    let mut places = Vec::new();
    while let Some(line) = lines.next_line().expect("bytes are read") {
        places.push(line.at);
        scan.read_line(line.at, line.bytes.expect("no line is too long"));
    }
    let mut reader = scan.into_reader();
    let mut out = Vec::new();
    let mut lines = TranscriptLines::new(bytes(), 0);
    while let Some(line) = lines.next_line().expect("bytes are read") {
        let bytes = line.bytes.expect("no line is too long");
        reader.read_line(line.at, bytes, &mut |one| out.push(one));
    }
    reader.finish(&mut |one| out.push(one));
    (out, places)
}

fuzz_target!(|bytes: &[u8]| {
    // The first byte selects the program and the buffer size.
    let Some((first, file)) = bytes.split_first() else {
        return;
    };
    let programs: Vec<_> = AgentProgram::with_transcripts().collect();
    let agent = programs[usize::from(*first) % programs.len()];
    let size = usize::from(*first) / programs.len() + 1;
    let owned = file.to_vec();
    let cut = |size: usize| {
        let owned = owned.clone();
        move || -> Box<dyn BufRead> {
            Box::new(BufReader::with_capacity(
                size,
                std::io::Cursor::new(owned.clone()),
            ))
        }
    };
    let (whole, places) = read_events(agent, cut(1 << 16));
    assert_eq!(
        read_events(agent, cut(size)),
        (whole.clone(), places.clone())
    );
    assert!(places.windows(2).all(|pair| pair[0] < pair[1]));

    let mut head = HeaderReader::new(agent);
    file.split(|byte| *byte == b'\n')
        .all(|line| head.read_line(line));
    assert!(head.finish().is_none_or(|head| head.session.is_some()));

    for one in whole {
        assert!(!one.id.is_empty());
        match one.body {
            EventBody::Prompt(text)
            | EventBody::AbandonedPrompt(text)
            | EventBody::AssistantText(text)
            | EventBody::Summary(text) => {
                assert!(without_injected_text(&text).len() <= text.len());
                assert!(preview(&text, 30).len() <= text.len().max(30 * 16));
            }
            EventBody::Result { text, .. } => {
                let failure = Failure::new("make all", &text);
                assert!(!failure_text(&failure).contains('\n'));
            }
            EventBody::Call { tool, .. } => drop(is_probe(&tool)),
            EventBody::ConversationStart(_)
            | EventBody::FileChanged(_)
            | EventBody::TokenUsage(_) => {}
        }
    }
});

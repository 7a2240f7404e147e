//! Transcripts: whatever stands in them, what is told does not depend on how the file is read, and its names are told.
#![no_main]

use heirloom_engine::failures::{Failure, failure_text, fixes, is_probe};
use heirloom_engine::transcripts::{
    Agent, Event, HeadReader, Lines, Survey, Told, preview, without_own,
};
use libfuzzer_sys::fuzz_target;
use std::io::{BufRead, BufReader};

/// Everything that a file tells, and where its lines begin.
fn told(agent: Agent, bytes: impl Fn() -> Box<dyn BufRead>) -> (Vec<Told>, Vec<u64>) {
    let mut survey = Survey::new(agent);
    let mut lines = Lines::new(bytes(), 0);
    let mut places = Vec::new();
    while let Some(line) = lines.next_line().expect("bytes are read") {
        places.push(line.at);
        survey.line(line.at, line.bytes.expect("no line is too long"));
    }
    let mut reader = survey.reader();
    let mut out = Vec::new();
    let mut lines = Lines::new(bytes(), 0);
    while let Some(line) = lines.next_line().expect("bytes are read") {
        let bytes = line.bytes.expect("no line is too long");
        reader.line(line.at, bytes, &mut |one| out.push(one));
    }
    reader.finish(&mut |one| out.push(one));
    (out, places)
}

fuzz_target!(|bytes: &[u8]| {
    // The first byte is the program and how the rest is cut.
    let Some((first, file)) = bytes.split_first() else {
        return;
    };
    let agent = Agent::ALL[usize::from(*first) % Agent::ALL.len()];
    let size = usize::from(*first) / Agent::ALL.len() + 1;
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
    let (whole, places) = told(agent, cut(1 << 16));
    assert_eq!(told(agent, cut(size)), (whole.clone(), places.clone()));
    assert!(places.windows(2).all(|pair| pair[0] < pair[1]));

    let mut head = HeadReader::new(agent);
    file.split(|byte| *byte == b'\n')
        .all(|line| head.line(line));
    assert!(head.finish().is_none_or(|head| head.session.is_some()));

    for one in whole {
        assert!(!one.id.is_empty());
        match one.event {
            Event::Prompt(said) | Event::Said(said) | Event::Summary(said) => {
                assert!(without_own(&said).len() <= said.len());
                assert!(preview(&said, 30).len() <= said.len().max(30 * 16));
            }
            Event::Result { text, .. } => {
                let failure = Failure::new("make all", &text);
                assert!(!failure_text(&failure).contains('\n'));
                assert!(fixes(&failure, "make all") && !fixes(&failure, ""));
            }
            Event::Call { tool, .. } => drop(is_probe(&tool)),
            Event::Begins(_) | Event::Changed(_) | Event::Used(_) => {}
        }
    }
});

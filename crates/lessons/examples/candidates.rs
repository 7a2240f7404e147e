//! Prints the lessons of a transcript as JSON lines: `candidates PROGRAM FILE`.

use heirloom_agents::AgentProgram;
use heirloom_agents::transcripts::{SupersededLineScan, TranscriptLines};
use heirloom_lessons::LessonExtractor;
use std::error::Error;
use std::fs;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let program: AgentProgram = args.next().ok_or("PROGRAM is missing")?.parse()?;
    let bytes = fs::read(args.next().ok_or("FILE is missing")?)?;
    let mut scan = SupersededLineScan::new(program);
    let mut lines = TranscriptLines::new(&*bytes, 0);
    while let Some(line) = lines.next_line()? {
        scan.read_line(line.at, line.bytes.unwrap_or_default());
    }
    let mut reader = scan.into_reader();
    let mut extractor = LessonExtractor::default();
    let start = std::time::Instant::now();
    let mut lines = TranscriptLines::new(&*bytes, 0);
    while let Some(line) = lines.next_line()? {
        reader.read_line(line.at, line.bytes.unwrap_or_default(), &mut |event| {
            extractor.push(&event);
        });
    }
    reader.finish(&mut |event| extractor.push(&event));
    for lesson in extractor.lessons() {
        println!("{}", serde_json::to_string(&lesson)?);
    }
    let state = serde_json::to_string(&extractor)?.len();
    eprintln!("{} ms, state of {state} bytes", start.elapsed().as_millis());
    Ok(())
}

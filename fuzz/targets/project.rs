//! What a project says by itself: git's index, a plan's files, architecture documents.
#![no_main]

use heirloom_engine::{planned, tracked};
use heirloom_model::limits::TRACKED_FILES_MAX;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (paths, _) = tracked::paths(bytes);
    assert!(paths.len() <= TRACKED_FILES_MAX);
    let outline = tracked::outline(paths.iter().map(String::as_str));
    assert!(outline.len() <= paths.len() * 4 + 1);
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().count().max(1);
    let plan = planned::plan(&text);
    assert!(plan.done + plan.open.len() <= lines);
    let is_line = |line: u32| line >= 1 && usize::try_from(line).is_ok_and(|line| line <= lines);
    assert!(plan.open.iter().all(|(line, _)| is_line(*line)));
    let blocks = planned::blocks(&text);
    assert!(blocks.iter().all(|(line, _)| is_line(*line)));
    assert!(blocks.is_sorted_by_key(|(line, _)| *line));
});

//! Parsers of project files: git index, plan files, architecture documents.
#![no_main]

use heirloom_formats::plan_files;
use heirloom_fs::git_index;
use heirloom_model::limits::TRACKED_FILES_MAX;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (paths, _) = git_index::parse_paths(bytes);
    assert!(paths.len() <= TRACKED_FILES_MAX);
    let outline = git_index::render_tree(paths.iter().map(String::as_str));
    assert!(outline.len() <= paths.len() * 4 + 1);
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().count().max(1);
    let plan = plan_files::parse_plan(&text);
    assert!(plan.done_count + plan.open_tasks.len() <= lines);
    let is_line = |line: u32| line >= 1 && usize::try_from(line).is_ok_and(|line| line <= lines);
    assert!(plan.open_tasks.iter().all(|(line, _)| is_line(*line)));
    let blocks = plan_files::split_blocks(&text);
    assert!(blocks.iter().all(|(line, _)| is_line(*line)));
    assert!(blocks.is_sorted_by_key(|(line, _)| *line));
});

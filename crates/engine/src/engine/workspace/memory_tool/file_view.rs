//! Views of the memory tool: listings of folders, and files with line numbers.

use super::tool_paths::{path_on_disk, read_file, relative};
use crate::engine::workspace::workspace_files::WorkspaceRoot;
use heirloom_model::{Fault, limits};
use std::fs;
use std::path::Path;

pub(super) fn view(
    root: &WorkspaceRoot,
    path: &str,
    range: Option<(i64, i64)>,
) -> Result<String, Fault> {
    let file = relative(path)?;
    let target = match file {
        "" => root.folder.clone(),
        file => path_on_disk(root, file)?,
    };
    if target.is_dir() || file.is_empty() {
        let mut lines = vec![format!("4.0K\t{}", path.trim_end_matches('/'))];
        list(&target, path.trim_end_matches('/'), 2, &mut lines);
        let top = path.trim_end_matches('/');
        return Ok(format!(
            "Here're the files and directories up to 2 levels deep in {top}, excluding hidden items and node_modules, but with .learnings:\n{}",
            lines.join("\n")
        ));
    }
    let text = read_file(root, path, file)?;
    let count = text.lines().count();
    let (first, last) = match range {
        None => (1, count),
        Some((first, last)) => {
            let whole = |n: i64| usize::try_from(n).ok();
            let last = if last == -1 { Some(count) } else { whole(last) };
            match (whole(first), last) {
                (Some(first), Some(last)) if first >= 1 && first <= last.min(count) => {
                    (first, last)
                }
                _ => {
                    return Err(Fault::usage(format!(
                        "Invalid `view_range` parameter: it should be within [1, {count}]"
                    )));
                }
            }
        }
    };
    Ok(format!(
        "Here's the content of {path} with line numbers:\n{}",
        numbered(&text, first, last)
    ))
}

/// Lists a folder by name, recursively.
fn list(folder: &Path, shown: &str, depth: usize, lines: &mut Vec<String>) {
    let mut names: Vec<String> = (fs::read_dir(folder).into_iter().flatten().flatten())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name != "node_modules" && !name.contains(char::is_control))
        // `.learnings` is the only hidden folder of a workspace.
        .filter(|name| !name.starts_with('.') || name == ".learnings")
        .take(limits::WORKSPACE_FILES_MAX)
        .collect();
    names.sort();
    for name in names {
        let path = folder.join(&name);
        let Some(found) = path.symlink_metadata().ok().filter(|f| !f.is_symlink()) else {
            continue;
        };
        let shown = format!("{shown}/{name}");
        lines.push(format!("{}\t{shown}", size(found.len())));
        if found.is_dir() && depth > 1 {
            list(&path, &shown, depth - 1, lines);
        }
    }
}

/// Formats a size like `du -h`.
fn size(bytes: u64) -> String {
    let tenths = bytes.saturating_mul(10).div_ceil(1_024);
    if tenths < 10_240 {
        return format!("{}.{}K", tenths / 10, tenths % 10);
    }
    let tenths = tenths.div_ceil(1_024);
    format!("{}.{}M", tenths / 10, tenths % 10)
}

/// Formats the lines from `first` to `last` with their numbers.
pub(super) fn numbered(text: &str, first: usize, last: usize) -> String {
    let first = first.max(1);
    let lines = text.lines().enumerate().skip(first - 1);
    let lines = lines.take_while(|(at, _)| *at < last);
    let lines = lines.map(|(at, line)| format!("{:>6}\t{line}", at + 1));
    lines.collect::<Vec<_>>().join("\n")
}

pub(super) fn line_at(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

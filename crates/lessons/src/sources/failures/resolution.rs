//! Text of a resolution: the changed lines and commands that matter.

use super::change::{Change, is_comment, line_score};
use super::open_failure::{FailureStage, OpenFailure};
use super::plausibility::is_plausible;
use crate::cues::FailureCues;
use crate::project_paths::ProjectPaths;
use heirloom_model::text;

/// Characters of the change in a resolution.
const CHANGE_CHARS_MAX: usize = 240;
/// Characters of the code of one edit.
const CODE_CHARS_MAX: usize = 150;
/// Characters of a string in shown code.
const STRING_CHARS_MAX: usize = 32;
/// Changes that are named.
const NAMED_MAX: usize = 3;
/// Edits of one file up to which all are named if none matches the error.
const UNMATCHED_MAX: usize = 2;

/// Change that resolved a failure.
#[derive(Debug, Default)]
pub(super) struct Resolution<'c> {
    /// The text.
    pub(super) text: String,
    /// Changes that the text names.
    pub(super) named: Vec<&'c Change>,
    /// True if a named change has a word of the error, or is the only one.
    pub(super) is_matched: bool,
    /// True if a named change has a word of the error, or is in a file that it names.
    pub(super) touches_error: bool,
}

/// Describes the changes that resolved a failure; the text is empty if it cannot be decided which of them did.
///
/// The only change is the one, and so are two edits of one file. Of several changes those count that touch what the error
/// names. After much other work (`is_near` is false) only a clear relation counts.
pub(super) fn describe_changes<'c>(
    open: &OpenFailure,
    changes: &[&'c Change],
    is_near: bool,
    paths: &ProjectPaths,
    cues: &FailureCues,
) -> Resolution<'c> {
    let mut ranked: Vec<(i32, &'c Change)> = changes
        .iter()
        .filter(|change| !is_generated(change, cues) && is_plausible(change, open, cues))
        .map(|change| (relevance(change, open, cues), *change))
        .collect();
    let others = ranked.iter().filter(|(_, change)| !change.is_build).count();
    if others > 0 {
        ranked.retain(|(_, change)| !change.is_build);
    }
    let best = ranked
        .iter()
        .map(|(score, _)| *score)
        .max()
        .unwrap_or_default();
    let touches_error = best >= if is_near { MATCH_MIN } else { FAR_MATCH_MIN };
    let is_matched = touches_error || is_near && ranked.len() == 1;
    if touches_error {
        let is_early = open.stage <= FailureStage::Build;
        ranked
            .retain(|(score, change)| *score * 3 >= best || is_early && !change.command.is_empty());
    } else if !(is_matched || is_near && is_one_file(&ranked)) {
        return Resolution {
            named: ranked.into_iter().map(|(_, change)| change).collect(),
            ..Resolution::default()
        };
    }
    ranked.sort_by_key(|(score, change)| (-score, std::cmp::Reverse(change.place.position)));
    let mut resolution = Resolution {
        is_matched,
        touches_error,
        ..Resolution::default()
    };
    let mut texts: Vec<(u64, String, String)> = Vec::new();
    let mut left = CHANGE_CHARS_MAX;
    let mut covered: Vec<&String> = Vec::new();
    for (score, change) in ranked {
        let lower = change.lower_text();
        let words: Vec<&String> = open
            .words
            .iter()
            .filter(|word| lower.contains(word.as_str()))
            .collect();
        let adds_nothing = words.iter().all(|word| covered.contains(word)) && score < best;
        if adds_nothing && !texts.is_empty() && !is_environment(change, cues) {
            continue;
        }
        let file = paths.display(&change.path);
        let shown = change_text(change, &file, open, cues, left.min(CODE_CHARS_MAX));
        let length = text::chars(&shown) + text::chars(&file) + 4;
        let is_known = texts.iter().any(|(_, _, known)| *known == shown);
        if shown.is_empty() || is_known || length > left {
            continue;
        }
        left -= length;
        texts.push((change.place.position, file, shown));
        resolution.named.push(change);
        covered.extend(words);
        if texts.len() == NAMED_MAX {
            break;
        }
    }
    texts.sort_by_key(|(position, _, _)| *position);
    resolution.text = join_texts(&texts);
    resolution
}

/// Joins the texts of changes, with the name of each file once.
fn join_texts(texts: &[(u64, String, String)]) -> String {
    let mut out = String::new();
    let mut last = "";
    for (_, file, shown) in texts {
        if !out.is_empty() {
            out.push_str("; ");
        }
        if !file.is_empty() && file != last {
            out.push_str(file);
            out.push_str(": ");
        }
        last = file;
        out.push_str(shown);
    }
    out
}

/// Least relevance of a change that matches an error.
const MATCH_MIN: i32 = 3;

/// Least relevance of a change that matches an error after much other work: two words of it, or its file and a word.
const FAR_MATCH_MIN: i32 = 6;

/// Returns true for a few edits of one file.
fn is_one_file(ranked: &[(i32, &Change)]) -> bool {
    let mut paths = ranked.iter().map(|(_, change)| &change.path);
    let first = paths.next();
    ranked.len() <= UNMATCHED_MAX
        && first.is_some_and(|first| !first.is_empty() && paths.all(|path| path == first))
}

/// Returns how much a change has to do with a failure.
fn relevance(change: &Change, open: &OpenFailure, cues: &FailureCues) -> i32 {
    let lower = change.lower_text();
    let hits = open
        .words
        .iter()
        .filter(|word| lower.contains(word.as_str()))
        .count();
    let mut score = 3 * i32::try_from(hits.min(5)).unwrap_or_default();
    let path = change.path.to_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_settings = cues.settings_files.is_in(&path);
    if !name.is_empty() && open.files.iter().any(|file| path.ends_with(file.as_str())) {
        score += 4;
    } else if !name.is_empty() && !open.files.is_empty() && !is_settings && hits < 2 {
        // A word in common with code that the error does not name is a coincidence.
        score = 0;
    }
    if change.command.is_empty() {
        score += i32::from(is_settings);
    } else {
        score += 2;
    }
    score
}

fn is_generated(change: &Change, cues: &FailureCues) -> bool {
    let path = change.path.to_lowercase();
    !path.is_empty()
        && cues
            .generated_files
            .is_in(path.rsplit('/').next().unwrap_or(&path))
}

/// Returns true for an edit of a file with settings or dependencies, or of lines that import something.
pub(super) fn is_environment(change: &Change, cues: &FailureCues) -> bool {
    if !change.command.is_empty() {
        return !change.is_build && !change.is_housekeeping;
    }
    let lines = || change.added.iter().chain(&change.removed);
    cues.settings_files.is_in(&change.path.to_lowercase())
        || !change.is_shortened
            && lines().count() > 0
            && lines().all(|line| cues.imports.begins(&line.to_lowercase()))
}

/// Returns the text of one change, without its file, within a number of characters.
fn change_text(
    change: &Change,
    file: &str,
    open: &OpenFailure,
    cues: &FailureCues,
    chars_max: usize,
) -> String {
    if !change.command.is_empty() {
        return format!(
            "ran `{}`",
            inline_code(&change.command, chars_max.saturating_sub(6))
        );
    }
    let left = chars_max.saturating_sub(text::chars(file) + 20);
    let chosen = |lines: &[String], most: usize| shown_lines(lines, open, cues, most);
    match (change.added.as_slice(), change.removed.as_slice()) {
        // That a file was changed tells nothing.
        ([], []) => String::new(),
        ([], removed) => format!("removed `{}`", chosen(removed, left)),
        (added, []) => format!("added `{}`", chosen(added, left)),
        ([added], [removed]) => {
            let half = left / 2;
            format!(
                "changed `{}` to `{}`",
                inline_code(removed, half),
                inline_code(added, half)
            )
        }
        (added, removed) => {
            let (added, removed) = without_rewritten(added, removed);
            if removed.is_empty() {
                return format!("added `{}`", chosen(&added, left));
            }
            let (added, removed) = (&added, &removed);
            let new = chosen(added, left * 2 / 3);
            let rest = left.saturating_sub(text::chars(&new) + 15);
            let old = chosen(removed, rest.min(left / 3));
            match old.chars().count() < 4 {
                true => format!("added `{new}`"),
                false => format!("added `{new}` in place of `{old}`"),
            }
        }
    }
}

/// Leaves out lines that were only extended or shortened, if others are left.
fn without_rewritten(added: &[String], removed: &[String]) -> (Vec<String>, Vec<String>) {
    let is_same = |one: &String, other: &String| {
        one.len() >= 6
            && other.len() >= 6
            && (one.contains(other.as_str()) || other.contains(one.as_str()))
    };
    let new: Vec<String> = added
        .iter()
        .filter(|line| !removed.iter().any(|old| is_same(line, old)))
        .cloned()
        .collect();
    if new.is_empty() {
        return (added.to_vec(), removed.to_vec());
    }
    let old = removed
        .iter()
        .filter(|line| !added.iter().any(|new| is_same(line, new)))
        .cloned()
        .collect();
    (new, old)
}

/// Joins the most relevant lines, in their order; `…` for lines in between.
fn shown_lines(
    lines: &[String],
    open: &OpenFailure,
    cues: &FailureCues,
    chars_max: usize,
) -> String {
    let mut ranked: Vec<(i32, usize)> = lines
        .iter()
        .enumerate()
        .map(|(number, line)| (line_score(line, &open.words, cues), number))
        .collect();
    ranked.sort_by_key(|(score, number)| (-score, *number));
    let best = ranked.first().map_or(0, |(score, _)| *score);
    let mut chosen: Vec<usize> = Vec::new();
    let mut used = 0;
    for (score, number) in ranked {
        let line = lines.get(number).map_or("", String::as_str);
        let length = text::chars(&short_strings(line)) + 3;
        // A line without any word of the error explains nothing if another one has several.
        let is_weak = best >= 6 && score <= 0 || is_comment(line) && best > 0;
        if is_weak || used > 0 && used + length > chars_max {
            continue;
        }
        used += length;
        chosen.push(number);
    }
    chosen.sort_unstable();
    let mut out = String::new();
    let mut last = None;
    for number in chosen {
        if let Some(last) = last {
            out.push_str(if number == last + 1 { " " } else { " … " });
        }
        out.push_str(lines.get(number).map_or("", String::as_str));
        last = Some(number);
    }
    inline_code(&out, chars_max)
}

/// Returns code on one line within a number of characters, without backticks and long strings.
pub(super) fn inline_code(code: &str, chars_max: usize) -> String {
    let code = short_strings(code).replace('`', "'");
    let code = code.trim().trim_end_matches([',', ';']);
    text::excerpt(code, chars_max.max(8))
}

/// Shortens long strings of a line: they hold text or secrets, and the names around them matter.
fn short_strings(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find('"') {
        let (before, quoted) = rest.split_at(start);
        out.push_str(before);
        let inner = quoted.get(1..).unwrap_or_default();
        match inner.find('"') {
            Some(end) => {
                let content = inner.get(..end).unwrap_or_default();
                let is_long = content.chars().nth(STRING_CHARS_MAX).is_some();
                out.push('"');
                out.push_str(if is_long { "…" } else { content });
                out.push('"');
                rest = inner.get(end + 1..).unwrap_or_default();
            }
            None => {
                out.push_str(quoted);
                return out;
            }
        }
    }
    out.push_str(rest);
    out
}

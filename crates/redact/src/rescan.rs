//! Windows for the second scan of a redacted text: only the surroundings of new marks. Other parts were scanned
//! before, and no built-in rule reaches that far.

use std::ops::Range;

/// Minimum bytes on either side of a mark: the longest reach of a rule, which is a command over several lines.
const REACH: usize = 2_048;
/// Minimum lines on either side of a mark: a name, its value, and the beginning of a key.
const LINES: usize = 4;
/// Maximum bytes on either side; a text with longer lines is scanned as a whole.
const LINES_BYTES_MAX: usize = 8 * REACH;

/// Returns windows of whole lines around `marks`, which must be sorted and disjoint. `None` if the whole text is to
/// be scanned, because lines are too long or windows would cover most of it.
pub(super) fn windows(text: &[u8], marks: &[Range<usize>]) -> Option<Vec<Range<usize>>> {
    let mut windows: Vec<Range<usize>> = Vec::with_capacity(marks.len());
    let mut covered = 0;
    for mark in marks {
        if let Some(last) = windows.last()
            && mark.end + REACH <= last.end
        {
            continue;
        }
        let window = window_start(text, mark.start)?..window_end(text, mark.end)?;
        covered += window.len();
        match windows.last_mut() {
            Some(last) if window.start <= last.end => last.end = window.end.max(last.end),
            Some(_) | None => windows.push(window),
        }
        if covered > text.len() / 2 {
            return None;
        }
    }
    Some(windows)
}

/// Returns the start of a line at least [`LINES`] lines and [`REACH`] bytes before `at`.
fn window_start(text: &[u8], at: usize) -> Option<usize> {
    let near = at.saturating_sub(REACH);
    let far = at.saturating_sub(LINES_BYTES_MAX);
    let mut breaks = memchr::memrchr_iter(b'\n', &text[far..at]);
    let found = breaks.by_ref().nth(LINES);
    let found = found.map(|n| far + n + 1);
    match found {
        Some(found) if found <= near => Some(found),
        Some(_) => match breaks.map(|n| far + n + 1).find(|start| *start <= near) {
            Some(start) => Some(start),
            None => (far == 0).then_some(0),
        },
        None => (far == 0).then_some(0),
    }
}

/// Returns the end of a line at least [`LINES`] lines and [`REACH`] bytes after `at`.
fn window_end(text: &[u8], at: usize) -> Option<usize> {
    let near = (at + REACH).min(text.len());
    let far = (at + LINES_BYTES_MAX).min(text.len());
    let mut breaks = memchr::memchr_iter(b'\n', &text[at..far]);
    let found = breaks.by_ref().nth(LINES);
    match found.map(|n| at + n + 1) {
        Some(found) if found >= near => Some(found),
        Some(_) => match breaks.map(|n| at + n + 1).find(|stop| *stop >= near) {
            Some(stop) => Some(stop),
            None => (far == text.len()).then_some(far),
        },
        None => (far == text.len()).then_some(far),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the windows around one mark.
    fn around(text: &[u8], mark: Range<usize>) -> Option<Vec<Range<usize>>> {
        windows(text, std::slice::from_ref(&mark))
    }

    /// Returns `count` lines of 99 characters.
    fn lines(count: usize) -> String {
        format!("{}\n", "x".repeat(99)).repeat(count)
    }

    #[test]
    fn windows_around_mark_have_whole_lines_within_reach() {
        let text = lines(1_000);
        let found = around(text.as_bytes(), 50_010..50_020).unwrap();
        assert_eq!(found.first(), Some(&(47_900..52_100)));
        let short = "x\n".repeat(50_000);
        let found = around(short.as_bytes(), 50_010..50_011).unwrap();
        assert_eq!(found.first(), Some(&(47_962..52_060)));
    }

    #[test]
    fn windows_merge_and_end_with_the_text() {
        let text = lines(1_000);
        let found = windows(text.as_bytes(), &[10..20, 3_000..3_010, 99_990..99_995]).unwrap();
        assert_eq!(found, [0..5_100, 97_900..100_000]);
    }

    #[test]
    fn windows_of_long_lines_or_many_marks_are_none() {
        let long = "x".repeat(1_000_000);
        assert_eq!(around(long.as_bytes(), 500_000..500_010), None);
        let text = lines(1_000);
        let many: Vec<_> = (0..100).map(|n| n * 1_000..n * 1_000 + 9).collect();
        assert_eq!(windows(text.as_bytes(), &many), None);
        assert_eq!(around(b"short", 0..5), None);
    }
}

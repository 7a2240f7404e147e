//! Search for signals and fences in a block of output.

use super::code_fence::{CodeFence, FenceRelation};
use super::diff_hunk::DiffHunk;
use super::enclosing_blocks::{EnclosingBlocks, SplitLine};
use super::line_parser::{ParsedLine, parse_line};
use super::signal_prefixes::SignalRules;
use super::visible_text::{LongLine, visible_text};
use heirloom_model::limits::PLAIN_LINE_BYTES_MAX;
use memchr::{memchr, memrchr};
use std::ops::Range;

/// A line with an event.
#[derive(Debug)]
pub(super) struct ScanHit {
    /// Byte range of the line, with its line feed.
    pub(super) at: Range<usize>,
    /// The event.
    pub(super) event: LineEvent,
    /// Lines that change the open blocks exactly as this line does, without its text. An empty line ends a quoted
    /// fence; parts inside of envelopes remain.
    pub(super) blocks: String,
}

/// Event of a line.
#[derive(Debug)]
pub(super) enum LineEvent {
    /// A line with a prefix, which counts.
    Parsed(ParsedLine),
    /// A line that opens a code fence.
    OpensFence,
    /// A signal in an envelope, which does not count.
    IgnoredSignal,
}

/// Scans whole lines (the last may lack its line feed) and reports their events in order.
pub(super) fn scan(
    rules: &SignalRules,
    fences: &mut EnclosingBlocks,
    stretch: &[u8],
    on: &mut dyn FnMut(ScanHit),
) {
    let mut hits = MatchCursor::default();
    let mut from = 0;
    while from < stretch.len() {
        let start = if fences.can_end_anywhere() {
            from
        } else {
            let Some(hit) = hits.next(rules, stretch, from) else {
                return;
            };
            memrchr(b'\n', &stretch[from..hit]).map_or(from, |feed| from + feed + 1)
        };
        let feed = memchr(b'\n', &stretch[start..]).map(|feed| start + feed);
        let line = &stretch[start..feed.unwrap_or(stretch.len())];
        from = feed.map_or(stretch.len(), |feed| feed + 1);
        if let Some((event, blocks)) = classify_line(rules, fences, line) {
            on(ScanHit {
                at: start..from,
                event,
                blocks,
            });
        }
    }
}

/// Positions of the next prefix or fence mark and of the next escape character. Each search is repeated only after
/// its match was passed.
#[derive(Default)]
struct MatchCursor {
    mark: NextMatch,
    escape: NextMatch,
}

#[derive(Default, Clone, Copy)]
enum NextMatch {
    #[default]
    Unknown,
    At(usize),
    Nowhere,
}

impl NextMatch {
    fn next(&mut self, from: usize, find: impl FnOnce() -> Option<usize>) -> Option<usize> {
        match *self {
            Self::At(at) if at >= from => return Some(at),
            Self::Nowhere => return None,
            Self::At(_) | Self::Unknown => {}
        }
        let found = find();
        *self = found.map_or(Self::Nowhere, Self::At);
        found
    }
}

impl MatchCursor {
    fn next(&mut self, rules: &SignalRules, bytes: &[u8], from: usize) -> Option<usize> {
        let mark = self.mark.next(from, || rules.find_candidate(bytes, from));
        // A terminal escape sequence inside a prefix hides the prefix from the search.
        let find_escape = || memchr(0x1b, &bytes[from..]).map(|at| from + at);
        let escape = self.escape.next(from, find_escape);
        mark.into_iter().chain(escape).min()
    }
}

fn classify_line(
    rules: &SignalRules,
    fences: &mut EnclosingBlocks,
    line: &[u8],
) -> Option<(LineEvent, String)> {
    if line.len() <= PLAIN_LINE_BYTES_MAX {
        return classify_visible_text(rules, fences, &visible_text(line), false);
    }
    let mut long = LongLine::default();
    long.feed(line);
    classify_long_line(rules, fences, &long)
}

/// Returns the event of a line longer than [`PLAIN_LINE_BYTES_MAX`], and its [`ScanHit::blocks`].
pub(super) fn classify_long_line(
    rules: &SignalRules,
    fences: &mut EnclosingBlocks,
    line: &LongLine,
) -> Option<(LineEvent, String)> {
    let (text, is_cut) = line.visible_text();
    classify_visible_text(rules, fences, &text, is_cut)
}

fn classify_visible_text(
    rules: &SignalRules,
    fences: &mut EnclosingBlocks,
    line: &str,
    is_cut: bool,
) -> Option<(LineEvent, String)> {
    if !fences.touches_envelope(line) {
        let (event, leaves) = classify_outside_envelope(rules, fences, line, is_cut)?;
        return Some((event, SplitLine::default().blocks_without_text(leaves)));
    }
    let is_signal = |part: &str| matches!(parse_line(rules, part), Some(ParsedLine::Signal(..)));
    let split = fences.split_envelopes(line, &is_signal);
    let outside = if split.outside.trim().is_empty() {
        None
    } else {
        classify_outside_envelope(rules, fences, &split.outside, is_cut)
    };
    let ignored_signal = split
        .ignores_signal
        .then_some((LineEvent::IgnoredSignal, false));
    let (event, leaves) = outside.or(ignored_signal)?;
    Some((event, split.blocks_without_text(leaves)))
}

/// Returns the event of a line, or part of a line, outside of envelopes, and true if it ends a fence because it is
/// outside the fence's quotation.
fn classify_outside_envelope(
    rules: &SignalRules,
    blocks: &mut EnclosingBlocks,
    line: &str,
    is_cut: bool,
) -> Option<(LineEvent, bool)> {
    let fence = &mut blocks.code;
    let mut leaves = false;
    if let Some(inside) = fence {
        match inside.relation_to(line) {
            FenceRelation::Closes if !is_cut => {
                *fence = None;
                return None;
            }
            FenceRelation::Inside | FenceRelation::Closes => {
                if let Some(ParsedLine::Signal(..)) = parse_line(rules, line) {
                    inside.ignored_signals += 1;
                }
                return None;
            }
            FenceRelation::Leaves => {
                leaves = true;
                *fence = None;
            }
        }
    }
    if fence.is_none() {
        if blocks.hunk.as_mut().is_some_and(|hunk| hunk.takes(line)) {
            return None;
        }
        blocks.hunk = DiffHunk::open(line);
        if blocks.hunk.is_some() {
            return None;
        }
    }
    if fence.is_none()
        && let Some(opened) = CodeFence::open(line)
    {
        *fence = Some(opened);
        return Some((LineEvent::OpensFence, leaves));
    }
    let mut reading = parse_line(rules, line)?;
    if is_cut {
        reading = ParsedLine::Invalid(format!(
            "the line is longer than the {PLAIN_LINE_BYTES_MAX} bytes in which a signal is looked for"
        ));
    }
    Some((LineEvent::Parsed(reading), leaves))
}

//! The search for lines that matter in a stretch of output.

use super::fence::{Fence, Meeting};
use super::reading::{Reading, read};
use super::rules::SignalRules;
use super::shown::{LongLine, shown};
use heirloom_model::limits::PLAIN_LINE_BYTES_MAX;
use memchr::{memchr, memrchr};
use std::ops::Range;

/// A line that matters.
#[derive(Debug)]
pub(super) struct Hit {
    /// Where it stands in the stretch, with its line feed.
    pub(super) at: Range<usize>,
    /// What it is.
    pub(super) what: What,
    /// Whether it ended a fence by standing outside the fence's quotation.
    pub(super) leaves_fence: bool,
}

/// What a line that matters is.
#[derive(Debug)]
pub(super) enum What {
    /// It begins with a prefix, and counts.
    Read(Reading),
    /// It opens a fence.
    OpensFence,
}

/// Reads whole lines (the last may lack its line feed) and tells what matters, in order.
pub(super) fn scan(
    rules: &SignalRules,
    fence: &mut Option<Fence>,
    stretch: &[u8],
    on: &mut dyn FnMut(Hit),
) {
    let mut hits = Hits::default();
    let mut from = 0;
    while from < stretch.len() {
        let start = if fence.as_ref().is_some_and(Fence::is_quoted) {
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
        if let Some((what, leaves_fence)) = read_raw(rules, fence, line) {
            on(Hit {
                at: start..from,
                what,
                leaves_fence,
            });
        }
    }
}

/// The next prefix or fence mark and the next escape: each is searched for again only once it is passed.
#[derive(Default)]
struct Hits {
    mark: Ahead,
    escape: Ahead,
}

#[derive(Default, Clone, Copy)]
enum Ahead {
    #[default]
    Unknown,
    At(usize),
    Nowhere,
}

impl Ahead {
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

impl Hits {
    fn next(&mut self, rules: &SignalRules, bytes: &[u8], from: usize) -> Option<usize> {
        let mark = self.mark.next(from, || rules.next_hit(bytes, from));
        // A terminal code may stand inside a prefix, where no search for the prefix finds it.
        let find_escape = || memchr(0x1b, &bytes[from..]).map(|at| from + at);
        let escape = self.escape.next(from, find_escape);
        mark.into_iter().chain(escape).min()
    }
}

fn read_raw(rules: &SignalRules, fence: &mut Option<Fence>, line: &[u8]) -> Option<(What, bool)> {
    if line.len() <= PLAIN_LINE_BYTES_MAX {
        return read_shown(rules, fence, &shown(line), false);
    }
    let mut long = LongLine::default();
    long.feed(line);
    read_long(rules, fence, &long)
}

/// What a line is that is longer than [`PLAIN_LINE_BYTES_MAX`], and whether it leaves a fence.
pub(super) fn read_long(
    rules: &SignalRules,
    fence: &mut Option<Fence>,
    line: &LongLine,
) -> Option<(What, bool)> {
    let (text, is_cut) = line.shown();
    read_shown(rules, fence, &text, is_cut)
}

fn read_shown(
    rules: &SignalRules,
    fence: &mut Option<Fence>,
    line: &str,
    is_cut: bool,
) -> Option<(What, bool)> {
    let mut leaves = false;
    if let Some(inside) = fence {
        match inside.meet(line) {
            Meeting::Closes if !is_cut => {
                *fence = None;
                return None;
            }
            Meeting::Inside | Meeting::Closes if !inside.counts => {
                if let Some(Reading::Signal(..)) = read(rules, line) {
                    inside.hidden += 1;
                }
                return None;
            }
            Meeting::Inside | Meeting::Closes => {}
            Meeting::Leaves => {
                leaves = true;
                *fence = None;
            }
        }
    }
    if fence.is_none()
        && let Some(opened) = Fence::open(line)
    {
        *fence = Some(opened);
        return Some((What::OpensFence, leaves));
    }
    let mut reading = read(rules, line)?;
    if is_cut {
        reading = Reading::Bad(format!(
            "the line is longer than the {PLAIN_LINE_BYTES_MAX} bytes in which a signal is looked for"
        ));
    }
    Some((What::Read(reading), leaves))
}

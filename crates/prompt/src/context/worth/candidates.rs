//! Candidates of the selection by worth: the entries of blocks and sections, each with its forms.

use super::super::blocks::{BlockLayout, ContextBlock};
use super::super::budget_allocation::SourceAllocation;
use super::super::measured_offer::MeasuredOffer;
use super::super::priority_selection::is_guaranteed;
use super::super::worth_selection::{Candidate, SectionFrame};
use super::WorthInput;
use super::line_excerpt::QuestionWords;
use super::standing_text::StandingText;
use heirloom_model::rating::{Rating, Tier};
use heirloom_model::section::{Layout, Origin};
use heirloom_model::similarity::ComparableText;
use heirloom_model::{RecordId, text};
use std::borrow::Cow;

/// Characters of the shortest form of a block.
const BLOCK_CHARS_MIN: usize = 120;
/// Least characters between two forms of a block; the distance grows with the length, so that there are few forms.
const BLOCK_STEP_CHARS: usize = 240;
/// Sources without a best item: they describe the project, not the question.
const WITHOUT_BEST: [&str; 4] = ["outputs", "architecture", "files", "codebase"];

/// Location of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Entry of a block of Session Memory.
    Block(usize, usize),
    /// Offer of a source.
    Source(usize, usize),
}

/// One candidate with its texts.
pub(super) struct Item<'a> {
    pub(super) place: Place,
    /// Index of its section among the frames.
    section: usize,
    pub(super) rating: Rating,
    /// Texts of its forms, ascending, as they are written.
    pub(super) forms: Vec<Cow<'a, str>>,
    /// Its record, if it has one.
    pub(super) record: Option<RecordId>,
    words: Option<ComparableText>,
    requires: Option<usize>,
}

/// All candidates of a context in the order of the text.
pub(super) struct CandidateList<'a> {
    pub(super) items: Vec<Item<'a>>,
}

impl<'a> CandidateList<'a> {
    pub(super) fn new(
        blocks: &'a [ContextBlock<'a>],
        sources: &'a [SourceAllocation<'a>],
        standing: &StandingText,
        input: &WorthInput<'_>,
    ) -> Self {
        let words = QuestionWords::of(input.question);
        let mut items = Vec::new();
        for (block, of) in blocks.iter().enumerate() {
            if is_guaranteed(of) {
                continue;
            }
            for (at, entry) in of.entries.iter().enumerate() {
                let short = match entry.rating.tier {
                    Tier::Tail => None,
                    Tier::Guaranteed | Tier::Exempt | Tier::Competing => {
                        words.shorten_line(&entry.text)
                    }
                };
                let whole = (entry.exclusion.is_none()).then(|| Cow::Borrowed(&*entry.text));
                items.push(Item {
                    place: Place::Block(block, at),
                    section: match entry.is_learning {
                        true => blocks.len() + sources.len(),
                        false => block,
                    },
                    rating: entry.rating,
                    record: entry.id,
                    words: comparable(&entry.rating, input.floor, &entry.text),
                    forms: short.map(Cow::Owned).into_iter().chain(whole).collect(),
                    requires: None,
                });
            }
        }
        for (source, of) in sources.iter().enumerate() {
            if of.is_directive() {
                continue;
            }
            for (at, entry) in of.entries.iter().enumerate() {
                if standing.is_standing(source, at) {
                    continue;
                }
                let is_list = of.section.layout == Layout::List;
                let is_record = matches!(entry.offer.origin, Origin::Record(_));
                let requires = entry.offer.requires_next.then_some(items.len() + 1);
                items.push(Item {
                    place: Place::Source(source, at),
                    section: blocks.len() + source,
                    rating: entry.offer.rating,
                    record: record_of(&entry.offer.origin),
                    words: match is_list
                        && is_record
                        && entry.offer.rating.tier == Tier::Competing
                        && !entry.offer.requires_next
                    {
                        true => comparable(&entry.offer.rating, input.floor, &entry.offer.text),
                        false => None,
                    },
                    forms: forms_of(entry, is_list, &words, input.budget.chars()),
                    requires,
                });
            }
        }
        Self { items }
    }

    /// Returns the candidates of the selection.
    pub(super) fn candidates(&self) -> Vec<Candidate<'_>> {
        let candidate = |item: &'_ Item<'a>| -> (Vec<usize>, usize) {
            // A bullet of a block has `- ` and a line break around it; the lines of a source have them already.
            let around = if matches!(item.place, Place::Block(..)) {
                3
            } else {
                0
            };
            (
                item.forms
                    .iter()
                    .map(|form| text::chars(form) + around)
                    .collect(),
                item.section,
            )
        };
        let all = self.items.iter().map(|item| {
            let (forms, section) = candidate(item);
            Candidate {
                section,
                tier: item.rating.tier,
                forms,
                relevance: item.rating.relevance,
                worth: item.rating.worth,
                words: item.words.as_ref(),
                record: item.record,
                requires: item.requires,
            }
        });
        all.collect()
    }

    /// Returns the frames of the sections: one for each block, one for each source, and one for the learnings.
    pub(super) fn frames(
        &self,
        blocks: &[ContextBlock<'_>],
        sources: &[SourceAllocation<'_>],
        standing: &StandingText,
    ) -> Vec<SectionFrame> {
        let block = |block: &ContextBlock<'_>| SectionFrame {
            // An empty line, `### ` and a line break around the name.
            chars: block.section.len() + 6,
            share_percent: 0,
            min_chars: 0,
            has_best: matches!(
                block.layout,
                BlockLayout::Bullets(_) | BlockLayout::Ranked(_)
            ),
        };
        let source = |(at, source): (usize, &SourceAllocation<'_>)| {
            let is_first_of_row = at == 0
                || sources
                    .get(at - 1)
                    .is_none_or(|before| before.row.name != source.row.name);
            SectionFrame {
                chars: if standing.has_opened(at) {
                    0
                } else {
                    source.frame_chars()
                },
                // The sections of one row have one common share.
                share_percent: if is_first_of_row {
                    source.row.share_percent
                } else {
                    0
                },
                min_chars: if is_first_of_row {
                    source.row.min_chars
                } else {
                    0
                },
                has_best: !WITHOUT_BEST.contains(&source.row.name.as_str()),
            }
        };
        let sources = sources.iter().enumerate().map(source);
        // The learnings among the facts, below the same heading.
        let learnings = blocks
            .iter()
            .find(|one| one.entries.iter().any(|entry| entry.is_learning));
        (blocks.iter().map(block))
            .chain(sources)
            .chain(learnings.map(block))
            .collect()
    }
}

fn record_of(origin: &Origin) -> Option<RecordId> {
    match origin {
        Origin::Record(id) => Some(*id),
        Origin::Unspecified | Origin::File { .. } => None,
    }
}

/// Returns the words for comparisons; `None` for the tail, which is not compared, and below the relevance floor.
fn comparable(rating: &Rating, floor: f64, text: &str) -> Option<ComparableText> {
    let is_below = rating.relevance.is_some_and(|share| share < floor);
    let is_compared = match rating.tier {
        Tier::Tail => false,
        Tier::Competing => !is_below,
        Tier::Guaranteed | Tier::Exempt => true,
    };
    is_compared.then(|| ComparableText::from_text(text))
}

/// Returns the forms of an offer: a short line of a list, or whole lines of a block in steps, up to the first one that
/// is larger than the budget.
fn forms_of<'a>(
    entry: &'a MeasuredOffer<'a>,
    is_list: bool,
    words: &QuestionWords,
    chars_max: usize,
) -> Vec<Cow<'a, str>> {
    if entry.exclusion.is_some() {
        return Vec::new();
    }
    let whole = Cow::Borrowed(entry.lines.as_str());
    if is_list {
        let bare = entry
            .lines
            .strip_prefix("- ")
            .unwrap_or(&entry.lines)
            .trim_end();
        let is_line = !bare.contains('\n');
        let short = is_line.then(|| words.shorten_line(bare)).flatten();
        let short = short.map(|short| Cow::Owned(format!("- {short}\n")));
        return short.into_iter().chain([whole]).collect();
    }
    let mut forms: Vec<Cow<'a, str>> = Vec::new();
    let frame = entry.offer.frame.unwrap_or_default();
    let mut chars = BLOCK_CHARS_MIN;
    while chars < entry.chars && chars <= chars_max {
        if let Some(cut) = entry.cut_with(frame, chars)
            && forms
                .last()
                .is_none_or(|before| text::chars(before) < text::chars(&cut))
            && text::chars(&cut) < entry.chars
        {
            forms.push(Cow::Owned(cut));
        }
        chars += BLOCK_STEP_CHARS.max(chars / 4);
    }
    forms.push(whole);
    forms
}

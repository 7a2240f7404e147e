//! Text of other people in a turn: mail, pages, tickets and messages that the person pasted, told by their form and by the
//! request about them. A rule in them is not the person's word.

use super::turn_text::own_lines;
use crate::cues::{Cues, PastedTextCues, PersonRuleCues, normalize};
use crate::sentences::{is_cjk, sentences};

/// Number of lines among which the fields of a head are.
const HEAD_LINES_MAX: usize = 6;
/// Greatest number of characters of a salutation, of the line that ends a letter, and of a line with the mark of a page.
const SHORT_LINE_CHARS_MAX: usize = 60;
/// Greatest number of bytes behind a request about the text before it.
const REST_BYTES_MAX: usize = 80;
/// Smallest number of bytes of a text before such a request, if the request does not name it.
const TEXT_BYTES_MIN: usize = 160;
/// Smallest number of bytes behind an address that is alone on its line.
const PAGE_BYTES_MIN: usize = 200;
/// Number of bytes of the person's lines after which a rule may be a part of a pasted text.
const OWN_BYTES_MAX: usize = 1000;
/// Number of words of a request in which its object is.
const REQUEST_WORDS: usize = 12;
/// Greatest number of words before a request.
const OPENERS_MAX: usize = 4;

/// Part of a turn that another author than the person may have written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PastedText {
    /// Number of the line of the person in which it begins, and offset in this line.
    from: Option<(usize, usize)>,
    /// Offsets of the lines in all lines.
    starts: Vec<usize>,
}

impl PastedText {
    /// Finds the part in a turn whose lines of the person are given.
    pub(super) fn of_turn(turn: &str, lines: &[String], cues: &PersonRuleCues) -> Self {
        let found = find_start(turn, &Cues::get().pasted_text);
        let from = found.map(|at| {
            let before = own_lines(turn.get(..at).unwrap_or_default(), &cues.turns);
            let last = before.len().saturating_sub(1);
            match (before.last(), lines.get(last)) {
                // The part begins inside of a line.
                (Some(head), Some(line)) if line.len() > head.len() && line.starts_with(head) => {
                    (last, head.len())
                }
                _ => (before.len(), 0),
            }
        });
        let mut at = 0;
        let starts = lines.iter().map(|line| {
            let start = at;
            at += line.len() + 1;
            start
        });
        Self {
            from,
            starts: starts.collect(),
        }
    }

    /// Returns true if a sentence belongs to it, by its end in a line.
    pub(super) fn contains(&self, line: usize, end: usize) -> bool {
        let start = self.starts.get(line).copied().unwrap_or_default();
        start + end > OWN_BYTES_MAX || self.from.is_some_and(|from| (line, end) > from)
    }
}

/// A line of a turn.
struct TurnLine<'t> {
    at: usize,
    text: &'t str,
    lower: String,
}

/// Returns the offset at which the text of another author begins.
fn find_start(turn: &str, cues: &PastedTextCues) -> Option<usize> {
    let mut at = 0;
    let mut is_code = false;
    let lines: Vec<TurnLine<'_>> = turn
        .split('\n')
        .map(|text| {
            let start = at;
            at += text.len() + 1;
            let is_fence = text.trim_start().starts_with("```");
            is_code ^= is_fence;
            // No rule is read from code.
            let text = if is_code || is_fence { "" } else { text };
            let trimmed = text.trim().trim_matches(['*', '_', '|']).trim();
            TurnLine {
                at: start,
                text,
                lower: normalize(trimmed),
            }
        })
        .collect();
    let forms = [
        head_start(&lines, cues),
        quotation_start(&lines, cues),
        letter_start(&lines, cues),
        address_start(&lines, turn.len()),
        request_start(&lines, turn, cues),
    ];
    let found = forms.into_iter().flatten().min();
    found.or_else(|| is_page(&lines, cues).then_some(0))
}

/// Returns the start of the head of a mail: two fields close to each other, also in one line.
fn head_start(lines: &[TurnLine<'_>], cues: &PastedTextCues) -> Option<usize> {
    let mut fields: Vec<(usize, usize, &str)> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let first = line.lower.split([':', '：']).next().unwrap_or_default();
        if first.len() < line.lower.len() && cues.head_fields.contains(first.trim()) {
            fields.push((number, line.at, first.trim()));
        }
        // A head in one line has its fields with capitals, as in `From: Bob Subject: x`.
        let mut at = 0;
        for word in line.text.split_inclusive(char::is_whitespace) {
            let start = line.at + at;
            at += word.len();
            let name = word.trim_end().trim_matches(['*', '(', '"']);
            let name = name.strip_suffix(':').unwrap_or_default();
            let is_capital = name.starts_with(char::is_uppercase);
            let lower = name.to_lowercase();
            if is_capital
                && cues.head_fields.contains(&lower)
                && let Some(place) = line.lower.find(&lower)
            {
                let name = line.lower.get(place..place + lower.len());
                fields.push((number, start, name.unwrap_or_default()));
            }
        }
    }
    let pairs = fields.iter().enumerate().filter(|(index, first)| {
        let next = fields.get(index + 1..).unwrap_or_default().iter();
        let mut near = next.take_while(|(line, ..)| line - first.0 < HEAD_LINES_MAX);
        near.any(|second| {
            second.2 != first.2
                && [first.2, second.2]
                    .iter()
                    .any(|name| cues.head_subjects.contains(name))
        })
    });
    pairs.map(|(_, (_, at, _))| *at).min()
}

/// Returns the start of a message that a line introduces, as in `On Monday Bob wrote:`.
fn quotation_start(lines: &[TurnLine<'_>], cues: &PastedTextCues) -> Option<usize> {
    let is_own = |lower: &str| {
        lower
            .split(' ')
            .any(|word| matches!(word, "i" | "we" | "ich"))
    };
    let is_introduction = |line: &&TurnLine<'_>| {
        let lower = line.lower.as_str();
        let is_short = lower.chars().count() <= 2 * SHORT_LINE_CHARS_MAX;
        let quotes = lower.ends_with([':', '：']) && cues.quote_verbs.is_in(lower);
        is_short && ((quotes && !is_own(lower)) || cues.quote_marks.is_in(lower))
    };
    lines.iter().find(is_introduction).map(|line| line.at)
}

/// Returns the start of a letter, which has a line that ends it.
fn letter_start(lines: &[TurnLine<'_>], cues: &PastedTextCues) -> Option<usize> {
    let is_short = |line: &TurnLine<'_>| line.lower.chars().count() <= SHORT_LINE_CHARS_MAX;
    let end = lines
        .iter()
        .position(|line| is_short(line) && cues.closings.begins(&line.lower))?;
    let is_salutation = |line: &TurnLine<'_>| {
        is_short(line)
            && line.lower.ends_with([',', '!', ':', '，', '：'])
            && cues.salutations.begins(&line.lower)
    };
    let before = lines.get(..end)?;
    let start = before.iter().find(|line| is_salutation(line));
    Some(start.map_or(0, |line| line.at))
}

/// Returns the start of a page whose address is alone on the line before it.
fn address_start(lines: &[TurnLine<'_>], length: usize) -> Option<usize> {
    let is_address = |line: &&TurnLine<'_>| {
        let lower = line.lower.as_str();
        (lower.starts_with("http://") || lower.starts_with("https://"))
            && !lower.contains(' ')
            && length - line.at >= line.text.len() + PAGE_BYTES_MIN
    };
    lines.iter().find(is_address).map(|line| line.at)
}

/// Returns true if lines of the turn are those of a page or of a ticket.
fn is_page(lines: &[TurnLine<'_>], cues: &PastedTextCues) -> bool {
    let whole = lines
        .iter()
        .filter(|line| cues.page_lines.contains(&line.lower));
    let marks: Vec<&TurnLine<'_>> = lines
        .iter()
        .filter(|line| cues.page_marks.is_in(&line.lower))
        .collect();
    let is_heading = |line: &&TurnLine<'_>| line.lower.chars().count() <= SHORT_LINE_CHARS_MAX;
    whole.count() + marks.len() >= 2 || marks.iter().any(is_heading)
}

/// Relation of a sentence to the text of another author.
enum TextRequest {
    /// The sentence and what follows it.
    From,
    /// The text behind its colon, or behind the sentence.
    After,
}

/// Returns the start of the text about which the person requests something. If nothing follows the request, it is about
/// what precedes it.
fn request_start(lines: &[TurnLine<'_>], turn: &str, cues: &PastedTextCues) -> Option<usize> {
    for line in lines {
        let mut searched = 0;
        for sentence in sentences(line.text) {
            let rest = line.text.get(searched..).unwrap_or_default();
            let start = searched + rest.find(sentence).unwrap_or_default();
            searched = start + sentence.len();
            let Some(request) = read_request(sentence, cues) else {
                continue;
            };
            let (start, end) = (line.at + start, line.at + searched);
            let before = turn.get(..start).unwrap_or_default().trim();
            let after = turn.get(end..).unwrap_or_default().trim();
            let names_text = cues.texts.is_in(&normalize(sentence));
            let is_behind = after.len() <= REST_BYTES_MAX
                && !sentence.contains(": ")
                && !before.is_empty()
                && (names_text || before.len() >= TEXT_BYTES_MIN);
            return Some(match request {
                _ if is_behind => 0,
                TextRequest::From => start,
                TextRequest::After => sentence
                    .find(": ")
                    .map_or(end, |colon| line.at + searched - sentence.len() + colon + 1),
            });
        }
    }
    None
}

fn read_request(sentence: &str, cues: &PastedTextCues) -> Option<TextRequest> {
    let lower = normalize(sentence);
    let (head, _) = lower.split_once([':', '：']).unwrap_or((&lower, ""));
    let has_colon = head.len() < lower.len();
    let opened = without_openers(&lower, cues);
    let is_opened = opened.len() < lower.len();
    let has_cjk = lower.chars().any(is_cjk);
    let beginning = first_words(opened);
    let (points, names) = (cues.pointers.is_in(beginning), cues.texts.is_in(beginning));
    let is_strong = cues.strong_requests.begins(opened)
        || ((is_opened || has_cjk) && cues.strong_requests.is_in(beginning));
    if is_strong && (points || names || has_colon || opened.split(' ').count() <= 2) {
        return Some(TextRequest::From);
    }
    let is_weak = cues.weak_requests.begins(opened)
        || ((is_opened || has_cjk) && cues.weak_requests.is_in(beginning));
    if is_weak && points && names {
        return Some(TextRequest::After);
    }
    let is_announced = has_colon && cues.announcements.is_in(head) && cues.texts.is_in(head);
    (is_announced && head.split(' ').count() <= REQUEST_WORDS).then_some(TextRequest::After)
}

/// Returns a request without the polite words before it.
fn without_openers<'t>(lower: &'t str, cues: &PastedTextCues) -> &'t str {
    let mut rest = lower;
    for _ in 0..OPENERS_MAX {
        let Some(after) = cues.openers.skip(rest) else {
            break;
        };
        let after = after.trim_start_matches([' ', ',', '，', '!', '.', '-']);
        if after.is_empty() {
            break;
        }
        rest = after;
    }
    rest
}

fn first_words(text: &str) -> &str {
    let end = text.match_indices(' ').nth(REQUEST_WORDS).map(|(at, _)| at);
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

//! Points of a report: list items, each readable alone, or sections with short items.

use crate::cues::ReportCues;
use crate::outline::{OutlineItem, OutlineSection, read_outline};
use crate::sentences::{capitalize, sentences};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Greatest number of characters of a point.
const POINT_CHARS_MAX: usize = 390;
/// Smallest number of characters of an item that is a point of its own.
const OWN_CHARS_MIN: usize = 90;
/// Smallest number of characters of a point.
const POINT_CHARS_MIN: usize = 40;
/// Lowest strength of a point.
const STRENGTH_MIN: f32 = 0.66;
/// Strength for each hit; a decision counts as three.
const STRENGTH_STEP: f32 = 0.02;
/// Greatest number of characters of the beginning of an item that names its subject.
const SUBJECT_CHARS_MAX: usize = 100;

/// A point of a report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ReportPoint {
    /// The text.
    pub(super) text: String,
    /// Factor of its worth, at most 1.
    pub(super) strength: f32,
}

/// Returns the points of a report, the strongest ones first. `is_work_report` marks a report on changes; it is split
/// into sections, a proposal into items.
pub(super) fn report_points(
    text: &str,
    cues: &ReportCues,
    is_work_report: bool,
) -> Vec<ReportPoint> {
    let sections = read_outline(text);
    let items = sections
        .iter()
        .flat_map(|section| &section.items)
        .filter(|item| item.is_listed);
    if items.count() < cues.size.points_min {
        return Vec::new();
    }
    let mut points: Vec<ReportPoint> = Vec::new();
    for section in &sections {
        let heading = section.heading.to_lowercase();
        if cues.phrases.noise_headings.begins(&heading) {
            continue;
        }
        let listed = || section.items.iter().filter(|item| item.is_listed);
        let long = listed()
            .filter(|item| item.full_text().chars().count() >= OWN_CHARS_MIN)
            .count();
        if !is_work_report && long * 2 >= listed().count() {
            points.extend(merge_short(
                section
                    .items
                    .iter()
                    .filter_map(|item| item_point(item, section, cues))
                    .collect(),
                section,
                cues,
            ));
        } else {
            points.extend(section_point(section, cues));
        }
    }
    points.sort_by(|one, other| other.strength.total_cmp(&one.strength));
    points.truncate(cues.size.points_max);
    points
}

/// Returns the strength of a statement: the share of words that a colleague needs later and of names of code.
fn strength(text: &str, cues: &ReportCues) -> f32 {
    let lower = text.to_lowercase();
    if cues.phrases.noise.begins(&lower) {
        return 0.0;
    }
    let names = text.matches('`').count() / 2;
    let strong = cues.phrases.strong.count_in(&lower).min(4);
    let others = (cues.phrases.statement.count_in(&lower) + names).min(5);
    let hits = u8::try_from(strong * 3 + others).unwrap_or(u8::MAX);
    STRENGTH_MIN + f32::from(hits) * STRENGTH_STEP
}

/// Returns the text and strength of an item, without the section's heading.
fn item_point(
    item: &OutlineItem,
    section: &OutlineSection,
    cues: &ReportCues,
) -> Option<ReportPoint> {
    let full = without_locations(&item.full_text());
    // A paragraph next to a list comments on it.
    if !item.is_listed || full.chars().count() < POINT_CHARS_MIN || full.ends_with(':') {
        return None;
    }
    let strength = strength(&full, cues);
    if strength <= STRENGTH_MIN {
        return None;
    }
    let heading = heading_prefix(section, cues)
        .chars()
        .count()
        .min(POINT_CHARS_MAX / 3);
    Some(ReportPoint {
        text: shorten_point(&full, POINT_CHARS_MAX - heading, cues)?,
        strength,
    })
}

/// Joins neighbouring items that fit into one point, and adds the heading.
fn merge_short(
    items: Vec<ReportPoint>,
    section: &OutlineSection,
    cues: &ReportCues,
) -> Vec<ReportPoint> {
    let heading = heading_prefix(section, cues);
    let mut merged: Vec<ReportPoint> = Vec::new();
    for item in items {
        match merged.last_mut() {
            Some(last)
                if last.text.chars().count() + item.text.chars().count() < POINT_CHARS_MAX =>
            {
                last.text.push(' ');
                last.text.push_str(&item.text);
                last.strength = last.strength.max(item.strength);
            }
            _ => merged.push(ReportPoint {
                text: format!("{heading}{}", item.text),
                strength: item.strength,
            }),
        }
    }
    merged
}

/// Returns one point of a section: its heading and the strongest items, in their order.
fn section_point(section: &OutlineSection, cues: &ReportCues) -> Option<ReportPoint> {
    let heading = heading_prefix(section, cues);
    let mut items: Vec<(usize, f32, String)> = Vec::new();
    for (number, item) in section.items.iter().enumerate() {
        let full = without_locations(&item.full_text());
        let strength = strength(&full, cues);
        // A paragraph before a list only announces it.
        if strength > STRENGTH_MIN
            && !(full.ends_with(':') || (!item.is_listed && heading.is_empty()))
        {
            items.push((number, strength, full));
        }
    }
    let is_list = items.len() >= 2;
    if (heading.is_empty() && !is_list) || items.is_empty() {
        return None;
    }
    items.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    let strongest = items.first()?.1;
    let mut used = heading.chars().count();
    let mut kept: Vec<(usize, String)> = Vec::new();
    for (number, _, full) in items {
        let budget = POINT_CHARS_MAX.saturating_sub(used + 2);
        let text = match full.chars().count() <= budget {
            true => full,
            false => match shorten_point(&full, budget, cues) {
                Some(text) if text.chars().count() >= POINT_CHARS_MIN => text,
                _ => continue,
            },
        };
        used += text.chars().count() + 2;
        kept.push((number, text));
    }
    kept.sort_by_key(|(number, _)| *number);
    let mut text = heading;
    let count = kept.len();
    for (number, (_, item)) in kept.into_iter().enumerate() {
        let item = item.trim_end_matches(['.', ';']);
        let end = if number + 1 == count { "." } else { "; " };
        // Writing to a string cannot fail.
        let _ = write!(text, "{item}{end}");
    }
    (text.chars().count() >= POINT_CHARS_MIN && count > 0).then_some(ReportPoint {
        text,
        strength: strongest,
    })
}

/// Returns the heading with a colon, unless it adds nothing.
fn heading_prefix(section: &OutlineSection, cues: &ReportCues) -> String {
    let heading = section.heading.trim();
    if heading.is_empty()
        || cues
            .phrases
            .plain_headings
            .contains(&heading.to_lowercase())
    {
        return String::new();
    }
    format!("{}: ", capitalize(heading))
}

/// Returns the sentences of a point that fit, the strongest ones first; clauses if its first sentence is too long. A
/// beginning such as `New cache: …` stays.
fn shorten_point(text: &str, chars_max: usize, cues: &ReportCues) -> Option<String> {
    let mut short = text.trim().to_owned();
    if short.chars().count() > chars_max {
        let subject = text.split_once(": ").map_or("", |(subject, _)| subject);
        let subject = match subject.chars().count() <= SUBJECT_CHARS_MAX && !subject.contains(". ")
        {
            true => subject,
            false => "",
        };
        let all: Vec<&str> = sentences(text).collect();
        let mut order: Vec<usize> = (0..all.len()).collect();
        let value = |at: &usize| {
            all.get(*at)
                .map_or(0.0, |sentence| strength(sentence, cues))
        };
        order.sort_by(|one, other| value(other).total_cmp(&value(one)).then(one.cmp(other)));
        let mut kept: Vec<usize> = Vec::new();
        let mut used = subject.chars().count() + 2;
        for at in order {
            let chars = all
                .get(at)
                .map_or(0, |sentence| sentence.chars().count() + 1);
            if used + chars <= chars_max {
                used += chars;
                kept.push(at);
            }
        }
        kept.sort_unstable();
        let sentences: Vec<&str> = kept.iter().filter_map(|at| all.get(*at).copied()).collect();
        short = match (kept.first(), subject) {
            (None, _) => shorten_sentence(all.first()?, chars_max)?,
            (Some(0), _) | (_, "") => sentences.join(" "),
            (Some(_), subject) => format!("{subject}: {}", sentences.join(" ")),
        };
    }
    let is_closed = short.ends_with(['.', '!', '?', '`', ')']);
    Some(match is_closed {
        true => short,
        false => format!("{short}."),
    })
}

/// Returns the first clauses of a sentence that fit.
fn shorten_sentence(sentence: &str, chars_max: usize) -> Option<String> {
    let end = sentence
        .char_indices()
        .nth(chars_max.saturating_sub(1))
        .map_or(sentence.len(), |(at, _)| at);
    let head = sentence.get(..end)?;
    let at = [";", ", and ", ", ", " — ", " ("]
        .iter()
        .filter_map(|mark| head.rfind(mark))
        .max()?;
    if at < chars_max / 2 {
        return None;
    }
    let cut = head.get(..at)?;
    // A bracket that is open at the cut is left out.
    let open = cut
        .rfind('(')
        .filter(|open| !cut.get(*open..).unwrap_or_default().contains(')'));
    let cut = cut.get(..open.unwrap_or(at))?.trim_end();
    (cut.matches('`').count() % 2 == 0).then(|| format!("{cut}."))
}

/// Returns a text without brackets that only contain locations in files.
pub(super) fn without_locations(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(" (`") {
        let (before, inside) = rest.split_at(at);
        out.push_str(before);
        let Some(end) = inside.find(')') else {
            rest = inside;
            break;
        };
        let brackets = inside.get(..=end).unwrap_or_default();
        let content = brackets.trim_matches([' ', '(', ')']);
        let is_location = |part: &str| {
            let part = part.trim().trim_matches('`');
            part.contains('/') && part.contains('.') && !part.contains(' ') && !part.is_empty()
        };
        if !content.split(',').all(is_location) {
            out.push_str(brackets);
        }
        rest = inside.get(end + 1..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cues::Cues;

    #[test]
    fn without_locations_removes_only_paths() {
        assert_eq!(
            without_locations("It wraps calls (`a/b.ts:3`, `c/d.ts:9`) and `x` (`y`)."),
            "It wraps calls and `x` (`y`)."
        );
        assert_eq!(without_locations("open (`a/b.ts"), "open (`a/b.ts");
    }

    #[test]
    fn report_points_splits_proposals_into_items() {
        let text = "**Findings**\n- The client wraps every query and expects a `Result`, so callers must not see exceptions (`src/a.ts:1`).\n- Fine.\n**Plan**\n- Keep the old `open` as a fallback for callers that pass a string, and mark it as unsafe in the types of the package.\n- Migrate one module as a pilot with the alias `@x/client`, then the others in phases after the review of the team.\n";
        let points = report_points(text, &Cues::get().reports, false);
        let texts: Vec<&str> = points.iter().map(|point| point.text.as_str()).collect();
        // Neighbouring items that fit are one point.
        assert_eq!(texts.len(), 2, "{texts:?}");
        assert!(texts.contains(&"The client wraps every query and expects a `Result`, so callers must not see exceptions."));
        assert!(
            texts
                .iter()
                .any(|text| text.starts_with("Plan: Keep the old"))
        );
    }

    #[test]
    fn report_points_merges_sections_of_work_reports() {
        let text = "Done:\n\n**Sessions — one-time tokens**\n- `TokenStore` keeps tokens with a TTL\n- `GET /api/token/:id` validates the token\n- 4 new tests\n\n**Other**\n- Minor\n";
        let points = report_points(text, &Cues::get().reports, true);
        assert_eq!(points.len(), 1, "{points:?}");
        assert_eq!(
            points[0].text,
            "Sessions — one-time tokens: `TokenStore` keeps tokens with a TTL; `GET /api/token/:id` validates the token."
        );
    }

    #[test]
    fn report_points_needs_several_items() {
        assert!(report_points("One paragraph.\n\n- a", &Cues::get().reports, false).is_empty());
    }
}

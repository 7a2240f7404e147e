//! Selection: which candidates of a session become records.
//!
//! Candidates are checked one by one (readable alone, not withdrawn, worth enough), then compared with each other
//! (the same statement is kept once), then ranked until the session's maximum is reached.

mod check_findings;
mod judged_selection;
mod readability;
mod similarity;
mod withdrawals;

pub(crate) use withdrawals::Withdrawals;

use crate::cues::{CommandCues, Cues, SelectionCues};
use crate::judgement::Judgement;
use crate::sentences::shorten_to_sentences;
use crate::{Candidate, DropReason, Lesson, LessonContent, SourceKind, Speaker, Verdict};
use check_findings::is_check_finding;
use judged_selection::apply_judgement;
use readability::is_readable_alone;
use similarity::Comparison;

/// Greatest number of characters of a record.
const RECORD_CHARS_MAX: usize = 400;
/// Greatest number of candidates that are compared with each other.
const COMPARED_MAX: usize = 250;
/// Advantage of a person's words over an agent's in a comparison.
const PERSON_BONUS: f32 = 0.3;
/// Advantage of a summary over an own extraction.
const SUMMARY_BONUS: f32 = 0.05;
/// Advantage of a resolution for each name of code in it, up to three.
const NAMED_CHANGE_BONUS: f32 = 0.04;

/// Factor by which a model may exceed the session's maximum.
const JUDGED_SHARE: usize = 2;
/// Requests of a session by which its maximum of records grows.
const REQUESTS_STEP: u64 = 10;

/// Decides on the candidates of a session with this number of requests.
pub(crate) fn select_lessons(
    candidates: Vec<Candidate>,
    requests: u64,
    withdrawals: &Withdrawals,
    judgement: Option<&Judgement>,
    cues: &Cues,
) -> Vec<Lesson> {
    let command_cues = &cues.commands;
    let cues = &cues.selection;
    let mut lessons: Vec<Lesson> = candidates
        .into_iter()
        .map(|mut candidate| Lesson {
            verdict: match check(&mut candidate, withdrawals, cues, command_cues) {
                Some(reason) => Verdict::Dropped(reason),
                None => Verdict::Kept,
            },
            candidate,
            opinion: None,
        })
        .collect();
    // The order of equal candidates is the one of the sources.
    lessons.sort_by(|one, other| merit(&other.candidate).total_cmp(&merit(&one.candidate)));
    drop_duplicates(&mut lessons, cues);
    // A session of three days teaches more than one of three requests.
    let steps = requests.div_ceil(REQUESTS_STEP).max(1);
    let steps = usize::try_from(steps).unwrap_or(1);
    limit(&mut lessons, steps, cues);
    drop_cases_without_effect(&mut lessons);
    if let Some(judgement) = judgement {
        let most = cues.records_of_ten_requests * steps * JUDGED_SHARE;
        apply_judgement(&mut lessons, judgement, most, withdrawals, cues);
    }
    lessons.sort_by_key(|lesson| lesson.verdict != Verdict::Kept);
    lessons
}

/// Returns the reason to drop a candidate that does not depend on the others.
fn check(
    candidate: &mut Candidate,
    withdrawals: &Withdrawals,
    cues: &SelectionCues,
    command_cues: &CommandCues,
) -> Option<DropReason> {
    if let LessonContent::Steps(steps) = &candidate.content {
        return steps.is_empty().then_some(DropReason::LowWorth);
    }
    if !candidate.worth.is_finite() || candidate.worth < cues.worth_min {
        return Some(DropReason::LowWorth);
    }
    if is_check_finding(candidate, command_cues) {
        return Some(DropReason::LowWorth);
    }
    if !is_readable_alone(candidate, cues) || !shorten(candidate) {
        return Some(DropReason::NotSelfContained);
    }
    withdrawals
        .covers(candidate)
        .then_some(DropReason::Withdrawn)
}

/// Shortens a candidate to the size of a record; returns false if no whole sentence fits.
fn shorten(candidate: &mut Candidate) -> bool {
    match &mut candidate.content {
        LessonContent::Knowledge {
            text, rationale, ..
        } => {
            if text.chars().count() > RECORD_CHARS_MAX {
                *text = shorten_to_sentences(text, RECORD_CHARS_MAX);
            }
            let left = RECORD_CHARS_MAX.saturating_sub(text.chars().count());
            if let Some(reason) = rationale.take() {
                *rationale = shortened(reason, left).filter(|reason| !reason.is_empty());
            }
            !text.is_empty()
        }
        LessonContent::Error {
            text, resolution, ..
        } => {
            if text.chars().count() > RECORD_CHARS_MAX {
                *text = shorten_to_sentences(text, RECORD_CHARS_MAX);
            }
            let left = RECORD_CHARS_MAX.saturating_sub(text.chars().count());
            let had_resolution = resolution.is_some();
            if let Some(change) = resolution.take() {
                *resolution = shortened(change, left).filter(|change| !change.is_empty());
            }
            !text.is_empty() && resolution.is_some() == had_resolution
        }
        // Its record has a limit of its own.
        LessonContent::Attempt { .. } | LessonContent::Case { .. } | LessonContent::Steps(_) => {
            true
        }
    }
}

fn shortened(text: String, chars_max: usize) -> Option<String> {
    if text.chars().count() <= chars_max {
        return Some(text);
    }
    Some(shorten_to_sentences(&text, chars_max))
}

/// Returns the rank of a candidate in a comparison with one that states the same.
fn merit(candidate: &Candidate) -> f32 {
    let speaker = match candidate.speaker {
        Speaker::Person => PERSON_BONUS,
        Speaker::Agent | Speaker::Program | Speaker::Unknown => 0.0,
    };
    let change = match &candidate.content {
        LessonContent::Error {
            resolution: Some(resolution),
            ..
        } => {
            let names = u8::try_from((resolution.matches('`').count() / 2).min(3)).unwrap_or(0);
            NAMED_CHANGE_BONUS * f32::from(names)
        }
        LessonContent::Knowledge { .. }
        | LessonContent::Error { .. }
        | LessonContent::Attempt { .. }
        | LessonContent::Case { .. }
        | LessonContent::Steps(_) => 0.0,
    };
    let is_summary = candidate.source == SourceKind::CompactionSummary;
    let summary = if is_summary { SUMMARY_BONUS } else { 0.0 };
    candidate.worth + speaker + change + summary
}

/// Drops candidates that state the same as one with more merit. The candidates are sorted by merit.
fn drop_duplicates(lessons: &mut [Lesson], cues: &SelectionCues) {
    let is_compared = |lesson: &Lesson| {
        lesson.verdict == Verdict::Kept
            && !matches!(lesson.candidate.content, LessonContent::Steps(_))
    };
    let indices: Vec<usize> = (0..lessons.len())
        .filter(|at| lessons.get(*at).is_some_and(is_compared))
        .take(COMPARED_MAX)
        .collect();
    let candidates: Vec<&Candidate> = indices
        .iter()
        .filter_map(|at| lessons.get(*at))
        .map(|lesson| &lesson.candidate)
        .collect();
    let comparison = Comparison::new(&candidates, cues);
    let mut kept: Vec<usize> = Vec::new();
    let mut dropped: Vec<usize> = Vec::new();
    for number in 0..candidates.len() {
        match kept
            .iter()
            .any(|better| comparison.is_same(*better, number))
        {
            true => dropped.push(number),
            false => kept.push(number),
        }
    }
    for number in dropped {
        if let Some(lesson) = indices.get(number).and_then(|at| lessons.get_mut(*at)) {
            lesson.verdict = Verdict::Dropped(DropReason::Duplicate);
        }
    }
}

/// Ranks the candidates, each further one of a source with less worth, and drops those beyond the maximum, which is
/// `steps` times that of ten requests.
fn limit(lessons: &mut Vec<Lesson>, steps: usize, cues: &SelectionCues) {
    let mut open: Vec<Lesson> = Vec::new();
    let mut ranked: Vec<Lesson> = Vec::new();
    let mut rest: Vec<Lesson> = Vec::new();
    for lesson in lessons.drain(..) {
        match (&lesson.candidate.content, lesson.verdict) {
            // The number of cases follows from the requests, and is limited by their source.
            (LessonContent::Case { .. }, Verdict::Kept) => ranked.push(lesson),
            (LessonContent::Steps(_), Verdict::Kept) => rest.insert(0, lesson),
            (_, Verdict::Kept) => open.push(lesson),
            _ => rest.push(lesson),
        }
    }
    let mut used: Vec<(SourceKind, usize)> = Vec::new();
    let records_max = ranked.len() + cues.records_of_ten_requests * steps;
    while ranked.len() < records_max && !open.is_empty() {
        let rank = |lesson: &Lesson| {
            let count = used
                .iter()
                .find(|(source, _)| *source == lesson.candidate.source)
                .map_or(0, |(_, count)| *count);
            let further =
                i32::try_from(count.saturating_sub(cues.source_free * steps)).unwrap_or(i32::MAX);
            lesson.candidate.worth * cues.source_discount.powi(further)
        };
        let mut best = (0, f32::MIN);
        for (at, lesson) in open.iter().enumerate() {
            let value = rank(lesson);
            if value > best.1 {
                best = (at, value);
            }
        }
        let chosen = open.remove(best.0);
        match used
            .iter_mut()
            .find(|(source, _)| *source == chosen.candidate.source)
        {
            Some((_, count)) => *count += 1,
            None => used.push((chosen.candidate.source, 1)),
        }
        ranked.push(chosen);
    }
    let least_worth = (ranked.iter())
        .filter(|lesson| !matches!(lesson.candidate.content, LessonContent::Case { .. }))
        .map(|lesson| lesson.candidate.worth)
        .fold(f32::INFINITY, f32::min);
    for lesson in &mut open {
        lesson.verdict = Verdict::Dropped(match lesson.candidate.worth > least_worth {
            true => DropReason::SourceShare,
            false => DropReason::Limit,
        });
    }
    lessons.append(&mut ranked);
    lessons.append(&mut rest);
    lessons.append(&mut open);
}

/// Drops the cases that changed nothing, unless something that was found out in them became a record.
fn drop_cases_without_effect(lessons: &mut [Lesson]) {
    let found_at: Vec<u64> = lessons
        .iter()
        .filter(|lesson| lesson.verdict == Verdict::Kept && is_finding(&lesson.candidate))
        .filter_map(|lesson| Some(lesson.candidate.evidence.first()?.position))
        .collect();
    for lesson in lessons {
        let LessonContent::Case {
            has_work: false,
            until,
            ..
        } = lesson.candidate.content
        else {
            continue;
        };
        let from = lesson
            .candidate
            .evidence
            .first()
            .map_or(0, |place| place.position);
        if !found_at.iter().any(|at| (from..until).contains(at)) {
            lesson.verdict = Verdict::Dropped(DropReason::LowWorth);
        }
    }
}

/// Returns true for what the agent found out: a failure with its resolution, a failed attempt, or an explanation.
fn is_finding(candidate: &Candidate) -> bool {
    match candidate.source {
        SourceKind::Failure
        | SourceKind::CommandVariant
        | SourceKind::Attempt
        | SourceKind::Explanation => true,
        SourceKind::PersonRule
        | SourceKind::Report
        | SourceKind::Command
        | SourceKind::CompactionSummary
        | SourceKind::Commit
        | SourceKind::Plan
        | SourceKind::Case
        | SourceKind::Document => false,
    }
}

//! Decisions of a model on the candidates of a session, within the rules that no model changes.
//!
//! Words of a person are never dropped: another person's later statement may take their place. A candidate that states the
//! same as a kept one, or that a later turn withdrew, is not stored because a model wants it.

use super::similarity::Comparison;
use super::{COMPARED_MAX, Withdrawals, merit, shorten};
use crate::cues::SelectionCues;
use crate::judgement::Judgement;
use crate::{
    Candidate, DropReason, Lesson, LessonContent, ModelOpinion, ModelVerdict, Speaker, Verdict,
};
use std::collections::{BTreeMap, BTreeSet};

/// Applies a judgement to the decisions; at most `records_max` records are kept in addition to the cases, or as many as before.
pub(super) fn apply_judgement(
    lessons: &mut Vec<Lesson>,
    judgement: &Judgement,
    records_max: usize,
    withdrawals: &Withdrawals,
    cues: &SelectionCues,
) {
    let spans = judgement.spans.iter().map(|span| Lesson {
        candidate: span.candidate(),
        verdict: Verdict::Dropped(DropReason::Limit),
        opinion: Some(ModelOpinion {
            verdict: ModelVerdict::Keep,
            is_followed: false,
        }),
    });
    lessons.extend(spans);
    let places: BTreeMap<String, usize> = (lessons.iter().enumerate())
        .map(|(place, lesson)| (lesson.candidate.identity(), place))
        .collect();
    for (identity, verdict) in &judgement.verdicts {
        if let Some(lesson) = places.get(identity).and_then(|at| lessons.get_mut(*at)) {
            lesson.opinion = Some(ModelOpinion {
                verdict: verdict.clone(),
                is_followed: false,
            });
        }
    }
    for lesson in lessons.iter_mut() {
        drop_judged(lesson);
    }
    raise_kept(lessons, records_max, withdrawals, cues);
    merge_judged(lessons, &places);
}

fn verdict_of(lesson: &Lesson) -> Option<&ModelVerdict> {
    lesson.opinion.as_ref().map(|opinion| &opinion.verdict)
}

fn decide(lesson: &mut Lesson, verdict: Verdict) {
    lesson.verdict = verdict;
    if let Some(opinion) = &mut lesson.opinion {
        opinion.is_followed = true;
    }
}

/// Drops a candidate that the model finds useless or wrong, unless a person said it.
fn drop_judged(lesson: &mut Lesson) {
    let reason = match verdict_of(lesson) {
        Some(ModelVerdict::Drop) => DropReason::Useless,
        Some(ModelVerdict::Wrong) => DropReason::Wrong,
        Some(ModelVerdict::Keep | ModelVerdict::SameAs(_) | ModelVerdict::ReplacedBy(_)) | None => {
            return;
        }
    };
    if lesson.candidate.speaker != Speaker::Person {
        decide(lesson, Verdict::Dropped(reason));
    }
}

/// Keeps what the model wants to keep, the most useful first, up to the maximum.
fn raise_kept(
    lessons: &mut [Lesson],
    records_max: usize,
    withdrawals: &Withdrawals,
    cues: &SelectionCues,
) {
    let mut raised: Vec<usize> = Vec::new();
    let mut kept: Vec<usize> = Vec::new();
    for (place, lesson) in lessons.iter_mut().enumerate() {
        let is_wanted = verdict_of(lesson) == Some(&ModelVerdict::Keep);
        match lesson.verdict {
            Verdict::Kept => {
                if is_wanted {
                    decide(lesson, Verdict::Kept);
                }
                if !matches!(lesson.candidate.content, LessonContent::Steps(_)) {
                    kept.push(place);
                }
            }
            Verdict::Dropped(reason)
                if is_wanted && is_reversible(reason, &mut lesson.candidate, withdrawals) =>
            {
                raised.push(place);
            }
            Verdict::Dropped(_) => {}
        }
    }
    raised.sort_by(|one, other| {
        let merit = |at: &usize| lessons.get(*at).map_or(0.0, |one| merit(&one.candidate));
        merit(other).total_cmp(&merit(one))
    });
    raised.truncate(COMPARED_MAX);
    let is_record = |place: &usize| {
        let lesson = lessons.get(*place);
        lesson.is_some_and(|one| !matches!(one.candidate.content, LessonContent::Case { .. }))
    };
    let mut left = records_max.saturating_sub(kept.iter().filter(|at| is_record(at)).count());
    let mut decided: Vec<(usize, Verdict)> = Vec::new();
    let order: Vec<usize> = kept.iter().chain(&raised).copied().collect();
    let candidates: Vec<&Candidate> = (order.iter())
        .filter_map(|at| lessons.get(*at))
        .map(|lesson| &lesson.candidate)
        .collect();
    let comparison = Comparison::new(&candidates, cues);
    let mut stored: Vec<usize> = (0..kept.len()).collect();
    for (number, place) in order.iter().enumerate().skip(kept.len()) {
        let is_known = (stored.iter()).any(|better| comparison.is_same(*better, number));
        let verdict = match (is_known, left, is_record(place)) {
            (true, _, _) => Verdict::Dropped(DropReason::Duplicate),
            (false, 0, true) => Verdict::Dropped(DropReason::Limit),
            (false, _, is_record) => {
                left = left.saturating_sub(usize::from(is_record));
                stored.push(number);
                Verdict::Kept
            }
        };
        decided.push((*place, verdict));
    }
    for (place, verdict) in decided {
        let Some(lesson) = lessons.get_mut(place) else {
            continue;
        };
        match verdict {
            Verdict::Kept => decide(lesson, verdict),
            Verdict::Dropped(_) => lesson.verdict = verdict,
        }
    }
}

/// Returns true if a model may keep a candidate that was dropped for this reason, and shortens it to a record.
fn is_reversible(reason: DropReason, candidate: &mut Candidate, withdrawals: &Withdrawals) -> bool {
    match reason {
        DropReason::Limit
        | DropReason::SourceShare
        | DropReason::LowWorth
        | DropReason::NotSelfContained
        | DropReason::Duplicate => shorten(candidate) && !withdrawals.covers(candidate),
        DropReason::Withdrawn | DropReason::Useless | DropReason::Wrong | DropReason::Replaced => {
            false
        }
    }
}

/// Drops kept candidates in favour of the kept ones that the model names.
fn merge_judged(lessons: &mut [Lesson], places: &BTreeMap<String, usize>) {
    for place in 0..lessons.len() {
        let Some(lesson) = lessons.get(place) else {
            continue;
        };
        let (other, reason) = match verdict_of(lesson) {
            Some(ModelVerdict::SameAs(other)) => (other, DropReason::Duplicate),
            Some(ModelVerdict::ReplacedBy(other)) => (other, DropReason::Replaced),
            Some(ModelVerdict::Keep | ModelVerdict::Drop | ModelVerdict::Wrong) | None => continue,
        };
        let Some(target) = kept_target(lessons, places, other, place) else {
            continue;
        };
        let is_allowed = lesson.candidate.speaker != Speaker::Person
            || (lessons.get(target)).is_some_and(|other| is_later_of_person(other, lesson));
        if !is_allowed {
            continue;
        }
        if let Some(lesson) = lessons.get_mut(place) {
            decide(lesson, Verdict::Dropped(reason));
        }
    }
}

/// Returns the kept candidate that takes the place of another one: the named one, or the one that took its place.
fn kept_target(
    lessons: &[Lesson],
    places: &BTreeMap<String, usize>,
    named: &str,
    from: usize,
) -> Option<usize> {
    let mut place = *places.get(named)?;
    let mut seen = BTreeSet::from([from]);
    while seen.insert(place) {
        let lesson = lessons.get(place)?;
        if lesson.verdict == Verdict::Kept {
            return Some(place);
        }
        let opinion = lesson.opinion.as_ref().filter(|one| one.is_followed)?;
        place = match &opinion.verdict {
            ModelVerdict::SameAs(other) | ModelVerdict::ReplacedBy(other) => *places.get(other)?,
            ModelVerdict::Keep | ModelVerdict::Drop | ModelVerdict::Wrong => return None,
        };
    }
    None
}

/// Returns true for a statement of a person that was made after another one.
fn is_later_of_person(lesson: &Lesson, earlier: &Lesson) -> bool {
    let order = |lesson: &Lesson| {
        let place = lesson.candidate.evidence.first();
        (lesson.candidate.at, place.map(|place| place.position))
    };
    lesson.candidate.speaker == Speaker::Person && order(lesson) > order(earlier)
}

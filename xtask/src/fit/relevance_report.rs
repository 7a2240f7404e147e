//! Thresholds of relevance and what they give on projects that the model did not see.

use super::HeldOutQuestion;
use std::fmt::Write;

/// Largest share of unanswered prompts that are told something. The requirement is 6 %.
const FALSE_SHARE_MAX: f64 = 0.055;
/// Smallest share of useful records among the told ones. The requirement is 75 %.
const USEFUL_SHARE_MIN: f64 = 0.77;
/// Share of the right candidates above the floor of recall.
const FLOOR_SHARE: f64 = 0.9;
/// Share of the right candidates above the floor of a context, which also takes doubtful ones.
const CONTEXT_SHARE: f64 = 0.98;
/// Largest number of records for a prompt.
pub(crate) const TOLD_MAX: usize = 3;

/// Rates of a pair of thresholds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct TellingRates {
    /// Share of the answered questions that are told a right record.
    pub(crate) told: f64,
    /// Share of the told records that are useful.
    pub(crate) useful: f64,
    /// Share of the unanswered questions that are told something.
    pub(crate) falsely: f64,
}

/// Thresholds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Thresholds {
    /// Of the first record.
    pub(crate) strong: f64,
    /// Of further records.
    pub(crate) more: f64,
    /// Floor of recall.
    pub(crate) likely: f64,
    /// Floor of a context.
    pub(crate) context: f64,
    /// Result of the first two.
    pub(crate) rates: TellingRates,
}

impl Thresholds {
    /// Chooses the thresholds: as low as the limits of false and of useless records permit.
    pub(crate) fn choose(questions: &[HeldOutQuestion]) -> Self {
        let unanswered = questions.iter().filter(|one| !one.question.is_answered);
        let mut best: Vec<f64> = unanswered.map(|one| max(&one.chances)).collect();
        best.sort_by(|a, b| b.total_cmp(a));
        let allowed = (FALSE_SHARE_MAX * best.len() as f64) as usize;
        let strong = best.get(allowed).copied().unwrap_or(0.5) + 1e-4;
        let steps = (0..=50).map(|step| strong * f64::from(50 - step) / 50.0);
        let useful = |more: &f64| rates(questions, strong, *more).useful >= USEFUL_SHARE_MIN;
        let more = steps.take_while(useful).last().unwrap_or(strong);
        let mut right: Vec<f64> = questions.iter().flat_map(right_chances).collect();
        right.sort_by(|a, b| b.total_cmp(a));
        let above = |share: f64| {
            let place = (share * right.len() as f64) as usize;
            right.get(place).copied().unwrap_or(0.0)
        };
        Self {
            strong,
            more,
            likely: above(FLOOR_SHARE).min(more),
            context: above(CONTEXT_SHARE),
            rates: rates(questions, strong, more),
        }
    }
}

fn right_chances(one: &HeldOutQuestion) -> impl Iterator<Item = f64> {
    let pairs = one.question.records.iter().zip(&one.chances);
    pairs
        .filter(|(record, _)| record.label >= 1.0)
        .map(|(_, chance)| *chance)
}

fn max(chances: &[f64]) -> f64 {
    chances.iter().copied().fold(0.0, f64::max)
}

/// Returns what a pair of thresholds gives.
pub(crate) fn rates(questions: &[HeldOutQuestion], strong: f64, more: f64) -> TellingRates {
    let (mut told, mut useful, mut hit, mut answered, mut falsely, mut unanswered) =
        (0, 0, 0, 0, 0, 0);
    for one in questions {
        let mut pairs: Vec<(f64, f64)> = (one.chances.iter().copied())
            .zip(one.question.records.iter().map(|record| record.label))
            .collect();
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
        let speaks = pairs.first().is_some_and(|(chance, _)| *chance >= strong);
        pairs.retain(|(chance, _)| speaks && *chance >= more);
        pairs.truncate(TOLD_MAX);
        told += pairs.len();
        useful += pairs.iter().filter(|(_, label)| *label > 0.0).count();
        if one.question.is_answered {
            answered += 1;
            hit += usize::from(pairs.iter().any(|(_, label)| *label >= 1.0));
        } else {
            unanswered += 1;
            falsely += usize::from(!pairs.is_empty());
        }
    }
    let share = |part: usize, all: usize| part as f64 / all.max(1) as f64;
    TellingRates {
        told: share(hit, answered),
        useful: share(useful, told),
        falsely: share(falsely, unanswered),
    }
}

/// Bins of the reliability: mean chance, share of relevant records, number of records.
pub(crate) fn reliability(questions: &[HeldOutQuestion], bins: usize) -> Vec<(f64, f64, usize)> {
    let mut sums = vec![(0.0, 0.0, 0_usize); bins];
    for one in questions {
        for (record, chance) in one.question.records.iter().zip(&one.chances) {
            let at = ((chance * bins as f64) as usize).min(bins - 1);
            let Some(bin) = sums.get_mut(at) else {
                continue;
            };
            *bin = (bin.0 + chance, bin.1 + record.label, bin.2 + 1);
        }
    }
    let filled = sums.into_iter().filter(|(_, _, count)| *count > 0);
    filled
        .map(|(chance, label, count)| (chance / count as f64, label / count as f64, count))
        .collect()
}

/// Returns the report for the terminal.
pub(crate) fn render(questions: &[HeldOutQuestion], thresholds: &Thresholds) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "| left-out project | told a right record | useful of told | told without an answer |\n|---|---|---|---|"
    );
    let mut groups: Vec<&str> = questions
        .iter()
        .map(|one| one.question.group.as_str())
        .collect();
    groups.dedup();
    for group in groups.into_iter().map(Some).chain([None]) {
        let of_group: Vec<HeldOutQuestion> = (questions.iter())
            .filter(|one| group.is_none_or(|group| one.question.group == group))
            .cloned()
            .collect();
        let found = rates(&of_group, thresholds.strong, thresholds.more);
        let _ = writeln!(
            text,
            "| {} | {:.1} % | {:.1} % | {:.1} % |",
            group.unwrap_or("all"),
            100.0 * found.told,
            100.0 * found.useful,
            100.0 * found.falsely
        );
    }
    let _ = writeln!(
        text,
        "\nstrong from {:.3}, more from {:.3}, likely from {:.3}, in a context from {:.4}\n\n| chance | relevant | records |\n|---|---|---|",
        thresholds.strong, thresholds.more, thresholds.likely, thresholds.context
    );
    for (chance, share, count) in reliability(questions, 10) {
        let _ = writeln!(text, "| {chance:.2} | {share:.2} | {count} |");
    }
    text
}

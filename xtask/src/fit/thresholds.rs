//! Thresholds of relevance and the rates that they give.

use super::held_out::HeldOutQuestion;

/// Required share of the answered prompts that are told a relevant record.
const TOLD_MIN: f64 = 0.5;
/// Required share of useful records among the told ones.
const USEFUL_MIN: f64 = 0.75;
/// Allowed share of the unanswered prompts that are told something.
const FALSE_MAX: f64 = 0.06;
/// Floor of the hits of an answered question: a chance of 1.3 %. With 1.5 % 307 instead of 310 of 384 developers' prompts have a
/// right record among the first five; a lower floor only adds others.
const FLOOR: f64 = 0.013;
/// Share of the right candidates above the floor of a context, which also takes doubtful ones.
const CONTEXT_SHARE: f64 = 0.98;
/// Largest number of records for a prompt.
pub(crate) const TOLD_MAX: usize = 3;
/// Number of steps of a threshold between 0 and 1.
const STEPS: u32 = 200;

/// Rates of a pair of thresholds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct TellingRates {
    /// Share of the answered questions that are told a right record.
    pub(crate) told: f64,
    /// Share of the told records that are useful.
    pub(crate) useful: f64,
    /// Share of the unanswered questions that are told something.
    pub(crate) falsely: f64,
    answered: usize,
    records: usize,
    unanswered: usize,
}

impl TellingRates {
    /// Returns the smallest margin to a requirement, in standard errors of other questions of the same number.
    pub(crate) fn margin(&self) -> f64 {
        let of = |distance: f64, share: f64, count: usize| {
            distance / (share * (1.0 - share) / count.max(1) as f64).sqrt()
        };
        of(self.told - TOLD_MIN, TOLD_MIN, self.answered)
            .min(of(self.useful - USEFUL_MIN, USEFUL_MIN, self.records))
            .min(of(FALSE_MAX - self.falsely, FALSE_MAX, self.unanswered))
    }
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
    /// Chooses the thresholds of telling by the largest of the smallest margins, and the floors by what they keep.
    pub(crate) fn choose(questions: &[HeldOutQuestion]) -> Self {
        let step = |n: u32| f64::from(n) / f64::from(STEPS);
        let (mut strong, mut more, mut most) = (1.0, 1.0, f64::NEG_INFINITY);
        for first in 1..STEPS {
            for further in 1..=first {
                let margin = rates(questions, step(first), step(further)).margin();
                if margin > most {
                    (strong, more, most) = (step(first), step(further), margin);
                }
            }
        }
        let mut right: Vec<f64> = questions.iter().flat_map(right_chances).collect();
        right.sort_by(|a, b| b.total_cmp(a));
        let above = |share: f64| {
            let place = (share * right.len() as f64) as usize;
            right.get(place).copied().unwrap_or(0.0)
        };
        let likely = FLOOR.min(more);
        Self {
            strong,
            more,
            likely,
            context: above(CONTEXT_SHARE).min(likely),
            rates: rates(questions, strong, more),
        }
    }
}

impl Thresholds {
    /// Returns these thresholds with others for telling, and the rates that these give.
    pub(crate) fn with_telling(
        self,
        questions: &[HeldOutQuestion],
        (strong, more): (f64, f64),
    ) -> Self {
        Self {
            strong,
            more,
            rates: rates(questions, strong, more),
            ..self
        }
    }
}

fn right_chances(one: &HeldOutQuestion) -> impl Iterator<Item = f64> {
    let pairs = one.question.records.iter().zip(&one.chances);
    pairs
        .filter(|(record, _)| record.label >= 1.0)
        .map(|(_, chance)| *chance)
}

/// Returns what a pair of thresholds gives.
pub(crate) fn rates<'q>(
    questions: impl IntoIterator<Item = &'q HeldOutQuestion>,
    strong: f64,
    more: f64,
) -> TellingRates {
    let (mut told, mut useful, mut hit, mut answered, mut falsely, mut unanswered) =
        (0, 0, 0, 0, 0, 0);
    for one in questions {
        let mut pairs: Vec<(f64, f64)> = (one.chances.iter().copied())
            .zip(one.question.records.iter().map(|record| record.label))
            .filter(|(chance, _)| *chance >= more)
            .collect();
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
        if !pairs.first().is_some_and(|(chance, _)| *chance >= strong) {
            pairs.clear();
        }
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
        answered,
        records: told,
        unanswered,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::labelled_features::{LabelledQuestion, LabelledRecord};

    fn question(is_answered: bool, records: &[(f64, f64)]) -> HeldOutQuestion {
        let record = |(label, _): &(f64, f64)| LabelledRecord {
            label: *label,
            features: Vec::new(),
        };
        HeldOutQuestion {
            chances: records.iter().map(|(_, chance)| *chance).collect(),
            question: LabelledQuestion {
                sort: "prompts".to_owned(),
                group: "a".to_owned(),
                style: "task".to_owned(),
                is_answered,
                is_reported: true,
                records: records.iter().map(record).collect(),
            },
        }
    }

    #[test]
    fn rates_count_told_useful_and_false_records() {
        let all = [
            question(true, &[(1.0, 0.9), (0.5, 0.5), (0.0, 0.4), (0.0, 0.35)]),
            question(true, &[(1.0, 0.5), (0.0, 0.1)]),
            question(false, &[(0.0, 0.8)]),
            question(false, &[(0.0, 0.2)]),
        ];
        let found = rates(&all, 0.7, 0.3);
        let shares = [found.told, found.useful, found.falsely];
        assert_eq!(shares, [0.5, 0.5, 0.5]);
        assert_eq!((found.answered, found.records, found.unanswered), (2, 4, 2));
    }

    #[test]
    fn chosen_thresholds_have_largest_margin() {
        let mut all = Vec::new();
        for n in 0..100 {
            let chance = f64::from(n) / 100.0;
            all.push(question(true, &[(1.0, 0.2 + 0.8 * chance)]));
            all.push(question(false, &[(0.0, 0.6 * chance)]));
        }
        let chosen = Thresholds::choose(&all);
        assert!(chosen.strong > 0.55 && chosen.strong < 0.6, "{chosen:?}");
        assert!(chosen.rates.margin() > 0.0);
        assert!(chosen.context <= chosen.likely && chosen.likely <= chosen.more);
        let lower = rates(&all, chosen.strong - 0.1, chosen.more - 0.1);
        assert!(lower.margin() < chosen.rates.margin());
    }
}

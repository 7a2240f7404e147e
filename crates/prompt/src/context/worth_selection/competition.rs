//! Competition of the candidates: their steps, bounds of their scores, and the best steps of one round.

use super::{Candidate, SelectionReason, Tier};

/// Characters that every item costs in addition to its own when worth is divided by length: a reader's attention, and
/// protection against very short items that are worth little.
const ITEM_OVERHEAD_CHARS: f64 = 80.0;

/// Next step of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) candidate: usize,
    pub(super) form: usize,
    /// Characters that the step adds, with the frame of its section if it is the first there.
    pub(super) chars: usize,
    pub(super) reason: SelectionReason,
}

/// Candidate of the competition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Competitor {
    pub(super) candidate: usize,
    /// Largest score of its first step, whatever is selected: repetition and the frame of its section only reduce it.
    pub(super) bound: f64,
}

/// Best steps of the competition so far, with their scores. Of equal ones the first candidate wins.
#[derive(Debug, Default)]
pub(super) struct BestSteps {
    pub(super) any: Option<(Step, f64)>,
    /// Of the sections that are behind their share.
    pub(super) behind: Option<(Step, f64)>,
}

impl BestSteps {
    pub(super) fn add(&mut self, step: Step, worth: f64, is_behind: bool) {
        let score = worth / length_cost(step.chars);
        let precedes = |best: &Option<(Step, f64)>| {
            best.is_none_or(|(other, most)| {
                score > most || (score == most && step.candidate < other.candidate)
            })
        };
        if precedes(&self.any) {
            self.any = Some((step, score));
        }
        if is_behind && precedes(&self.behind) {
            self.behind = Some((step, score));
        }
    }

    /// Returns true if no step with a score up to `bound` can replace one of these.
    pub(super) fn exceeds(&self, bound: f64, has_behind: bool) -> bool {
        let is_above = |best: &Option<(Step, f64)>| best.is_some_and(|(_, most)| most > bound);
        is_above(&self.any) && (!has_behind || is_above(&self.behind))
    }
}

/// Returns the candidates of the competition, highest bound first.
pub(super) fn competitors(candidates: &[Candidate<'_>]) -> Vec<Competitor> {
    let all = candidates.iter().enumerate();
    let mut found: Vec<Competitor> = all
        .filter(|(_, one)| competes(one))
        .map(|(candidate, one)| Competitor {
            candidate,
            bound: one.worth / length_cost(one.forms.first().copied().unwrap_or(0)),
        })
        .collect();
    found.sort_by(|a, b| b.bound.total_cmp(&a.bound));
    found
}

/// Returns true if a candidate takes part in the competition.
pub(super) fn competes(one: &Candidate<'_>) -> bool {
    matches!(one.tier, Tier::Exempt | Tier::Competing)
}

/// Returns the divisor of worth: the root of the length, because a long record often has more to say. Contexts of
/// commits were equally good with the length itself.
fn length_cost(chars: usize) -> f64 {
    (chars as f64 + ITEM_OVERHEAD_CHARS).sqrt()
}

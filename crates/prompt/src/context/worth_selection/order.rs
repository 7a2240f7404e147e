//! Order of the steps of a selection. No step depends on the budget.

use super::competition::{BestSteps, Competitor, Step, competes, competitors};
use super::repetition::{Repetition, find_near_duplicates};
use super::{Candidate, SelectionInput, SelectionReason, Tier, Verdict};
use heirloom_model::limits::CONTEXT_SHARES_PERCENT_MAX;

/// Share of an item's worth that each further form has; the shortest form already names the matter.
const EXTENSION_WORTH: f64 = 0.15;

/// Part of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Guaranteed,
    Best,
    Competition,
    Tail,
    End,
}

/// Order that is computed step by step. A step that is returned and not taken ends it.
pub(super) struct StepOrder<'s> {
    input: &'s SelectionInput<'s>,
    verdicts: Vec<Option<Verdict>>,
    repetition: Repetition,
    /// Taken characters of each section.
    section_chars: Vec<usize>,
    /// Taken characters of all sections that compete.
    competing_chars: usize,
    /// Share of each section, 0 to 1, after scaling.
    shares: Vec<f64>,
    /// Candidates of the competition, highest bound first.
    competitors: Vec<Competitor>,
    /// Open candidates of each section that compete.
    open_count: Vec<usize>,
    /// Taken candidates that have further forms.
    extensible: Vec<usize>,
    part: Part,
    /// Position in the present part.
    at: usize,
}

impl<'s> StepOrder<'s> {
    pub(super) fn new(input: &'s SelectionInput<'s>) -> Self {
        let candidates = input.candidates;
        let total: u32 = input.sections.iter().map(|one| one.share_percent).sum();
        let scale = f64::from(CONTEXT_SHARES_PERCENT_MAX)
            / f64::from(total.max(CONTEXT_SHARES_PERCENT_MAX));
        let share = |percent: u32| f64::from(percent) / 100.0 * scale;
        let mut order = Self {
            input,
            verdicts: vec![None; candidates.len()],
            repetition: Repetition::new(candidates),
            section_chars: vec![0; input.sections.len()],
            competing_chars: 0,
            shares: (input.sections.iter())
                .map(|one| share(one.share_percent))
                .collect(),
            competitors: competitors(candidates),
            open_count: vec![0; input.sections.len()],
            extensible: Vec::new(),
            part: Part::Guaranteed,
            at: 0,
        };
        for (place, one) in candidates.iter().enumerate() {
            let is_below = one.relevance.is_some_and(|share| share < input.floor);
            if one.forms.is_empty() || one.section >= input.sections.len() {
                order.omit(place, SelectionReason::Empty);
            } else if is_below && one.tier == Tier::Competing {
                order.omit(place, SelectionReason::BelowFloor);
            }
        }
        let heads = find_near_duplicates(candidates, |place| order.is_open(place));
        for (place, head) in heads.into_iter().enumerate() {
            if let Some(head) = head {
                order.omit(place, SelectionReason::DuplicateOf(head));
            }
        }
        for (place, one) in candidates.iter().enumerate() {
            let is_open = competes(one) && order.is_open(place);
            let count = order.open_count.get_mut(one.section);
            if let Some(count) = count.filter(|_| is_open) {
                *count += 1;
            }
        }
        order
    }

    /// Returns the next step; `None` at the end.
    pub(super) fn next_step(&mut self) -> Option<Step> {
        loop {
            let step = match self.part {
                Part::Guaranteed => self.next_listed(Tier::Guaranteed),
                Part::Best => self.next_best(),
                Part::Competition => self.next_competing(),
                Part::Tail => self.next_listed(Tier::Tail),
                Part::End => return None,
            };
            let Some(step) = step else {
                self.at = 0;
                self.part = match self.part {
                    Part::Guaranteed => Part::Best,
                    Part::Best => Part::Competition,
                    Part::Competition => Part::Tail,
                    Part::Tail | Part::End => Part::End,
                };
                continue;
            };
            return Some(step);
        }
    }

    /// Records that a step is in the context.
    pub(super) fn take(&mut self, step: &Step) {
        let Some(one) = self.input.candidates.get(step.candidate) else {
            return;
        };
        if let Some(slot) = self.verdicts.get_mut(step.candidate) {
            *slot = Some(Verdict {
                reason: slot.map_or(step.reason, |before| before.reason),
                form: Some(step.form),
            });
        }
        if let Some(chars) = self.section_chars.get_mut(one.section) {
            *chars += step.chars;
        }
        if self.part == Part::Competition || self.part == Part::Best {
            self.competing_chars += step.chars;
        }
        if step.form == 0 {
            self.close(one);
            self.extensible.push(step.candidate);
            self.repetition.select(step.candidate);
        }
    }

    /// Counts a competitor that was selected or omitted.
    fn close(&mut self, one: &Candidate<'_>) {
        let count = self.open_count.get_mut(one.section);
        if let Some(count) = count.filter(|_| competes(one)) {
            *count = count.saturating_sub(1);
        }
    }

    /// Returns the verdicts; candidates without a step did not fit.
    pub(super) fn into_verdicts(self) -> Vec<Verdict> {
        let did_not_fit = Verdict {
            reason: SelectionReason::DidNotFit,
            form: None,
        };
        let all = self.verdicts.into_iter();
        all.map(|one| one.unwrap_or(did_not_fit)).collect()
    }

    fn omit(&mut self, place: usize, reason: SelectionReason) {
        if let Some(slot) = self.verdicts.get_mut(place) {
            *slot = Some(Verdict { reason, form: None });
        }
    }

    fn is_open(&self, place: usize) -> bool {
        self.verdicts.get(place).is_some_and(Option::is_none)
    }

    fn is_taken(&self, place: usize) -> bool {
        let verdict = self.verdicts.get(place).copied().flatten();
        verdict.is_some_and(|verdict| verdict.form.is_some())
    }

    /// Returns the step that adds a candidate in its shortest form; `None` while the one that it requires is not
    /// selected.
    fn first_step(&self, place: usize, reason: SelectionReason) -> Option<Step> {
        let one = self.input.candidates.get(place)?;
        if one.requires.is_some_and(|other| !self.is_taken(other)) {
            return None;
        }
        let is_first = self.section_chars.get(one.section) == Some(&0);
        let frame = self.input.sections.get(one.section)?;
        let frame = if is_first { frame.chars } else { 0 };
        Some(Step {
            candidate: place,
            form: 0,
            chars: one.forms.first()? + frame,
            reason,
        })
    }

    /// Returns the step that extends a taken candidate to its next form, and its worth.
    fn extension(&self, place: usize) -> Option<(Step, f64)> {
        let verdict = self.verdicts.get(place).copied().flatten()?;
        let one = self.input.candidates.get(place)?;
        let form = verdict.form?;
        let step = Step {
            candidate: place,
            form: form + 1,
            chars: one
                .forms
                .get(form + 1)?
                .saturating_sub(*one.forms.get(form)?),
            reason: verdict.reason,
        };
        Some((step, one.worth * EXTENSION_WORTH))
    }

    /// Returns the next open candidate of a tier in the order of the list.
    fn next_listed(&mut self, tier: Tier) -> Option<Step> {
        let reason = match tier {
            Tier::Guaranteed => SelectionReason::Guaranteed,
            Tier::Exempt | Tier::Competing | Tier::Tail => SelectionReason::ByWorth,
        };
        while let Some(one) = self.input.candidates.get(self.at) {
            if one.tier == tier
                && self.is_open(self.at)
                && let Some(step) = self.first_step(self.at, reason)
            {
                return Some(step);
            }
            self.at += 1;
        }
        None
    }

    /// Returns the best candidate of the next section that has one.
    fn next_best(&mut self) -> Option<Step> {
        while let Some(section) = self.input.sections.get(self.at) {
            let is_done = !section.has_best || self.has_best(self.at);
            let best = if is_done {
                None
            } else {
                let mine = |place: &usize| {
                    let one = self.input.candidates.get(*place);
                    let may = |one: &Candidate<'_>| {
                        one.section == self.at
                            && self.may_be_best(one)
                            && one.requires.is_none_or(|other| self.is_taken(other))
                    };
                    one.is_some_and(may)
                };
                let open = (0..self.input.candidates.len()).filter(|place| self.is_open(*place));
                first_max(open.filter(mine).map(|place| (place, self.worth(place))))
            };
            match best {
                Some(place) => return self.first_step(place, SelectionReason::BestOfSource),
                None => self.at += 1,
            }
        }
        None
    }

    /// Returns true if a candidate may precede the competition: an exempt one, a relevant one, or any if nothing was
    /// asked.
    fn may_be_best(&self, one: &Candidate<'_>) -> bool {
        match one.tier {
            Tier::Exempt => true,
            Tier::Competing => one
                .relevance
                .is_none_or(|share| share >= self.input.best_floor),
            Tier::Guaranteed | Tier::Tail => false,
        }
    }

    /// Returns true if the best item of the section is taken.
    fn has_best(&self, section: usize) -> bool {
        let all = self.input.candidates.iter().zip(&self.verdicts);
        let best = SelectionReason::BestOfSource;
        all.filter(|(one, _)| one.section == section)
            .any(|(_, verdict)| verdict.is_some_and(|verdict| verdict.reason == best))
    }

    /// Returns the step with the highest worth for its length; first among the sections that are behind their share.
    fn next_competing(&mut self) -> Option<Step> {
        let mut best = BestSteps::default();
        self.extensible = std::mem::take(&mut self.extensible)
            .into_iter()
            .filter(|place| match self.extension(*place) {
                Some((step, worth)) => {
                    best.add(step, worth, self.is_section_behind(*place));
                    true
                }
                None => false,
            })
            .collect();
        let sections = 0..self.input.sections.len();
        let has_behind = sections
            .filter(|section| {
                self.open_count
                    .get(*section)
                    .is_some_and(|count| *count > 0)
            })
            .any(|section| self.is_behind(section));
        for one in &self.competitors {
            if best.exceeds(one.bound, has_behind) {
                break;
            }
            let place = one.candidate;
            if self.is_open(place)
                && let Some(step) = self.first_step(place, SelectionReason::ByWorth)
            {
                best.add(step, self.worth(place), self.is_section_behind(place));
            }
        }
        best.behind.or(best.any).map(|(step, _)| step)
    }

    /// Returns true if the section of a candidate is behind its share.
    fn is_section_behind(&self, place: usize) -> bool {
        let one = self.input.candidates.get(place);
        one.is_some_and(|one| self.is_behind(one.section))
    }

    /// Returns true if a section is behind its share of what is selected so far.
    fn is_behind(&self, section: usize) -> bool {
        let share = self.shares.get(section).copied().unwrap_or(0.0);
        let taken = self.section_chars.get(section).copied().unwrap_or(0);
        let sections = self.input.sections;
        let least = sections.get(section).map_or(0, |one| one.min_chars);
        taken < least || (taken as f64) < share * self.competing_chars as f64
    }

    /// Returns the worth of an open candidate, reduced by its similarity to taken ones.
    fn worth(&self, place: usize) -> f64 {
        let worth = self
            .input
            .candidates
            .get(place)
            .map_or(0.0, |one| one.worth);
        worth * self.repetition.worth_factor(place)
    }
}

/// Returns the first element with the highest score.
fn first_max<T>(scored: impl Iterator<Item = (T, f64)>) -> Option<T> {
    let mut best = None;
    for (one, score) in scored {
        keep_first_max(&mut best, one, score);
    }
    best.map(|(one, _)| one)
}

/// Replaces the best element by one with a higher score.
fn keep_first_max<T>(best: &mut Option<(T, f64)>, one: T, score: f64) {
    if best.as_ref().is_none_or(|(_, most)| score > *most) {
        *best = Some((one, score));
    }
}

#[cfg(test)]
mod tests;

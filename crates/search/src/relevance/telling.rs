//! Selection of the records that are told with a prompt.

use super::{TELL_CASE_COSINE_MIN, TELL_CASE_MIN, TELL_MIN, TELL_MORE_MIN};
use heirloom_model::limits;

/// Share of the best relevance from which a further record is told. After a record of 90 %, one of 25 % is seldom useful.
/// 82 instead of 79 % of the records that the development prompts get are useful, and one of 384 prompts loses its record.
const TELL_MORE_SHARE: f64 = 0.35;

/// Relevance of a candidate, as far as telling it depends on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tellable {
    /// Its relevance.
    pub relevance: f64,
    /// True for a case.
    pub is_case: bool,
    /// Cosine by the sentence transformer; `None` without vectors of it.
    pub sentence: Option<f64>,
}

impl Tellable {
    /// Returns true if it is told without another one.
    fn is_strong(self) -> bool {
        match self.is_case {
            true => self.relevance >= TELL_CASE_MIN && self.is_about_question(),
            false => self.relevance >= TELL_MIN,
        }
    }

    /// Returns true unless the transformer finds another subject. A case of an hour ago is relevant by its age alone, also to
    /// "please commit that".
    fn is_about_question(self) -> bool {
        self.sentence
            .is_none_or(|cosine| cosine >= TELL_CASE_COSINE_MIN)
    }
}

/// Returns the positions of the candidates that are told with a prompt, at most `most`, best first. `candidates` are in
/// recall's order. Empty unless one of them is strong.
pub fn select_told(candidates: &[Tellable], most: usize) -> Vec<usize> {
    if !candidates.iter().any(|one| one.is_strong()) {
        return Vec::new();
    }
    let all = candidates.iter().copied().enumerate();
    let mut order: Vec<(usize, Tellable)> = all
        .filter(|(_, one)| !one.is_case || one.is_strong())
        .collect();
    // The sort is stable: with equal relevance recall's order decides.
    order.sort_by(|(_, a), (_, b)| b.relevance.total_cmp(&a.relevance));
    let best = order.first().map_or(0.0, |(_, one)| one.relevance);
    let mut cases = 0;
    let told = order.into_iter().filter(|(_, one)| {
        cases += usize::from(one.is_case);
        let is_further = one.relevance >= TELL_MORE_SHARE * best;
        is_further
            && match one.is_case {
                true => cases <= limits::HOOK_CASES_MAX,
                false => one.relevance >= TELL_MORE_MIN,
            }
    });
    told.map(|(place, _)| place).take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relevance::FLOOR;

    #[test]
    fn told_records_follow_a_strong_one() {
        let (strong, more, weak) = (TELL_MIN + 0.01, TELL_MORE_MIN + 0.001, TELL_MORE_MIN / 2.0);
        const { assert!(TELL_MORE_MIN < TELL_MIN && FLOOR <= TELL_MORE_MIN) };
        let told = |relevance: &[f64], most: usize| {
            let record = |relevance: &f64| Tellable {
                relevance: *relevance,
                is_case: false,
                sentence: None,
            };
            let all: Vec<Tellable> = relevance.iter().map(record).collect();
            select_told(&all, most)
        };
        assert_eq!(told(&[more, weak, strong, more], 3), [2, 0, 3]);
        assert_eq!(told(&[more, strong, strong], 2), [1, 2]);
        // A record far below the best one is not told with it.
        assert_eq!(told(&[0.95, 0.3, 0.4], 3), [0, 2]);
        assert_eq!(told(&[more, more], 3), [0_usize; 0]);
        assert_eq!(select_told(&[], 3), [0_usize; 0]);
    }

    #[test]
    fn case_is_told_from_a_lower_relevance() {
        let one = |relevance: f64, is_case: bool| Tellable {
            relevance,
            is_case,
            sentence: Some(TELL_CASE_COSINE_MIN),
        };
        let case = one(TELL_CASE_MIN, true);
        assert_eq!(select_told(&[one(TELL_CASE_MIN, false)], 3), [0_usize; 0]);
        assert_eq!(select_told(&[case], 3), [0]);
        assert_eq!(
            select_told(&[one(TELL_CASE_MIN - 0.01, true)], 3),
            [0_usize; 0]
        );
    }

    #[test]
    fn cases_are_told_up_to_their_number_and_about_the_question() {
        let case = |sentence: Option<f64>| Tellable {
            relevance: TELL_CASE_MIN,
            is_case: true,
            sentence,
        };
        assert_eq!(
            select_told(&[case(Some(TELL_CASE_COSINE_MIN - 0.01))], 3),
            [0_usize; 0]
        );
        // Without vectors the words decide.
        assert_eq!(select_told(&[case(None)], 3), [0]);
        let many = vec![case(Some(1.0)); limits::HOOK_CASES_MAX + 1];
        assert_eq!(select_told(&many, 10).len(), limits::HOOK_CASES_MAX);
    }
}

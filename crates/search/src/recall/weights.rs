//! All weights of the ranking, except those of the index.
//!
//! The fused score of the arms spans several units among the first ten hits. The other score parts are small in
//! comparison: together they reorder neighbours, but do not lift irrelevant items. Tests of [`crate::recall::rank`]
//! check that records equal in all parts keep their order.

/// Weight of term proximity.
pub const PROXIMITY: f64 = 0.15;
/// Maximum distance between the two words, positions.
pub const PROXIMITY_DISTANCE: usize = 2;
/// A key or path equal to a word of the query.
pub const EXACT: f64 = 1.0;
/// Lead over all others for the record whose key is the whole query.
pub const EXACT_WHOLE_LEAD: f64 = 1.0;
/// Weight of each quoted phrase in the text.
pub const PHRASE: f64 = 1.0;
/// Upper bound for all phrases.
pub const PHRASES_BOUND: f64 = 2.0;
/// Match with the month of a date in the query.
pub const DATE_MONTH: f64 = 0.6;
/// Match with the day of a date in the query or an adjacent day; with the week if the query names a week.
pub const DATE_DAY: f64 = 1.2;
/// A turn of a speaker named in the query.
pub const SPEAKER: f64 = 0.6;
/// Upper bound of recency, reached by new records.
pub const RECENCY: f64 = 0.15;
/// Half-life of recency, days.
pub const RECENCY_HALF_LIFE_DAYS: f64 = 30.0;
/// Deduction for a confidence of 0, compared to 1.
pub const CONFIDENCE: f64 = 0.5;
/// Same task as the caller.
pub const SCOPE_TASK: f64 = 0.4;
/// Another task of the same plan, group or session.
pub const SCOPE_PLAN: f64 = 0.2;
/// Upper bound for confirmations.
pub const CONFIRMATIONS: f64 = 0.2;
/// Number of confirmations that gives half of the upper bound.
pub const CONFIRMATIONS_HALF: f64 = 3.0;
/// Largest bonus or deduction for `useful` marks.
pub const USEFUL: f64 = 0.4;
/// Penalty for similarity to already selected items when a budget is filled, relative to the difference between the
/// best and the last score.
pub const DIVERSITY_PENALTY: f64 = 0.5;

/// Relevance of a record that shares an identifier with a strong hit, relative to that hit.
pub const HOP_RELEVANCE: f64 = 0.5;
/// The same for a record that also has a word of the query besides the identifier.
pub const HOP_RELEVANCE_WITH_WORD: f64 = 0.6;
/// Difference of the score of such a record to the last hit, if it follows that hit.
pub const HOP_STEP: f64 = 0.01;

/// Returns the prior of a kind, independent of the query.
pub fn kind_prior(kind: Option<heirloom_model::Kind>) -> f64 {
    use heirloom_model::Kind;
    match kind {
        Some(Kind::Knowledge) => 0.1,
        Some(Kind::Error | Kind::Episode | Kind::Summary | Kind::Note) => 0.0,
        Some(Kind::Task | Kind::Output) => -0.05,
        Some(Kind::Step | Kind::Artifact) => -0.1,
        // A turn: its results, stored as records, are better than the discussion.
        None => -0.1,
    }
}

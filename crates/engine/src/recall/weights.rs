//! Every number of the ranking beside those of the index, in one place.
//!
//! The fused score of the arms spreads over several units among the first ten. Signals that say nothing of
//! the words are small against that: together they turn neighbours around, they do not lift what does not
//! answer. [`crate::recall::rank`] is tested to leave records that are alike in all of them as they are.

/// Weight of neighbouring words of the question that are neighbours in the text.
pub const PAIRS: f64 = 0.15;
/// So many places may lie between the two.
pub const PAIR_DISTANCE: usize = 2;
/// A key or path that one of the question's words is.
pub const EXACT: f64 = 1.0;
/// How far the record whose key the whole question is stands above all others.
pub const EXACT_WHOLE_LEAD: f64 = 1.0;
/// Each phrase in quotes that stands in the text.
pub const PHRASE: f64 = 1.0;
/// Most that phrases can add.
pub const PHRASES_BOUND: f64 = 2.0;
/// The month of a date of the question.
pub const DATE_MONTH: f64 = 0.6;
/// The day of a date of the question, or one beside it; the week of a question for a week.
pub const DATE_DAY: f64 = 1.2;
/// A turn of a speaker whom the question names.
pub const SPEAKER: f64 = 0.6;
/// Most that recency adds: what is written this moment.
pub const RECENCY: f64 = 0.15;
/// Days after which recency has halved.
pub const RECENCY_HALF_LIFE_DAYS: f64 = 30.0;
/// What a confidence of 0 takes away, against one of 1.
pub const CONFIDENCE: f64 = 0.5;
/// The same task as whoever asks.
pub const SCOPE_TASK: f64 = 0.4;
/// Another task of the same plan, group or session.
pub const SCOPE_PLAN: f64 = 0.2;
/// Most that confirmations add.
pub const CONFIRMATIONS: f64 = 0.2;
/// Confirmations at which half of that is reached.
pub const CONFIRMATIONS_HALF: f64 = 3.0;
/// Most that `useful` adds or takes away.
pub const USEFUL: f64 = 0.4;
/// How much likeness to what is in already counts against a candidate when a budget is filled, in units of
/// the distance between the best and the last candidate.
pub const DIVERSITY: f64 = 0.5;

/// What a kind is worth before anything is known of the question.
pub fn kind_prior(kind: Option<heirloom_model::Kind>) -> f64 {
    use heirloom_model::Kind;
    match kind {
        Some(Kind::Knowledge) => 0.1,
        Some(Kind::Error | Kind::Episode | Kind::Summary | Kind::Note) => 0.0,
        Some(Kind::Task | Kind::Output) => -0.05,
        Some(Kind::Step | Kind::Artifact) => -0.1,
        // A turn: what came of it is better than how it came about.
        None => -0.1,
    }
}

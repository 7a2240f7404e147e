//! Coefficients of the model of lasting rules: a logistic model with a ridge penalty of 3.
//!
//! Fitted to 2,160 sentences: those of `tests/data/plain_rules.toml` (weight 1) and `tests/data/user_turns.toml` (0.4), and
//! of the turns of five recorded projects, in which a reader marked the 80 sentences that set a rule (weight 3, others 1).
//! With a probability of 0.5, models without a project find 26 of 45 rules that were said in the two larger projects, and
//! take 7 of 81 turns that look like rules; with 0.55 these are 23 and 4.

/// Log odds of a sentence without any feature.
pub(super) const BIAS: f32 = -1.595;
/// Weights of the features, in the order of their names.
pub(super) const COEFFICIENTS: [f32; super::FEATURE_COUNT] = [
    1.134,  // always
    -0.106, // answer_start
    1.826,  // asking
    1.152,  // change
    0.783,  // complaint
    -0.874, // condition
    1.112,  // contrast
    -0.196, // counted
    0.026,  // enough
    0.926,  // generic
    1.107,  // habit_start
    -1.204, // hedge
    -0.950, // idle
    -0.183, // inability
    2.229,  // lasting
    -0.300, // lets_start
    -1.032, // moment
    0.601,  // name
    0.455,  // obligation
    0.591,  // only
    0.883,  // permission
    -0.196, // person
    0.623,  // please
    1.312,  // preference
    -1.556, // product
    0.775,  // prohibition
    -1.492, // question_start
    0.198,  // reason
    1.535,  // reminder
    -1.087, // report
    -0.479, // sequence
    -0.905, // task_start
    -0.564, // this_thing
    0.900,  // we_habit
    0.319,  // working
    0.588,  // you
    0.291,  // plural
    0.748,  // code
    -0.567, // number
    -1.586, // question
    -0.834, // short
    0.427,  // long
    0.561,  // prohibition_general
    0.397,  // obligation_general
    -1.035, // prohibition_moment
    -0.543, // obligation_product
    -0.900, // reminder_request
    0.779,  // comma_not
    0.972,  // unspaced
    1.100,  // prohibition_first
    0.733,  // plural_subject
    1.118,  // we_subject
    -0.321, // reference_subject
    0.548,  // you_subject
    0.398,  // after_stop
    0.199,  // rejection
    0.437,  // alone
    -0.300, // first_prompt
    0.661,  // working_code
    0.713,  // after_complaint
    0.330,  // no_thing
    0.293,  // one_not_other
];

//! Coefficients of the model of lasting rules: a logistic model with a ridge penalty of 3, fitted to the sentences of
//! `tests/data/plain_rules.toml` and `tests/data/user_turns.toml`, and to the labelled turns of recorded sessions of five
//! projects. Do not edit: write the features of labelled turns with `heirloom-bench --only rules` and fit again.

/// Log odds of a sentence without any feature.
pub(super) const BIAS: f32 = -1.563;
/// Weights of the features, in the order of their names.
pub(super) const COEFFICIENTS: [f32; super::FEATURE_COUNT] = [
    1.125,  // always
    -0.103, // answer_start
    1.596,  // asking
    1.136,  // change
    0.842,  // complaint
    -0.883, // condition
    1.149,  // contrast
    -0.166, // counted
    0.026,  // enough
    0.861,  // generic
    1.128,  // habit_start
    -1.178, // hedge
    -0.899, // idle
    -0.182, // inability
    2.255,  // lasting
    -0.309, // lets_start
    -0.984, // moment
    0.559,  // name
    0.395,  // obligation
    0.542,  // only
    1.021,  // permission
    -0.157, // person
    0.624,  // please
    1.348,  // preference
    -1.518, // product
    0.787,  // prohibition
    -1.476, // question_start
    0.203,  // reason
    1.636,  // reminder
    -1.069, // report
    -0.430, // sequence
    -0.905, // task_start
    -0.563, // this_thing
    0.931,  // we_habit
    0.293,  // working
    0.475,  // you
    0.244,  // plural
    0.737,  // code
    -0.603, // number
    -1.594, // question
    -0.850, // short
    0.432,  // long
    0.577,  // prohibition_general
    0.467,  // obligation_general
    -1.067, // prohibition_moment
    -0.499, // obligation_product
    -0.791, // reminder_request
    0.878,  // comma_not
    0.977,  // unspaced
    1.074,  // prohibition_first
    0.777,  // plural_subject
    1.131,  // we_subject
    -0.327, // reference_subject
    0.597,  // you_subject
    0.457,  // after_stop
    0.172,  // rejection
    0.428,  // alone
    -0.297, // first_prompt
    0.676,  // working_code
    0.724,  // after_complaint
];

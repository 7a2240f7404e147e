//! Coefficients of the model of lasting rules: a logistic model with a ridge penalty of 3, fitted to the sentences of
//! `tests/data/plain_rules.toml` and `tests/data/user_turns.toml`, and to the labelled turns of recorded sessions of five
//! projects. Do not edit: write the features of labelled turns with `heirloom-bench --only rules` and fit again.

/// Log odds of a sentence without any feature.
pub(super) const BIAS: f32 = -1.559;
/// Weights of the features, in the order of their names.
pub(super) const COEFFICIENTS: [f32; super::FEATURE_COUNT] = [
    1.079,  // always
    -0.083, // answer_start
    1.463,  // asking
    1.186,  // change
    0.892,  // complaint
    -0.826, // condition
    0.994,  // contrast
    -0.150, // counted
    -0.011, // enough
    0.769,  // generic
    1.180,  // habit_start
    -1.063, // hedge
    -0.703, // idle
    1.774,  // lasting
    -0.336, // lets_start
    -0.985, // moment
    0.561,  // name
    0.324,  // obligation
    0.621,  // only
    1.003,  // permission
    -0.233, // person
    0.534,  // please
    1.341,  // preference
    -1.495, // product
    0.711,  // prohibition
    -1.263, // question_start
    0.418,  // reason
    1.616,  // reminder
    -0.932, // report
    -0.500, // sequence
    -0.737, // task_start
    -0.582, // this_thing
    0.769,  // we_habit
    0.332,  // working
    0.434,  // you
    0.169,  // plural
    0.674,  // code
    -0.590, // number
    -1.619, // question
    -0.862, // short
    0.327,  // long
    0.698,  // prohibition_general
    0.439,  // obligation_general
    -1.042, // prohibition_moment
    -0.428, // obligation_product
    -0.690, // reminder_request
    0.891,  // comma_not
    1.029,  // unspaced
    1.029,  // prohibition_first
    0.868,  // plural_subject
    1.050,  // we_subject
    -0.375, // reference_subject
    0.646,  // you_subject
    0.495,  // after_stop
    0.161,  // rejection
    0.458,  // alone
    -0.346, // first_prompt
    0.697,  // working_code
    0.749,  // after_complaint
];

//! Coefficients of the model of lasting rules: a logistic model with a ridge penalty of 3.
//!
//! Fitted to 1,900 sentences: those of `tests/data/plain_rules.toml` (weight 1) and `tests/data/user_turns.toml` (0.4), and
//! of the turns of five recorded projects, in which a reader marked the 79 sentences that set a rule (weight 3, others 1).
//! At the threshold of `person_rules.toml` models without a project find 24 of its 45 rules that were said, in the two
//! larger projects together, and 3 of 81 turns that look like rules.

/// Log odds of a sentence without any feature.
pub(super) const BIAS: f32 = -1.563;
/// Weights of the features, in the order of their names.
pub(super) const COEFFICIENTS: [f32; super::FEATURE_COUNT] = [
    1.131,  // always
    -0.100, // answer_start
    1.601,  // asking
    1.140,  // change
    0.849,  // complaint
    -0.896, // condition
    1.110,  // contrast
    -0.158, // counted
    0.032,  // enough
    0.869,  // generic
    1.125,  // habit_start
    -1.183, // hedge
    -0.897, // idle
    -0.180, // inability
    2.259,  // lasting
    -0.300, // lets_start
    -1.000, // moment
    0.568,  // name
    0.396,  // obligation
    0.545,  // only
    1.022,  // permission
    -0.153, // person
    0.631,  // please
    1.353,  // preference
    -1.507, // product
    0.791,  // prohibition
    -1.477, // question_start
    0.201,  // reason
    1.532,  // reminder
    -1.069, // report
    -0.422, // sequence
    -0.896, // task_start
    -0.572, // this_thing
    0.939,  // we_habit
    0.292,  // working
    0.475,  // you
    0.253,  // plural
    0.743,  // code
    -0.611, // number
    -1.589, // question
    -0.848, // short
    0.439,  // long
    0.576,  // prohibition_general
    0.461,  // obligation_general
    -1.060, // prohibition_moment
    -0.501, // obligation_product
    -0.893, // reminder_request
    0.889,  // comma_not
    0.982,  // unspaced
    1.073,  // prohibition_first
    0.769,  // plural_subject
    1.094,  // we_subject
    -0.324, // reference_subject
    0.597,  // you_subject
    0.462,  // after_stop
    0.170,  // rejection
    0.422,  // alone
    -0.292, // first_prompt
    0.673,  // working_code
    0.725,  // after_complaint
];

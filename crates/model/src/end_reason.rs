//! Reasons for which a learned record has ended: it stays stored and is not offered any more.

use crate::limits;
use std::borrow::Cow;

/// Reason for which a learned record is not offered any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// A failure without a known fix that later sessions were told often enough.
    OldFailure,
    /// A failure whose command succeeded often enough since.
    Contradicted,
    /// A failure whose fix sets a variable to a value that people have replaced.
    ReplacedFix,
    /// A value of a moment, such as a commit or a count, that is too old.
    OneOffValue,
    /// A proposal of an agent that no one confirmed during a long use of the project.
    UnconfirmedProposal,
    /// A fact about another machine.
    OtherMachine,
}

impl EndReason {
    /// Returns the text for receipts.
    pub fn text(self) -> Cow<'static, str> {
        let reason = match self {
            Self::OldFailure => format!(
                "no fix is known after {} sessions",
                limits::OPEN_FAILURE_SESSIONS_MAX
            ),
            Self::Contradicted => format!(
                "the command succeeded {} times since",
                limits::FAILURE_SUCCESSES_MAX
            ),
            Self::OneOffValue => format!(
                "a value of a moment, older than {} days",
                limits::ONE_OFF_VALUE_DAYS_MAX
            ),
            Self::UnconfirmedProposal => format!(
                "not confirmed in {} days of use",
                limits::PROPOSAL_USE_DAYS_MAX
            ),
            Self::ReplacedFix => {
                return Cow::Borrowed("ended: a rule gives the variable of its fix another value");
            }
            Self::OtherMachine => return Cow::Borrowed("ended: about another machine"),
        };
        Cow::Owned(format!("ended: {reason}"))
    }
}

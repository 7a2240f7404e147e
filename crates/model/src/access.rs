//! Who may do what, where many clients share one memory.

use std::fmt;
use std::str::FromStr;

/// What somebody is who asks through a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessRole {
    /// Reads everything; what it says is a proposal.
    Agent,
    /// Hands tasks to agents: writes directly, and decides conflicts.
    Orchestrator,
    /// A person: as an orchestrator.
    User,
    /// A person who also hands out tokens and deletes for good.
    Admin,
}

/// What may be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Deed {
    /// To see what is remembered.
    Read,
    /// To add to it: tries, files, notes, and knowledge as proposals.
    Add,
    /// To write for anybody, to take back, to change what others said.
    Change,
    /// To say which of two sources is right.
    Decide,
    /// To hand out tokens, and to delete for good.
    Administer,
}

impl AccessRole {
    /// Every role, the one that may least first.
    pub const ALL: [Self; 4] = [Self::Agent, Self::Orchestrator, Self::User, Self::Admin];

    /// Its name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Orchestrator => "orchestrator",
            Self::User => "user",
            Self::Admin => "admin",
        }
    }

    /// Whether it may do this.
    pub fn may(self, deed: Deed) -> bool {
        match deed {
            Deed::Read | Deed::Add => true,
            Deed::Change | Deed::Decide => self != Self::Agent,
            Deed::Administer => self == Self::Admin,
        }
    }

    /// Whose words its are when nobody is named.
    pub fn source(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Orchestrator => "orchestrator",
            Self::User | Self::Admin => "user",
        }
    }
}

impl fmt::Display for AccessRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for AccessRole {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|role| role.as_str() == given);
        found.ok_or_else(|| "a role is agent, orchestrator, user or admin".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_may_what_they_are_for() {
        let may = |role: AccessRole| {
            let deeds = [
                Deed::Read,
                Deed::Add,
                Deed::Change,
                Deed::Decide,
                Deed::Administer,
            ];
            deeds.map(|deed| role.may(deed))
        };
        assert_eq!(may(AccessRole::Agent), [true, true, false, false, false]);
        assert_eq!(
            may(AccessRole::Orchestrator),
            [true, true, true, true, false]
        );
        assert_eq!(may(AccessRole::User), [true, true, true, true, false]);
        assert_eq!(may(AccessRole::Admin), [true; 5]);
        for role in AccessRole::ALL {
            assert_eq!(role.as_str().parse(), Ok(role));
        }
        assert!("root".parse::<AccessRole>().is_err());
    }
}

//! Access roles, permissions, and the authority of sources.

use crate::Record;
use crate::record::SOURCE_TEAM;
use std::fmt;
use std::str::FromStr;

/// Attribute of knowledge: the person or orchestrator that confirmed a value of a lower authority.
pub const VOUCHED_BY_ATTR: &str = "vouched_by";

/// Weight of a source in conflicts. It follows from the source's name and never from a number in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Authority {
    /// An agent, an import or a file: its knowledge is a proposal.
    Agent,
    /// The orchestrator, and team memory, which was reviewed in git.
    Orchestrator,
    /// A person.
    Person,
}

impl Authority {
    /// Returns the authority of the source with this name.
    pub fn of_source(source: &str) -> Self {
        match source {
            "user" => Self::Person,
            "orchestrator" | SOURCE_TEAM => Self::Orchestrator,
            _ => Self::Agent,
        }
    }

    /// Returns the authority of a record: that of its source, or of a higher source that confirmed it.
    pub fn of_record(record: &Record) -> Self {
        let own = Self::of_source(&record.source);
        let vouched = record.attr_str(VOUCHED_BY_ATTR).map(Self::of_source);
        // A shared record keeps the name of the source that shared it.
        let shared = match record.source == SOURCE_TEAM {
            true => record.attr_str("by").map(Self::of_source),
            false => None,
        };
        own.max(vouched.unwrap_or(own)).max(shared.unwrap_or(own))
    }

    /// Returns the source name for an agent: its own name, or `agent` if that name has a higher authority.
    pub fn agent_source(name: &str) -> &str {
        match Self::of_source(name.trim()) {
            Self::Agent => name,
            Self::Orchestrator | Self::Person => "agent",
        }
    }
}

/// Role of a client of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessRole {
    /// Reads everything; its knowledge is a proposal.
    Agent,
    /// Assigns tasks to agents; writes directly and resolves conflicts.
    Orchestrator,
    /// A person, with the permissions of an orchestrator.
    User,
    /// A person who may also issue tokens and purge data.
    Admin,
}

/// Permission that a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Permission {
    /// Read memory.
    Read,
    /// Add episodes, files, notes, and knowledge as proposals.
    Add,
    /// Write for any source, undo, and change records of others.
    Change,
    /// Resolve conflicts between sources.
    Decide,
    /// Issue tokens and purge data.
    Administer,
}

impl AccessRole {
    /// Every role, ascending by permissions.
    pub const ALL: [Self; 4] = [Self::Agent, Self::Orchestrator, Self::User, Self::Admin];

    /// Returns the name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Orchestrator => "orchestrator",
            Self::User => "user",
            Self::Admin => "admin",
        }
    }

    /// Returns true if the role has this permission.
    pub fn has_permission(self, deed: Permission) -> bool {
        match deed {
            Permission::Read | Permission::Add => true,
            Permission::Change | Permission::Decide => self != Self::Agent,
            Permission::Administer => self == Self::Admin,
        }
    }

    /// Returns the source of its writes when the request names none.
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
    fn authority_follows_source_name() {
        use Authority::{Agent, Orchestrator, Person};
        assert!(Person > Orchestrator && Orchestrator > Agent);
        for (source, authority) in [
            ("user", Person),
            ("orchestrator", Orchestrator),
            ("team", Orchestrator),
            ("agent", Agent),
            ("User", Agent),
            ("admin", Agent),
            ("", Agent),
        ] {
            assert_eq!(Authority::of_source(source), authority, "{source}");
        }
        for name in ["user", "orchestrator", "team", " user "] {
            assert_eq!(Authority::agent_source(name), "agent");
        }
        assert_eq!(Authority::agent_source("coder"), "coder");
    }

    #[test]
    fn roles_have_their_permissions() {
        let may = |role: AccessRole| {
            let deeds = [
                Permission::Read,
                Permission::Add,
                Permission::Change,
                Permission::Decide,
                Permission::Administer,
            ];
            deeds.map(|deed| role.has_permission(deed))
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

//! Scope of a record in a request body.

use super::field_checks::deserialize_small_count;
use heirloom_model::Scope;
use serde::Deserialize;
use utoipa::ToSchema;

/// Scope of a record in a request body.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
pub(super) struct ScopeFields {
    /// The task.
    #[serde(alias = "task")]
    pub(super) task_id: Option<String>,
    /// The agent.
    #[serde(alias = "agent")]
    pub(super) agent_id: Option<String>,
    /// The plan.
    pub(super) plan: Option<String>,
    /// The group.
    pub(super) group: Option<String>,
    /// The session.
    #[serde(alias = "session")]
    pub(super) session_id: Option<String>,
    /// The phase of the task.
    pub(super) phase: Option<String>,
    /// The iteration of the run, from 1.
    #[schema(minimum = 1)]
    #[serde(default, deserialize_with = "deserialize_small_count")]
    pub(super) iteration: Option<u32>,
}

impl ScopeFields {
    /// Converts the fields to a scope.
    pub(super) fn scope(&self) -> Scope {
        Scope {
            plan: self.plan.clone(),
            group: self.group.clone(),
            session: self.session_id.clone(),
            task: self.task_id.clone(),
            agent: self.agent_id.clone(),
            phase: self.phase.clone(),
            iteration: self.iteration,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ScopeFields;
    use serde_json::json;

    #[test]
    fn names_of_the_command_line_and_of_mcp_are_accepted() {
        let read = |value| {
            serde_json::from_value::<ScopeFields>(value)
                .unwrap()
                .scope()
        };
        let here = json!({"task_id": "42", "agent_id": "coder", "session_id": "s1"});
        let elsewhere = json!({"task": "42", "agent": "coder", "session": "s1"});
        assert_eq!(read(here), read(elsewhere));
    }
}

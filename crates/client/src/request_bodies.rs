//! Bodies of requests that methods of a task, an error, a conflict or a record send.

use crate::requests::{Mark, StepState, TaskState};
use serde::Serialize;

/// Fields of a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub(crate) struct TaskFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<TaskState>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(crate) task_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) phase: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
}

/// Step of a task to record.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub(crate) struct NewStep {
    pub(crate) text: String,
    pub(crate) state: StepState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_id: Option<String>,
}

/// End of a task.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub(crate) struct TaskEnd {
    pub(crate) state: TaskState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approach: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_id: Option<String>,
}

/// Fix of an error.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub(crate) struct Resolution {
    pub(crate) resolution: String,
}

/// Decision of a conflict.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub(crate) struct ConflictDecision {
    pub(crate) keep: String,
}

/// Mark of a record.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub(crate) struct NewMark {
    pub(crate) mark: Mark,
}

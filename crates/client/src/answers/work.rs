//! Answers about attempts, errors and tasks.

use super::Record;
use serde::Deserialize;

answers! {
    /// Similar past attempts.
    SimilarAttempts {
        /// Attempts, most similar first.
        items: Vec<Attempt>,
        /// True if a similar approach has failed.
        failed: bool,
    }

    /// Attempt at a task.
    Attempt {
        /// Id of the episode.
        id: String,
        /// Project.
        project: String,
        /// Task.
        task_id: Option<String>,
        /// Agent.
        agent_id: Option<String>,
        /// attempted, completed, failed or retried.
        action: Option<String>,
        /// Approach.
        approach: Option<String>,
        /// Outcome.
        outcome: Option<String>,
        /// Phase of the task.
        phase: Option<String>,
        /// Iteration of the run.
        iteration: Option<u64>,
        /// Duration in milliseconds.
        duration_ms: Option<u64>,
        /// Tokens that were read.
        tokens_in: Option<u64>,
        /// Tokens that were written.
        tokens_out: Option<u64>,
        /// Source.
        source: String,
        /// Time of creation.
        created_at: String,
        /// Score, by which the attempts are ordered.
        score: f64,
    }

    /// Logged error.
    LoggedError {
        /// The record.
        id: String,
        /// created or confirmed.
        outcome: String,
        /// Kinds of removed secrets, one for each.
        #[serde(default)]
        redacted: Vec<String>,
        /// Fix of the same error in the past.
        resolved_before: Option<PastResolution>,
    }

    /// Fix of an error in the past.
    PastResolution {
        /// The record of the error.
        id: String,
        /// The fix.
        resolution: String,
    }

    /// Task in a list.
    TaskSummary {
        /// Id of the task, as people and agents use it.
        task_id: String,
        /// Id of the record.
        id: String,
        /// Project.
        project: String,
        /// Given title, otherwise its type and id.
        title: String,
        /// open, done or failed.
        state: String,
        /// issue, pr, or any other word.
        r#type: Option<String>,
        /// Branch.
        branch: Option<String>,
        /// Phase.
        phase: Option<String>,
        /// Iteration of the run.
        iteration: Option<u64>,
        /// Number of the pull request.
        pr_number: Option<u64>,
        /// Reason why it is blocked.
        blocked_reason: Option<String>,
        /// Source.
        source: String,
        /// Time of the last change.
        updated_at: String,
    }

    /// Task with its steps, files and open errors.
    TaskDetails {
        /// Id of the task, as people and agents use it.
        task_id: String,
        /// Id of the record.
        id: String,
        /// Project.
        project: String,
        /// Given title, otherwise its type and id.
        title: String,
        /// open, done or failed.
        state: String,
        /// issue, pr, or any other word.
        r#type: Option<String>,
        /// Branch.
        branch: Option<String>,
        /// Phase.
        phase: Option<String>,
        /// Iteration of the run.
        iteration: Option<u64>,
        /// Number of the pull request.
        pr_number: Option<u64>,
        /// Reason why it is blocked.
        blocked_reason: Option<String>,
        /// Source.
        source: String,
        /// Time of the last change.
        updated_at: String,
        /// Completed steps.
        completed_steps: Vec<Record>,
        /// Pending steps.
        pending_steps: Vec<Record>,
        /// Files.
        files: Vec<Record>,
        /// Open errors.
        open_errors: Vec<Record>,
    }

    /// Result of the end of a task.
    EndedTask {
        /// Id of the task.
        task_id: String,
        /// done or failed.
        state: String,
        /// Id of the logged episode.
        episode: String,
    }
}

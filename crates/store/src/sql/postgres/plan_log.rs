//! Log of the plans that the database chooses for the store's statements, for tests of their distribution.

use super::pool::PooledClient;
use super::request::{Answer, Request};
use std::fmt;
use std::sync::Arc;
use tokio_postgres::Error;

/// Function that gets a statement and its plan.
type LogFunction = dyn Fn(&str, &str) + Send + Sync;

/// Receiver of statements and their plans.
#[derive(Clone)]
pub(crate) struct PlanLog(Arc<LogFunction>);

impl fmt::Debug for PlanLog {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("PlanLog")
    }
}

impl PlanLog {
    /// Creates a log that calls `log` with each statement and its plan.
    pub(crate) fn new(log: impl Fn(&str, &str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(log))
    }

    /// Runs the requests one after the other, each after its plan was logged.
    pub(crate) async fn run(
        &self,
        requests: &[Request],
        client: &PooledClient,
    ) -> Vec<Result<Answer, Error>> {
        let mut answers = Vec::with_capacity(requests.len());
        for request in requests {
            if let Some(explanation) = request.explanation() {
                match explanation.run(client).await {
                    Ok((rows, _)) => {
                        let lines = rows.iter().filter_map(|row| row.text(0));
                        let plan: Vec<String> = lines.collect();
                        (self.0)(request.sql(), &plan.join("\n"));
                    }
                    Err(error) => {
                        answers.push(Err(error));
                        continue;
                    }
                }
            }
            answers.push(request.run(client).await);
        }
        answers
    }
}

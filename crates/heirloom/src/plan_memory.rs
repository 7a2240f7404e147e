//! Asynchronous interface to the last outputs of a plan's agents, without a runtime.
//!
//! Both implementations do their I/O in the call and return ready futures. Callers that must not block call them on a
//! thread where blocking is allowed.

use heirloom_engine::{Engine, NewOutput, OutputFiles};
use heirloom_formats::outputs::OutputFile;
use heirloom_model::record::Attrs;
use heirloom_model::{ErrorKind, Fault};
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

/// Future of a plan memory's result.
pub type PlanFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send + 'a>>;

/// Stores the last output of each agent in one plan.
pub trait PlanMemory: Send + Sync {
    /// Stores an agent's last output; durable when the future is ready.
    fn store<'a>(
        &'a self,
        agent: &'a str,
        content: &'a str,
        metadata: &'a Attrs,
    ) -> PlanFuture<'a, ()>;

    /// Returns an agent's last output; `None` if no output is stored. Writes of other processes are visible.
    fn get<'a>(&'a self, agent: &'a str) -> PlanFuture<'a, Option<OutputFile>>;

    /// Lists the agents that have an output, by id.
    fn list_agents(&self) -> PlanFuture<'_, Vec<String>>;
}

/// Outputs of a plan in the project's memory.
pub struct StoredOutputs {
    engine: Arc<Engine>,
    stage: Option<String>,
    plan: String,
}

impl StoredOutputs {
    /// Creates the interface to the outputs of `plan`.
    pub fn new(engine: Arc<Engine>, stage: Option<String>, plan: String) -> Self {
        Self {
            engine,
            stage,
            plan,
        }
    }
}

impl PlanMemory for StoredOutputs {
    fn store<'a>(
        &'a self,
        agent: &'a str,
        content: &'a str,
        metadata: &'a Attrs,
    ) -> PlanFuture<'a, ()> {
        let new = NewOutput {
            plan: self.plan.clone(),
            agent: agent.to_owned(),
            stage: self.stage.clone(),
            content: content.to_owned(),
            metadata: metadata.clone(),
        };
        Box::pin(ready(self.engine.outputs().put(&new).map(drop)))
    }

    fn get<'a>(&'a self, agent: &'a str) -> PlanFuture<'a, Option<OutputFile>> {
        let found = match self.engine.outputs().get(&self.plan, agent) {
            Ok(found) => Ok(Some(OutputFile {
                agent_id: found.agent,
                content: found.content,
                timestamp: Some(found.at.as_second()),
                metadata: found.metadata,
                extra: found.file,
            })),
            Err(fault) if fault.kind == ErrorKind::NotFound => Ok(None),
            Err(fault) => Err(fault),
        };
        Box::pin(ready(found))
    }

    fn list_agents(&self) -> PlanFuture<'_, Vec<String>> {
        let agents = self.engine.outputs().list(Some(&self.plan)).map(|found| {
            let mut agents: Vec<_> = found.into_iter().map(|output| output.agent).collect();
            agents.sort();
            agents
        });
        Box::pin(ready(agents))
    }
}

impl PlanMemory for OutputFiles {
    fn store<'a>(
        &'a self,
        agent: &'a str,
        content: &'a str,
        metadata: &'a Attrs,
    ) -> PlanFuture<'a, ()> {
        Box::pin(ready(self.put(agent, content, metadata).map(drop)))
    }

    fn get<'a>(&'a self, agent: &'a str) -> PlanFuture<'a, Option<OutputFile>> {
        Box::pin(ready(OutputFiles::get(self, agent)))
    }

    fn list_agents(&self) -> PlanFuture<'_, Vec<String>> {
        Box::pin(ready(self.agents()))
    }
}

//! The last outputs of a plan's agents for callers that are asynchronous: a thin face without a runtime.
//!
//! Both adapters answer at once; what they return is ready when it is first asked. Who must not wait for a disk calls
//! them where waiting is allowed.

use heirloom_engine::outputs::OutputFile;
use heirloom_engine::{Engine, NewOutput, OutputFiles};
use heirloom_model::record::Attrs;
use heirloom_model::{ErrorKind, Fault};
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

/// An answer that may take a while.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send + 'a>>;

/// Keeps the last output of each agent in one plan.
pub trait PlanMemory: Send + Sync {
    /// Keeps what an agent said last; durable when it is answered.
    fn store<'a>(&'a self, agent: &'a str, content: &'a str, metadata: &'a Attrs)
    -> Answer<'a, ()>;

    /// What an agent said last; `None` if nothing is kept. A write of another process is seen.
    fn get<'a>(&'a self, agent: &'a str) -> Answer<'a, Option<OutputFile>>;

    /// The agents that have an output, by id.
    fn list_agents(&self) -> Answer<'_, Vec<String>>;
}

/// A plan's outputs in the project's memory.
pub struct StoredOutputs {
    engine: Arc<Engine>,
    stage: Option<String>,
    plan: String,
}

impl StoredOutputs {
    /// The outputs of `plan`.
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
    ) -> Answer<'a, ()> {
        let new = NewOutput {
            plan: self.plan.clone(),
            agent: agent.to_owned(),
            stage: self.stage.clone(),
            content: content.to_owned(),
            metadata: metadata.clone(),
        };
        Box::pin(ready(self.engine.put_output(&new).map(drop)))
    }

    fn get<'a>(&'a self, agent: &'a str) -> Answer<'a, Option<OutputFile>> {
        let found = match self.engine.output(&self.plan, agent) {
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

    fn list_agents(&self) -> Answer<'_, Vec<String>> {
        let agents = self.engine.outputs(Some(&self.plan)).map(|found| {
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
    ) -> Answer<'a, ()> {
        Box::pin(ready(self.put(agent, content, metadata).map(drop)))
    }

    fn get<'a>(&'a self, agent: &'a str) -> Answer<'a, Option<OutputFile>> {
        Box::pin(ready(OutputFiles::get(self, agent)))
    }

    fn list_agents(&self) -> Answer<'_, Vec<String>> {
        Box::pin(ready(self.agents()))
    }
}

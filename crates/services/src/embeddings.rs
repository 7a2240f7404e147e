//! Vectors from a service that speaks the embeddings protocol of OpenAI: `POST {url}/embeddings`.

mod answer;

use crate::http::{self, Endpoint, Key, Refusal, Words};
use heirloom_model::{Embedder, Fault, Purpose, limits};
use serde_json::json;
use std::time::Duration;
use ureq::Agent;

const WORDS: Words = Words {
    section: "embedder",
    path: "/embeddings",
    examples: "https://api.openai.com/v1 or http://localhost:11434/v1",
    otherwise: "recall goes on with the built-in vectors",
};

/// Where a service is, and how it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceConfig {
    /// What stands before `/embeddings`: `https://api.openai.com/v1`.
    pub url: String,
    /// The model's name.
    pub model: String,
    /// Numbers of a vector that are asked for; `None` leaves it to the model.
    pub dimensions: Option<usize>,
    /// The key, if the service wants one.
    pub key: Option<Key>,
    /// Milliseconds that a question waits.
    pub question_ms: u64,
}

/// A service that makes vectors.
#[derive(Debug)]
pub struct Service {
    endpoint: Endpoint,
    asked_for: String,
    dimensions: Option<usize>,
    name: String,
    questions: Agent,
    batches: Agent,
}

impl Service {
    /// A client; nothing is sent yet. Errors: `Usage` for an address or a name that cannot be used, `Refused` for
    /// a key that would be sent unencrypted to another machine.
    pub fn new(config: ServiceConfig) -> Result<Self, Fault> {
        let endpoint = Endpoint::new(&config.url, WORDS, config.key)?;
        let model = config.model.trim().to_owned();
        if model.is_empty() {
            return Err(Fault::usage("the embeddings service has no model")
                .hint("set `model` under `[embedder]`"));
        }
        Ok(Self {
            endpoint,
            name: Self::name_of(&model, config.dimensions),
            asked_for: model,
            dimensions: config.dimensions,
            questions: agent(config.question_ms),
            batches: agent(limits::EMBEDDING_BATCH_TIMEOUT_MS),
        })
    }

    /// The name under which vectors of this model are kept.
    pub fn name_of(model: &str, dimensions: Option<usize>) -> String {
        let model = model.trim();
        match dimensions {
            Some(dimensions) => format!("{model}@{dimensions}"),
            None => model.to_owned(),
        }
    }

    fn ask(&self, agent: &Agent, texts: &[&str]) -> Result<Vec<Vec<f32>>, Refusal> {
        let mut body = json!({
            "model": self.asked_for,
            "input": texts,
            "encoding_format": "float",
        });
        if let Some(dimensions) = self.dimensions {
            body["dimensions"] = json!(dimensions);
        }
        let bearer = self.endpoint.key().map(|key| format!("Bearer {key}"));
        let headers: Vec<_> = bearer
            .iter()
            .map(|bearer| ("authorization", bearer.as_str()))
            .collect();
        let most = limits::EMBEDDING_ANSWER_BYTES_MAX;
        let bytes = self.endpoint.post(agent, &headers, &body, most)?;
        answer::vectors(&bytes, texts.len(), self.dimensions)
            .map_err(|problem| self.endpoint.unusable(&problem))
    }
}

impl Embedder for Service {
    fn model(&self) -> &str {
        &self.name
    }

    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, Fault> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let (agent, tries) = match purpose {
            Purpose::Question => (&self.questions, 1),
            Purpose::Texts => (&self.batches, limits::EMBEDDING_TRIES_MAX),
        };
        let mut pause_ms = limits::EMBEDDING_PAUSE_MS;
        for _ in 1..tries {
            match self.ask(agent, texts) {
                Ok(vectors) => return Ok(vectors),
                Err(Refusal {
                    fault, again: None, ..
                }) => return Err(fault),
                Err(Refusal {
                    fault,
                    again: Some(wait_ms),
                    ..
                }) => {
                    if wait_ms.is_some_and(|wait_ms| wait_ms > limits::EMBEDDING_PAUSE_MS_MAX) {
                        return Err(fault);
                    }
                    let wait_ms = wait_ms.unwrap_or(0).max(pause_ms);
                    std::thread::sleep(Duration::from_millis(wait_ms));
                    pause_ms *= 2;
                }
            }
        }
        self.ask(agent, texts).map_err(|refusal| refusal.fault)
    }
}

fn agent(timeout_ms: u64) -> Agent {
    http::agent(timeout_ms, timeout_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_waited_for_without_end() {
        let service = Service::new(ServiceConfig {
            url: "https://x/v1".to_owned(),
            model: "m".to_owned(),
            dimensions: None,
            key: None,
            question_ms: 50,
        });
        let service = service.unwrap();
        let limit = |agent: &Agent| agent.config().timeouts().global;
        let batch = Duration::from_millis(limits::EMBEDDING_BATCH_TIMEOUT_MS);
        assert_eq!(limit(&service.batches), Some(batch));
        assert_eq!(limit(&service.questions), Some(Duration::from_millis(50)));
    }

    #[test]
    fn dimensions_are_a_part_of_the_name() {
        assert_eq!(Service::name_of(" m ", None), "m");
        assert_eq!(Service::name_of("m", Some(3)), "m@3");
    }
}

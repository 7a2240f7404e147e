//! Client for the embeddings protocol of OpenAI: `POST {url}/embeddings`.

mod response;

use crate::http_client::{self, Endpoint, ErrorContext, Key, RequestError};
use crate::retry_backoff;
use heirloom_model::{EmbedPurpose, Embedder, Fault, limits};
use serde_json::json;
use std::time::Duration;
use ureq::Agent;

const WORDS: ErrorContext = ErrorContext {
    section: "embedder",
    path: "/embeddings",
    examples: "https://api.openai.com/v1 or http://localhost:11434/v1",
    fallback: "recall goes on with the built-in vectors",
};

/// Configuration of an embeddings client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingClientConfig {
    /// Base address before `/embeddings`: `https://api.openai.com/v1`.
    pub url: String,
    /// Name of the model.
    pub model: String,
    /// Requested dimensions; `None` leaves them to the model.
    pub dimensions: Option<usize>,
    /// API key, if the service needs one.
    pub key: Option<Key>,
    /// Timeout of a query, milliseconds.
    pub query_timeout_ms: u64,
}

/// Client of an embeddings service.
#[derive(Debug)]
pub struct EmbeddingClient {
    endpoint: Endpoint,
    requested_model: String,
    dimensions: Option<usize>,
    name: String,
    questions: Agent,
    batches: Agent,
}

impl EmbeddingClient {
    /// Creates a client without sending anything. Errors: `Usage` for an invalid address or name, `Refused` for a key
    /// that would be sent unencrypted to another machine.
    pub fn new(config: EmbeddingClientConfig) -> Result<Self, Fault> {
        let endpoint = Endpoint::new(&config.url, WORDS, config.key)?;
        let model = config.model.trim().to_owned();
        if model.is_empty() {
            return Err(Fault::usage("the embeddings service has no model")
                .hint("set `model` under `[embedder]`"));
        }
        Ok(Self {
            endpoint,
            name: Self::vector_model_name(&model, config.dimensions),
            requested_model: model,
            dimensions: config.dimensions,
            questions: agent(config.query_timeout_ms),
            batches: agent(limits::EMBEDDING_BATCH_TIMEOUT_MS),
        })
    }

    /// Returns the name under which vectors of this model are stored.
    pub fn vector_model_name(model: &str, dimensions: Option<usize>) -> String {
        let model = model.trim();
        match dimensions {
            Some(dimensions) => format!("{model}@{dimensions}"),
            None => model.to_owned(),
        }
    }

    fn request_vectors(
        &self,
        agent: &Agent,
        texts: &[&str],
    ) -> Result<Vec<Vec<f32>>, RequestError> {
        let mut body = json!({
            "model": self.requested_model,
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
        response::parse_vectors(&bytes, texts.len(), self.dimensions)
            .map_err(|problem| self.endpoint.invalid_response(&problem))
    }
}

impl Embedder for EmbeddingClient {
    fn model(&self) -> &str {
        &self.name
    }

    fn embed(&self, texts: &[&str], purpose: EmbedPurpose) -> Result<Vec<Vec<f32>>, Fault> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let (agent, tries) = match purpose {
            EmbedPurpose::Query => (&self.questions, 1),
            EmbedPurpose::Documents => (&self.batches, limits::EMBEDDING_TRIES_MAX),
        };
        let mut pause_ms = limits::EMBEDDING_PAUSE_MS;
        for _ in 1..tries {
            let refusal = match self.request_vectors(agent, texts) {
                Ok(vectors) => return Ok(vectors),
                Err(refusal) => refusal,
            };
            let wait_ms =
                retry_backoff::wait_ms(refusal.retry, pause_ms, limits::EMBEDDING_PAUSE_MS_MAX);
            let Some(wait_ms) = wait_ms else {
                return Err(refusal.fault);
            };
            std::thread::sleep(Duration::from_millis(wait_ms.max(pause_ms)));
            pause_ms *= 2;
        }
        self.request_vectors(agent, texts)
            .map_err(|refusal| refusal.fault)
    }
}

fn agent(timeout_ms: u64) -> Agent {
    http_client::agent(timeout_ms, timeout_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_timeouts() {
        let service = EmbeddingClient::new(EmbeddingClientConfig {
            url: "https://x/v1".to_owned(),
            model: "m".to_owned(),
            dimensions: None,
            key: None,
            query_timeout_ms: 50,
        });
        let service = service.unwrap();
        let limit = |agent: &Agent| agent.config().timeouts().global;
        let batch = Duration::from_millis(limits::EMBEDDING_BATCH_TIMEOUT_MS);
        assert_eq!(limit(&service.batches), Some(batch));
        assert_eq!(limit(&service.questions), Some(Duration::from_millis(50)));
    }

    #[test]
    fn vector_model_name_includes_dimensions() {
        assert_eq!(EmbeddingClient::vector_model_name(" m ", None), "m");
        assert_eq!(EmbeddingClient::vector_model_name("m", Some(3)), "m@3");
    }
}

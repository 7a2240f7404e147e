//! Creation of the embedder that the settings select.

use crate::config::{Config, Environment};
use heirloom_model::{Embedder, Fault};
use heirloom_services::Key;
use heirloom_services::embeddings::{EmbeddingClient, EmbeddingClientConfig};
use heirloom_transformer::SentenceEmbedder;
use std::sync::{Arc, OnceLock};

/// Creates the configured embedder; `None` for the built-in vectors. Makes no request yet.
///
/// Errors: `Usage` for settings that do not fit together, `NotFound` for a missing variable or folder.
pub(crate) fn from_config(
    config: &Config,
    env: &Environment,
) -> Result<Option<Box<dyn Embedder>>, Fault> {
    match config.text("embedder.kind") {
        "openai" => service(config, env).map(Some),
        "folder" => Err(
            Fault::usage("models in a folder are no longer read: the program contains one")
                .hint("set `kind = \"builtin\"` under `[embedder]`, and `transformer = true` under `[recall]`"),
        ),
        _ => Ok(None),
    }
}

/// Returns the sentence transformer of the program. `None` if the settings switch it off or name another embedder, and
/// on a processor without the instructions that make it fast.
pub(crate) fn sentence_model(config: &Config) -> Option<Arc<dyn Embedder>> {
    static MODEL: OnceLock<Option<Arc<SentenceEmbedder>>> = OnceLock::new();
    if !wants_sentence_model(config) {
        return None;
    }
    let model = MODEL.get_or_init(|| {
        let model = SentenceEmbedder::new()?;
        Some(Arc::new(model))
    });
    let model = model.clone()?;
    Some(model)
}

/// Returns true if the settings select the sentence transformer.
pub(crate) fn wants_sentence_model(config: &Config) -> bool {
    config.flag("recall.transformer") && config.text("embedder.kind") == "builtin"
}

/// Returns the name of the configured external model, if it is known; `None` without one.
pub(crate) fn model_name(config: &Config) -> Option<String> {
    match config.text("embedder.kind") {
        "openai" => Some(EmbeddingClient::vector_model_name(
            config.text("embedder.model"),
            dimensions(config),
        )),
        _ => None,
    }
}

fn dimensions(config: &Config) -> Option<usize> {
    let dimensions = usize::try_from(config.int("embedder.dimensions")).ok();
    dimensions.filter(|dimensions| *dimensions > 0)
}

fn service(config: &Config, env: &Environment) -> Result<Box<dyn Embedder>, Fault> {
    let service = EmbeddingClient::new(EmbeddingClientConfig {
        url: config.text("embedder.url").to_owned(),
        model: config.text("embedder.model").to_owned(),
        dimensions: dimensions(config),
        key: read_key("embedder", config, env)?,
        query_timeout_ms: config.int("embedder.question_ms"),
    })?;
    Ok(Box::new(service))
}

/// Returns the key in the variable that `section.key_variable` names; `None` if it names none.
pub(crate) fn read_key(
    section: &str,
    config: &Config,
    env: &Environment,
) -> Result<Option<Key>, Fault> {
    let setting = format!("{section}.key_variable");
    let name = config.text(&setting);
    if name.is_empty() {
        return Ok(None);
    }
    // The value may be a misplaced key, which must not appear in the error.
    let is_name = name.len() <= 100
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    if !is_name {
        return Err(Fault::usage(format!("`{setting}` is not the name of a variable"))
            .hint("capital letters, digits and _: the key itself belongs in that variable, never in a file"));
    }
    let key = env.secret(name).as_deref().and_then(Key::new);
    let key = key.ok_or_else(|| {
        Fault::not_found(format!(
            "the variable {name} with the key for `{section}` is not set"
        ))
        .hint(format!(
            "set it, or leave `{setting}` empty for a service without a key"
        ))
    })?;
    Ok(Some(key))
}

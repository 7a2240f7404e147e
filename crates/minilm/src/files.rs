//! The files of a model, read within bounds.

use heirloom_model::{Fault, limits};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The shape of the model.
pub(crate) const CONFIG: &str = "config.json";
/// How texts are cut.
pub(crate) const TOKENIZER: &str = "tokenizer.json";
/// Its weights.
pub(crate) const WEIGHTS: &str = "model.safetensors";
/// How many tokens it reads; may be missing.
const LENGTH: &str = "sentence_bert_config.json";
/// How the vectors of tokens become one; may be missing.
const POOLING: &str = "1_Pooling/config.json";

/// Bytes of the weights that tell one model from another: at the beginning and the end, and at each step between.
const SAMPLE_BYTES: u64 = 64 << 10;
const SAMPLE_STEP_BYTES: u64 = 4 << 20;

/// How vectors of tokens become the vector of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// Their mean.
    Mean,
    /// The one of the first token.
    First,
}

/// A file of the folder, whole. Errors: `NotFound`, or `Usage` for one that is too large.
pub(crate) fn read(folder: &Path, name: &str) -> Result<Vec<u8>, Fault> {
    let path = folder.join(name);
    let mut file = open(&path)?;
    let most = limits::EMBEDDING_MODEL_FILE_BYTES_MAX;
    let mut bytes = Vec::new();
    let read = file.by_ref().take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| Fault::failed(format!("cannot read {}: {error}", path.display())))?;
    if bytes.len() as u64 > most {
        return Err(Fault::usage(format!(
            "{} has more than {most} bytes",
            path.display()
        )));
    }
    Ok(bytes)
}

fn open(path: &Path) -> Result<File, Fault> {
    File::open(path).map_err(|error| {
        Fault::not_found(format!("cannot read {}: {error}", path.display()))
            .hint("`embedder.folder` names a folder with config.json, tokenizer.json and model.safetensors")
    })
}

/// A file of the folder as JSON; nothing if it may be missing and is.
fn value(folder: &Path, name: &str) -> Result<Option<Value>, Fault> {
    if !folder.join(name).exists() {
        return Ok(None);
    }
    let value = serde_json::from_slice(&read(folder, name)?);
    value.map(Some).map_err(|error| {
        Fault::usage(format!(
            "{} is no JSON: {error}",
            folder.join(name).display()
        ))
    })
}

/// How many tokens the model reads at most, if the folder says so.
pub(crate) fn length(folder: &Path) -> Result<Option<usize>, Fault> {
    let value = value(folder, LENGTH)?;
    let length = value.and_then(|value| value.get("max_seq_length")?.as_u64());
    Ok(length.and_then(|length| usize::try_from(length).ok()))
}

/// How the vectors of tokens become one; the mean where the folder does not say.
pub(crate) fn pooling(folder: &Path) -> Result<Pooling, Fault> {
    let Some(value) = value(folder, POOLING)? else {
        return Ok(Pooling::Mean);
    };
    let is = |name: &str| value.get(name).and_then(Value::as_bool) == Some(true);
    match (is("pooling_mode_mean_tokens"), is("pooling_mode_cls_token")) {
        (true, false) => Ok(Pooling::Mean),
        (false, true) => Ok(Pooling::First),
        _ => Err(Fault::usage(format!(
            "{} asks for a pooling that is neither the mean nor the first token",
            folder.join(POOLING).display()
        ))),
    }
}

/// What tells this model from others, without reading all of its weights: a question waits for it.
pub(crate) fn fingerprint(folder: &Path) -> Result<String, Fault> {
    let mut hash = Sha256::new();
    for name in [CONFIG, TOKENIZER] {
        hash.update(read(folder, name)?);
    }
    for name in [LENGTH, POOLING] {
        hash.update(value(folder, name)?.unwrap_or_default().to_string());
    }
    let path = folder.join(WEIGHTS);
    let mut file = open(&path)?;
    let failed = |error| Fault::failed(format!("cannot read {}: {error}", path.display()));
    let length = file.metadata().map_err(failed)?.len();
    hash.update(length.to_le_bytes());
    let last = length.saturating_sub(SAMPLE_BYTES);
    let step = usize::try_from(SAMPLE_STEP_BYTES).unwrap_or(usize::MAX);
    for from in (0..last).step_by(step).chain([last]) {
        file.seek(SeekFrom::Start(from)).map_err(failed)?;
        let mut sample = Vec::new();
        let part = file.by_ref().take(SAMPLE_BYTES);
        let mut part = part;
        part.read_to_end(&mut sample).map_err(failed)?;
        hash.update(&sample);
    }
    let digest = hash.finalize();
    Ok(digest
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

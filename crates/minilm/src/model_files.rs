//! Model files, read with size limits.

use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits};
use rustix::fs::OFlags;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Configuration of the model.
pub(crate) const CONFIG: &str = "config.json";
/// Tokenizer.
pub(crate) const TOKENIZER: &str = "tokenizer.json";
/// Weights.
pub(crate) const WEIGHTS: &str = "model.safetensors";
/// Maximum sequence length; optional file.
const LENGTH: &str = "sentence_bert_config.json";
/// Pooling configuration; optional file.
const POOLING: &str = "1_Pooling/config.json";

/// Size and interval of the samples of the weights that identify a model; the end is sampled too.
const SAMPLE_BYTES: u64 = 64 << 10;
const SAMPLE_STEP_BYTES: u64 = 4 << 20;

/// Pooling of token vectors to the vector of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// Mean of all tokens.
    Mean,
    /// Vector of the first token.
    First,
}

/// Reads a file of the folder. Errors: `NotFound`, or `Usage` if it is too large.
pub(crate) fn read(folder: &Path, name: &str) -> Result<Vec<u8>, Fault> {
    let path = folder.join(name);
    let mut file = open(&path)?;
    let most = limits::EMBEDDING_MODEL_FILE_BYTES_MAX;
    let mut bytes = Vec::new();
    let read = file.by_ref().take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| Fault::failed(format!("cannot read {}: {error}", path.to_escaped())))?;
    if bytes.len() as u64 > most {
        return Err(Fault::usage(format!(
            "{} has more than {most} bytes",
            path.to_escaped()
        )));
    }
    Ok(bytes)
}

fn open(path: &Path) -> Result<File, Fault> {
    // Reading a named pipe or a device could block or never end.
    let no_file = || Error::new(ErrorKind::InvalidInput, "it is not a regular file");
    let is_file = |found: &Metadata| found.is_file();
    let found = path.metadata();
    let found = found.and_then(|found| is_file(&found).then_some(()).ok_or_else(no_file));
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    let opened = found.and_then(|()| options.open(path)).and_then(|file| {
        let is_file = file.metadata().is_ok_and(|found| found.is_file());
        is_file.then_some(file).ok_or_else(no_file)
    });
    opened.map_err(|error| {
        Fault::not_found(format!("cannot read {}: {error}", path.to_escaped()))
            .hint("`embedder.folder` names a folder with config.json, tokenizer.json and model.safetensors")
    })
}

/// Reads a JSON file of the folder; `None` if it does not exist.
fn value(folder: &Path, name: &str) -> Result<Option<Value>, Fault> {
    if !folder.join(name).exists() {
        return Ok(None);
    }
    let value = serde_json::from_slice(&read(folder, name)?);
    value.map(Some).map_err(|error| {
        Fault::usage(format!(
            "{} is not JSON: {error}",
            folder.join(name).to_escaped()
        ))
    })
}

/// Returns the maximum sequence length, if configured.
pub(crate) fn length(folder: &Path) -> Result<Option<usize>, Fault> {
    let value = value(folder, LENGTH)?;
    let length = value.and_then(|value| value.get("max_seq_length")?.as_u64());
    Ok(length.and_then(|length| usize::try_from(length).ok()))
}

/// Returns the pooling; the mean by default.
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
            folder.join(POOLING).to_escaped()
        ))),
    }
}

/// Computes a fingerprint of the model from samples of its weights: it is on the path of queries, so the whole file
/// is not read.
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
    let failed = |error| Fault::failed(format!("cannot read {}: {error}", path.to_escaped()));
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

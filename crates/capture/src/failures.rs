//! Failures of tools, as hooks and transcripts describe them.

use heirloom_agents::failures::{Failure, Subject};
use heirloom_agents::transcripts::{preview, without_injected_text};
use heirloom_engine::Engine;
use heirloom_model::{Fault, Kind, Record};
use heirloom_store::Filter;
use std::borrow::Cow;

/// Bytes at each end of a long text that are redacted before it is shortened; more than any secret has.
const CLEANED_BYTES: usize = 32 << 10;

/// Describes a failure of a subject in the same way for hooks and transcripts.
pub(crate) fn describe_failure(subject: &Subject, text: &str) -> Failure {
    let text = without_injected_text(text);
    match subject {
        Subject::Command(command) => Failure::new(command, &text),
        Subject::Edit(file) => Failure::from_edit(file, &text),
    }
}

/// Returns the current record with the key of this failure.
pub(crate) fn current_failure(engine: &Engine, failure: &Failure) -> Result<Option<Record>, Fault> {
    let filter = Filter::current(&[Kind::Error], engine.now())
        .key(&failure.key())
        .limit(1);
    Ok(engine.records().find(&filter)?.pop())
}

/// Redacts and shortens a text. Redact before truncating: a cut secret no longer matches its pattern.
pub(crate) fn shortened(engine: &Engine, text: &str, chars_max: usize) -> String {
    let most = CLEANED_BYTES.max(chars_max);
    if text.len() <= 2 * most {
        return preview(&engine.redaction().redact_input(text), chars_max).into_owned();
    }
    let first = &text[..text.floor_char_boundary(most)];
    let last = &text[text.ceil_char_boundary(text.len() - most)..];
    let gap = text.len() - first.len() - last.len();
    let ends: [Cow<'_, str>; 2] = [
        engine.redaction().redact_input(first),
        engine.redaction().redact_input(last),
    ];
    let joined = format!("{}\n[… {gap} bytes are not kept …]\n{}", ends[0], ends[1]);
    preview(&joined, chars_max).into_owned()
}

/// Returns both ends of a long output, redacted, for the search for its error line.
pub(crate) fn shortened_output(engine: &Engine, text: &str) -> String {
    shortened(engine, text, CLEANED_BYTES)
}

//! LLM summarisation: each summary is requested once, within the daily budget, and stored for all processes.

use super::super::Engine;
use super::spend_ledger::SpendLedger;
use super::{WindowRequest, window_state::ModelSummary};
use crate::engine::Windows;
use heirloom_model::{Fault, Timestamp, WriteRequest, Writer, limits, text};
use heirloom_window::{CompactedWindow, CompactionReport, Conversation, WindowState};

/// Model for summaries, with its limits.
pub struct Summariser {
    /// The model.
    pub writer: Box<dyn Writer>,
    /// The spend ledger.
    pub ledger: SpendLedger,
    /// Maximum tokens of a summary.
    pub max_output_tokens: u64,
}

/// Text by a model.
pub(in crate::engine) struct WrittenText {
    /// Redacted text without control characters.
    pub(in crate::engine) text: String,
    /// Model name as reported by the service.
    pub(in crate::engine) model: String,
    /// Time of the request.
    pub(in crate::engine) asked_at: Timestamp,
}

impl Summariser {
    /// Sends a request, whose data is redacted, within the daily limits.
    pub(in crate::engine) fn write(
        &self,
        engine: &Engine,
        request: &WriteRequest,
    ) -> Result<WrittenText, Fault> {
        let (ledger, estimate, asked_at) = (&self.ledger, request.estimate(), engine.now());
        ledger
            .change(|meter| meter.reserve(estimate, asked_at))?
            .map_err(|error| error.fault)?;
        let answered = self.writer.write(request);
        let now = engine.now();
        ledger.change(|meter| meter.settle(&answered, estimate, asked_at, now))?;
        let written = answered.map_err(|error| error.fault)?;
        // The model may repeat secrets or control sequences, and the text is shown in files and terminals.
        let text = text::strip_ansi(&written.text);
        let text = engine.redaction().redact_input(&text).into_owned();
        Ok(WrittenText {
            text: strip_control_chars(&text),
            model: written.model,
            asked_at,
        })
    }
}

impl Engine {
    /// Returns this engine with a model that summarises windows of sessions.
    #[must_use]
    pub fn with_summariser(mut self, summariser: Summariser) -> Self {
        self.summariser = Some(summariser);
        self
    }
}

impl Windows<'_> {
    /// Returns the window with a summary by the model, if one is configured and this summary is new.
    ///
    /// If the model fails, a note has the reason and the built-in summary is stored for good, so that the window
    /// stays stable.
    pub(super) fn summarize_with_model(
        &self,
        conversation: &Conversation,
        request: &WindowRequest<'_>,
        session: &str,
        state: &mut WindowState,
        made: CompactedWindow,
    ) -> Result<(CompactedWindow, Vec<String>), Fault> {
        let (Some(summariser), Some(summary)) = (&self.engine.summariser, &made.report.summary)
        else {
            return Ok((made, Vec::new()));
        };
        self.engine.require_memory()?;
        let (id, chars_max) = (summary.id.clone(), summary.chars_max);
        if self.knows_summary(session, &id)? {
            // Another process stored it after the state was read.
            let made = self.compact_again(conversation, request, session, state)?;
            return Ok((made, Vec::new()));
        }
        let mut notes = Vec::new();
        let by_model = match self.request_summary(summariser, conversation, state, &made.report) {
            Ok(by_model) => Some(by_model),
            Err(fault) => {
                let reason = fault.message;
                notes.push(format!("the summary is made without a model: {reason}"));
                None
            }
        };
        if let Some(by_model) = &by_model
            && text::chars(&by_model.text) > chars_max
        {
            notes.push(format!(
                "the model's summary is too long: {chars_max} characters of it are used"
            ));
        }
        self.store_summary(session, &id, by_model)?;
        let made = self.compact_again(conversation, request, session, state)?;
        Ok((made, notes))
    }

    fn compact_again(
        &self,
        conversation: &Conversation,
        request: &WindowRequest<'_>,
        session: &str,
        state: &mut WindowState,
    ) -> Result<CompactedWindow, Fault> {
        state.summaries = self.window_state(session)?.summaries;
        Ok(heirloom_window::compact_filtered(
            conversation,
            request.policy,
            state,
            &self.engine.redaction(),
        ))
    }

    /// Requests a summary from the model. The error is the reason for a missing one.
    fn request_summary(
        &self,
        summariser: &Summariser,
        conversation: &Conversation,
        state: &WindowState,
        report: &CompactionReport,
    ) -> Result<ModelSummary, Fault> {
        let most = limits::WINDOW_TRANSCRIPT_CHARS_MAX;
        let filter = self.engine.redaction();
        let shown = heirloom_window::summary_transcript(conversation, state, report, most, &filter)
            .ok_or_else(|| Fault::failed("no messages to summarise"))?;
        let data = self
            .engine
            .redaction()
            .redact_input(&shown.text)
            .into_owned();
        let asked = WriteRequest::summary(data, summariser.max_output_tokens);
        let written = summariser.write(self.engine, &asked)?;
        let text = written.text;
        let (had, has) = (shown.chars_replaced, text::chars(&text));
        if text.is_empty() || has >= had {
            return Err(Fault::failed(format!(
                "the summary of {} has {has} characters, but the text that it replaces has {had}",
                text::excerpt(&written.model, 60)
            )));
        }
        Ok(ModelSummary {
            text: text::clip(&text, limits::MODEL_SUMMARY_CHARS_MAX).to_owned(),
            model: text::excerpt(&written.model, 100),
            at: Some(written.asked_at),
        })
    }
}

/// Removes control characters except newlines and tabs.
fn strip_control_chars(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let printable: String = text
        .chars()
        .filter(|c| matches!(c, '\n' | '\t') || text::is_safe_to_display(*c))
        .collect();
    printable.trim().to_owned()
}

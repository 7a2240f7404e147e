//! Summaries by a model: asked for once each, within the day's budget, and kept so that every process says the same.

use super::super::Engine;
use super::purse::Purse;
use super::{WindowRequest, session::Told};
use heirloom_model::{Asked, Fault, Writer, limits, text};
use heirloom_window::{Compacted, Conversation, Report, State};

/// Who writes summaries, and what it may cost.
pub struct Summariser {
    /// The model.
    pub writer: Box<dyn Writer>,
    /// The day's budget.
    pub purse: Purse,
    /// Most tokens of a summary.
    pub max_output_tokens: u64,
}

impl Engine {
    /// The same engine, whose windows have summaries by this model where they belong to a session.
    #[must_use]
    pub fn with_summariser(mut self, summariser: Summariser) -> Self {
        self.summariser = Some(summariser);
        self
    }

    /// The window with a summary by a model, if there is one and this summary was not made before.
    ///
    /// Whatever goes wrong is a note, and the summary is the one that is made here: for good, so that the window stays
    /// as it is between steps.
    pub(super) fn summed_up(
        &self,
        conversation: &Conversation,
        request: &WindowRequest<'_>,
        session: &str,
        state: &mut State,
        made: Compacted,
    ) -> Result<(Compacted, Vec<String>), Fault> {
        let (Some(summariser), Some(summary)) = (&self.summariser, &made.report.summary) else {
            return Ok((made, Vec::new()));
        };
        self.writable()?;
        let (id, chars_max) = (summary.id.clone(), summary.chars_max);
        if self.knows_summary(session, &id)? {
            // Another process may have been faster since the state was read.
            let made = self.compact_anew(conversation, request, session, state)?;
            return Ok((made, Vec::new()));
        }
        let mut notes = Vec::new();
        let told = match self.ask(summariser, conversation, state, &made.report) {
            Ok(told) => Some(told),
            Err(fault) => {
                let said = fault.message;
                notes.push(format!("the summary is made without a model: {said}"));
                None
            }
        };
        if let Some(told) = &told
            && text::chars(&told.text) > chars_max
        {
            notes.push(format!(
                "the model's summary is too long: {chars_max} characters of it are used"
            ));
        }
        self.keep_summary(session, &id, told)?;
        let made = self.compact_anew(conversation, request, session, state)?;
        Ok((made, notes))
    }

    fn compact_anew(
        &self,
        conversation: &Conversation,
        request: &WindowRequest<'_>,
        session: &str,
        state: &mut State,
    ) -> Result<Compacted, Fault> {
        state.summaries = self.window_state(session)?.summaries;
        Ok(heirloom_window::compact(
            conversation,
            request.policy,
            state,
        ))
    }

    /// Asks the model. Errors say why there is no summary of its.
    fn ask(
        &self,
        summariser: &Summariser,
        conversation: &Conversation,
        state: &State,
        report: &Report,
    ) -> Result<Told, Fault> {
        let most = limits::WINDOW_TRANSCRIPT_CHARS_MAX;
        let shown = heirloom_window::transcript(conversation, state, report, most)
            .ok_or_else(|| Fault::failed("there is nothing to sum up"))?;
        let data = self.clean(&shown.text).into_owned();
        let asked = Asked::summary(data, summariser.max_output_tokens);
        let (purse, estimate, asked_at) = (&summariser.purse, asked.estimate(), self.now());
        purse
            .change(|meter| meter.reserve(estimate, asked_at))?
            .map_err(|error| error.fault)?;
        let answered = summariser.writer.write(&asked);
        let now = self.now();
        purse.change(|meter| meter.settle(&answered, estimate, asked_at, now))?;
        let written = answered.map_err(|error| error.fault)?;
        // It may repeat what it was told not to, and it stands in files and terminals.
        let said = self.clean(&text::strip_ansi(&written.text)).into_owned();
        let said = clean_of_controls(&said);
        let (had, has) = (shown.chars_replaced, text::chars(&said));
        if said.is_empty() || has >= had {
            return Err(Fault::failed(format!(
                "the summary of {} has {has} characters, and what it should replace {had}",
                text::excerpt(&written.model, 60)
            )));
        }
        Ok(Told {
            text: text::clip(&said, limits::WINDOW_WRITTEN_CHARS_MAX).to_owned(),
            model: text::excerpt(&written.model, 100),
            at: Some(asked_at),
        })
    }
}

/// Lines and tabs are all that a summary has besides words.
fn clean_of_controls(said: &str) -> String {
    let kept = said.replace("\r\n", "\n");
    let kept: String = kept
        .chars()
        .filter(|c| matches!(c, '\n' | '\t') || text::is_harmless(*c))
        .collect();
    kept.trim().to_owned()
}

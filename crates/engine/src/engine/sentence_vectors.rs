//! Vectors of the sentence transformer: of questions while they are answered, of texts afterwards.
//!
//! A write never waits for the transformer. Texts get their vectors in quiet moments of a server, at the end of a turn and
//! of a session, after a command has answered, or by `heirloom reembed`.

use super::Engine;
use super::embedding::{EmbedLimits, ReembedReport};
use crate::engine::{Maintenance, Recall};
use heirloom_model::{Embedder, Fault, limits};
use heirloom_search::relevance::is_mostly_latin;
use heirloom_store::{SentenceQuestion, UnembeddedText};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Texts of a project with and without a vector of the sentence transformer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentenceCoverage {
    /// Number of texts that should have a vector.
    pub texts: u64,
    /// Number of these without one.
    pub missing: u64,
}

impl Engine {
    /// Returns this engine with the sentence transformer, whose scores recall adds to those of words and of the
    /// built-in vectors. An external embedder takes its place, because a project has vectors of one model.
    #[must_use]
    pub fn with_sentence_model(mut self, model: Arc<dyn Embedder>) -> Self {
        self.models.sentence = Some(model);
        self
    }
}

impl Maintenance<'_> {
    /// Counts the texts with and without a vector of the sentence transformer; `None` without a transformer.
    pub fn sentence_coverage(&self) -> Result<Option<SentenceCoverage>, Fault> {
        let Some(model) = self.engine.models.sentence_transformer() else {
            return Ok(None);
        };
        let backlog = self.embedding_backlog(model.model())?;
        Ok(Some(SentenceCoverage {
            texts: backlog.texts,
            missing: backlog.missing,
        }))
    }

    /// Computes sentence vectors of at most `texts` records that have none, the newest first, and begins none after `most`.
    /// Turns wait for a server or `heirloom reembed`: no prompt is answered with them. Does nothing without a transformer.
    ///
    /// Errors: those of the store; finished batches stay.
    pub fn embed_sentences(
        &self,
        texts: usize,
        most: Duration,
    ) -> Result<Option<ReembedReport>, Fault> {
        match self.sentence_coverage()? {
            Some(found) if found.missing > 0 => {
                let until = Instant::now().checked_add(most);
                self.embed_up_to(EmbedLimits::of(texts, until).of_records())
            }
            Some(_) | None => Ok(None),
        }
    }

    /// Computes the sentence vector of one short text after a command has answered, if the command has changed the
    /// project and no server of it runs, which would do that.
    pub fn embed_after_command(&self) -> Result<(), Fault> {
        let Some(model) = self.engine.models.sentence_transformer() else {
            return Ok(());
        };
        let has_changes = self.engine.stale_mirrors.has_changes(&self.engine.project);
        if !has_changes || self.server_address()?.is_some() {
            return Ok(());
        }
        let backlog =
            self.engine
                .store
                .embedding_backlog(&self.engine.project, model.model(), 1)?;
        let is_short =
            |text: &UnembeddedText| text.text.len() <= limits::SENTENCE_COMMAND_BYTES_MAX;
        if backlog.next.iter().any(is_short) {
            self.embed_up_to(EmbedLimits::of(1, None))?;
        }
        Ok(())
    }

    /// Computes the next sentence vectors of a backlog of any size, for quiet moments of a server.
    pub fn embed_quietly(&self) -> Result<Option<ReembedReport>, Fault> {
        match self.sentence_coverage()? {
            Some(found) if found.missing > 0 => {
                self.embed_up_to(EmbedLimits::of(limits::SENTENCE_BATCH_TEXTS, None))
            }
            Some(_) | None => Ok(None),
        }
    }

    fn embed_up_to(&self, bounds: EmbedLimits) -> Result<Option<ReembedReport>, Fault> {
        let Some(model) = self.engine.models.sentence_transformer() else {
            return Ok(None);
        };
        let bounds = bounds.with_batch(limits::SENTENCE_BATCH_TEXTS);
        self.embed_within(model.as_ref(), bounds, &mut |_, _| {})
            .map(Some)
    }
}

impl Recall<'_> {
    /// Returns the question for the sentence transformer. `None` without a transformer, for a script that it does not
    /// know, and if too little time is left until `deadline`.
    pub(super) fn sentence_question(
        &self,
        text: &str,
        deadline: Option<Instant>,
    ) -> Option<SentenceQuestion> {
        let model = self.engine.models.sentence_transformer()?;
        if !is_mostly_latin(text) {
            return None;
        }
        let needed = Duration::from_millis(limits::SENTENCE_QUESTION_MS);
        let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
        if deadline.is_some_and(|deadline| left(deadline) < needed) {
            return None;
        }
        let end = text.floor_char_boundary(limits::EMBEDDING_TEXT_BYTES_MAX);
        Some(SentenceQuestion {
            text: text.get(..end).unwrap_or_default().to_owned(),
            model: Arc::clone(model),
        })
    }
}

//! Embeddings of an external model: computed in the background, used by queries.
//!
//! Writes, hooks and contexts never call the model.

use super::Engine;
use crate::engine::Maintenance;
use crate::engine::Recall;
use heirloom_model::text::counted;
use heirloom_model::{EmbedPurpose, Embedder, Fault, limits};
use heirloom_search::index::vector;
use heirloom_store::{
    EmbeddingBacklog, Lane, ModelVector, StoreError, UnembeddedText, VectorBatch, VectorRow,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Report of embedding a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReembedReport {
    /// Current model.
    pub model: String,
    /// Number of texts.
    pub texts: u64,
    /// Texts that this call embedded.
    pub embedded: u64,
    /// Texts without a vector.
    pub missing: u64,
    /// Former model and the number of its vectors, which were removed.
    pub replaced: Option<(String, u64)>,
}

impl ReembedReport {
    fn from_backlog(model: &str, backlog: &EmbeddingBacklog) -> Self {
        Self {
            model: model.to_owned(),
            texts: backlog.texts,
            embedded: 0,
            missing: backlog.missing,
            replaced: backlog.other.clone(),
        }
    }
}

/// Handling of existing vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReembedMode {
    /// Keep vectors of the model, embed the others.
    #[default]
    Incremental,
    /// Embed every text again.
    FromScratch,
}

/// Limits of one call.
#[derive(Debug, Clone, Copy)]
pub(super) struct EmbedLimits {
    texts: usize,
    until: Option<Instant>,
    /// Number of texts that are embedded and stored together.
    batch: usize,
    lanes: EmbedLanes,
}

/// Lanes whose texts a call embeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EmbedLanes {
    Both,
    Memory,
}

impl EmbedLimits {
    const NONE: Self = Self::of(usize::MAX, None);

    /// Limits a call to a number of texts, and to those that begin before a time.
    pub(super) const fn of(texts: usize, until: Option<Instant>) -> Self {
        Self {
            texts,
            until,
            batch: limits::EMBEDDING_BATCH_TEXTS_MAX,
            lanes: EmbedLanes::Both,
        }
    }

    /// Returns these limits with a smaller batch.
    pub(super) const fn with_batch(self, batch: usize) -> Self {
        Self { batch, ..self }
    }

    /// Limits a call to records, without turns.
    pub(super) const fn of_records(self) -> Self {
        Self {
            lanes: EmbedLanes::Memory,
            ..self
        }
    }

    fn for_backlog(now: Instant) -> Self {
        let until = now.checked_add(Duration::from_millis(limits::EMBEDDING_CATCH_UP_MS));
        Self::of(limits::EMBEDDING_CATCH_UP_MAX, until)
    }

    /// Returns the number of texts of the next batch, after `embedded` texts.
    fn next_batch(&self, embedded: u64) -> usize {
        let embedded = usize::try_from(embedded).unwrap_or(usize::MAX);
        self.batch.min(self.texts.saturating_sub(embedded)).max(1)
    }

    fn are_reached(&self, embedded: u64, now: Instant) -> bool {
        usize::try_from(embedded).unwrap_or(usize::MAX) >= self.texts
            || self.until.is_some_and(|until| now >= until)
    }
}

impl Engine {
    /// Returns this engine with an embedding model; queries use its vectors if nearly every text has one.
    #[must_use]
    pub fn with_embedder(mut self, embedder: Box<dyn Embedder>) -> Self {
        self.models.external = Some(Arc::from(embedder));
        self
    }
}

impl Maintenance<'_> {
    /// Embeds all texts that have no vector of the engine's model, in batches that are durable one by one, so it can
    /// be interrupted and continued. The first batch removes vectors of another model. Without a model, vectors of
    /// external models are removed.
    ///
    /// `progress` gets the number of texts with a vector and of all texts. Errors: `Refused` when memory is switched
    /// off; those of the model; finished batches stay.
    pub fn reembed(
        &self,
        keep: ReembedMode,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<ReembedReport, Fault> {
        self.engine.require_memory()?;
        let Some(embedder) = self.engine.models.stored() else {
            return self.remove_model_vectors();
        };
        let before = self.backlog(embedder.model(), 0)?;
        if keep == ReembedMode::FromScratch {
            self.remove_vectors(&before)?;
        }
        let bounds = match self.engine.models.external {
            Some(_) => EmbedLimits::NONE,
            None => EmbedLimits::NONE.with_batch(limits::VECTORS_PER_WRITE_MAX),
        };
        let done = self.embed_within(embedder, bounds, progress)?;
        Ok(ReembedReport {
            replaced: before.other,
            ..done
        })
    }

    /// Embeds a limited number of texts without a vector; for commands that wrote many texts. Does nothing without a
    /// model, or before the first [`Maintenance::reembed`] with an external one.
    ///
    /// Errors: as for [`Maintenance::reembed`]; finished batches stay.
    pub fn embed_backlog(&self) -> Result<Option<ReembedReport>, Fault> {
        let Some(embedder) = self.engine.models.stored() else {
            return Ok(None);
        };
        let backlog = self.backlog(embedder.model(), 0)?;
        // A service is called only after a person has started that; the sentence transformer is part of the program.
        let is_started = self.engine.models.external.is_none() || backlog.dims.is_some();
        if !is_started || backlog.missing == 0 {
            return Ok(None);
        }
        let bounds = EmbedLimits::for_backlog(Instant::now());
        self.embed_within(embedder, bounds, &mut |_, _| {})
            .map(Some)
    }

    pub(super) fn embed_within(
        &self,
        embedder: &dyn Embedder,
        bounds: EmbedLimits,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<ReembedReport, Fault> {
        let (mut embedded, mut too_late) = (0, 0);
        loop {
            let backlog = self.backlog(embedder.model(), bounds.next_batch(embedded))?;
            progress(backlog.texts - backlog.missing, backlog.texts);
            let is_done = backlog.next.is_empty()
                || (bounds.lanes == EmbedLanes::Memory && backlog.lane == Lane::Archive);
            if is_done || bounds.are_reached(embedded, Instant::now()) {
                let done = ReembedReport::from_backlog(embedder.model(), &backlog);
                return Ok(ReembedReport { embedded, ..done });
            }
            let batch = first_batch(&backlog.next);
            let vectors = VectorBatch {
                model: embedder.model().to_owned(),
                lane: backlog.lane,
                generation: backlog.generation,
                rows: self.vectors_of(embedder, batch)?,
            };
            if self.save_vectors(&vectors)? {
                embedded += vectors.rows.len() as u64;
                continue;
            }
            // The index was rebuilt meanwhile.
            too_late += 1;
            if too_late == limits::MERGE_RETRIES_MAX {
                return Err(Fault::failed(
                    "the index is rebuilt too often to add vectors",
                ));
            }
        }
    }

    /// Computes the vectors of a batch. Texts without a letter or digit are not sent to the model.
    fn vectors_of(
        &self,
        embedder: &dyn Embedder,
        batch: &[UnembeddedText],
    ) -> Result<Vec<VectorRow>, Fault> {
        let has_words = |one: &&UnembeddedText| one.text.chars().any(char::is_alphanumeric);
        let texts: Vec<&str> = batch
            .iter()
            .filter(has_words)
            .map(|one| one.text.as_str())
            .collect();
        let vectors = embedder
            .embed(&texts, EmbedPurpose::Documents)
            .map_err(|fault| self.redact_fault(fault))?;
        if vectors.len() != texts.len() {
            return Err(Fault::failed(format!(
                "`{}` returned {} for {}",
                embedder.model(),
                counted(vectors.len(), "vector", "vectors"),
                counted(texts.len(), "text", "texts")
            )));
        }
        let mut vectors = vectors.into_iter();
        let is_service = self.engine.models.external.is_some();
        let row = |one: &UnembeddedText| {
            let vector = has_words(&one).then(|| vectors.next()).flatten();
            // The transformer has no vector for a text without word pieces; from a service that is an error.
            (
                one.ordinal,
                vector.filter(|numbers| is_service || !numbers.is_empty()),
            )
        };
        Ok(batch.iter().map(row).collect())
    }

    fn save_vectors(&self, vectors: &VectorBatch) -> Result<bool, Fault> {
        let stored = self
            .engine
            .store
            .store_vectors(&self.engine.project, vectors);
        stored.map_err(|error| {
            let is_invalid = matches!(error, StoreError::Invalid(_));
            let fault = Fault::from(error);
            if !is_invalid {
                return fault;
            }
            Fault::failed(fault.message).hint(
                "if the name belongs to another model now, `heirloom reembed --anew` embeds all texts again",
            )
        })
    }

    /// Removes the vectors of all external models.
    fn remove_model_vectors(&self) -> Result<ReembedReport, Fault> {
        let before = self.backlog(vector::MODEL, 0)?;
        if before.other.is_some() {
            self.remove_vectors(&before)?;
        }
        Ok(ReembedReport::from_backlog(vector::MODEL, &before))
    }

    fn remove_vectors(&self, before: &EmbeddingBacklog) -> Result<(), Fault> {
        self.save_vectors(&VectorBatch {
            model: vector::MODEL.to_owned(),
            lane: before.lane,
            generation: before.generation,
            rows: Vec::new(),
        })
        .map(drop)
    }

    fn backlog(&self, model: &str, limit: usize) -> Result<EmbeddingBacklog, Fault> {
        Ok(self
            .engine
            .store
            .embedding_backlog(&self.engine.project, model, limit)?)
    }

    /// Returns the number of texts without a vector of `model`.
    pub(super) fn embedding_backlog(&self, model: &str) -> Result<EmbeddingBacklog, Fault> {
        self.backlog(model, 0)
    }

    fn redact_fault(&self, fault: Fault) -> Fault {
        Fault {
            message: self
                .engine
                .redaction()
                .redact_input(&fault.message)
                .into_owned(),
            ..fault
        }
    }
}

impl Recall<'_> {
    /// Returns the query's vector if nearly every text has a vector of the engine's model; otherwise the model is not
    /// called. The reason goes to `notes`.
    pub(super) fn question_vector(
        &self,
        text: &str,
        notes: &mut Vec<String>,
    ) -> Result<Option<ModelVector>, Fault> {
        let Some(embedder) = &self.engine.models.external else {
            return Ok(None);
        };
        let model = embedder.model();
        let backlog = self.engine.maintenance().backlog(model, 0)?;
        if backlog.texts == 0 {
            return Ok(None);
        }
        if backlog.missing * limits::EMBEDDING_MISSING_ONE_IN > backlog.texts {
            notes.push(format!(
                "{} of {} texts have no vector of `{model}`: the built-in vectors rank until `heirloom reembed` has \
                 embedded them",
                backlog.missing, backlog.texts
            ));
            return Ok(None);
        }
        let end = text.floor_char_boundary(limits::EMBEDDING_TEXT_BYTES_MAX);
        let query = text.get(..end).unwrap_or_default();
        let vectors = match embedder.embed(&[query], EmbedPurpose::Query) {
            Ok(vectors) => vectors,
            Err(fault) => {
                let reason = self.engine.maintenance().redact_fault(fault).message;
                notes.push(format!("the built-in vectors rank: {reason}"));
                return Ok(None);
            }
        };
        let numbers = vectors.into_iter().next().unwrap_or_default();
        if backlog.dims != Some(numbers.len()) {
            notes.push(format!(
                "the built-in vectors rank: `{model}` returns vectors of {} numbers, the stored ones have {}; \
                 `heirloom reembed --anew` embeds all texts again",
                numbers.len(),
                backlog.dims.unwrap_or(0)
            ));
            return Ok(None);
        }
        if backlog.missing > 0 {
            notes.push(format!(
                "{} of {} texts have no vector of `{model}` yet and rank by words only: `heirloom reembed` embeds \
                 them",
                backlog.missing, backlog.texts
            ));
        }
        Ok(Some(ModelVector {
            model: model.to_owned(),
            numbers,
        }))
    }
}

/// Returns the longest prefix that fits into one request; at least one text.
fn first_batch(texts: &[UnembeddedText]) -> &[UnembeddedText] {
    let mut bytes = 0;
    let fit = texts.iter().take_while(|one| {
        bytes += one.text.len();
        bytes <= limits::EMBEDDING_BATCH_BYTES_MAX
    });
    let count = fit.count().max(1);
    texts.get(..count).unwrap_or(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backlog_embedding_ends_at_text_or_time_limit() {
        let now = Instant::now();
        let bounds = EmbedLimits::for_backlog(now);
        let most = limits::EMBEDDING_CATCH_UP_MAX as u64;
        let at = |ms| now + Duration::from_millis(ms);
        let end_ms = limits::EMBEDDING_CATCH_UP_MS;
        assert!(!bounds.are_reached(most - 1, at(end_ms - 1)));
        assert!(bounds.are_reached(most, now));
        assert!(bounds.are_reached(0, at(end_ms)));
        assert!(!EmbedLimits::NONE.are_reached(most, at(end_ms)));
    }

    #[test]
    fn batch_stays_within_byte_limit() {
        let text = |bytes: usize| UnembeddedText {
            ordinal: 0,
            text: "x".repeat(bytes),
        };
        let most = limits::EMBEDDING_BATCH_BYTES_MAX;
        for (sizes, fit) in [
            (&[][..], 0),
            (&[most + 1, 1], 1),
            (&[most, 1], 1),
            (&[most - 1, 1, 1], 2),
            (&[1, 1, 1], 3),
        ] {
            let texts: Vec<_> = sizes.iter().map(|bytes| text(*bytes)).collect();
            assert_eq!(first_batch(&texts).len(), fit, "{sizes:?}");
        }
    }
}

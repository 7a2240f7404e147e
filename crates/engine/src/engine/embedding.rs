//! Vectors of another model than the built-in one: made in the background, asked for by questions.
//!
//! Whatever writes, hooks or builds a context never comes here.

use super::Engine;
use heirloom_index::vector;
use heirloom_model::{Embedder, Fault, Purpose, limits};
use heirloom_store::{ModelVector, NewVectors, StoreError, Unembedded, UnembeddedText, VectorRow};
use std::time::{Duration, Instant};

/// What became of the vectors of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Embedded {
    /// The model that they are of now.
    pub model: String,
    /// Texts that should have one.
    pub texts: u64,
    /// Those that got one by this call.
    pub embedded: u64,
    /// Those that have none yet.
    pub missing: u64,
    /// Another model whose vectors were there before, and how many: they are gone.
    pub replaced: Option<(String, u64)>,
}

impl Embedded {
    fn of(model: &str, lack: &Unembedded) -> Self {
        Self {
            model: model.to_owned(),
            texts: lack.texts,
            embedded: 0,
            missing: lack.missing,
            replaced: lack.other.clone(),
        }
    }
}

/// Which vectors are there to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// Those of the model stay.
    #[default]
    Known,
    /// None: every text is embedded anew.
    Nothing,
}

/// How far a call goes.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    texts: usize,
    until: Option<Instant>,
}

impl Bounds {
    const NONE: Self = Self {
        texts: usize::MAX,
        until: None,
    };

    fn of_catch_up(now: Instant) -> Self {
        Self {
            texts: limits::EMBEDDING_CATCH_UP_MAX,
            until: now.checked_add(Duration::from_millis(limits::EMBEDDING_CATCH_UP_MS)),
        }
    }

    fn are_reached(&self, embedded: u64, now: Instant) -> bool {
        usize::try_from(embedded).unwrap_or(usize::MAX) >= self.texts
            || self.until.is_some_and(|until| now >= until)
    }
}

impl Engine {
    /// The same engine, whose questions go by vectors of this model where nearly every text has one.
    #[must_use]
    pub fn with_embedder(mut self, embedder: Box<dyn Embedder>) -> Self {
        self.embedder = Some(embedder);
        self
    }

    /// Gives every text that lacks one a vector of the engine's model, batch by batch, each durable by itself: it
    /// may be killed, and goes on where it was. Those of another model are gone with the first. Without a model
    /// of its own the built-in vectors are enough, and others are removed.
    ///
    /// `progress` is told how many of how many texts have one. Errors: `Refused` when memory is switched off;
    /// what the model says; what was embedded before stays.
    pub fn reembed(
        &self,
        keep: Keep,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Embedded, Fault> {
        self.writable()?;
        let Some(embedder) = &self.embedder else {
            return self.built_in_only();
        };
        let before = self.lacking(embedder.model(), 0)?;
        if keep == Keep::Nothing {
            self.remove_vectors(&before)?;
        }
        let done = self.embed_within(embedder.as_ref(), Bounds::NONE, progress)?;
        Ok(Embedded {
            replaced: before.other,
            ..done
        })
    }

    /// Embeds some of what lacks a vector of the engine's model: a command that wrote many texts does so on its
    /// way out. Nothing where there is no such model, or where [`Engine::reembed`] has not begun with it.
    ///
    /// Errors: as for that; what was written is written.
    pub fn catch_up(&self) -> Result<Option<Embedded>, Fault> {
        let Some(embedder) = &self.embedder else {
            return Ok(None);
        };
        let lack = self.lacking(embedder.model(), 0)?;
        if lack.dims.is_none() || lack.missing == 0 {
            return Ok(None);
        }
        let bounds = Bounds::of_catch_up(Instant::now());
        self.embed_within(embedder.as_ref(), bounds, &mut |_, _| {})
            .map(Some)
    }

    fn embed_within(
        &self,
        embedder: &dyn Embedder,
        bounds: Bounds,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Embedded, Fault> {
        let (mut embedded, mut too_late) = (0, 0);
        loop {
            let lack = self.lacking(embedder.model(), limits::EMBEDDING_BATCH_TEXTS_MAX)?;
            progress(lack.texts - lack.missing, lack.texts);
            if lack.next.is_empty() || bounds.are_reached(embedded, Instant::now()) {
                let done = Embedded::of(embedder.model(), &lack);
                return Ok(Embedded { embedded, ..done });
            }
            let batch = within_bytes(&lack.next);
            let vectors = NewVectors {
                model: embedder.model().to_owned(),
                generation: lack.generation,
                rows: self.vectors_of(embedder, batch)?,
            };
            if self.keep_vectors(&vectors)? {
                embedded += vectors.rows.len() as u64;
                continue;
            }
            // The index was built anew meanwhile.
            too_late += 1;
            if too_late == limits::DECISIONS_MAX {
                return Err(Fault::failed(
                    "the index is built anew again and again: vectors come too late",
                ));
            }
        }
    }

    /// Ordinals with their vectors. The model is not asked for a text without a letter or a number.
    fn vectors_of(
        &self,
        embedder: &dyn Embedder,
        batch: &[UnembeddedText],
    ) -> Result<Vec<VectorRow>, Fault> {
        let says = |one: &&UnembeddedText| one.text.chars().any(char::is_alphanumeric);
        let asked: Vec<&str> = batch
            .iter()
            .filter(says)
            .map(|one| one.text.as_str())
            .collect();
        let vectors = embedder
            .embed(&asked, Purpose::Texts)
            .map_err(|fault| self.clean_fault(fault))?;
        if vectors.len() != asked.len() {
            return Err(Fault::failed(format!(
                "`{}` made {} vectors of {} texts",
                embedder.model(),
                vectors.len(),
                asked.len()
            )));
        }
        let mut vectors = vectors.into_iter();
        let row = |one: &UnembeddedText| {
            let vector = says(&one).then(|| vectors.next()).flatten();
            (one.ordinal, vector)
        };
        Ok(batch.iter().map(row).collect())
    }

    fn keep_vectors(&self, vectors: &NewVectors) -> Result<bool, Fault> {
        let kept = self.store.embed(&self.project, vectors);
        kept.map_err(|error| {
            let is_invalid = matches!(error, StoreError::Invalid(_));
            let fault = Fault::from(error);
            if !is_invalid {
                return fault;
            }
            Fault::failed(fault.message).hint(
                "if another model has this name by now, `heirloom reembed --anew` begins anew",
            )
        })
    }

    /// Removes vectors of every other model than the built-in one.
    fn built_in_only(&self) -> Result<Embedded, Fault> {
        let before = self.lacking(vector::MODEL, 0)?;
        if before.other.is_some() {
            self.remove_vectors(&before)?;
        }
        Ok(Embedded::of(vector::MODEL, &before))
    }

    fn remove_vectors(&self, before: &Unembedded) -> Result<(), Fault> {
        self.keep_vectors(&NewVectors {
            model: vector::MODEL.to_owned(),
            generation: before.generation,
            rows: Vec::new(),
        })
        .map(drop)
    }

    fn lacking(&self, model: &str, limit: usize) -> Result<Unembedded, Fault> {
        Ok(self.store.unembedded(&self.project, model, limit)?)
    }

    /// The question's vector, if the engine's model is to rank: nearly every text must have one of its vectors,
    /// else nobody is asked. What stands in the way goes to `notes`.
    pub(super) fn question_vector(
        &self,
        text: &str,
        notes: &mut Vec<String>,
    ) -> Result<Option<ModelVector>, Fault> {
        let Some(embedder) = &self.embedder else {
            return Ok(None);
        };
        let model = embedder.model();
        let lack = self.lacking(model, 0)?;
        if lack.texts == 0 {
            return Ok(None);
        }
        if lack.missing * limits::EMBEDDING_MISSING_ONE_IN > lack.texts {
            notes.push(format!(
                "{} of {} texts have no vector of `{model}`: the built-in vectors rank until `heirloom reembed` has \
                 made them",
                lack.missing, lack.texts
            ));
            return Ok(None);
        }
        let end = text.floor_char_boundary(limits::EMBEDDING_TEXT_BYTES_MAX);
        let asked = text.get(..end).unwrap_or_default();
        let vectors = match embedder.embed(&[asked], Purpose::Question) {
            Ok(vectors) => vectors,
            Err(fault) => {
                let said = self.clean_fault(fault).message;
                notes.push(format!("the built-in vectors rank: {said}"));
                return Ok(None);
            }
        };
        let numbers = vectors.into_iter().next().unwrap_or_default();
        if lack.dims != Some(numbers.len()) {
            notes.push(format!(
                "the built-in vectors rank: `{model}` makes vectors of {} numbers, those that are kept have {}; \
                 `heirloom reembed --anew` begins anew",
                numbers.len(),
                lack.dims.unwrap_or(0)
            ));
            return Ok(None);
        }
        if lack.missing > 0 {
            notes.push(format!(
                "{} of {} texts have no vector of `{model}` yet and count by their words: `heirloom reembed` makes \
                 them",
                lack.missing, lack.texts
            ));
        }
        Ok(Some(ModelVector {
            model: model.to_owned(),
            numbers,
        }))
    }

    /// What lacks a vector of `model`, without texts.
    pub(super) fn vectors_state(&self, model: &str) -> Result<Unembedded, Fault> {
        self.lacking(model, 0)
    }

    fn clean_fault(&self, fault: Fault) -> Fault {
        Fault {
            message: self.clean(&fault.message).into_owned(),
            ..fault
        }
    }
}

/// As many of the first as may be sent at once; one at least.
fn within_bytes(texts: &[UnembeddedText]) -> &[UnembeddedText] {
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
    fn a_catch_up_ends_by_texts_and_by_time() {
        let now = Instant::now();
        let bounds = Bounds::of_catch_up(now);
        let most = limits::EMBEDDING_CATCH_UP_MAX as u64;
        let at = |ms| now + Duration::from_millis(ms);
        let end_ms = limits::EMBEDDING_CATCH_UP_MS;
        assert!(!bounds.are_reached(most - 1, at(end_ms - 1)));
        assert!(bounds.are_reached(most, now));
        assert!(bounds.are_reached(0, at(end_ms)));
        assert!(!Bounds::NONE.are_reached(most, at(end_ms)));
    }

    #[test]
    fn a_batch_keeps_within_its_bytes() {
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
            assert_eq!(within_bytes(&texts).len(), fit, "{sizes:?}");
        }
    }
}

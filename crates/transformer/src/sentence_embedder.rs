//! Sentence embedder: the transformer behind the interface of embedding models, for many threads.

use crate::encoder::Encoder;
use crate::passages::PassageLimits;
use crate::transformer::Transformer;
use heirloom_model::{EmbedPurpose, Embedder, Fault, limits};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Embedder by the built-in weights. Each call uses an encoder of a pool, so that threads never wait for each other's
/// computation.
#[derive(Debug)]
pub struct SentenceEmbedder {
    transformer: Transformer,
    encoders: Mutex<Vec<Encoder>>,
    /// Vectors of the last questions, the latest one last.
    questions: Mutex<VecDeque<(String, Vec<f32>)>>,
}

impl SentenceEmbedder {
    /// Creates an embedder that keeps the vectors of the last [`limits::SENTENCE_QUESTIONS_KEPT`] questions. `None` on a
    /// processor for which only scalar code exists, which would take many times as long.
    pub fn new() -> Option<Self> {
        let transformer = Transformer::builtin().ok()?;
        transformer.is_accelerated().then(|| Self {
            transformer,
            encoders: Mutex::default(),
            questions: Mutex::default(),
        })
    }

    fn embed_question(&self, text: &str) -> Vec<f32> {
        let known = lock(&self.questions)
            .iter()
            .find(|(known, _)| known == text)
            .map(|(_, vector)| vector.clone());
        if let Some(vector) = known {
            return vector;
        }
        let vector = self.compute_question(text);
        let mut questions = lock(&self.questions);
        questions.push_back((text.to_owned(), vector.clone()));
        while questions.len() > limits::SENTENCE_QUESTIONS_KEPT {
            questions.pop_front();
        }
        vector
    }

    /// Computes the vector of the beginning of a question; a pasted text after it would only cost time.
    fn compute_question(&self, text: &str) -> Vec<f32> {
        let limits = PassageLimits {
            pieces: limits::SENTENCE_QUESTION_PIECES,
            passages: 1,
        };
        let vectors = self.with_encoder(|encoder| encoder.encode_passages(text, limits, &|| false));
        let first = vectors.unwrap_or_default().into_iter().next();
        first
            .map(|vector| vector.as_array().to_vec())
            .unwrap_or_default()
    }

    /// Lends an encoder of the pool.
    fn with_encoder<T>(&self, work: impl FnOnce(&mut Encoder) -> T) -> T {
        let encoder = lock(&self.encoders).pop();
        let mut encoder = encoder.unwrap_or_else(|| Encoder::new(self.transformer));
        let result = work(&mut encoder);
        lock(&self.encoders).push(encoder);
        result
    }

    fn embed_texts(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let vectors = self.with_encoder(|encoder| encoder.encode_batch(texts));
        let numbers = |vector: Option<crate::Vector384>| {
            vector
                .map(|vector| vector.as_array().to_vec())
                .unwrap_or_default()
        };
        vectors.into_iter().map(numbers).collect()
    }
}

impl Embedder for SentenceEmbedder {
    fn model(&self) -> &str {
        Transformer::MODEL
    }

    /// Computes the vectors; that of a text without word pieces is empty.
    fn embed(&self, texts: &[&str], purpose: EmbedPurpose) -> Result<Vec<Vec<f32>>, Fault> {
        Ok(match purpose {
            EmbedPurpose::Query => texts.iter().map(|text| self.embed_question(text)).collect(),
            EmbedPurpose::Documents => self.embed_texts(texts),
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embed(embedder: &SentenceEmbedder, text: &str, purpose: EmbedPurpose) -> Vec<f32> {
        embedder.embed(&[text], purpose).unwrap().remove(0)
    }

    #[test]
    fn last_questions_are_kept() {
        let embedder = SentenceEmbedder::new().unwrap();
        let first = embed(&embedder, "question 0", EmbedPurpose::Query);
        for number in 0..=limits::SENTENCE_QUESTIONS_KEPT {
            embed(
                &embedder,
                &format!("question {number}"),
                EmbedPurpose::Query,
            );
        }
        let kept: Vec<String> = lock(&embedder.questions)
            .iter()
            .map(|(text, _)| text.clone())
            .collect();
        assert_eq!(kept.len(), limits::SENTENCE_QUESTIONS_KEPT);
        assert_eq!(kept.first().map(String::as_str), Some("question 1"));
        for purpose in [EmbedPurpose::Query, EmbedPurpose::Documents] {
            assert_eq!(embed(&embedder, "question 0", purpose), first);
        }
    }

    #[test]
    fn question_is_read_up_to_its_limit_of_pieces() {
        let embedder = SentenceEmbedder::new().unwrap();
        let at_limit = "word ".repeat(limits::SENTENCE_QUESTION_PIECES);
        let shorter = "word ".repeat(limits::SENTENCE_QUESTION_PIECES - 1);
        let question = |text: &str| embed(&embedder, text, EmbedPurpose::Query);
        let vector = question(&at_limit);
        assert_eq!(question(&format!("{at_limit}elephant")), vector);
        assert_ne!(question(&format!("{shorter}elephant")), vector);
    }

    #[test]
    fn text_without_word_pieces_has_an_empty_vector() {
        let embedder = SentenceEmbedder::new().unwrap();
        let vectors = embedder.embed(&["", "a word"], EmbedPurpose::Documents);
        let lengths: Vec<usize> = vectors.unwrap().iter().map(Vec::len).collect();
        assert_eq!(lengths, [0, 384]);
    }
}

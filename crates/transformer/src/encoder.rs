//! Encoder: vectors of texts.

use crate::forward_pass::Buffers;
use crate::interruption::Interrupted;
use crate::passages::{PassageLimits, first_passage, split_passages};
use crate::transformer::Transformer;
use crate::vector::{TokenVectors, Vector384};

/// Maximum number of tokens of a forward pass. More tokens than this make no text cheaper and need more memory.
const BATCH_TOKENS: usize = 256;

/// Encoder with the buffers of its computations, which it reuses. One thread uses one encoder.
#[derive(Debug)]
pub struct Encoder {
    transformer: Transformer,
    buffers: Buffers,
}

impl Encoder {
    /// Creates an encoder without buffers; they grow with the first texts.
    pub fn new(transformer: Transformer) -> Self {
        Self {
            transformer,
            buffers: Buffers::default(),
        }
    }

    /// Computes the vector of the first passage of a text; `None` for a text without word pieces.
    pub fn encode(&mut self, text: &str) -> Option<Vector384> {
        self.encode_unless(text, &|| false).ok().flatten()
    }

    /// Computes the vector of the first passage of a text, unless `should_stop` returns true. It is called before each
    /// layer, at most about a millisecond of a question apart.
    pub fn encode_unless(
        &mut self,
        text: &str,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Option<Vector384>, Interrupted> {
        let passages: Vec<_> = first_passage(text).into_iter().collect();
        Ok(self.encode_all(&passages, should_stop)?.pop())
    }

    /// Computes the vector of the first passage of each text, in order; `None` for texts without word pieces. Each
    /// vector is the one that [`Encoder::encode`] returns, bit by bit.
    pub fn encode_batch(&mut self, texts: &[&str]) -> Vec<Option<Vector384>> {
        let passages: Vec<_> = texts.iter().map(|text| first_passage(text)).collect();
        let present: Vec<_> = passages.iter().flatten().cloned().collect();
        let mut vectors = self
            .encode_all(&present, &|| false)
            .unwrap_or_default()
            .into_iter();
        let vector = |passage: &Option<Vec<u16>>| passage.as_ref().and_then(|_| vectors.next());
        passages.iter().map(vector).collect()
    }

    /// Computes the vector of each passage of a text, unless `should_stop` returns true.
    pub fn encode_passages(
        &mut self,
        text: &str,
        limits: PassageLimits,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Vector384>, Interrupted> {
        self.encode_all(&split_passages(text, limits), should_stop)
    }

    /// Computes the vectors of the tokens of a text's first passage, for late interaction, unless `should_stop` returns
    /// true; `None` for a text without word pieces.
    pub fn encode_tokens(
        &mut self,
        text: &str,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Option<TokenVectors>, Interrupted> {
        let Some(tokens) = first_passage(text) else {
            return Ok(None);
        };
        let Transformer { weights, level } = &self.transformer;
        let passage = std::slice::from_ref(&tokens);
        let outputs = self.buffers.run(*level, weights, passage, should_stop)?;
        Ok(Some(TokenVectors::of_outputs(&tokens, outputs)))
    }

    /// Computes the vectors of passages in batches.
    fn encode_all(
        &mut self,
        passages: &[Vec<u16>],
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Vector384>, Interrupted> {
        let Transformer { weights, level } = &self.transformer;
        let mut vectors = Vec::with_capacity(passages.len());
        let mut rest = passages;
        while !rest.is_empty() {
            let (batch, others) = rest.split_at(batch_size(rest));
            let mut outputs = self.buffers.run(*level, weights, batch, should_stop)?;
            for passage in batch {
                let (output, other_outputs) = outputs.split_at(passage.len().min(outputs.len()));
                vectors.push(Vector384::of_mean(output));
                outputs = other_outputs;
            }
            rest = others;
        }
        Ok(vectors)
    }
}

/// Returns the number of passages, at least one, that fit a batch.
fn batch_size(passages: &[Vec<u16>]) -> usize {
    let mut tokens = 0;
    let fitting = passages.iter().take_while(|passage| {
        tokens += passage.len();
        tokens <= BATCH_TOKENS
    });
    fitting.count().max(1)
}

//! Forward pass: the outputs of the last layer for the tokens of several texts.

use crate::activations::Activations;
use crate::attention::{AttentionBuffers, attend};
use crate::embedding::embed;
use crate::interruption::{Interrupted, check};
use crate::matmul::OutputFunction;
use crate::vector::DIMS;
use crate::weight_file::{INNER_DIMS, Layer, Weights};
use fearless_simd::{Level, Simd, dispatch};

/// Buffers of a forward pass. They grow to the largest batch and are reused.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    /// Row of each token, changed by each layer.
    hidden: Vec<f32>,
    /// Rows of queries, keys and values, or of the feed-forward network.
    wide: Vec<f32>,
    /// Output of the attention or of a layer, before it is added to `hidden`.
    narrow: Vec<f32>,
    activations: Activations,
    attention: AttentionBuffers,
}

impl Buffers {
    /// Computes the last layer's outputs of texts, which are concatenated: each attends only to its own tokens, so no
    /// padding is computed. Calls `should_stop` before each layer.
    pub(crate) fn run(
        &mut self,
        level: Level,
        weights: &Weights,
        texts: &[Vec<u16>],
        should_stop: &dyn Fn() -> bool,
    ) -> Result<&[[f32; DIMS]], Interrupted> {
        self.hidden.clear();
        check(should_stop)?;
        dispatch!(level, simd => {
            for tokens in texts {
                embed(simd, weights, tokens, &mut self.hidden);
            }
        });
        let tokens = self.hidden.len() / DIMS;
        self.wide.resize(tokens * INNER_DIMS, 0.0);
        self.narrow.resize(tokens * DIMS, 0.0);
        for layer in &weights.layers {
            check(should_stop)?;
            dispatch!(level, simd => self.run_layer(simd, layer, texts));
        }
        Ok(self.hidden.as_chunks().0)
    }

    #[inline(always)]
    fn run_layer<S: Simd>(&mut self, simd: S, layer: &Layer, texts: &[Vec<u16>]) {
        let Self {
            hidden,
            wide,
            narrow,
            activations,
            attention,
        } = self;
        activations.quantise(simd, hidden, DIMS);
        layer
            .attention_input
            .multiply(simd, activations, OutputFunction::Identity, wide);
        let mut inputs = wide.as_chunks::<{ 3 * DIMS }>().0;
        let mut outputs = narrow.as_chunks_mut::<DIMS>().0;
        for tokens in texts {
            let (input, other_inputs) = inputs.split_at(tokens.len());
            let (output, other_outputs) = outputs.split_at_mut(tokens.len());
            attend(simd, input, attention, output);
            (inputs, outputs) = (other_inputs, other_outputs);
        }
        activations.quantise(simd, narrow, DIMS);
        layer
            .attention_output
            .multiply(simd, activations, OutputFunction::Identity, narrow);
        layer.attention_norm.normalise(simd, hidden, Some(narrow));
        activations.quantise(simd, hidden, DIMS);
        layer.inner.multiply(
            simd,
            activations,
            OutputFunction::Gelu(layer.inner_factors),
            wide,
        );
        activations.quantise(simd, wide, INNER_DIMS);
        layer
            .outer
            .multiply(simd, activations, OutputFunction::Identity, narrow);
        layer.output_norm.normalise(simd, hidden, Some(narrow));
    }
}

//! Inference: one vector per text.

use crate::model_files::{self, CONFIG, Pooling, TOKENIZER, WEIGHTS};
use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use heirloom_model::Fault;
use heirloom_model::text::EscapedPath;
use std::path::Path;
use tokenizers::{Tokenizer, TruncationParams};

/// Batch size: a larger one takes more memory and is not faster on a CPU.
const TOGETHER: usize = 8;

/// A loaded model.
pub(crate) struct Model {
    bert: BertModel,
    tokenizer: Tokenizer,
    pooling: Pooling,
}

/// Tokens of texts, padded to one length.
struct Padded {
    ids: Vec<u32>,
    mask: Vec<u32>,
    texts: usize,
    length: usize,
}

impl Model {
    /// Loads a model. Errors: `Usage` for inconsistent or unsupported files.
    pub(crate) fn read(folder: &Path) -> Result<Self, Fault> {
        let bad = |name: &str, error: &dyn std::fmt::Display| {
            Fault::usage(format!("{}: {error}", folder.join(name).to_escaped()))
                .hint("expected a BERT model of the MiniLM family, such as all-MiniLM-L6-v2")
        };
        let config: Config = serde_json::from_slice(&model_files::read(folder, CONFIG)?)
            .map_err(|error| bad(CONFIG, &error))?;
        let mut tokenizer = Tokenizer::from_bytes(model_files::read(folder, TOKENIZER)?)
            .map_err(|error| bad(TOKENIZER, &error))?;
        let length = model_files::length(folder)?.unwrap_or(config.max_position_embeddings);
        let truncation = TruncationParams {
            max_length: length.min(config.max_position_embeddings),
            ..TruncationParams::default()
        };
        tokenizer
            .with_truncation(Some(truncation))
            .map_err(|error| bad(TOKENIZER, &error))?;
        tokenizer.with_padding(None);
        if tokenizer.get_vocab_size(true) > config.vocab_size {
            return Err(bad(TOKENIZER, &"it has more tokens than the model knows"));
        }
        let weights = model_files::read(folder, WEIGHTS)?;
        let weights = candle_core::safetensors::load_buffer(&weights, &Device::Cpu)
            .map_err(|error| bad(WEIGHTS, &error))?;
        let builder = VarBuilder::from_tensors(weights, DType::F32, &Device::Cpu);
        let bert = BertModel::load(builder, &config).map_err(|error| bad(WEIGHTS, &error))?;
        Ok(Self {
            bert,
            tokenizer,
            pooling: model_files::pooling(folder)?,
        })
    }

    /// Computes one vector per text, in order.
    pub(crate) fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Fault> {
        let mut vectors = Vec::with_capacity(texts.len());
        for together in texts.chunks(TOGETHER) {
            let padded = self.cut(together)?;
            let computed = self.compute(&padded);
            let computed = computed
                .map_err(|error| Fault::failed(format!("the model cannot be computed: {error}")))?;
            vectors.extend(computed);
        }
        Ok(vectors)
    }

    fn cut(&self, texts: &[&str]) -> Result<Padded, Fault> {
        let cut = self.tokenizer.encode_batch(texts.to_vec(), true);
        let cut = cut.map_err(|error| Fault::failed(format!("a text cannot be cut: {error}")))?;
        let length = cut.iter().map(|one| one.get_ids().len()).max();
        let length = length.unwrap_or(0).max(1);
        let (mut ids, mut mask) = (Vec::new(), Vec::new());
        for (n, one) in (1..).zip(&cut) {
            ids.extend_from_slice(one.get_ids());
            mask.resize(ids.len(), 1);
            ids.resize(n * length, 0);
            mask.resize(n * length, 0);
        }
        Ok(Padded {
            ids,
            mask,
            texts: cut.len(),
            length,
        })
    }

    fn compute(&self, padded: &Padded) -> candle_core::Result<Vec<Vec<f32>>> {
        let shape = (padded.texts, padded.length);
        let ids = Tensor::from_slice(&padded.ids, shape, &Device::Cpu)?;
        let mask = Tensor::from_slice(&padded.mask, shape, &Device::Cpu)?;
        let types = ids.zeros_like()?;
        let tokens = self.bert.forward(&ids, &types, Some(&mask))?;
        let pooled = match self.pooling {
            Pooling::First => tokens.narrow(1, 0, 1)?.squeeze(1)?,
            Pooling::Mean => {
                let mask = mask.to_dtype(DType::F32)?.unsqueeze(2)?;
                let sum = tokens.broadcast_mul(&mask)?.sum(1)?;
                sum.broadcast_div(&mask.sum(1)?.clamp(1e-9, f64::INFINITY)?)?
            }
        };
        pooled.to_vec2()
    }
}

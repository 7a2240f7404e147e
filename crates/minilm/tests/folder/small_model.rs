//! A minimal model of this kind: two layers, two heads, nine words.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub(crate) const WIDTH: usize = 8;
pub(crate) const HEADS: usize = 2;
pub(crate) const LAYERS: usize = 2;
const INNER: usize = 12;
const PLACES: usize = 16;
const WORDS: [&str; 10] = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat", "##s", ",", "sat", "a",
];

/// A model in a temporary folder, and its weights.
pub(crate) struct Small {
    folder: tempfile::TempDir,
    pub(crate) weights: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
}

impl Small {
    /// Writes random weights from this seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut small = Self {
            folder: tempfile::tempdir().unwrap(),
            weights: BTreeMap::new(),
        };
        let mut dice = seed;
        let mut add = |name: String, shape: &[usize]| {
            let count = shape.iter().product();
            let one = |_| {
                dice = dice
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (dice >> 40) as f32 / (1_u64 << 24) as f32 - 0.5
            };
            let numbers = (0..count).map(one).collect();
            small.weights.insert(name, (shape.to_vec(), numbers));
        };
        add(
            "embeddings.word_embeddings.weight".to_owned(),
            &[WORDS.len(), WIDTH],
        );
        add(
            "embeddings.position_embeddings.weight".to_owned(),
            &[PLACES, WIDTH],
        );
        add(
            "embeddings.token_type_embeddings.weight".to_owned(),
            &[2, WIDTH],
        );
        let mut dense = |name: &str, out: usize, wide: usize| {
            add(format!("{name}.weight"), &[out, wide]);
            add(format!("{name}.bias"), &[out]);
        };
        let norms = |layer: usize| {
            ["attention.output", "output"]
                .map(|part| format!("encoder.layer.{layer}.{part}.LayerNorm"))
        };
        for layer in 0..LAYERS {
            let of = |part: &str| format!("encoder.layer.{layer}.{part}");
            for part in ["query", "key", "value"] {
                dense(&of(&format!("attention.self.{part}")), WIDTH, WIDTH);
            }
            dense(&of("attention.output.dense"), WIDTH, WIDTH);
            dense(&of("intermediate.dense"), INNER, WIDTH);
            dense(&of("output.dense"), WIDTH, INNER);
        }
        let all = (0..LAYERS).flat_map(norms);
        for norm in all.chain(["embeddings.LayerNorm".to_owned()]) {
            add(format!("{norm}.weight"), &[WIDTH]);
            add(format!("{norm}.bias"), &[WIDTH]);
        }
        small.write("config.json", &config().to_string());
        small.write("tokenizer.json", &tokenizer(&WORDS).to_string());
        small.write_weights();
        small
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        self.write_bytes(name, text.as_bytes());
    }

    #[expect(clippy::disallowed_methods, reason = "a file of a test")]
    fn write_bytes(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path().join(name), bytes).unwrap();
    }

    fn write_weights(&self) {
        let (mut header, mut data) = (Map::new(), Vec::new());
        for (name, (shape, numbers)) in &self.weights {
            let from = data.len();
            data.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            let entry = json!({"dtype": "F32", "shape": shape, "data_offsets": [from, data.len()]});
            header.insert(name.clone(), entry);
        }
        let header = Value::Object(header).to_string();
        let length = (header.len() as u64).to_le_bytes();
        self.write_bytes(
            "model.safetensors",
            &[&length[..], header.as_bytes(), &data].concat(),
        );
    }

    pub(crate) fn cut_weights(&self) {
        let bytes = fs::read(self.path().join("model.safetensors")).unwrap();
        self.write_bytes("model.safetensors", &bytes[..bytes.len() / 2]);
    }

    pub(crate) fn forget_a_weight(&self) {
        let mut less = Self {
            folder: tempfile::tempdir().unwrap(),
            weights: self.weights.clone(),
        };
        less.weights.remove("encoder.layer.1.output.dense.bias");
        less.write_weights();
        let bytes = fs::read(less.path().join("model.safetensors")).unwrap();
        self.write_bytes("model.safetensors", &bytes);
    }

    pub(crate) fn know_more_words(&self) {
        let more = [&WORDS[..], &["more"]].concat();
        self.write("tokenizer.json", &tokenizer(&more).to_string());
    }
}

fn config() -> Value {
    json!({
        "architectures": ["BertModel"],
        "model_type": "bert",
        "vocab_size": WORDS.len(),
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": INNER,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
        "max_position_embeddings": PLACES,
        "type_vocab_size": 2,
        "initializer_range": 0.02,
        "layer_norm_eps": 1e-12,
        "pad_token_id": 0,
        "position_embedding_type": "absolute",
    })
}

fn tokenizer(words: &[&str]) -> Value {
    let vocab: Map<String, Value> = words
        .iter()
        .zip(0..)
        .map(|(word, id)| ((*word).to_owned(), json!(id)))
        .collect();
    let special = |id: usize| {
        json!({"id": id, "content": words[id], "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true})
    };
    json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": (0..4).map(special).collect::<Vec<_>>(),
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "decoder": null,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocab},
    })
}

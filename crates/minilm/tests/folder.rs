//! Embedder with a small random model, compared with a reference implementation.
#![cfg(feature = "minilm")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "folder/reference_model.rs"]
mod reference_model;
#[path = "folder/small_model.rs"]
mod small_model;

use heirloom_minilm::FolderEmbedder;
use heirloom_model::{EmbedPurpose, Embedder, limits};
use serde_json::json;
use small_model::Small;
use std::fs;

fn vectors(folder: &FolderEmbedder, texts: &[&str]) -> Vec<Vec<f32>> {
    folder.embed(texts, EmbedPurpose::Documents).unwrap()
}

fn near(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4)
}

#[test]
fn vectors_match_reference_implementation() {
    let small = Small::new(7);
    let folder = FolderEmbedder::new(small.path()).unwrap();
    for (text, tokens) in [
        ("the cat", &[2, 4, 5, 3][..]),
        // Word pieces, upper case, an accent, an unknown word.
        ("Cats, sát", &[2, 5, 6, 7, 8, 3]),
        ("zebra the", &[2, 1, 4, 3]),
        ("", &[2, 3]),
    ] {
        let expected = reference_model::mean(&small, tokens);
        let found = vectors(&folder, &[text]);
        assert!(
            near(&found[0], &expected),
            "{text}\n{:?}\n{expected:?}",
            found[0]
        );
    }
}

#[test]
fn vector_does_not_depend_on_batch() {
    let small = Small::new(8);
    let folder = FolderEmbedder::new(small.path()).unwrap();
    let texts = [
        "the",
        "the cat sat",
        "sat",
        "",
        "cats the cats",
        "a",
        "the the",
        "cat",
        "sat the",
    ];
    let together = vectors(&folder, &texts);
    assert_eq!(together.len(), texts.len());
    for (text, vector) in texts.iter().zip(&together) {
        assert!(near(&vectors(&folder, &[text])[0], vector), "{text}");
    }
    assert!(!near(&together[0], &together[2]));
    assert_eq!(vectors(&folder, &[]), Vec::<Vec<f32>>::new());
}

#[test]
fn long_text_is_truncated() {
    let small = Small::new(9);
    small.write(
        "sentence_bert_config.json",
        &json!({"max_seq_length": 4}).to_string(),
    );
    let folder = FolderEmbedder::new(small.path()).unwrap();
    let long = "the cat ".repeat(limits::EMBEDDING_TEXT_BYTES_MAX / 8);
    assert!(near(
        &vectors(&folder, &[&long])[0],
        &vectors(&folder, &["the cat"])[0]
    ));
    // Never more than the model's maximum number of positions.
    small.write(
        "sentence_bert_config.json",
        &json!({"max_seq_length": 9_999}).to_string(),
    );
    let folder = FolderEmbedder::new(small.path()).unwrap();
    assert_eq!(vectors(&folder, &[&long])[0].len(), small_model::WIDTH);
}

#[test]
fn first_token_pooling_uses_first_vector() {
    let small = Small::new(10);
    fs::create_dir(small.path().join("1_Pooling")).unwrap();
    let first = json!({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false});
    small.write("1_Pooling/config.json", &first.to_string());
    let folder = FolderEmbedder::new(small.path()).unwrap();
    let expected = reference_model::first(&small, &[2, 4, 5, 3]);
    assert!(near(&vectors(&folder, &["the cat"])[0], &expected));
    let other = json!({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true});
    small.write("1_Pooling/config.json", &other.to_string());
    let folder = FolderEmbedder::new(small.path()).unwrap();
    let fault = folder.embed(&["the"], EmbedPurpose::Documents).unwrap_err();
    assert!(
        fault.message.contains("neither the mean nor the first"),
        "{fault}"
    );
}

#[test]
fn model_name_depends_on_file_content() {
    let (one, same, other) = (Small::new(1), Small::new(1), Small::new(2));
    let name = |small: &Small| FolderEmbedder::name_of(small.path()).unwrap();
    assert_eq!(name(&one), name(&same));
    assert_ne!(name(&one), name(&other));
    assert!(name(&one).len() <= limits::EMBEDDING_MODEL_BYTES_MAX);
    let before = name(&one);
    one.write("sentence_bert_config.json", "{\"max_seq_length\": 3}");
    assert_ne!(name(&one), before);
}

#[test]
fn invalid_folder_is_refused() {
    let part = |spoil: &dyn Fn(&Small), part: &str| {
        let small = Small::new(3);
        spoil(&small);
        let fault = match FolderEmbedder::new(small.path()) {
            Err(fault) => fault,
            Ok(folder) => folder.embed(&["the"], EmbedPurpose::Query).unwrap_err(),
        };
        assert!(fault.message.contains(part), "{part}: {fault}");
        assert!(fault.hint.is_some(), "{part}");
    };
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        part(
            &|small| fs::remove_file(small.path().join(name)).unwrap(),
            name,
        );
        part(&|small| small.write(name, "no model"), name);
        part(&|small| small.write(name, ""), name);
    }
    part(
        &|small| small.write("config.json", "{\"model_type\": \"llama\"}"),
        "config.json",
    );
    part(&Small::cut_weights, "model.safetensors");
    part(&Small::forget_a_weight, "model.safetensors");
    part(&Small::know_more_words, "more tokens than the model knows");
    // A sparse file of the maximum size, and one byte more.
    let most = limits::EMBEDDING_MODEL_FILE_BYTES_MAX;
    assert!(most > 90_000_000, "all-MiniLM-L6-v2 fits");
}

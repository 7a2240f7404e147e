//! Comparison with the reference vectors and pieces that `models/reference.py` recorded.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "figures for `--nocapture`")]

use fearless_simd::Level;
use heirloom_search::index::word_pieces::pieces;
use heirloom_transformer::{DIMS, Encoder, PASSAGE_PIECES, PassageLimits, Transformer, Vector384};
use serde_json::Value;

/// Least cosine to a reference vector.
const COSINE_MIN: f64 = 0.995;

/// Text with the reference pieces and vector of each passage.
struct Fixture {
    text: String,
    passages: Vec<Vec<u64>>,
    vectors: Vec<Vec<f64>>,
}

fn fixtures() -> Vec<Fixture> {
    let (numbers, rest) = include_bytes!("fixtures/vectors.bin").as_chunks::<2>();
    assert!(rest.is_empty());
    let numbers: Vec<f64> = numbers
        .iter()
        .map(|bytes| i16::from_le_bytes(*bytes).into())
        .collect();
    let mut rows = numbers.chunks_exact(DIMS).map(<[f64]>::to_vec);
    let fixtures: Vec<Fixture> = include_str!("fixtures/texts.jsonl")
        .lines()
        .map(|line| {
            let case: Value = serde_json::from_str(line).unwrap();
            let passages: Vec<Vec<u64>> = serde_json::from_value(case["passages"].clone()).unwrap();
            let vectors = rows.by_ref().take(passages.len()).collect();
            Fixture {
                text: case["text"].as_str().unwrap().to_owned(),
                passages,
                vectors,
            }
        })
        .collect();
    assert_eq!((fixtures.len(), rows.len()), (200, 0));
    fixtures
}

fn cosine(vector: &Vector384, reference: &[f64]) -> f64 {
    let numbers = vector.as_array().iter().map(|number| f64::from(*number));
    let length = reference
        .iter()
        .map(|number| number * number)
        .sum::<f64>()
        .sqrt();
    numbers.zip(reference).map(|(a, b)| a * b).sum::<f64>() / length
}

fn all_passages() -> PassageLimits {
    PassageLimits {
        passages: usize::MAX,
        ..PassageLimits::default()
    }
}

/// Returns every 9th fixture of at most 30 pieces, because scalar code is slow.
fn short_fixtures() -> Vec<Fixture> {
    let mut fixtures = fixtures();
    fixtures.retain(|fixture| fixture.passages.concat().len() <= 30);
    fixtures.into_iter().step_by(9).collect()
}

/// Compares vectors of a SIMD level with reference vectors.
fn assert_parity(level: Level, fixtures: &[Fixture]) {
    let mut encoder = Encoder::new(Transformer::builtin().unwrap().with_level(level));
    let mut cosines = Vec::new();
    for fixture in fixtures {
        let vectors = encoder
            .encode_passages(&fixture.text, all_passages(), &|| false)
            .unwrap();
        assert_eq!(vectors.len(), fixture.vectors.len(), "{:?}", fixture.text);
        assert_eq!(encoder.encode(&fixture.text), vectors.first().copied());
        for (vector, reference) in vectors.iter().zip(&fixture.vectors) {
            let length: f32 = vector.as_array().iter().map(|number| number * number).sum();
            assert!((length - 1.0).abs() < 1e-4);
            let cosine = cosine(vector, reference);
            assert!(cosine >= COSINE_MIN, "{cosine}: {:?}", fixture.text);
            cosines.push(cosine);
        }
    }
    let least = cosines.iter().copied().fold(1.0, f64::min);
    let mean = cosines.iter().sum::<f64>() / cosines.len() as f64;
    println!(
        "{level:?}: {} vectors, cosine at least {least:.5}, mean {mean:.5}",
        cosines.len()
    );
    assert!(mean > 0.999);
}

#[test]
fn pieces_match_reference() {
    for fixture in fixtures() {
        let found: Vec<u64> = pieces(&fixture.text, usize::MAX)
            .into_iter()
            .map(Into::into)
            .collect();
        assert_eq!(found, fixture.passages.concat(), "{:?}", fixture.text);
        assert!(
            fixture
                .passages
                .iter()
                .all(|passage| passage.len() <= PASSAGE_PIECES)
        );
    }
}

#[test]
fn vectors_match_reference() {
    assert_parity(Level::new(), &fixtures());
}

#[test]
fn scalar_vectors_match_reference() {
    let transformer = Transformer::builtin().unwrap();
    assert!(!transformer.with_level(Level::fallback()).is_accelerated());
    assert!(transformer.with_level(Level::baseline()).is_accelerated());
    assert_parity(Level::fallback(), &short_fixtures());
}

/// Sums of the matrices are equal on every level; the rest is computed with or without fused operations.
#[test]
fn vectors_of_all_levels_are_equal_within_rounding() {
    let mut levels = vec![Level::fallback(), Level::baseline()];
    #[cfg(target_arch = "x86_64")]
    {
        levels.extend(Level::new().as_sse4_2().map(Level::Sse4_2));
        levels.extend(Level::new().as_avx2().map(Level::Avx2));
    }
    let transformer = Transformer::builtin().unwrap();
    let mut best = Encoder::new(transformer);
    for level in levels {
        let mut encoder = Encoder::new(transformer.with_level(level));
        for fixture in short_fixtures() {
            let (Some(expected), Some(found)) =
                (best.encode(&fixture.text), encoder.encode(&fixture.text))
            else {
                continue;
            };
            let cosine = f64::from(expected.cosine(&found));
            assert!(cosine > 0.9999, "{level:?} {cosine}: {:?}", fixture.text);
        }
    }
}

#[test]
fn batch_vectors_equal_single_vectors() {
    let fixtures = fixtures();
    let texts: Vec<&str> = fixtures.iter().map(|fixture| &fixture.text[..]).collect();
    let mut encoder = Encoder::new(Transformer::builtin().unwrap());
    let batch = encoder.encode_batch(&texts);
    assert_eq!(batch.len(), texts.len());
    assert!(batch.contains(&None));
    // Another encoder, so that its buffers have another history.
    let mut single = Encoder::new(Transformer::builtin().unwrap());
    for (text, vector) in texts.iter().zip(batch).rev() {
        assert_eq!(single.encode(text), vector, "{text:?}");
    }
}

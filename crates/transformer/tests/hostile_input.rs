//! Texts that no author had in mind, interruption, and limits.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_transformer::{
    DIMS, Encoder, Interrupted, PASSAGE_PIECES, PassageLimits, Transformer, Vector384,
};
use proptest::prelude::*;
use std::cell::Cell;

fn encoder() -> Encoder {
    Encoder::new(Transformer::builtin().unwrap())
}

fn has_length_one(vector: &Vector384) -> bool {
    let squares: f32 = vector.as_array().iter().map(|number| number * number).sum();
    (squares - 1.0).abs() < 1e-4
}

/// Limits for two passages.
fn two_passages() -> PassageLimits {
    PassageLimits {
        passages: 2,
        ..PassageLimits::default()
    }
}

#[test]
fn hostile_texts_have_vectors() {
    let mut encoder = encoder();
    for text in [
        "the cache is stale. ".repeat(1 << 20 >> 4),
        "x".repeat(1 << 20),
        "x ".repeat(1 << 19),
        "\u{FFFD}a ".repeat(5_000),
        "🙂👩‍👩‍👧🇩🇪".repeat(500),
        "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVow".repeat(4_000),
        "a\u{300}\u{301}\u{302}".repeat(3_000),
        "\u{202E}abc\u{200B}\u{FEFF} \u{10FFFF}\u{E000}".repeat(100),
        "[CLS] [SEP] [PAD] [MASK] [unused5]".to_owned(),
        "中".repeat(10_000),
        "각".repeat(10_000),
    ] {
        let vectors = encoder
            .encode_passages(&text, two_passages(), &|| false)
            .unwrap();
        assert!((1..=2).contains(&vectors.len()));
        assert!(
            vectors.iter().all(has_length_one),
            "{}",
            &text.chars().take(20).collect::<String>()
        );
    }
}

#[test]
fn text_without_pieces_has_no_vector() {
    let mut encoder = encoder();
    for text in [
        "",
        " ",
        "\n\t\r",
        "\0",
        "\0\0 \u{200B}",
        "\u{301}",
        "\u{FFFD}",
    ] {
        assert_eq!(encoder.encode(text), None, "{text:?}");
        assert_eq!(encoder.encode_tokens(text, &|| false), Ok(None));
        assert_eq!(
            encoder.encode_passages(text, two_passages(), &|| false),
            Ok(vec![])
        );
    }
    assert_eq!(encoder.encode_batch(&["", "\0"]), [None, None]);
    assert!(encoder.encode_batch(&[]).is_empty());
}

#[test]
fn passages_are_vectors_of_their_pieces() {
    let mut encoder = encoder();
    let text = "one two three four five six seven";
    let limits = PassageLimits {
        pieces: 3,
        passages: 2,
    };
    let vectors = encoder.encode_passages(text, limits, &|| false).unwrap();
    let expected = ["one two three", "four five six"].map(|part| encoder.encode(part).unwrap());
    assert_eq!(vectors, expected);
}

#[test]
fn token_vectors_have_one_row_a_piece() {
    let mut encoder = encoder();
    let vectors = encoder
        .encode_tokens("the parser fails", &|| false)
        .unwrap()
        .unwrap();
    assert_eq!((vectors.pieces().len(), vectors.rows().len()), (4, 4));
    for row in vectors.rows() {
        assert!((row.iter().map(|number| number * number).sum::<f32>() - 1.0).abs() < 1e-4);
    }
    let long = encoder
        .encode_tokens(&"word ".repeat(400), &|| false)
        .unwrap()
        .unwrap();
    assert_eq!(long.rows().len(), PASSAGE_PIECES);
}

#[test]
fn interrupted_encoder_works_again() {
    let mut encoder = encoder();
    let text = "why is the login test flaky";
    let expected = encoder.encode(text);
    assert!(expected.is_some());
    let calls = Cell::new(0);
    assert_eq!(
        encoder.encode_unless(text, &|| calls.replace(calls.get() + 1) > 9),
        Ok(expected)
    );
    let checks = calls.get();
    assert_eq!(
        checks, 7,
        "before the embedding and before each of 6 layers"
    );
    for allowed in 0..checks {
        let left = Cell::new(allowed);
        let should_stop = || left.get() == 0 || left.replace(left.get() - 1) == 0;
        assert_eq!(
            encoder.encode_unless(text, &should_stop),
            Err(Interrupted),
            "{allowed}"
        );
        assert_eq!(encoder.encode(text), expected);
    }
    assert_eq!(encoder.encode_tokens(text, &|| true), Err(Interrupted));
    assert_eq!(
        encoder.encode_passages(text, two_passages(), &|| true),
        Err(Interrupted)
    );
}

#[test]
fn similar_texts_have_higher_cosine() {
    let mut encoder = encoder();
    let mut vector = |text| encoder.encode(text).unwrap();
    let question = vector("how can I log in without a password?");
    let near = vector("Authentication works with passkeys only.");
    let far = vector("The nightly export writes one CSV file for each region.");
    assert!(question.cosine(&near) > question.cosine(&far) + 0.2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_bytes_have_a_vector_or_none(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let text = String::from_utf8_lossy(&bytes);
        let vector = encoder().encode(&text);
        prop_assert!(vector.is_none_or(|vector| has_length_one(&vector)));
    }

    #[test]
    fn any_texts_have_equal_vectors_in_a_batch(texts in prop::collection::vec("\\PC{0,60}", 0..6)) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut encoder = encoder();
        let batch = encoder.encode_batch(&texts);
        let single: Vec<_> = texts.iter().map(|text| encoder.encode(text)).collect();
        prop_assert_eq!(batch, single);
    }
}

#[test]
fn vectors_convert_to_arrays() {
    let vector = encoder().encode("words").unwrap();
    let numbers: [f32; DIMS] = vector.into();
    assert_eq!(&numbers, vector.as_array());
}

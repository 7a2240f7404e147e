//! Tokenizer and forward pass of the sentence transformer: any text has a vector of length 1 or none, and the same one in
//! a batch.
#![no_main]

use heirloom_transformer::{Encoder, PassageLimits, Transformer};
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;

/// Word pieces of a passage: a forward pass of the fuzzer takes milliseconds.
const PIECES: usize = 12;

thread_local! {
    static ENCODER: RefCell<Encoder> =
        RefCell::new(Encoder::new(Transformer::builtin().expect("the weights are part of the program")));
}

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let limits = PassageLimits {
        pieces: PIECES,
        passages: 2,
    };
    ENCODER.with_borrow_mut(|encoder| {
        let vectors = encoder
            .encode_passages(&text, limits, &|| false)
            .expect("nothing stops it");
        assert!(vectors.len() <= limits.passages);
        for vector in &vectors {
            let length = vector.cosine(vector);
            assert!((length - 1.0).abs() < 1e-3, "{length}");
        }
        let first = PassageLimits {
            passages: 1,
            ..limits
        };
        let alone = encoder
            .encode_passages(&text, first, &|| false)
            .expect("nothing stops it");
        assert_eq!(alone.first(), vectors.first());
        assert!(encoder.encode_passages(&text, limits, &|| true).is_err() || vectors.is_empty());
    });
});

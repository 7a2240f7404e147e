//! Word pieces, vectors and scores: no panic for any text or stored bytes, deterministic results, vectors of length
//! one.
#![no_main]

use heirloom_search::index::vector::{EmbeddedDocument, QueryVector, ROW_BYTES, Vector};
use heirloom_search::index::word_pieces::{PIECES, PieceCounts, count_in, pieces};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &str, &[u8])| {
    let (most, text, bytes) = (usize::from(input.0), input.1, input.2);

    let all = pieces(text, usize::MAX);
    assert!(all.iter().all(|piece| usize::from(*piece) < PIECES));
    assert!(all.len() <= text.len() * 3, "more pieces than characters");
    assert_eq!(pieces(text, most), all[..most.min(all.len())]);

    let document = EmbeddedDocument::of(text);
    assert_eq!(document, EmbeddedDocument::of(text));
    if let Some(EmbeddedDocument { vector, distinct }) = &document {
        let length = vector.cosine(vector);
        assert!((length - 1.0).abs() < 0.02, "{length}");
        assert_eq!(&Vector::from_bytes(&vector.to_bytes()), vector);
        assert!(distinct.is_sorted_by(|a, b| a < b));
    }

    // The bytes are read as stored counts and as stored vectors.
    if let Some(counts) = PieceCounts::from_bytes(bytes) {
        assert_eq!(counts.to_bytes(), bytes);
    }
    let query = QueryVector::of(text, u32::from(input.0), |piece| count_in(bytes, piece));
    if let Some(query) = query {
        let mut scores = Vec::new();
        query.scores(bytes, &mut scores);
        assert_eq!(scores.len(), bytes.len() / ROW_BYTES);
        assert!(scores.iter().all(|score| (-1.0..=1.0).contains(score)));
    }
});

//! Pieces, vectors and scores: whatever the text or the stored bytes, no panic, the same again, and length one.
#![no_main]

use heirloom_index::pieces::{PIECES, PieceCounts, count_in, pieces};
use heirloom_index::vector::{Document, Question, ROW_BYTES, Vector};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &str, &[u8])| {
    let (most, text, bytes) = (usize::from(input.0), input.1, input.2);

    let all = pieces(text, usize::MAX);
    assert!(all.iter().all(|piece| usize::from(*piece) < PIECES));
    assert!(all.len() <= text.len() * 3, "more pieces than letters");
    assert_eq!(pieces(text, most), all[..most.min(all.len())]);

    let document = Document::of(text);
    assert_eq!(document, Document::of(text));
    if let Some(Document { vector, distinct }) = &document {
        let length = vector.cosine(vector);
        assert!((length - 1.0).abs() < 0.02, "{length}");
        assert_eq!(&Vector::from_bytes(&vector.to_bytes()), vector);
        assert!(distinct.is_sorted_by(|a, b| a < b));
    }

    // The same bytes as stored counts and as stored vectors.
    if let Some(counts) = PieceCounts::from_bytes(bytes) {
        assert_eq!(counts.to_bytes(), bytes);
    }
    let question = Question::of(text, u32::from(input.0), |piece| count_in(bytes, piece));
    if let Some(question) = question {
        let mut scores = Vec::new();
        question.scores(bytes, &mut scores);
        assert_eq!(scores.len(), bytes.len() / ROW_BYTES);
        assert!(scores.iter().all(|score| (-1.0..=1.0).contains(score)));
    }
});

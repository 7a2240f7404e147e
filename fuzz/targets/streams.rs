//! What an output stream says: the same however it is cut, and plain output passes whole.
#![no_main]

use heirloom_engine::streams::{Piece, StreamReader};
use heirloom_model::stream::{StreamEvent, StreamFormat};
use libfuzzer_sys::fuzz_target;

fn read<'a>(
    format: StreamFormat,
    chunks: impl Iterator<Item = &'a [u8]>,
) -> (Vec<u8>, Vec<StreamEvent>) {
    let mut reader = StreamReader::new(format);
    let (mut plain, mut events) = (Vec::new(), Vec::new());
    let mut sink = |piece: Piece<'_>| match piece {
        Piece::Raw(bytes) => plain.extend_from_slice(bytes),
        Piece::Event(event) => events.push(event),
    };
    chunks.for_each(|chunk| reader.push(chunk, &mut sink));
    reader.finish(&mut sink);
    (plain, events)
}

fuzz_target!(|bytes: &[u8]| {
    // The first byte is the format and how the rest is cut.
    let Some((first, output)) = bytes.split_first() else {
        return;
    };
    let formats = StreamFormat::ALL;
    let format = formats[usize::from(*first) % formats.len()];
    let size = usize::from(*first) / formats.len() + 1;
    let whole = read(format, std::iter::once(output));
    assert_eq!(read(format, output.chunks(size)), whole);

    let (plain, events) = whole;
    assert!(output.starts_with(&plain));
    match format {
        StreamFormat::Text => assert!(plain == output && events.is_empty()),
        StreamFormat::Auto => {}
        StreamFormat::ClaudeStream | StreamFormat::CodexJson | StreamFormat::GeminiStream => {
            assert!(plain.is_empty());
        }
    }
});

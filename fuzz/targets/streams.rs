//! Stream reader: independent of chunk boundaries; plain output passes unchanged.
#![no_main]

use heirloom_agents::StreamFormat;
use heirloom_agents::streams::{StreamPiece, StreamReader};
use heirloom_model::event_stream::StreamEvent;
use libfuzzer_sys::fuzz_target;

fn read<'a>(
    format: StreamFormat,
    chunks: impl Iterator<Item = &'a [u8]>,
) -> (Vec<u8>, Vec<StreamEvent>) {
    let mut reader = StreamReader::new(format);
    let (mut plain, mut events) = (Vec::new(), Vec::new());
    let mut sink = |piece: StreamPiece<'_>| match piece {
        StreamPiece::Raw(bytes) => plain.extend_from_slice(bytes),
        StreamPiece::Event(event) => events.push(event),
    };
    chunks.for_each(|chunk| reader.push(chunk, &mut sink));
    reader.finish(&mut sink);
    (plain, events)
}

fuzz_target!(|bytes: &[u8]| {
    // The first byte selects the format and the chunk size.
    let Some((first, output)) = bytes.split_first() else {
        return;
    };
    let formats = StreamFormat::all();
    let format = formats[usize::from(*first) % formats.len()];
    let size = usize::from(*first) / formats.len() + 1;
    let whole = read(format, std::iter::once(output));
    assert_eq!(read(format, output.chunks(size)), whole);

    let (plain, events) = whole;
    assert!(output.starts_with(&plain));
    match format {
        StreamFormat::Text => assert!(plain == output && events.is_empty()),
        StreamFormat::Auto => {}
        StreamFormat::Events(_) => assert!(plain.is_empty()),
    }
});

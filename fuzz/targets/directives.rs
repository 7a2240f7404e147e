//! Directives: every text parses or fails with a position, rendered directives parse to the same value, and no text
//! ends its block early.
#![no_main]

use heirloom_prompt::directives::glob::Glob;
use heirloom_prompt::directives::{Directive, FileSelector, block, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    match parse(&text) {
        Ok(read) => {
            let written = read.to_string();
            for directive in &read.directives {
                let Directive::Input(inputs) = directive else {
                    continue;
                };
                for input in inputs {
                    if let FileSelector::Pattern(pattern) = &input.name
                        && let Some(glob) = Glob::new(pattern)
                    {
                        let inside = glob.enter(&glob.start(), "a");
                        assert!(!glob.matches_file(&inside, "b") || glob.can_match_below(&inside));
                    }
                }
            }
            assert_eq!(parse(&written), Ok(read), "{written:?}");
        }
        Err(error) => {
            assert!((1..=text.chars().count().max(1)).contains(&error.column));
            assert_eq!(
                error.caret_excerpt.lines().count(),
                2,
                "{}",
                error.caret_excerpt
            );
        }
    }
    if let Some((body, shown)) = block::select_lines(&text, 1, None) {
        assert_eq!(body, text);
        let whole = block::render_file(&text, shown, body);
        assert!(whole.starts_with("File "));
        let fence = whole.lines().nth(1).unwrap_or_default();
        assert_eq!(whole.lines().filter(|line| line.contains(fence)).count(), 2);
        let frame = block::frame_of_block(&whole);
        assert!(frame.head_bytes + frame.tail_bytes <= whole.len());
        let inside = &whole[frame.head_bytes..whole.len() - frame.tail_bytes];
        assert_eq!(inside.trim_end_matches('\n'), body.trim_end_matches('\n'));
    }
    let (last, _) = block::last_lines(&text, 3);
    assert!(text.ends_with(last) && last.lines().count() <= 3);
});

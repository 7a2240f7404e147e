//! Directives: any text is read or pointed at, what is written reads the same, and no text ends its block.
#![no_main]

use heirloom_engine::directives::glob::Glob;
use heirloom_engine::directives::{Directive, Name, block, parse};
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
                    if let Name::Pattern(pattern) = &input.name
                        && let Some(glob) = Glob::new(pattern)
                    {
                        let inside = glob.enter(&glob.start(), "a");
                        assert!(!glob.takes(&inside, "b") || glob.goes_on(&inside));
                    }
                }
            }
            assert_eq!(parse(&written), Ok(read), "{written:?}");
        }
        Err(error) => {
            assert!((1..=text.chars().count().max(1)).contains(&error.column));
            assert_eq!(error.picture.lines().count(), 2, "{}", error.picture);
        }
    }
    if let Some((body, shown)) = block::lines_of(&text, 1, None) {
        assert_eq!(body, text);
        let whole = block::file(&text, shown, body);
        assert!(whole.starts_with("File "));
        let fence = whole.lines().nth(1).unwrap_or_default();
        assert_eq!(whole.lines().filter(|line| line.contains(fence)).count(), 2);
        let frame = block::frame(&whole);
        assert!(frame.above + frame.below <= whole.len());
        let inside = &whole[frame.above..whole.len() - frame.below];
        assert_eq!(inside.trim_end_matches('\n'), body.trim_end_matches('\n'));
    }
    let (last, _) = block::tail(&text, 3);
    assert!(text.ends_with(last) && last.lines().count() <= 3);
});

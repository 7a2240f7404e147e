//! Basic text functions, which every stored and displayed text passes.
#![no_main]

use heirloom_model::{similarity, text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &str)| {
    let (chars_max, input) = (usize::from(input.0), input.1);

    let start = text::clip(input, chars_max);
    assert!(input.starts_with(start) && text::chars(start) <= chars_max);
    let end = text::clip_start(input, chars_max);
    assert!(input.ends_with(end) && text::chars(end) <= chars_max);

    let line = text::one_line(input);
    assert!(!line.contains(['\n', '\r']));
    // An excerpt has at least one character, the ellipsis.
    assert!(text::chars(&text::excerpt(input, chars_max)) <= chars_max.max(1));

    let printable = text::replace_control_chars(input);
    assert!(!printable.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
    assert_eq!(text::replace_control_chars(&printable), printable);

    assert!(!text::strip_ansi(input).contains('\u{1b}'));
    let normal = text::normalize(input);
    assert!(text::chars(&normal) <= text::chars(&input.to_lowercase()));

    let like = similarity::ComparableText::from_text(input);
    assert!(like.is_empty() || like.is_near_duplicate(&like));
    // Surrounding whitespace is ignored.
    assert!(similarity::has_same_words(input, &format!("\t {input}\n")));
});

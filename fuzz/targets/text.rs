//! The small operations on text that every stored and every shown line goes through.
#![no_main]

use heirloom_model::{likeness, text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &str)| {
    let (chars_max, input) = (usize::from(input.0), input.1);

    let start = text::clip(input, chars_max);
    assert!(input.starts_with(start) && text::chars(start) <= chars_max);
    let end = text::clip_start(input, chars_max);
    assert!(input.ends_with(end) && text::chars(end) <= chars_max);

    let line = text::one_line(input);
    assert!(!line.contains(['\n', '\r']));
    // Below one character there is no room for the mark that something is left out.
    assert!(text::chars(&text::excerpt(input, chars_max)) <= chars_max.max(1));

    let printable = text::printable(input);
    assert!(!printable.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
    assert_eq!(text::printable(&printable), printable);

    assert!(!text::strip_ansi(input).contains('\u{1b}'));
    let _ = text::signature(input);
    let normal = text::normal(input);
    assert!(text::chars(&normal) <= text::chars(&input.to_lowercase()));

    let like = likeness::Likeness::of(input);
    assert!(like.words().is_empty() || like.is_near_duplicate(&like));
    // Blanks around it say nothing.
    assert!(likeness::same_words(input, &format!("\t {input}\n")));
});

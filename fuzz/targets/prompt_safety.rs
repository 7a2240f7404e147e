//! Text that goes into a prompt: no mark of an envelope, a host or a template is left, and a second call changes nothing.
#![no_main]

use heirloom_agents::hooks::{without_envelopes, wrap_in_envelope};
use heirloom_model::prompt_safety::{neutralize_document, neutralize_markup};
use heirloom_model::text;
use libfuzzer_sys::fuzz_target;

/// Marks that are in no safe text.
const MARKS: [&str; 8] = [
    "<heirloom-",
    "</heirloom-",
    "</system-reminder>",
    "<|im_start|>",
    "[INST]",
    "<function_calls>",
    "<!--",
    "&lt;/heirloom-memory",
];

fuzz_target!(|input: &str| {
    let safe = neutralize_markup(input);
    assert!(text::chars(&safe) <= text::chars(input));
    assert_eq!(neutralize_markup(&safe), safe);
    assert!(!MARKS.iter().any(|mark| safe.contains(mark)), "{safe:?}");
    assert!(!safe.contains("```"));
    let hidden = |c: char| {
        matches!(
            c,
            '\u{e0000}'..='\u{e0fff}' | '\u{200b}' | '\u{ad}' | '\u{202e}'
        )
    };
    assert!(!safe.contains(hidden));
    let document = neutralize_document(input);
    assert_eq!(neutralize_document(&document), document);
    let wrapped = wrap_in_envelope("p", input, usize::MAX);
    assert_eq!(without_envelopes(&wrapped), "");
});

//! Inbox files and group files: every note is rendered as two lines and found in the file.
#![no_main]

use heirloom_formats::group::{
    ExpectedEntry, GroupEntry, RestorePolicy, has_entry, missing_entries, parse_request,
    render_addition, split_at_headings,
};
use heirloom_model::Timestamp;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let (section, agent, content) = match parse_request(bytes) {
        Ok(ask) => (
            ask.section.unwrap_or_default(),
            ask.agent.unwrap_or_default(),
            ask.content,
        ),
        Err(why) => {
            assert!(!why.is_empty());
            (String::new(), String::new(), text.to_string())
        }
    };
    let block = GroupEntry {
        section: &section,
        agent: &agent,
        at: Timestamp::UNIX_EPOCH,
        content: &content,
    }
    .block();
    assert_eq!(block.lines().count(), 2, "{block:?}");
    assert!(block.starts_with("## ") && block.contains("\n- "));
    let file = format!("{text}{}", render_addition(&text, &[&block]));
    assert!(has_entry(&file, &block), "{file:?}");
    let candidate = ExpectedEntry {
        block,
        restore_policy: RestorePolicy::IfLostAtEnd,
    };
    assert!(missing_entries(&file, &[candidate]).is_empty());
    for (_, part) in split_at_headings(&file) {
        assert!(file.contains(part) && !part.trim().is_empty());
    }
});

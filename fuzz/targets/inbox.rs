//! Files of the inbox and a group's file: whatever stands in them, a note is two lines and is found again.
#![no_main]

use heirloom_engine::group::{
    Candidate, ComesBack, Entry, addition, blocks, is_there, missing, read_ask,
};
use heirloom_model::Timestamp;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let said = String::from_utf8_lossy(bytes);
    let (section, agent, content) = match read_ask(bytes) {
        Ok(ask) => (
            ask.section.unwrap_or_default(),
            ask.agent.unwrap_or_default(),
            ask.content,
        ),
        Err(why) => {
            assert!(!why.is_empty());
            (String::new(), String::new(), said.to_string())
        }
    };
    let block = Entry {
        section: &section,
        agent: &agent,
        at: Timestamp::UNIX_EPOCH,
        content: &content,
    }
    .block();
    assert_eq!(block.lines().count(), 2, "{block:?}");
    assert!(block.starts_with("## ") && block.contains("\n- "));
    let file = format!("{said}{}", addition(&said, &[&block]));
    assert!(is_there(&file, &block), "{file:?}");
    let candidate = Candidate {
        block,
        comes_back: ComesBack::FromTheEnd,
    };
    assert!(missing(&file, &[candidate]).is_empty());
    for (_, part) in blocks(&file) {
        assert!(file.contains(part) && !part.trim().is_empty());
    }
});

//! Histories and outputs of other programs: every parsed value survives rendering and parsing.
#![no_main]

use heirloom_formats::outputs;
use heirloom_formats::session_history;
use heirloom_model::limits::HISTORY_INTERACTIONS_MAX;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(read) = session_history::parse(bytes) {
        assert!(read.interactions.len() <= HISTORY_INTERACTIONS_MAX);
        let again = session_history::render(&read.interactions).to_string();
        let again = session_history::parse(again.as_bytes()).expect("what is written is read");
        assert_eq!(again.interactions, read.interactions);
    }
    if let Ok(read) = outputs::parse(bytes) {
        assert_eq!(outputs::parse(&outputs::render(&read)), Ok(read));
    }
    let id = String::from_utf8_lossy(bytes);
    let name = outputs::file_name(&id);
    assert!(name.len() <= 255 && !name.contains(['/', '\0']) && !name.starts_with('.'));
    assert!(outputs::agent_of_file_name(&name).is_none_or(|back| back == id));
    let name = format!("{id}.json");
    assert!(
        outputs::agent_of_file_name(&name).is_none_or(|agent| outputs::file_name(&agent) == name)
    );
});

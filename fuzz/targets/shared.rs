//! Files of shared context, rules and knowledge graphs: whatever stands in them, what comes out can be kept.
#![no_main]

use heirloom_engine::graph;
use heirloom_engine::shared::{index_line, outline, parse, rules};
use heirloom_engine::working::WorkingMemory;
use heirloom_engine::workspace::{Index, TeamPage, moved_out};
use heirloom_model::limits::{KEY_BYTES_MAX, SHARED_SUMMARY_CHARS_MAX};
use heirloom_model::record::check_name;
use heirloom_model::text;
use libfuzzer_sys::fuzz_target;
use std::collections::HashSet;

fuzz_target!(|bytes: &[u8]| {
    let page = String::from_utf8_lossy(bytes);
    let lines = page.lines().count() as u64;
    let mut seen = HashSet::new();
    for entry in parse(&page).entries {
        assert!(!entry.text.trim().is_empty());
        assert!(check_name("category", &entry.category).is_ok());
        assert!((1..=lines).contains(&entry.line));
        if let Some(key) = entry.key {
            assert!(!key.is_empty() && key.len() <= KEY_BYTES_MAX);
            assert!(seen.insert((entry.category, key)), "told twice");
        }
    }
    for about in [None, Some("log")] {
        for entry in rules(&page, about).entries {
            assert!(!entry.text.trim().is_empty() && entry.key.is_none());
            assert!(check_name("category", &entry.category).is_ok());
            assert!((1..=lines).contains(&entry.line));
        }
    }
    for said in graph::parse(bytes).statements {
        assert!(!said.text.trim().is_empty());
        assert!(said.category.is_empty() || check_name("category", &said.category).is_ok());
    }
    for item in outline(&page) {
        assert!(!item.text.trim().is_empty() && (1..=lines).contains(&item.line));
    }
    // The files of a team are read by lines; what is read is written and read again.
    let team = TeamPage::parse(&page);
    for entry in team.entries.iter().filter(|entry| entry.id.is_some()) {
        let again = TeamPage::parse(&entry.render()).entries;
        assert_eq!(again.len(), 1);
        assert_eq!((&again[0].text, &again[0].key), (&entry.text, &entry.key));
    }
    if let Some((kept, moved)) = moved_out(&page, page.len() / 2) {
        assert!(kept.len() + moved.len() >= page.len());
    }
    drop(Index::parse(&page));
    let line = index_line("a.md", &page);
    assert!(text::is_one_line(&line.summary));
    assert!(text::chars(&line.summary) <= SHARED_SUMMARY_CHARS_MAX);
    // A snapshot of a working memory is foreign bytes as well: what is restored is written and restored again.
    if let Ok(memory) = WorkingMemory::restore(bytes) {
        let snapshot = memory.snapshot().expect("what fits is written");
        assert_eq!(WorkingMemory::restore(&snapshot), Ok(memory));
    }
});

//! Parsers of shared context files, rules and knowledge graphs: every result is a valid record.
#![no_main]

use heirloom_engine::working_memory::WorkingMemory;
use heirloom_formats::knowledge_graph;
use heirloom_formats::shared_context::{index_line, outline, parse, parse_rules};
use heirloom_formats::workspace::{TeamFile, WorkspaceIndex, split_oldest_entries};
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
            assert!(seen.insert((entry.category, key)), "duplicate key");
        }
    }
    for about in [None, Some("log")] {
        for entry in parse_rules(&page, about).entries {
            assert!(!entry.text.trim().is_empty() && entry.key.is_none());
            assert!(check_name("category", &entry.category).is_ok());
            assert!((1..=lines).contains(&entry.line));
        }
    }
    for statement in knowledge_graph::parse(bytes).statements {
        assert!(!statement.text.trim().is_empty());
        assert!(
            statement.category.is_empty() || check_name("category", &statement.category).is_ok()
        );
    }
    for item in outline(&page) {
        assert!(!item.text.trim().is_empty() && (1..=lines).contains(&item.line));
    }
    // Team files are parsed by line; parsed entries survive a round trip.
    let team = TeamFile::parse(&page);
    for entry in team.entries.iter().filter(|entry| entry.id.is_some()) {
        let again = TeamFile::parse(&entry.render()).entries;
        assert_eq!(again.len(), 1);
        assert_eq!((&again[0].text, &again[0].key), (&entry.text, &entry.key));
    }
    if let Some((kept, moved)) = split_oldest_entries(&page, page.len() / 2) {
        assert!(kept.len() + moved.len() >= page.len());
    }
    drop(WorkspaceIndex::parse(&page));
    let line = index_line("a.md", &page);
    assert!(text::is_one_line(&line.summary));
    assert!(text::chars(&line.summary) <= SHARED_SUMMARY_CHARS_MAX);
    // Snapshots of working memory are untrusted input too; a restored snapshot survives a round trip.
    if let Ok(memory) = WorkingMemory::restore(bytes) {
        let snapshot = memory.snapshot().expect("what fits is written");
        assert_eq!(WorkingMemory::restore(&snapshot), Ok(memory));
    }
});

//! Parsers of other programs' memories: every entry and turn is one that an import can store. The first byte selects
//! the parser.
#![no_main]

use heirloom_formats::external_memory::{
    ImportedMemory, Mem0Memories, MemoryPage, PageRules, imported_paths, parse_chat_gpt,
    parse_claude_ai, parse_memories, parse_note, parse_page, parse_projects,
};
use heirloom_formats::shared_context::parse_rules;
use heirloom_model::foreign_table::{ForeignTable, ForeignValue};
use heirloom_model::record::check_name;
use libfuzzer_sys::fuzz_target;

fn check_memory(memory: &ImportedMemory) {
    for entry in &memory.entries {
        assert!(!entry.id.is_empty());
        assert!(!entry.text.trim().is_empty(), "{entry:?}");
        let category = &entry.category;
        assert!(
            category.is_empty() || check_name("category", category).is_ok(),
            "{entry:?}"
        );
        if let Some(parts) = &entry.relation {
            assert!(parts.iter().all(|part| !part.trim().is_empty()));
        }
    }
    for conversation in &memory.conversations {
        assert!(!conversation.id.is_empty() && !conversation.agent.is_empty());
        for turn in &conversation.turns {
            assert!(!turn.text.trim().is_empty());
        }
    }
    assert!(memory.omissions.iter().all(|(_, count)| count > 0));
}

/// Checks a page of rules: an entry, or rules with the line numbers of the file.
fn check_page(text: &str, category: &'static str) {
    let page = MemoryPage {
        path: "folder/page.md",
        text,
        category,
    };
    match parse_page(page) {
        PageRules::Entry(entry) => check_memory(&ImportedMemory {
            entries: vec![*entry],
            ..ImportedMemory::default()
        }),
        PageRules::Rules(rules, origin) => {
            let lines = text.lines().count() as u64;
            for entry in parse_rules(&rules, Some(category)).entries {
                assert!((1..=lines).contains(&entry.line));
            }
            drop(PageRules::rule_fields(&origin));
        }
        PageRules::Empty => {}
    }
    for path in imported_paths(text) {
        assert!(!path.is_empty() && !path.contains(char::is_whitespace));
    }
}

/// Reads a point of Qdrant's local store, a pickled object.
fn check_point(bytes: &[u8]) {
    let mut memories = Mem0Memories::default();
    let points = ForeignTable {
        columns: vec!["point".to_owned()],
        rows: vec![vec![ForeignValue::Blob(bytes.to_owned())]],
    };
    memories.add_points("memories", &points);
    check_memory(&memories.finish());
}

fuzz_target!(|bytes: &[u8]| {
    let Some((selector, rest)) = bytes.split_first() else {
        return;
    };
    let text = String::from_utf8_lossy(rest);
    match selector {
        b'0' => {
            let mut memories = Mem0Memories::default();
            if memories.add_json(rest).is_ok() {
                check_memory(&memories.finish());
            }
        }
        b'1' => drop(parse_chat_gpt(rest).map(|memory| check_memory(&memory))),
        b'2' => drop(parse_claude_ai(rest).map(|memory| check_memory(&memory))),
        b'3' => drop(parse_memories(rest).map(|memory| check_memory(&memory))),
        b'4' => drop(parse_projects(rest).map(|memory| check_memory(&memory))),
        b'5' => check_memory(&parse_note("folder/note.md", &text)),
        b'6' => check_page(&text, "convention"),
        b'7' => check_page(&text, "memory"),
        _ => check_point(rest),
    }
});

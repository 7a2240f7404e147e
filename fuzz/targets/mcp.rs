//! Addresses that clients of MCP name, and graphs that another server kept: what is read is written back the same.
#![no_main]

use heirloom::readers::{Address, folder_of};
use heirloom_engine::graph::{Fact, GRAPH, KEY_PREFIX, KnowledgeGraph, parse};
use heirloom_model::record::Attrs;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let said = String::from_utf8_lossy(bytes);
    for line in said.lines() {
        if let Some(folder) = folder_of(line) {
            assert!(folder.is_absolute(), "{line}");
        }
        if let Some(address) = Address::read(line) {
            let written = address.write();
            assert!(written.is_ascii() && !written.contains(' '), "{written}");
            assert_eq!(Address::read(&written), Some(address), "{written}");
        }
    }
    let graph = parse(bytes);
    let facts = graph.statements.into_iter().map(|one| one.fact);
    let facts: Vec<_> = facts.collect();
    for fact in &facts {
        let attrs = Attrs::from_iter([(GRAPH.to_owned(), fact.value())]);
        assert_eq!(Fact::of(&attrs).as_ref(), Some(fact));
        assert!(fact.key().starts_with(KEY_PREFIX));
        assert!(!fact.words().trim().is_empty() && !fact.category().is_empty());
    }
    let many = facts.len();
    let whole = KnowledgeGraph::of(facts);
    assert!(whole.entities.len() + whole.relations.len() <= many);
    let found = whole.clone().search("");
    assert_eq!(found.entities, whole.entities);
});

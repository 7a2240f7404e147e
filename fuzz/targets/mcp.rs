//! MCP resource URIs, root folders and knowledge graphs of the reference server: parsed values survive a round trip.
#![no_main]

use heirloom::fuzz_entry_points::{ResourceAddress, folder_from_uri};
use heirloom_formats::knowledge_graph::{Fact, GRAPH_ATTR, KEY_PREFIX, KnowledgeGraph, parse};
use heirloom_model::record::Attrs;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    for line in text.lines() {
        if let Some(folder) = folder_from_uri(line) {
            assert!(folder.is_absolute(), "{line}");
        }
        if let Some(address) = ResourceAddress::parse(line) {
            let written = address.to_uri();
            assert!(written.is_ascii() && !written.contains(' '), "{written}");
            assert_eq!(ResourceAddress::parse(&written), Some(address), "{written}");
        }
    }
    let graph = parse(bytes);
    let facts = graph.statements.into_iter().map(|one| one.fact);
    let facts: Vec<_> = facts.collect();
    for fact in &facts {
        let attrs = Attrs::from_iter([(GRAPH_ATTR.to_owned(), fact.to_value())]);
        assert_eq!(Fact::from_attrs(&attrs).as_ref(), Some(fact));
        assert!(fact.key().starts_with(KEY_PREFIX));
        assert!(!fact.to_text().trim().is_empty() && !fact.category().is_empty());
    }
    let many = facts.len();
    let whole = KnowledgeGraph::from_facts(facts);
    assert!(whole.entities.len() + whole.relations.len() <= many);
    let found = whole.clone().search("");
    assert_eq!(found.entities, whole.entities);
});

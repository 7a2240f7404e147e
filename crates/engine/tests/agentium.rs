//! Tests of the `memory:` section of an `.agentium.yaml`: values and diagnostics.

use heirloom_formats::agentium::{AgentiumMemory, parse};
use proptest::prelude::*;

#[track_caller]
fn check(yaml: &str, expect: Option<&AgentiumMemory>, diagnostics: &[&str]) {
    let config = parse(yaml).unwrap_or_default();
    assert_eq!(config.memory.as_ref(), expect);
    assert_eq!(config.diagnostics, diagnostics);
}

#[track_caller]
fn assert_rejected(yaml: &str, line: usize, words: &str) {
    let error = parse(yaml)
        .err()
        .map(|error| (error.line, error.to_string()));
    assert!(
        matches!(&error, Some((at, message)) if *at == line && message.contains(words)),
        "{error:?}"
    );
}

#[test]
fn parse_reads_section_among_others() {
    let yaml = "\
project: { name: demo, repository: github.com/o/r }
memory:
  enabled: true
  file_path: .agentium/memory.json
  max_entries: 100
  context_budget: 4000
session: { max_iterations: 10 }
";
    let memory = AgentiumMemory {
        enabled: Some(true),
        file_path: Some(".agentium/memory.json".to_owned()),
        max_entries: Some(100),
        context_budget: Some(4_000),
    };
    check(yaml, Some(&memory), &[]);
    check(&format!("\u{feff}{yaml}"), Some(&memory), &[]);
}

#[test]
fn parse_without_section_is_empty() {
    check("", None, &[]);
    check("# only a comment\n", None, &[]);
    check("project: x\n", None, &[]);
    check("memory:\n", Some(&AgentiumMemory::default()), &[]);
    let empty = "memory: { enabled: ~, file_path: '', max_entries: 0, context_budget: -1 }\n";
    check(empty, Some(&AgentiumMemory::default()), &[]);
}

#[test]
fn parse_invalid_values_are_reported_others_kept() {
    let yaml = "\
memory:
  enabled: yes please
  file_path: [a]
  max_entries: 2.5
  context_budget: 99000000000
  max_entrys: 3
";
    check(
        yaml,
        Some(&AgentiumMemory::default()),
        &[
            "memory.enabled: expected true or false, found text; skipped",
            "memory.file_path: expected a path, found a list; skipped",
            "memory.max_entries: expected a whole number, found another number; skipped",
            "memory.context_budget: at most 10000000 is allowed; skipped",
            "memory.max_entrys: is not known; skipped",
        ],
    );
    let quoted = AgentiumMemory {
        enabled: Some(false),
        max_entries: Some(7),
        ..AgentiumMemory::default()
    };
    check(
        "memory: { enabled: 'False', max_entries: '7' }",
        Some(&quoted),
        &[],
    );
    check(
        "memory: on\n",
        None,
        &["memory: expected a mapping, found text; skipped"],
    );
}

#[test]
fn parse_non_mapping_is_rejected_with_position() {
    assert_rejected("- a\n- b\n", 1, "expected a mapping, found a list");
    assert_rejected("memory:\n  enabled: true\n bad: [\n", 3, "column");
    assert_rejected("memory: {}\nmemory: {}\n", 1, "duplicate");
}

#[test]
fn parse_deep_or_repeated_nesting_is_rejected() {
    assert!(parse(&"[".repeat(100_000)).is_err());
    let mut bomb = "a0: &a0 [x]\n".to_owned();
    for i in 1..30 {
        let last = i - 1;
        bomb.push_str(&format!(
            "a{i}: &a{i} [*a{last}, *a{last}, *a{last}, *a{last}]\n"
        ));
    }
    assert!(parse(&bomb).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parse_any_text_does_not_panic(text in any::<String>(), value in "[-a-z0-9:{}\\[\\]&*!'\" \n]{0,40}") {
        let _ = parse(&text);
        let _ = parse(&format!("memory:\n  enabled: {value}\n  max_entries: {text}\n"));
    }
}

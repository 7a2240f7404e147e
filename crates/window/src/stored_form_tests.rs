//! Stored forms of this crate, compared with golden files: the state of a window, and policies.

use crate::cache_pricing::{CacheMatch, CachePricing};
use crate::compaction_policy::{Policy, Profile, ToolRule};
use crate::policy_keys::PolicyKeys;
use crate::window_state::WindowState;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn tools() -> BTreeMap<String, ToolRule> {
    let rule = ToolRule {
        max_length: Some(1_000),
        preview_length: Some(500),
        critical: Some(true),
    };
    [("db_*".to_owned(), rule)].into()
}

fn names(name: &str) -> Vec<String> {
    vec![name.to_owned()]
}

#[test]
fn window_state_matches_golden_file() {
    let golden: Value = serde_json::from_str(include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/stored_forms/state.json"
    )))
    .unwrap();
    let mut state = WindowState::default();
    state
        .summaries
        .insert("sum-1".to_owned(), "The login page is done.".to_owned());
    state.expanded.insert("out-1".to_owned(), 30);
    assert_eq!(serde_json::to_value(&state).unwrap(), golden);
    let read: WindowState = serde_json::from_value(golden.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), golden);
}

#[test]
fn policy_matches_golden_file() {
    let golden: Value = serde_json::from_str(include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/stored_forms/policy.json"
    )))
    .unwrap();
    let policy = Policy {
        read_tools: names("Read"),
        read_max_length: 1,
        read_preview_length: 2,
        critical_tools: names("db_query"),
        critical_max_length: 3,
        critical_preview_length: 4,
        max_output_length: 5,
        preview_length: 6,
        stale_threshold: 7,
        summary_threshold: 8,
        messages_to_keep: 9,
        task_anchor_interval: 10,
        fallback_tokens: 11,
        fallback_messages: 12,
        step_min_tokens: 13,
        expected_turns: 14,
        cache_match: CacheMatch::Exact,
        cache_write_mils: 15,
        cache_read_mils: 16,
        cache_lifetime_s: 17,
        prices: vec![CachePricing {
            pattern: "claude-*".to_owned(),
            cache_write_mils: 18,
            cache_read_mils: 19,
            cache_lifetime_s: 20,
            cache_match: CacheMatch::Prefix,
        }],
        tools: tools(),
    };
    assert_eq!(serde_json::to_value(&policy).unwrap(), golden);
    assert_eq!(serde_json::from_value::<Policy>(golden).unwrap(), policy);
}

#[test]
fn policy_keys_match_golden_file() {
    let golden: Value = serde_json::from_str(include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/stored_forms/policy_keys.json"
    )))
    .unwrap();
    let keys = PolicyKeys {
        profile: Some(Profile::Large),
        read_tools: Some(names("Read")),
        read_max_length: Some(1),
        read_preview_length: Some(2),
        critical_tools: Some(names("db_query")),
        critical_max_length: Some(3),
        critical_preview_length: Some(4),
        max_output_length: Some(5),
        preview_length: Some(6),
        stale_threshold: Some(7),
        summary_threshold: Some(8),
        messages_to_keep: Some(9),
        task_anchor_interval: Some(10),
        fallback_tokens: Some(11),
        fallback_messages: Some(12),
        step_min_tokens: Some(13),
        expected_turns: Some(14),
        cache_match: Some(CacheMatch::Exact),
        cache_write: Some(1.25),
        cache_read: Some(0.5),
        cache_lifetime_s: Some(17),
        prices: Some(names("claude-* 1.25 0.1 300 prefix")),
        tools: Some(tools()),
    };
    assert_eq!(serde_json::to_value(&keys).unwrap(), golden);
    assert_eq!(serde_json::from_value::<PolicyKeys>(golden).unwrap(), keys);
}

#[test]
fn profiles_have_fixed_words() {
    let words = [Profile::Default, Profile::Large, Profile::Seed];
    let words = serde_json::to_value(words).unwrap();
    assert_eq!(words, json!(["default", "large", "seed"]));
}

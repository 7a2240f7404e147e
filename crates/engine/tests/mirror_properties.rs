//! Properties of every mirror and of any file in its place.

use heirloom_formats::mirror::{
    MirrorDecision, MirrorErrorItem, MirrorFile, MirrorTask, PrNumber, parse, to_json,
};
use heirloom_model::Timestamp;
use heirloom_model::record::Attrs;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::Value;

fn any_texts() -> impl Strategy<Value = Vec<String>> {
    vec(any::<String>(), 0..4)
}

/// Fields of another writer; our names never begin with `x_`.
fn any_extra() -> impl Strategy<Value = Attrs> {
    let value = prop_oneof![
        any::<String>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        any_texts().prop_map(Value::from),
        Just(Value::Null),
    ];
    btree_map("x_[a-z]{0,3}", value, 0..3).prop_map(|map| map.into_iter().collect())
}

fn any_pr() -> impl Strategy<Value = PrNumber> {
    prop_oneof![
        (1..u64::MAX).prop_map(PrNumber::Number),
        "#?[0-9a-z]{1,8}".prop_map(PrNumber::Text),
    ]
}

fn any_task() -> impl Strategy<Value = MirrorTask> {
    let words = (any::<[String; 4]>(), "\\PC{1,8}", option::of(any_pr()));
    let lists = (any_texts(), any_texts(), any_texts(), any_extra());
    (words, lists).prop_map(
        |(
            ([task_type, phase, branch, blocked_reason], id, pr_number),
            (completed_steps, pending_steps, files_modified, extra),
        )| MirrorTask {
            id,
            task_type,
            phase,
            branch,
            pr_number,
            completed_steps,
            pending_steps,
            blocked_reason,
            files_modified,
            extra,
        },
    )
}

fn any_decision() -> impl Strategy<Value = MirrorDecision> {
    (any::<u32>(), any::<[String; 3]>(), any_extra()).prop_map(
        |(iteration, [task_id, description, rationale], extra)| MirrorDecision {
            iteration,
            task_id,
            description,
            rationale,
            extra,
        },
    )
}

fn any_error() -> impl Strategy<Value = MirrorErrorItem> {
    (
        any::<u32>(),
        any::<[String; 4]>(),
        any::<bool>(),
        any_extra(),
    )
        .prop_map(
            |(iteration, [task_id, phase, error, resolution], resolved, extra)| MirrorErrorItem {
                iteration,
                task_id,
                phase,
                error,
                resolution,
                resolved,
                extra,
            },
        )
}

fn any_time() -> impl Strategy<Value = String> {
    let time = (0..4_000_000_000_i64, 0..1_000_000_000_i32)
        .prop_filter_map("a time", |(second, nano)| Timestamp::new(second, nano).ok());
    prop_oneof![Just(String::new()), time.prop_map(|time| time.to_string())]
}

fn any_mirror() -> impl Strategy<Value = MirrorFile> {
    let words = (any::<[String; 2]>(), any::<u32>(), any_time(), any_extra());
    let lists = (
        btree_map(any::<String>(), any_task(), 0..4),
        vec(any_decision(), 0..4),
        vec(any_error(), 0..4),
        any_texts(),
    );
    (words, lists).prop_map(
        |(
            ([session_id, repository], iteration, last_checkpoint, extra),
            (tasks, decisions, errors, key_facts),
        )| MirrorFile {
            session_id,
            repository,
            iteration,
            tasks,
            decisions,
            errors,
            key_facts,
            last_checkpoint,
            extra,
        },
    )
}

/// JSON with the mirror's names and any values.
fn any_json() -> impl Strategy<Value = Value> {
    let names = "session_id|iteration|tasks|decisions|errors|key_facts|entries|version|type|content|\
        last_checkpoint|id|pr_number|completed_steps|resolved|error|task_id|timestamp";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        // serde_json does not preserve the last digit of a long fraction.
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 2.0)),
        any::<String>().prop_map(Value::from),
        "(KEY_FACT|STEP_DONE|DECISION|issue:1)".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            btree_map(names, inner, 0..6).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mirror_any_value_round_trips(file in any_mirror()) {
        let bytes = to_json(&file);
        prop_assert_eq!(&to_json(&file), &bytes);
        let parsed = parse(&bytes);
        prop_assert!(parsed.is_ok(), "{parsed:?}");
        if let Ok(parsed) = parsed {
            prop_assert_eq!(&parsed.diagnostics, &[]);
            prop_assert_eq!(&parsed.file, &file);
        }
    }

    #[test]
    fn mirror_any_object_reads_and_round_trips(json in any_json()) {
        let parsed = parse(json.to_string().as_bytes());
        prop_assert_eq!(parsed.is_ok(), json.is_object());
        if let Ok(parsed) = parsed {
            let again = parse(&to_json(&parsed.file));
            prop_assert_eq!(again.map(|again| again.file), Ok(parsed.file));
        }
    }

    #[test]
    fn mirror_any_bytes_do_not_panic(bytes in vec(any::<u8>(), 0..200), at in 0..600_usize, byte in any::<u8>()) {
        let _ = parse(&bytes);
        let mut session = include_bytes!("mirror/session.json").to_vec();
        if let Some(place) = session.get_mut(at) {
            *place = byte;
        }
        let _ = parse(&session);
    }

    #[test]
    fn mirror_lone_surrogates_are_repaired(codes in vec("\\\\\\\\(ud8[0-9a-f]{2}|udC0[0-9A-F]|u0041|\\\\\\\\|n)", 0..8)) {
        let json = format!("{{\"key_facts\":[\"{}\"]}}", codes.concat());
        prop_assert!(parse(json.as_bytes()).is_ok(), "{json}");
    }
}

//! Conflicts between sources, for the checks of decisions and resolutions.

use super::test_project::{BY, TestProject, answer, at, put};
use crate::{AppliedChange, AsOf, Change, Filter, Verdict};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Confidence, ConflictPolicy, KindData, MergeRule, Record, RecordId};

/// Creates a fact with the key `k` from this source, with the confidence of the source.
pub(super) fn knowledge_from(w: &TestProject<'_>, source: &str, text: &str, second: i64) -> Record {
    Record {
        source: source.to_owned(),
        confidence: Confidence::of_source(source),
        ..w.fact("k", text, second)
    }
}

/// Writes a record under this policy.
pub(super) fn put_with_policy(
    w: &TestProject<'_>,
    record: &Record,
    policy: ConflictPolicy,
) -> AppliedChange {
    w.change(put(record, MergeRule::Knowledge(policy)))
}

/// Resolves a conflict in favour of `keep`.
pub(super) fn resolve(keep: RecordId, second: i64) -> Change {
    Change::ResolveConflict {
        keep,
        at: at(second),
        by: BY.to_owned(),
    }
}

/// Reverts the resolution in favour of `id`.
pub(super) fn reopen(id: RecordId, second: i64) -> Change {
    Change::ReopenConflict {
        id,
        at: at(second),
        by: BY.to_owned(),
    }
}

/// Reads the attributes of a record.
pub(super) fn knowledge(w: &TestProject<'_>, id: RecordId) -> Knowledge {
    match Knowledge::from_record(&w.get(id)) {
        Ok(knowledge) => knowledge,
        Err(error) => panic!("{error}"),
    }
}

/// Selects open conflicts.
pub(super) fn open_conflict_filter() -> Filter {
    Filter {
        as_of: AsOf::Ever,
        open_conflict: true,
        ..Filter::current(&[], at(0)).oldest_first()
    }
}

/// Creates a conflict: `user` has the current value, two agents have lost.
pub(super) fn lost_conflicts<'a>(w: &TestProject<'a>) -> [Record; 3] {
    let first = knowledge_from(w, "user", "port 80", 1);
    w.created(&first);
    let others = [
        knowledge_from(w, "bob", "port 81", 2),
        knowledge_from(w, "eve", "port 82", 3),
    ];
    for other in &others {
        assert_eq!(
            w.put(other),
            answer(other.id, Verdict::Conflict, Some(first.id))
        );
    }
    let [bob, eve] = others;
    [first, bob, eve]
}

/// Creates a fact as [`knowledge_from`] does, with full confidence.
pub(super) fn confident_knowledge(
    w: &TestProject<'_>,
    source: &str,
    text: &str,
    second: i64,
) -> Record {
    Record {
        confidence: Confidence::FULL,
        ..knowledge_from(w, source, text, second)
    }
}

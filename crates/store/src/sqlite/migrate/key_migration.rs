//! Migration of the keys that are derived from the text of knowledge.

use crate::sql::failure::Failure;
use heirloom_model::{Kind, kinds::Knowledge, text};
use rusqlite::{Connection, params};

/// First schema version with the present form of [`Knowledge::derive_key`].
pub(super) const KEYED_FROM: u32 = 3;

/// Replaces every key that an older version derived from its text by the present one.
///
/// If another current record already has the new key, the record keeps its old one: the two are duplicates, and a
/// review lists them. Retired records are changed too, so that a chain has one key from end to end. Current records
/// are changed first, the newest first, so that the latest one is confirmed by the next write.
pub(super) fn rekey(connection: &Connection) -> Result<(), Failure> {
    let mut update =
        connection.prepare("UPDATE OR IGNORE records SET key = ?2 WHERE rowid = ?1")?;
    for (rowid, key) in outdated_keys(connection)? {
        update.execute(params![rowid, key])?;
    }
    Ok(())
}

/// Returns the rows with an outdated key, each with its new key.
fn outdated_keys(connection: &Connection) -> Result<Vec<(i64, String)>, Failure> {
    let sql = "SELECT rowid, key, text FROM records WHERE kind = ?1 AND length(key) = 16 \
         ORDER BY retired_at IS NOT NULL, id DESC";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([Kind::Knowledge.as_str()])?;
    let mut outdated = Vec::new();
    while let Some(row) = rows.next()? {
        let (key, text) = (row.get_ref(1)?, row.get_ref(2)?);
        let (Ok(key), Ok(text)) = (key.as_str(), text.as_str()) else {
            continue;
        };
        let today = Knowledge::derive_key(text);
        if key != today && key == old_key(text) {
            outdated.push((row.get(0)?, today));
        }
    }
    Ok(outdated)
}

/// Derives the key as versions before [`KEYED_FROM`] did.
fn old_key(text: &str) -> String {
    text::hash16(&text::normalize(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::open;
    use crate::sqlite::schema_version::MIGRATIONS;
    use crate::{Change, ProgressSink, SqliteStore, Store, Verdict};
    use heirloom_model::{
        Confidence, ConflictPolicy, IdSource, KindData, MergeRule, ProjectName, Record, Scope,
        Timestamp,
    };
    use std::path::{Path, PathBuf};

    /// Row of an older version: its text, its explicit key, and true if it is retired.
    type Row<'t> = (&'t str, Option<&'t str>, bool);

    fn old(folder: &Path, rows: &[Row<'_>]) -> PathBuf {
        let path = folder.join("heirloom.db");
        let known = &MIGRATIONS[..2];
        let connection = open::create(&path, known).unwrap().connection;
        let project = "INSERT INTO projects VALUES (1, 'p', 0)";
        connection.execute(project, []).unwrap();
        for (n, (text, key, is_retired)) in (1_u8..).zip(rows) {
            let key = key.map_or_else(|| old_key(text), str::to_owned);
            let sql = "INSERT INTO records (project, id, kind, key, text, attrs, source, confidence, tokens, \
                 recorded_at, retired_at) VALUES (1, ?1, 'knowledge', ?2, ?3, '{\"category\":\"fact\"}', 'user', 1.0, 1, ?4, ?5)";
            let retired = is_retired.then_some(1_777_629_700_000_000_i64);
            let values = params![[n; 16], key, text, 1_777_629_600_000_000_i64, retired];
            connection.execute(sql, values).unwrap();
        }
        path
    }

    /// Returns the key of each row, or `new` if it is the derived one.
    fn keys(store: &SqliteStore) -> Vec<String> {
        let connection = store.lock();
        let sql = "SELECT key, text FROM records ORDER BY id";
        let mut statement = connection.prepare(sql).unwrap();
        let keys = statement.query_map([], |row| {
            let (key, text): (String, String) = (row.get(0)?, row.get(1)?);
            Ok(if key == Knowledge::derive_key(&text) {
                "new".to_owned()
            } else if key == old_key(&text) {
                "old".to_owned()
            } else {
                key
            })
        });
        keys.unwrap().collect::<Result<_, _>>().unwrap()
    }

    fn say(store: &SqliteStore, text: &str) -> Verdict {
        let project = ProjectName::new("p").unwrap();
        let at = Timestamp::from_second(1_777_640_000).unwrap();
        let record = Record {
            project: project.clone(),
            id: IdSource::default().next(at),
            kind: Kind::Knowledge,
            key: Some(Knowledge::derive_key(text)),
            text: text.to_owned(),
            attrs: Knowledge::with_category("fact").to_attrs(),
            scope: Scope::default(),
            source: "user".to_owned(),
            confidence: Confidence::FULL,
            tokens: 1,
            recorded_at: at,
            true_from: None,
            true_to: None,
            retired_at: None,
            replaced_by: None,
            expires_at: None,
        };
        let change = Change::Put {
            record: Box::new(record),
            merge: MergeRule::Knowledge(ConflictPolicy::Newest),
        };
        store.apply(&project, &[change]).unwrap()[0].verdict
    }

    #[test]
    fn migrated_key_is_confirmed_by_same_text() {
        let folder = tempfile::tempdir().unwrap();
        let rows: [Row<'_>; 5] = [
            ("Use \"tabs\", not spaces", None, false),
            ("Use \"tabs\", not spaces", None, true),
            ("call parseUrl first", None, false),
            ("(said with a key)", Some("mine"), false),
            ("(said with a long key)", Some("0123456789abcdef"), false),
        ];
        let path = old(folder.path(), &rows);
        let store = SqliteStore::open_with_progress(&path, &ProgressSink::silent()).unwrap();
        assert_eq!(
            keys(&store),
            ["new", "new", "new", "mine", "0123456789abcdef"]
        );
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
        assert_eq!(say(&store, "use tabs, not spaces!"), Verdict::Confirmed);
        assert_eq!(say(&store, "Call parseUrl first."), Verdict::Confirmed);
        assert_eq!(say(&store, "call parseurl first"), Verdict::Created);
    }

    #[test]
    fn key_collision_goes_to_newest_record() {
        let folder = tempfile::tempdir().unwrap();
        let rows: [Row<'_>; 3] = [
            ("use 'tabs' here", None, false),
            ("use (tabs) here", None, false),
            ("use (tabs) here!", None, true),
        ];
        let path = old(folder.path(), &rows);
        let store = SqliteStore::open(&path).unwrap();
        assert_eq!(keys(&store), ["old", "new", "new"]);
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
        assert_eq!(say(&store, "use tabs here"), Verdict::Confirmed);
    }

    #[test]
    fn rekey_runs_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = old(folder.path(), &[("use 'tabs' here", None, false)]);
        drop(SqliteStore::open(&path).unwrap());
        let store = SqliteStore::open(&path).unwrap();
        let back = "UPDATE records SET key = ?1";
        let key = old_key("use 'tabs' here");
        store.lock().execute(back, [&key]).unwrap();
        drop(store);
        assert_eq!(keys(&SqliteStore::open(&path).unwrap()), ["old"]);
    }
}

//! Constraint repair of a salvaged database: every reference has a target, and at most one record is current for an
//! identity.

use super::SalvageReport;
use super::invalid_rows;
use super::row_names::{id_sql, quoted};
use super::schema_layout::{Column, SchemaLayout};
use super::skipped_rows::{SkippedRow, SkippedRows};
use crate::sql::failure::Failure;
use heirloom_model::ProjectName;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::{BTreeMap, BTreeSet};

/// Index that allows one current record for an identity.
const IDENTITY: &str = "records_by_identity";
/// Maximum number of rounds of removing rows whose target was removed: more than any chain of tables.
const ROUNDS_MAX: usize = 20;

/// Drops the unique index of identities, so that no row is refused because of it; returns the statement that creates
/// it again.
pub(super) fn drop_identity_index(connection: &Connection) -> Result<String, Failure> {
    let sql = "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?1";
    let made: Option<String> =
        (connection.query_row(sql, [IDENTITY], |row| row.get(0))).optional()?;
    let Some(made) = made else {
        return Ok(String::new());
    };
    connection.execute_batch(&format!("DROP INDEX {IDENTITY}"))?;
    Ok(made)
}

/// Repairs references and identities. The caller recreates the identity index.
pub(super) fn repair_constraints(
    connection: &Connection,
    layout: &SchemaLayout,
    names: &BTreeMap<i64, String>,
    hint: Option<&ProjectName>,
    salvaged: &mut SalvageReport,
    skipped: &mut SkippedRows,
) -> Result<(), Failure> {
    // An unretired record cannot have a successor: the reference is dropped, the record kept.
    connection.execute_batch("UPDATE records SET replaced_by = NULL WHERE retired_at IS NULL AND replaced_by IS NOT NULL",
    )?;
    if let Some((shape, _)) = layout.table("records") {
        invalid_rows::remove_unsound_records(connection, shape, skipped)?;
    }
    name_projects(connection, layout, names, hint, salvaged)?;
    salvaged.retired = retire_older(connection)?;
    salvaged.sessions_recreated = recreate_sessions(connection)?;
    repair_after_removal(connection, layout, skipped)
}

/// Repairs references after rows were removed.
pub(super) fn repair_after_removal(
    connection: &Connection,
    layout: &SchemaLayout,
    skipped: &mut SkippedRows,
) -> Result<(), Failure> {
    close_gaps(connection)?;
    remove_dangling_rows(connection, layout, skipped)
}

/// Returns those of the rows that were not salvaged from another place.
pub(super) fn missing_rows(
    connection: &Connection,
    rows: Vec<SkippedRow>,
) -> Result<Vec<SkippedRow>, Failure> {
    let mut missing = Vec::new();
    for row in rows {
        let sql = match row.table.as_str() {
            "records" => "SELECT count(*) FROM records WHERE id = unhex(?1, '-')",
            "messages" => "SELECT count(*) FROM messages WHERE id = unhex(?1, '-')",
            "sessions" => "SELECT count(*) FROM sessions WHERE id = ?1",
            _ => "SELECT 0 WHERE ?1 IS NOT NULL",
        };
        let found: u64 = connection
            .prepare_cached(sql)?
            .query_row([&row.id], |row| row.get(0))?;
        if found == 0 {
            missing.push(row);
        }
    }
    Ok(missing)
}

/// Names every project that rows belong to: by an index, else by the hint if it is unused and only one project lacks
/// a name, else `recovered-N`.
fn name_projects(
    connection: &Connection,
    layout: &SchemaLayout,
    names: &BTreeMap<i64, String>,
    hint: Option<&ProjectName>,
    salvaged: &mut SalvageReport,
) -> Result<(), Failure> {
    let named = "INSERT OR IGNORE INTO projects (id, name, created_at) VALUES (?1, ?2, ?3)";
    for (number, name) in names {
        connection.execute(
            named,
            params![number, name, first_time(connection, *number)?],
        )?;
    }
    let mut nameless = BTreeSet::new();
    for shape in layout.tables.iter().chain(&layout.keyed) {
        if !shape.columns.iter().any(is_project) {
            continue;
        }
        let sql = format!(
            "SELECT DISTINCT project FROM {} WHERE project NOT IN (SELECT id FROM projects)",
            quoted(&shape.table)
        );
        let mut statement = connection.prepare(&sql)?;
        for number in statement.query_map([], |row| row.get::<_, i64>(0))? {
            nameless.insert(number?);
        }
    }
    let hint = hint.filter(|_| nameless.len() == 1);
    for number in nameless {
        let created_at = first_time(connection, number)?;
        let recovered = |n: u32| match n {
            0 => hint.map_or_else(|| format!("recovered-{number}"), ToString::to_string),
            1 => format!("recovered-{number}"),
            n => format!("recovered-{number}-{n}"),
        };
        // One of these names is unused, because there are more than projects.
        for name in (0..).map(recovered) {
            if connection.execute(named, params![number, name, created_at])? > 0 {
                salvaged.renamed.push(name);
                break;
            }
        }
    }
    Ok(())
}

fn is_project(column: &Column) -> bool {
    column.name == "project"
}

/// Returns the time of the first record or session of a project.
fn first_time(connection: &Connection, project: i64) -> Result<i64, Failure> {
    let sql = "SELECT min(at) FROM (SELECT min(recorded_at) AS at FROM records WHERE project = ?1 \
         UNION ALL SELECT min(started_at) FROM sessions WHERE project = ?1)";
    let first: Option<i64> = connection.query_row(sql, [project], |row| row.get(0))?;
    Ok(first.unwrap_or(0))
}

/// Retires all but the newest of several current records for one identity.
fn retire_older(connection: &Connection) -> Result<u64, Failure> {
    let sql = "WITH ranked AS (\
           SELECT rowid AS number, row_number() OVER same AS place, \
             first_value(id) OVER same AS newest, first_value(recorded_at) OVER same AS at \
           FROM records WHERE key IS NOT NULL AND retired_at IS NULL \
           WINDOW same AS (PARTITION BY project, kind, key, ifnull(category, '') \
             ORDER BY recorded_at DESC, id DESC)) \
         UPDATE records SET retired_at = ranked.at, replaced_by = ranked.newest \
         FROM ranked WHERE records.rowid = ranked.number AND ranked.place > 1";
    Ok(count_of(connection.execute(sql, [])?))
}

/// Recreates lost sessions of salvaged messages.
fn recreate_sessions(connection: &Connection) -> Result<u64, Failure> {
    let sql = "INSERT OR IGNORE INTO sessions (project, id, started_at) \
         SELECT project, session, min(at) FROM messages GROUP BY project, session";
    Ok(count_of(connection.execute(sql, [])?))
}

/// Renumbers the messages of each session without gaps, in order.
fn close_gaps(connection: &Connection) -> Result<(), Failure> {
    // Through negative numbers, so that no two messages have the same position in between.
    connection.execute_batch(
        "WITH placed AS (SELECT rowid AS number, seq, \
           row_number() OVER (PARTITION BY project, session ORDER BY seq) - 1 AS place FROM messages) \
         UPDATE messages SET seq = -1 - placed.place \
           FROM placed WHERE messages.rowid = placed.number AND messages.seq <> placed.place; \
         UPDATE messages SET seq = -1 - seq WHERE seq < 0;",
    )?;
    Ok(())
}

/// Removes rows that refer to lost rows.
fn remove_dangling_rows(
    connection: &Connection,
    layout: &SchemaLayout,
    skipped: &mut SkippedRows,
) -> Result<(), Failure> {
    for _ in 0..ROUNDS_MAX {
        let before = skipped.count;
        let numbered = layout.tables.iter().map(|shape| (shape, true));
        for (shape, is_numbered) in numbered.chain(layout.keyed.iter().map(|shape| (shape, false)))
        {
            let id = id_sql(shape, is_numbered);
            for (parent, orphans) in references(connection, &shape.table)? {
                let mut statement = connection.prepare(&format!("{orphans} RETURNING {id}"))?;
                let ids = statement.query_map([], |row| row.get::<_, Option<String>>(0))?;
                for id in ids {
                    let reason = format!("refers to no row of `{parent}`");
                    skipped.push(&shape.table, id?.unwrap_or_default(), reason);
                }
            }
        }
        if skipped.count == before {
            break;
        }
    }
    Ok(())
}

/// Returns for each foreign key of a table the statement that deletes the rows without a target, and the target
/// table.
fn references(connection: &Connection, table: &str) -> Result<Vec<(String, String)>, Failure> {
    let sql =
        "SELECT id, \"table\", \"from\", ifnull(\"to\", \"from\") FROM pragma_foreign_key_list(?1)";
    let mut statement = connection.prepare(sql)?;
    let mut parts: BTreeMap<i64, (String, Vec<(String, String)>)> = BTreeMap::new();
    let mut rows = statement.query([table])?;
    while let Some(row) = rows.next()? {
        let (_, columns) = parts
            .entry(row.get(0)?)
            .or_insert((row.get(1)?, Vec::new()));
        columns.push((row.get(2)?, row.get(3)?));
    }
    let child = quoted(table);
    let statements = parts.into_values().map(|(parent, columns)| {
        let joined = |form: &dyn Fn(&str, &str) -> String| {
            let parts = columns
                .iter()
                .map(|(from, to)| form(&quoted(from), &quoted(to)));
            parts.collect::<Vec<_>>().join(" AND ")
        };
        let sql = format!(
            "DELETE FROM {child} WHERE {} AND NOT EXISTS (SELECT 1 FROM {} AS parent WHERE {})",
            joined(&|from, _| format!("{child}.{from} IS NOT NULL")),
            quoted(&parent),
            joined(&|from, to| format!("parent.{to} = {child}.{from}")),
        );
        (parent, sql)
    });
    Ok(statements.collect())
}

fn count_of(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}

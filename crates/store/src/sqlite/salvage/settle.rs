//! Making a sound database of what was recovered: every row has what it refers to, and one record at most
//! is current for an identity.

use super::super::failure::Failure;
use super::Salvaged;
use super::insert::quoted;
use super::layout::{Column, Layout};
use heirloom_model::ProjectName;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::{BTreeMap, BTreeSet};

/// The index that allows one current record for an identity.
const IDENTITY: &str = "records_by_identity";
/// Most rounds of leaving out what refers to something that was left out: more than tables in a chain.
const ROUNDS_MAX: usize = 20;

/// Takes the index of identities away, so that no row is refused because of it; returns the statement that
/// makes it again.
pub(super) fn lift_identity(connection: &Connection) -> Result<String, Failure> {
    let sql = "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?1";
    let made: Option<String> =
        (connection.query_row(sql, [IDENTITY], |row| row.get(0))).optional()?;
    let Some(made) = made else {
        return Ok(String::new());
    };
    connection.execute_batch(&format!("DROP INDEX {IDENTITY}"))?;
    Ok(made)
}

/// Mends what is missing between the rows. The caller makes the index of identities again.
pub(super) fn settle(
    connection: &Connection,
    layout: &Layout,
    names: &BTreeMap<i64, String>,
    hint: Option<&ProjectName>,
    salvaged: &mut Salvaged,
) -> Result<(), Failure> {
    name_projects(connection, layout, names, hint, salvaged)?;
    salvaged.retired = retire_older(connection)?;
    connection.execute_batch("UPDATE records SET replaced_by = NULL WHERE retired_at IS NULL AND replaced_by IS NOT NULL",
    )?;
    salvaged.sessions_made = make_sessions(connection)?;
    close_gaps(connection)?;
    salvaged.rows_left_out = leave_out(connection, layout)?;
    Ok(())
}

/// Gives every project that rows belong to a name: the one in an index, else the hint if it is free and one
/// project only lacks a name, else `recovered-N`.
fn name_projects(
    connection: &Connection,
    layout: &Layout,
    names: &BTreeMap<i64, String>,
    hint: Option<&ProjectName>,
    salvaged: &mut Salvaged,
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
        // Of as many names as there are projects, and one more, one is free.
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

/// When the first thing of a project happened.
fn first_time(connection: &Connection, project: i64) -> Result<i64, Failure> {
    let sql = "SELECT min(at) FROM (SELECT min(recorded_at) AS at FROM records WHERE project = ?1 \
         UNION ALL SELECT min(started_at) FROM sessions WHERE project = ?1)";
    let first: Option<i64> = connection.query_row(sql, [project], |row| row.get(0))?;
    Ok(first.unwrap_or(0))
}

/// Of several current records for one identity, retires all but the newest in its favour.
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

/// Makes the sessions whose messages were recovered and that are lost.
fn make_sessions(connection: &Connection) -> Result<u64, Failure> {
    let sql = "INSERT OR IGNORE INTO sessions (project, id, started_at) \
         SELECT project, session, min(at) FROM messages GROUP BY project, session";
    Ok(count_of(connection.execute(sql, [])?))
}

/// Gives the messages of each session places without gaps, in their order.
fn close_gaps(connection: &Connection) -> Result<(), Failure> {
    // By way of numbers below zero, so that no two have the same place in between.
    connection.execute_batch(
        "WITH placed AS (SELECT rowid AS number, seq, \
           row_number() OVER (PARTITION BY project, session ORDER BY seq) - 1 AS place FROM messages) \
         UPDATE messages SET seq = -1 - placed.place \
           FROM placed WHERE messages.rowid = placed.number AND messages.seq <> placed.place; \
         UPDATE messages SET seq = -1 - seq WHERE seq < 0;",
    )?;
    Ok(())
}

/// Leaves out the rows that refer to rows that are lost.
fn leave_out(connection: &Connection, layout: &Layout) -> Result<u64, Failure> {
    let mut left_out = 0;
    for _ in 0..ROUNDS_MAX {
        let mut round = 0;
        for shape in layout.tables.iter().chain(&layout.keyed) {
            for orphans in references(connection, &shape.table)? {
                round += connection.execute(&orphans, [])?;
            }
        }
        if round == 0 {
            break;
        }
        left_out += round;
    }
    Ok(count_of(left_out))
}

/// One statement for each reference of a table, which deletes the rows without what they refer to.
fn references(connection: &Connection, table: &str) -> Result<Vec<String>, Failure> {
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
        format!(
            "DELETE FROM {child} WHERE {} AND NOT EXISTS (SELECT 1 FROM {} AS parent WHERE {})",
            joined(&|from, _| format!("{child}.{from} IS NOT NULL")),
            quoted(&parent),
            joined(&|from, to| format!("parent.{to} = {child}.{from}")),
        )
    });
    Ok(statements.collect())
}

fn count_of(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}

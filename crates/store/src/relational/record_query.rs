//! Query planner for a [`Filter`]: chooses the index and builds the SQL.
//!
//! Each index yields its entries in order of id. If an index begins with the kind, a query for several kinds is a
//! merge of one part for each kind. So the cost depends on the number of results, not on the number of records.

use super::row_codec::{self, COLUMNS, micros};
use crate::sql::failure::Failure;
use crate::sql::{Connection, QueryBatch};
use crate::{AsOf, Filter, Order};
use heirloom_model::kinds::ErrorRecord;
use heirloom_model::record::SOURCE_TEAM;
use heirloom_model::{Kind, ProjectName, Record};
use rusqlite::ToSql;

/// Returns the records that match `filter`, in its order.
pub(crate) fn find(
    connection: Connection<'_>,
    project: &ProjectName,
    filter: &Filter,
) -> Result<Vec<Record>, Failure> {
    let Some(number) = row_codec::project(connection, project)? else {
        return Ok(Vec::new());
    };
    let query = SqlQuery::new(number, filter, COLUMNS);
    let values: Vec<&dyn ToSql> = query.values.iter().map(Box::as_ref).collect();
    row_codec::select(connection, project, &query.sql, &values)
}

/// Adds the query of [`find`] to a batch.
pub(crate) fn prefetch_find(
    batch: &mut QueryBatch<'_>,
    project: i64,
    filter: &Filter,
) -> Result<(), Failure> {
    let query = SqlQuery::new(project, filter, COLUMNS);
    let values: Vec<&dyn ToSql> = query.values.iter().map(Box::as_ref).collect();
    Ok(batch.add(&query.sql, &values[..])?)
}

/// Counts the records that match `filter`, up to its limit, without reading them.
pub(crate) fn count(
    connection: Connection<'_>,
    project: &ProjectName,
    filter: &Filter,
) -> Result<u64, Failure> {
    let Some(number) = row_codec::project(connection, project)? else {
        return Ok(0);
    };
    let query = SqlQuery::new(number, filter, "id");
    let values: Vec<&dyn ToSql> = query.values.iter().map(Box::as_ref).collect();
    let sql = format!("SELECT count(*) FROM ({}) AS found", query.sql);
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row(&values[..], |row| row.get(0))?)
}

/// Condition of the partial index of open conflicts.
const OPEN_CONFLICT: &str = " AND retired_at IS NOT NULL AND kind = 'knowledge' \
     AND json_extract(attrs, '$.conflict') = 1 AND json_extract(attrs, '$.arbitrated') IS NULL";

/// Index that a query walks; each yields its entries in order of id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IndexWalk {
    /// All records of the project.
    All,
    /// Current records by kind.
    Kind,
    /// Current records by category.
    Category,
    /// Current records by kind and state.
    State,
    /// Current records by task and kind, without knowledge.
    Task,
    /// Current knowledge by task.
    KnowledgeOfTask,
    /// Open errors by task, or without a task: few.
    OpenErrors,
    /// Current records by kind and key or key prefix: few.
    Key,
    /// Records with open conflicts: few.
    Conflicts,
    /// Pinned current records: few.
    Pinned,
    /// Current records shared by a team: few.
    Team,
}

impl IndexWalk {
    fn of(filter: &Filter) -> Self {
        if !filter.ids.is_empty() {
            return Self::All;
        }
        match filter.as_of {
            _ if filter.open_conflict => Self::Conflicts,
            AsOf::Past(_) | AsOf::Ever => Self::All,
            AsOf::Current(_) if filter.pinned => Self::Pinned,
            AsOf::Current(_) if filter.source.as_deref() == Some(SOURCE_TEAM) => Self::Team,
            AsOf::Current(_) if filter.key.is_some() || filter.key_prefix.is_some() => Self::Key,
            AsOf::Current(_) if is_open_errors_of_task(filter) => Self::OpenErrors,
            AsOf::Current(_) if filter.scope.task.is_some() => Self::Task,
            AsOf::Current(_) if filter.state.is_some() => Self::State,
            AsOf::Current(_) if filter.category.is_some() => Self::Category,
            AsOf::Current(_) if !filter.kinds.is_empty() => Self::Kind,
            AsOf::Current(_) => Self::All,
        }
    }

    /// Returns the index for the part of one kind.
    fn for_kind(self, kind: Kind, filter: &Filter) -> Self {
        match self {
            Self::Task if kind == Kind::Knowledge && filter.category.is_some() => Self::Category,
            Self::Task if kind == Kind::Knowledge => Self::KnowledgeOfTask,
            Self::All
            | Self::Kind
            | Self::Category
            | Self::State
            | Self::Task
            | Self::KnowledgeOfTask
            | Self::OpenErrors
            | Self::Key
            | Self::Conflicts
            | Self::Pinned
            | Self::Team => self,
        }
    }

    fn index(self) -> &'static str {
        match self {
            Self::All => "records_by_id",
            Self::Kind => "current_by_kind",
            Self::Category => "current_by_category",
            Self::State => "current_by_state",
            Self::Task => "current_by_task",
            Self::KnowledgeOfTask => "knowledge_by_task",
            Self::OpenErrors => "open_errors_by_task",
            Self::Key => "records_by_identity",
            Self::Conflicts => "open_conflicts",
            Self::Pinned => "current_pinned",
            Self::Team => "current_of_team",
        }
    }
}

/// Returns true if `filter` selects open errors of one task or of none.
fn is_open_errors_of_task(filter: &Filter) -> bool {
    filter.kinds == [Kind::Error]
        && filter.state.as_deref() == Some(ErrorRecord::OPEN)
        && (filter.no_task || filter.scope.task.is_some())
}

/// Builds the query for the ordinals of all records that match `filter`.
fn ordinals_query(project: i64, filter: &Filter) -> SqlQuery {
    let filter = Filter {
        after: None,
        ..filter.clone()
    };
    SqlQuery::of(project, &filter, "ifnull(ordinal, -1)")
}

/// Adds the query of [`ordinals`] to a batch.
pub(crate) fn prefetch_ordinals(
    batch: &mut QueryBatch<'_>,
    project: i64,
    filter: &Filter,
) -> Result<(), Failure> {
    let query = ordinals_query(project, filter);
    let values: Vec<&dyn ToSql> = query.values.iter().map(Box::as_ref).collect();
    Ok(batch.add(&query.sql, &values[..])?)
}

/// Returns the ordinals of all records that match `filter`, regardless of its order and limit.
pub(crate) fn ordinals(
    connection: Connection<'_>,
    project: &ProjectName,
    filter: &Filter,
) -> Result<Vec<u32>, Failure> {
    let Some(number) = row_codec::project(connection, project)? else {
        return Ok(Vec::new());
    };
    let query = ordinals_query(number, filter);
    let values: Vec<&dyn ToSql> = query.values.iter().map(Box::as_ref).collect();
    let mut statement = connection.prepare_cached(&query.sql)?;
    let found: Vec<i64> = statement.query_map(&values[..], |row| row.get::<i64>(0))?;
    Ok(found
        .into_iter()
        .filter_map(|n| u32::try_from(n).ok())
        .collect())
}

/// SQL query with its bound values.
struct SqlQuery {
    sql: String,
    values: Vec<Box<dyn ToSql>>,
}

impl SqlQuery {
    /// Builds the query for these columns, which must include the id.
    fn new(project: i64, filter: &Filter, columns: &str) -> Self {
        let mut query = Self::of(project, filter, columns);
        let direction = match filter.order {
            Order::Newest => "DESC",
            Order::Oldest => "ASC",
        };
        let limit = query.bind(i64::try_from(filter.limit).unwrap_or(i64::MAX));
        query
            .sql
            .push_str(&format!(" ORDER BY id {direction} LIMIT {limit}"));
        query
    }

    /// Builds the query without order and limit.
    fn of(project: i64, filter: &Filter, columns: &str) -> Self {
        let mut query = Self {
            sql: String::new(),
            values: Vec::new(),
        };
        let walk = IndexWalk::of(filter);
        let conditions = query.conditions(project, filter);
        let mut kinds = filter.kinds.clone();
        kinds.sort_unstable();
        kinds.dedup();
        let alone = [
            IndexWalk::All,
            IndexWalk::Category,
            IndexWalk::Conflicts,
            IndexWalk::Pinned,
        ];
        let parts = if alone.contains(&walk) {
            vec![(walk, query.kind_in(&kinds))]
        } else if walk == IndexWalk::Key {
            // Few records have a key, so sorting them is cheap. One part for each kind would take ten times as long
            // to prepare.
            let all = if kinds.is_empty() {
                &Kind::ALL[..]
            } else {
                &kinds
            };
            vec![(walk, query.kind_in(all))]
        } else {
            let all = if kinds.is_empty() {
                &Kind::ALL[..]
            } else {
                &kinds
            };
            let part = |kind: &Kind| (walk.for_kind(*kind, filter), query.kind_in(&[*kind]));
            all.iter().map(part).collect()
        };
        for (i, (walk, kind)) in parts.iter().enumerate() {
            let union = if i == 0 { "" } else { " UNION ALL " };
            let index = walk.index();
            // SQLite uses a partial index only if the query repeats its condition.
            let repeated = match walk {
                IndexWalk::Task => " AND kind <> 'knowledge'",
                IndexWalk::KnowledgeOfTask => " AND kind = 'knowledge'",
                IndexWalk::OpenErrors => " AND kind = 'error' AND state = 'open'",
                IndexWalk::Conflicts => OPEN_CONFLICT,
                IndexWalk::Team => " AND source = 'team'",
                IndexWalk::All
                | IndexWalk::Kind
                | IndexWalk::Category
                | IndexWalk::State
                | IndexWalk::Key
                | IndexWalk::Pinned => "",
            };
            query.sql.push_str(&format!(
                "{union}SELECT {columns} FROM records INDEXED BY {index} \
                 WHERE {conditions}{kind}{repeated}"
            ));
        }
        query
    }

    /// Builds all conditions except the kind.
    ///
    /// The project is its number, not a subquery for its name, which would be compiled again with each statement: a
    /// quarter of the time to prepare one.
    fn conditions(&mut self, project: i64, filter: &Filter) -> String {
        let project = self.bind(project);
        let mut sql = format!("project = {project}");
        self.when(&mut sql, filter.as_of);
        let texts = [
            ("key", filter.key.as_deref()),
            ("category", filter.category.as_deref()),
            ("state", filter.state.as_deref()),
            ("source", filter.source.as_deref()),
        ];
        for (column, value) in texts.into_iter().chain(filter.scope.names()) {
            if let Some(value) = value {
                let value = self.bind(value.to_owned());
                sql.push_str(&format!(" AND \"{column}\" = {value}"));
            }
        }
        if let Some(prefix) = &filter.key_prefix {
            // Keys are ordered by bytes, and no key contains the highest character.
            let (first, last) = (
                self.bind(prefix.clone()),
                self.bind(format!("{prefix}\u{10ffff}")),
            );
            sql.push_str(&format!(" AND key >= {first} AND key < {last}"));
        }
        if let Some(time) = filter.holds_at {
            let time = self.bind(micros(time));
            sql.push_str(&format!(
                " AND (true_from IS NULL OR true_from <= {time}) \
                 AND (true_to IS NULL OR true_to > {time}) \
                 AND json_extract(attrs, '$.disputed') IS NOT 1"
            ));
        }
        if let Some(category) = &filter.except_category {
            let category = self.bind(category.clone());
            sql.push_str(&format!(" AND category IS DISTINCT FROM {category}"));
        }
        if let Some(iteration) = filter.scope.iteration {
            let iteration = self.bind(iteration);
            sql.push_str(&format!(" AND iteration = {iteration}"));
        }
        if filter.no_task {
            sql.push_str(" AND task IS NULL");
        }
        if filter.pinned {
            sql.push_str(" AND pinned");
        }
        if filter.proposal {
            sql.push_str(" AND json_extract(attrs, '$.proposal') = 1");
        }
        if !filter.ids.is_empty() {
            let ids = self.bind(row_codec::id_list(&filter.ids));
            sql.push_str(&format!(
                " AND id IN (SELECT unhex(value) FROM json_each({ids}))"
            ));
        }
        if let Some(from) = filter.recorded_from {
            let from = self.bind(micros(from));
            sql.push_str(&format!(" AND recorded_at >= {from}"));
        }
        if let Some(before) = filter.recorded_before {
            let before = self.bind(micros(before));
            sql.push_str(&format!(" AND recorded_at < {before}"));
        }
        if let Some(after) = filter.after {
            let direction = match filter.order {
                Order::Newest => "<",
                Order::Oldest => ">",
            };
            let after = self.bind(*after.as_bytes());
            sql.push_str(&format!(" AND id {direction} {after}"));
        }
        sql
    }

    fn when(&mut self, sql: &mut String, when: AsOf) {
        let condition = match when {
            AsOf::Current(now) => {
                let now = self.bind(micros(now));
                format!(" AND retired_at IS NULL AND (expires_at IS NULL OR expires_at > {now})")
            }
            AsOf::Past(then) => {
                let then = self.bind(micros(then));
                format!(
                    " AND recorded_at <= {then} AND (retired_at IS NULL OR retired_at > {then}) \
                     AND (expires_at IS NULL OR expires_at > {then}) \
                     AND NOT EXISTS (SELECT 1 FROM lapses l WHERE l.project = records.project \
                     AND l.id = records.id AND l.retired_at <= {then} AND l.restored_at > {then})"
                )
            }
            AsOf::Ever => return,
        };
        sql.push_str(&condition);
    }

    fn kind_in(&mut self, kinds: &[Kind]) -> String {
        match kinds {
            [] => String::new(),
            [kind] => format!(" AND kind = {}", self.bind(kind.as_str())),
            many => {
                let names: Vec<String> = many.iter().map(|kind| self.bind(kind.as_str())).collect();
                format!(" AND kind IN ({})", names.join(", "))
            }
        }
    }

    /// Binds a value and returns its parameter, for the text of the query.
    fn bind(&mut self, value: impl ToSql + 'static) -> String {
        self.values.push(Box::new(value));
        format!("?{}", self.values.len())
    }
}

#[cfg(test)]
mod tests;

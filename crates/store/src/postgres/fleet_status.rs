//! Status of the database server for people: its nodes, the programs that use it, and its largest projects.

use super::{PostgresStore, schema};
use crate::sql::Connection;
use crate::sql::failure::Failure;
use crate::{Store, StoreError};
use heirloom_model::ProjectName;
use rusqlite::params;
use std::time::{Duration, Instant};

/// Number of projects that a status lists.
const PROJECTS_MAX: usize = 20;

/// Status of a database server.
#[derive(Debug, Clone)]
pub struct FleetStatus {
    /// Host, port and name of the database.
    pub server: String,
    /// Versions of PostgreSQL and Citus.
    pub server_version: String,
    /// Version of the tables.
    pub schema_version: u32,
    /// Newest version of the tables that this program supports.
    pub schema_known: u32,
    /// Time of one round trip.
    pub latency: Duration,
    /// Size of the database, bytes.
    pub size_bytes: u64,
    /// Nodes of Citus; none without it.
    pub nodes: Vec<FleetNode>,
    /// Versions of the programs that are connected.
    pub programs: Vec<FleetProgram>,
    /// Largest projects.
    pub projects: Vec<FleetProject>,
    /// Texts that are not merged into blocks of the index yet.
    pub unmerged_texts: u64,
    /// Texts of the largest projects without a vector of the model that ranks.
    pub unembedded_texts: u64,
}

/// Node of Citus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetNode {
    /// Host name.
    pub host: String,
    /// Port.
    pub port: u16,
    /// False if no query is sent to it.
    pub is_active: bool,
    /// False if Citus places no shards on it, as on a coordinator.
    pub takes_shards: bool,
    /// Number of shards on it.
    pub shards: u64,
}

/// Programs of one version that are connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetProgram {
    /// Name and version.
    pub version: String,
    /// Number of connections.
    pub connections: u64,
}

/// Project with its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetProject {
    /// Name of the project.
    pub name: ProjectName,
    /// Number of records and messages, retired ones included.
    pub texts: u64,
}

impl PostgresStore {
    /// Reads the status of the server.
    pub fn fleet_status(&self) -> Result<FleetStatus, StoreError> {
        let latency = self.measure_latency()?;
        let mut status = self.read(|connection| {
            let mut version: String = connection.query_row(
                "SELECT 'PostgreSQL ' || current_setting('server_version')",
                params![],
                |row| row.get(0),
            )?;
            let mut nodes = Vec::new();
            if schema::has_citus(connection)? {
                let sql = "SELECT extversion FROM pg_extension WHERE extname = 'citus'";
                let citus: String = connection.query_row(sql, params![], |row| row.get(0))?;
                version.push_str(&format!(", Citus {citus}"));
                nodes = read_nodes(connection)?;
            }
            let sql = "SELECT CAST(coalesce(sum(texts - merged), 0) AS bigint) FROM index_totals";
            let unmerged: u64 = connection.query_row(sql, params![], |row| row.get(0))?;
            Ok(FleetStatus {
                server: self.server.clone(),
                server_version: version,
                schema_version: schema::version(connection)?,
                schema_known: schema::newest(),
                latency,
                size_bytes: schema::size(connection)?,
                nodes,
                programs: read_programs(connection)?,
                projects: read_projects(connection)?,
                unmerged_texts: unmerged,
                unembedded_texts: 0,
            })
        })?;
        for project in &status.projects {
            let backlog =
                self.embedding_backlog(&project.name, heirloom_search::index::vector::MODEL, 0)?;
            if let Some((model, _)) = backlog.other {
                let missing = self.embedding_backlog(&project.name, &model, 0)?.missing;
                status.unembedded_texts += missing;
            }
        }
        Ok(status)
    }

    /// Measures the time of one round trip.
    pub fn measure_latency(&self) -> Result<Duration, StoreError> {
        self.read(|connection| {
            // The first query may open the connection.
            let query = || connection.query_row("SELECT 1", params![], |row| row.get::<i64>(0));
            query()?;
            let begun = Instant::now();
            query()?;
            Ok(begun.elapsed())
        })
    }
}

fn read_nodes(connection: Connection<'_>) -> Result<Vec<FleetNode>, Failure> {
    let sql = "SELECT n.nodename, CAST(n.nodeport AS bigint), n.isactive, n.shouldhaveshards, \
         (SELECT count(*) FROM pg_dist_placement p WHERE p.groupid = n.groupid) \
         FROM pg_dist_node n WHERE n.noderole = 'primary' ORDER BY n.nodename, n.nodeport";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_map(params![], |row| {
        Ok(FleetNode {
            host: row.get(0)?,
            port: row.get(1)?,
            is_active: row.get(2)?,
            takes_shards: row.get(3)?,
            shards: row.get(4)?,
        })
    })?)
}

fn read_programs(connection: Connection<'_>) -> Result<Vec<FleetProgram>, Failure> {
    let sql = "SELECT application_name, count(*) FROM pg_stat_activity \
         WHERE datname = current_database() AND application_name LIKE 'heirloom%' \
         GROUP BY application_name ORDER BY application_name";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_map(params![], |row| {
        Ok(FleetProgram {
            version: row.get(0)?,
            connections: row.get(1)?,
        })
    })?)
}

fn read_projects(connection: Connection<'_>) -> Result<Vec<FleetProject>, Failure> {
    let sql = "SELECT p.name, CAST(sum(t.texts) AS bigint) FROM index_totals t \
         JOIN projects p ON p.id = t.project \
         GROUP BY p.name ORDER BY 2 DESC, p.name LIMIT ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found: Vec<(String, u64)> =
        statement.query_map([PROJECTS_MAX], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let projects = found.into_iter().map(|(name, texts)| {
        let name = ProjectName::new(&name).map_err(|bad| Failure::Damaged(bad.to_string()))?;
        Ok(FleetProject { name, texts })
    });
    projects.collect()
}

//! Locations of projects: which project is in which folder of a store.

use super::database_files::database_path::existing_path;
use super::database_files::shm_reader::ShmHandle;
use super::database_files::wal_check;
use super::database_location::DatabaseLocation;
use super::schema_version::{self, MIGRATIONS};
use super::{SqliteStore, connection};
use crate::StoreError;
use crate::relational::row_codec;
use crate::sql::failure::Failure;
use heirloom_model::{ProjectName, RecordId};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::path::Path;

/// First schema version with locations.
const LOCATED_FROM: u32 = 6;

const COLUMNS: &str = "location, name, home, store, copied_from, question_shown";

/// A location of a store, and the identity of the project there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectLocation {
    /// Path of the project's folder relative to the folder of the store: `.` in most stores.
    pub location: String,
    /// Name of the project, which stays the same.
    pub name: ProjectName,
    /// Absolute path of the project's folder when it was last opened.
    pub home: String,
    /// Identity of the store: copies of a store have the same one.
    pub store: RecordId,
    /// Folder of the other copy, until a person has decided which one this is.
    pub copied_from: Option<String>,
    /// True after a person has seen the question about the copy.
    pub question_shown: bool,
}

/// Project of a store with its number of records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectSummary {
    /// Name of the project.
    pub name: ProjectName,
    /// Number of its current records.
    pub records: u64,
}

/// Projects and locations of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectSurvey {
    /// Projects in the order of their first write.
    pub projects: Vec<ProjectSummary>,
    /// Locations by name.
    pub locations: Vec<ProjectLocation>,
}

impl SqliteStore {
    /// Reads the location record; `None` if it is missing.
    pub fn location(&self, location: &str) -> Result<Option<ProjectLocation>, StoreError> {
        self.read(|connection| get(connection, location))
    }

    /// Lists the projects and locations of the store.
    pub fn survey(&self) -> Result<ProjectSurvey, StoreError> {
        self.read(survey)
    }

    /// Lists the projects and locations of the database at `path` without changing it. A database of an older version
    /// has no locations. Errors: those of [`SqliteStore::open`].
    pub fn survey_file(path: &Path) -> Result<ProjectSurvey, StoreError> {
        let path = existing_path(path)?;
        // Must outlive the connection: see [`ShmHandle`].
        let shared = ShmHandle::new(&path);
        let place = DatabaseLocation::File(path);
        let read_locations = || -> Result<ProjectSurvey, Failure> {
            // Before SQLite opens it, which would accept a truncated log as complete.
            wal_check::check(&shared)?;
            let connection = connection::connect_without_checkpoint(&place)?;
            schema_version::supported_version(&connection, &place, MIGRATIONS)?;
            survey(&connection)
        };
        read_locations().map_err(|failure| failure.at(&place))
    }

    /// Records at `location` the identity that `decide` returns, unless another process has recorded one; returns the
    /// recorded one.
    ///
    /// If the store cannot be written, nothing is recorded, and the next call decides the same again.
    pub fn claim_location(
        &self,
        location: &str,
        decide: impl Fn(&ProjectSurvey) -> ProjectLocation,
    ) -> Result<ProjectLocation, StoreError> {
        let claimed = self.write(|connection| {
            if let Some(found) = get(connection, location)? {
                return Ok(found);
            }
            let decided = decide(&survey(connection)?);
            put(connection, &decided)?;
            Ok(decided)
        });
        match claimed {
            Ok(claimed) => Ok(claimed),
            Err(_) => self.read(|connection| match get(connection, location)? {
                Some(found) => Ok(found),
                None => Ok(decide(&survey(connection)?)),
            }),
        }
    }

    /// Replaces the identity at the same location.
    pub fn put_location(&self, location: &ProjectLocation) -> Result<(), StoreError> {
        self.write(|connection| put(connection, location))
    }

    /// Renames the project at `location`, with all its records, and stores `location`.
    ///
    /// Errors: `Invalid` if another project has the new name; then nothing is changed.
    pub fn rename_project(
        &self,
        from: &ProjectName,
        location: &ProjectLocation,
    ) -> Result<(), StoreError> {
        let to = &location.name;
        self.write(|connection| {
            if from != to && row_codec::project(connection.into(), to)?.is_some() {
                let problem = format!("this store has a project `{to}` already");
                return Err(Failure::Store(StoreError::Invalid(problem)));
            }
            let sql = "UPDATE projects SET name = ?2 WHERE name = ?1";
            connection.execute(sql, params![from.as_str(), to.as_str()])?;
            let sql = "UPDATE locations SET name = ?2 WHERE name = ?1";
            connection.execute(sql, params![from.as_str(), to.as_str()])?;
            put(connection, location)
        })
    }
}

fn get(connection: &Connection, location: &str) -> Result<Option<ProjectLocation>, Failure> {
    let sql = format!("SELECT {COLUMNS} FROM locations WHERE location = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_row([location], |row| Ok(read(row)));
    found.optional()?.transpose()
}

fn put(connection: &Connection, location: &ProjectLocation) -> Result<(), Failure> {
    let sql =
        format!("INSERT OR REPLACE INTO locations ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    connection.execute(
        &sql,
        params![
            location.location,
            location.name.as_str(),
            location.home,
            location.store.as_bytes(),
            location.copied_from,
            location.question_shown,
        ],
    )?;
    Ok(())
}

fn read(row: &Row<'_>) -> Result<ProjectLocation, Failure> {
    Ok(ProjectLocation {
        location: row.get(0)?,
        name: name(&row.get::<_, String>(1)?)?,
        home: row.get(2)?,
        store: RecordId::from_bytes(row.get(3)?),
        copied_from: row.get(4)?,
        question_shown: row.get(5)?,
    })
}

fn name(name: &str) -> Result<ProjectName, Failure> {
    ProjectName::new(name).map_err(|bad| Failure::Damaged(bad.to_string()))
}

fn survey(connection: &Connection) -> Result<ProjectSurvey, Failure> {
    let mut found = ProjectSurvey::default();
    let sql = "SELECT name, (SELECT count(*) FROM records \
         WHERE records.project = projects.id AND retired_at IS NULL) FROM projects ORDER BY id";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        found.projects.push(ProjectSummary {
            name: name(&row.get::<_, String>(0)?)?,
            records: row.get(1)?,
        });
    }
    if schema_version::version(connection)? < LOCATED_FROM {
        return Ok(found);
    }
    let sql = format!("SELECT {COLUMNS} FROM locations ORDER BY location");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        found.locations.push(read(row)?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn location(name: &str) -> ProjectLocation {
        ProjectLocation {
            location: ".".to_owned(),
            name: ProjectName::new(name).unwrap(),
            home: "/x/p".to_owned(),
            store: RecordId::from_bytes([7; 16]),
            copied_from: None,
            question_shown: false,
        }
    }

    #[test]
    fn claim_location_again_keeps_first_identity() {
        let store = SqliteStore::memory().unwrap();
        assert!(store.location(".").unwrap().is_none());
        let first = store.claim_location(".", |_| location("first")).unwrap();
        let second = store.claim_location(".", |_| location("second")).unwrap();
        assert_eq!((first.name.as_str(), &second), ("first", &first));
        assert_eq!(store.survey().unwrap().locations, [first]);
    }

    #[test]
    fn rename_project_to_used_name_changes_nothing() {
        let store = SqliteStore::memory().unwrap();
        store.claim_location(".", |_| location("first")).unwrap();
        for name in ["first", "second"] {
            let sql = "INSERT INTO projects (name, created_at) VALUES (?1, 0)";
            store.lock().execute(sql, [name]).unwrap();
        }
        let from = ProjectName::new("first").unwrap();
        let refused = store.rename_project(&from, &location("second"));
        assert!(
            matches!(refused, Err(StoreError::Invalid(_))),
            "{refused:?}"
        );
        store.rename_project(&from, &location("third")).unwrap();
        let survey = store.survey().unwrap();
        let names: Vec<_> = survey.projects.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["third", "second"]);
        assert_eq!(survey.locations[0].name.as_str(), "third");
    }
}

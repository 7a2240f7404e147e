//! The verbs of a store, each by the file that carries it out.

use super::watch::Watch;
use super::{
    SqliteStore, apply, backup, events, find, history, index, inspect, purge, receipts, sessions,
};
use crate::{
    Applied, Change, Counts, Description, Filter, Found, NewVectors, Newest, Purged, Search,
    Selection, Store, StoreError, Told, Unembedded, caps,
};
use heirloom_model::{Event, Lapse, Message, ProjectName, Record, RecordId, Session, Timestamp};
use rusqlite::Connection;
use std::path::Path;

impl Store for SqliteStore {
    fn apply(&self, project: &ProjectName, changes: &[Change]) -> Result<Vec<Applied>, StoreError> {
        caps::changes(project, changes)?;
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let is_receipt = |change: &Change| matches!(change, Change::Keep(_));
        if changes.iter().all(is_receipt) {
            let work = |connection: &Connection| apply::apply(connection, project, changes);
            return self.write_without_sync(work);
        }
        self.apply_together(project, changes)
    }

    fn get(&self, project: &ProjectName, id: RecordId) -> Result<Record, StoreError> {
        self.read(|connection| apply::get(connection, project, id))
    }

    fn ids_with_prefix(
        &self,
        project: &ProjectName,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<RecordId>, StoreError> {
        caps::limit("ids_with_prefix", limit)?;
        self.read(|connection| history::ids_with_prefix(connection, project, prefix, limit))
    }

    fn find(&self, project: &ProjectName, filter: &Filter) -> Result<Vec<Record>, StoreError> {
        caps::filter(filter)?;
        self.read(|connection| find::find(connection, project, filter))
    }

    fn count(&self, project: &ProjectName, filter: &Filter) -> Result<u64, StoreError> {
        caps::filter(filter)?;
        self.read(|connection| find::count(connection, project, filter))
    }

    fn search(&self, project: &ProjectName, search: &Search) -> Result<Found, StoreError> {
        caps::limit("hits", search.each)?;
        self.read(|connection| {
            // One state of the index from its totals to its last block.
            let snapshot = connection.unchecked_transaction()?;
            let found = index::search(&snapshot, project, search, &self.kept)?;
            snapshot.rollback()?;
            Ok(found)
        })
    }

    fn history(&self, project: &ProjectName, id: RecordId) -> Result<Vec<Record>, StoreError> {
        self.read(|connection| history::history(connection, project, id))
    }

    fn lapses(
        &self,
        project: &ProjectName,
        ids: &[RecordId],
    ) -> Result<Vec<(RecordId, Lapse)>, StoreError> {
        caps::ids(ids)?;
        self.read(|connection| history::lapses(connection, project, ids))
    }

    fn counts(&self, project: &ProjectName, now: Timestamp) -> Result<Counts, StoreError> {
        let stamp = self.watch.as_ref().and_then(Watch::stamp);
        self.read(|connection| {
            // Both parts of one moment.
            let snapshot = connection.unchecked_transaction()?;
            let counts = self.counted.current(&snapshot, project, stamp, now)?;
            snapshot.rollback()?;
            Ok(counts)
        })
    }

    fn projects(&self) -> Result<Vec<ProjectName>, StoreError> {
        self.read(history::projects)
    }

    fn put_session(&self, session: &Session) -> Result<(), StoreError> {
        caps::session(session)?;
        self.write(|connection| sessions::put(connection, session))
    }

    fn session(&self, project: &ProjectName, id: &str) -> Result<Session, StoreError> {
        self.read(|connection| sessions::get(connection, project, id))
    }

    fn sessions(
        &self,
        project: &ProjectName,
        task: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Session>, StoreError> {
        caps::limit("sessions", limit)?;
        self.read(|connection| sessions::list(connection, project, task, limit))
    }

    fn append_messages(
        &self,
        project: &ProjectName,
        session: &str,
        messages: &[Message],
    ) -> Result<u64, StoreError> {
        caps::messages(messages)?;
        self.write_texts(project, |connection| {
            sessions::append(connection, project, session, messages)
        })
    }

    fn messages(
        &self,
        project: &ProjectName,
        session: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Message>, StoreError> {
        caps::limit("messages", limit)?;
        self.read(|connection| sessions::messages(connection, project, session, from, limit))
    }

    fn turns(
        &self,
        project: &ProjectName,
        ids: &[RecordId],
    ) -> Result<Vec<(String, Message)>, StoreError> {
        caps::ids(ids)?;
        self.read(|connection| sessions::turns(connection, project, ids))
    }

    fn events(
        &self,
        project: &ProjectName,
        record: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        caps::events(limit)?;
        self.read(|connection| events::list(connection, project, record, limit))
    }

    fn told(
        &self,
        project: &ProjectName,
        newest: Newest,
        records: &[RecordId],
    ) -> Result<Told, StoreError> {
        caps::ids(records)?;
        caps::limit("told", newest.most())?;
        self.read(|connection| receipts::told(connection, project, newest, records))
    }

    fn purgeable(
        &self,
        project: &ProjectName,
        selection: &Selection,
    ) -> Result<Purged, StoreError> {
        caps::selection(selection)?;
        self.read(|connection| purge::count(connection, project, selection))
    }

    fn purge(
        &self,
        project: &ProjectName,
        selection: &Selection,
        at: Timestamp,
        by: &str,
    ) -> Result<Purged, StoreError> {
        caps::selection(selection)?;
        let mut purged =
            self.write(|connection| purge::purge(connection, project, selection, at, by))?;
        index::forget_copies(&self.place.path());
        // The deletion is done and acknowledged whatever becomes of the sweep.
        purged.residue = self.with_own(purge::sweep).unwrap_or(true);
        Ok(purged)
    }

    fn unembedded(
        &self,
        project: &ProjectName,
        model: &str,
        limit: usize,
    ) -> Result<Unembedded, StoreError> {
        caps::model(model)?;
        caps::limit("unembedded", limit)?;
        self.read(|connection| {
            let snapshot = connection.unchecked_transaction()?;
            let found = index::unembedded(&snapshot, project, model, limit)?;
            snapshot.rollback()?;
            Ok(found)
        })
    }

    fn embed(&self, project: &ProjectName, vectors: &NewVectors) -> Result<bool, StoreError> {
        caps::vectors(vectors)?;
        self.write(|connection| index::embed(connection, project, vectors))
    }

    fn describe(&self) -> Result<Description, StoreError> {
        self.read(|connection| inspect::describe(connection, &self.place))
    }

    fn check(&self) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            // One moment for all tables, whatever others write meanwhile.
            let snapshot = connection.unchecked_transaction()?;
            let findings = inspect::check(&snapshot)?;
            snapshot.rollback()?;
            Ok(findings)
        })
    }

    fn backup(&self, file: &Path) -> Result<Description, StoreError> {
        backup::backup(self, file)
    }
}

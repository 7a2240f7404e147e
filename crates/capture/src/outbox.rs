//! Outbox: events of hooks that wait for a database server which cannot be reached.
//!
//! Each event is a private file with redacted texts. The files are delivered in order when the server can be reached, and
//! each is removed after its delivery.

use heirloom_fs::durable;
use heirloom_fs::project_fs::read_bounded;
use heirloom_model::{Clock, Fault, Timestamp, ToSpan, limits};
use heirloom_redact::Redactor;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Folder of the outbox, in the memory's folder.
const OUTBOX: &str = "outbox";
/// File with the time until which no connection is tried.
const OFFLINE: &str = "offline";
/// Lock of a delivery.
const LOCK: &str = "delivery.lock";
/// Suffix of an event.
const SUFFIX: &str = "json";

/// Event that waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WaitingEvent {
    /// Time of the event.
    #[serde(rename = "at")]
    pub at: Timestamp,
    /// Agent program, as the hook was called.
    #[serde(rename = "agent")]
    pub agent: String,
    /// Name of the event, as the agent program spells it.
    #[serde(rename = "event")]
    pub event: String,
    /// Input of the hook, with redacted texts.
    #[serde(rename = "input")]
    pub input: Value,
}

/// Outbox of a project's memory.
#[derive(Debug, Clone)]
pub struct Outbox {
    folder: PathBuf,
}

impl Outbox {
    /// Returns the outbox of the memory in `memory`; creates nothing.
    pub fn in_folder(memory: &Path) -> Self {
        Self {
            folder: memory.join(OUTBOX),
        }
    }

    /// Returns true until the end of the pause that [`Outbox::pause`] began.
    pub fn is_paused(&self, clock: &dyn Clock) -> bool {
        let until = read_bounded(&self.folder.join(OFFLINE), 64).ok();
        let until = until.and_then(|bytes| String::from_utf8(bytes).ok());
        let until: Option<Timestamp> = until.and_then(|text| text.trim().parse().ok());
        // A time far in the future was written under another clock.
        let now = clock.now();
        let longest = now.checked_add(limits::OUTBOX_PAUSE_S.seconds()).ok();
        until.is_some_and(|until| now < until && longest.is_none_or(|longest| until <= longest))
    }

    /// Begins a pause in which hooks try no connection.
    pub fn pause(&self, clock: &dyn Clock) -> Result<(), Fault> {
        durable::create_dir_private(&self.folder)?;
        let until = clock.now().checked_add(limits::OUTBOX_PAUSE_S.seconds());
        let until = until.map_err(|error| Fault::failed(format!("the clock: {error}")))?;
        let path = self.folder.join(OFFLINE);
        Ok(durable::write_unsynced(
            &path,
            until.to_string().as_bytes(),
        )?)
    }

    /// Stores an event with redacted texts; durable when it returns.
    ///
    /// Errors: `Refused` if too many events wait.
    pub fn store(&self, mut event: WaitingEvent, redactor: &Redactor) -> Result<(), Fault> {
        durable::create_dir_private(&self.folder)?;
        if self.names().len() >= limits::OUTBOX_EVENTS_MAX {
            let most = limits::OUTBOX_EVENTS_MAX;
            return Err(Fault::refused(format!(
                "{most} events wait for the database server already"
            )));
        }
        redactor.redact_value(&mut event.input, &mut Vec::new());
        let bytes = serde_json::to_vec(&event)
            .map_err(|error| Fault::failed(format!("the event: {error}")))?;
        let name = format!("{:020}", event.at.as_microsecond().max(0));
        let path = self.folder.join(name);
        let scratch = durable::create_scratch_file(&path)?;
        {
            use std::io::Write;
            let mut file = scratch.as_file();
            file.write_all(&bytes)
                .map_err(|error| durable::failed("write", &path, error))?;
        }
        // Events of the same microsecond get the next free name.
        durable::persist_with_suffix(scratch, &path, SUFFIX)?;
        Ok(())
    }

    /// Returns true if events wait.
    pub fn has_events(&self) -> bool {
        !self.names().is_empty()
    }

    /// Delivers the waiting events, oldest first, until `deliver` fails; returns the number of delivered ones. An event is
    /// removed after its delivery. Does nothing while another process delivers.
    pub fn deliver(
        &self,
        mut deliver: impl FnMut(&WaitingEvent) -> Result<(), Fault>,
    ) -> Result<usize, Fault> {
        let names = self.names();
        if names.is_empty() {
            return Ok(0);
        }
        let Some(lock) = durable::try_lock(&self.folder.join(LOCK))? else {
            return Ok(0);
        };
        let mut delivered = 0;
        // The names are read again under the lock.
        for name in self.names() {
            let path = self.folder.join(&name);
            let bytes = read_bounded(&path, limits::OUTBOX_EVENT_BYTES_MAX);
            let event = bytes
                .ok()
                .and_then(|bytes| serde_json::from_slice::<WaitingEvent>(&bytes).ok());
            // A file that is no event stays for a person, under a name that is not read again.
            let Some(event) = event else {
                durable::rename_with_suffix(&path, "unreadable")?;
                continue;
            };
            deliver(&event)?;
            durable::remove_if_exists(&path)?;
            delivered += 1;
        }
        drop(lock);
        Ok(delivered)
    }

    /// Returns the names of the waiting events in order of their time.
    fn names(&self) -> Vec<String> {
        let Ok(entries) = self.folder.read_dir() else {
            return Vec::new();
        };
        let names = entries.flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names
            .filter(|name| name.starts_with(|c: char| c.is_ascii_digit()))
            .filter(|name| name.contains(SUFFIX) && !name.contains("unreadable"))
            .collect();
        names.sort_unstable();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_model::FixedClock;
    use serde_json::json;

    fn event(second: i64, text: &str) -> WaitingEvent {
        WaitingEvent {
            at: Timestamp::from_second(second).unwrap(),
            agent: "claude-code".to_owned(),
            event: "UserPromptSubmit".to_owned(),
            input: json!({"prompt": text}),
        }
    }

    #[test]
    fn events_are_redacted_and_delivered_once_in_order() {
        let folder = durable::temporary_folder("outbox-", None).unwrap();
        let outbox = Outbox::in_folder(folder.path());
        assert!(!outbox.has_events());
        let secret = ["ghp_16C7e42F292c6912", "E7710c838347Ae178B4a"].concat();
        let redactor = Redactor::default();
        outbox.store(event(3, "third"), &redactor).unwrap();
        outbox.store(event(2, &secret), &redactor).unwrap();
        outbox.store(event(2, "second again"), &redactor).unwrap();
        for entry in folder.path().join(OUTBOX).read_dir().unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            assert!(!text.contains(&secret), "{text}");
        }
        let mut seen = Vec::new();
        let failed = outbox.deliver(|event| match seen.len() {
            1 => Err(Fault::failed("no network")),
            _ => {
                seen.push(event.at.as_second());
                Ok(())
            }
        });
        assert!(failed.is_err());
        let delivered = outbox.deliver(|event| {
            seen.push(event.at.as_second());
            Ok(())
        });
        assert_eq!(delivered, Ok(2));
        assert_eq!(seen, [2, 2, 3]);
        assert_eq!(outbox.deliver(|_| panic!("nothing waits")), Ok(0));
    }

    #[test]
    fn pause_ends_and_survives_no_clock_change() {
        let folder = durable::temporary_folder("outbox-", None).unwrap();
        let outbox = Outbox::in_folder(folder.path());
        let at = |second| FixedClock(Timestamp::from_second(second).unwrap());
        assert!(!outbox.is_paused(&at(1_000)));
        outbox.pause(&at(1_000)).unwrap();
        assert!(outbox.is_paused(&at(1_001)));
        assert!(!outbox.is_paused(&at(1_000 + limits::OUTBOX_PAUSE_S)));
        assert!(!outbox.is_paused(&at(10)), "the clock went back");
    }

    #[test]
    fn too_large_event_is_kept_for_a_person() {
        let folder = durable::temporary_folder("outbox-", None).unwrap();
        let outbox = Outbox::in_folder(folder.path());
        let most = usize::try_from(limits::OUTBOX_EVENT_BYTES_MAX).unwrap();
        let redactor = Redactor::default();
        for length in [most - 200, most + 1] {
            outbox
                .store(event(1, &"x ".repeat(length / 2)), &redactor)
                .unwrap();
        }
        assert_eq!(outbox.deliver(|_| Ok(())), Ok(1));
        assert!(!outbox.has_events());
        let left = folder.path().join(OUTBOX).read_dir().unwrap().flatten();
        let left = left.filter(|entry| entry.file_name().to_string_lossy().contains("unreadable"));
        assert_eq!(left.count(), 1);
    }

    #[test]
    fn outbox_refuses_more_than_its_limit() {
        let folder = durable::temporary_folder("outbox-", None).unwrap();
        let outbox = Outbox::in_folder(folder.path());
        durable::create_dir_private(&folder.path().join(OUTBOX)).unwrap();
        for n in 0..limits::OUTBOX_EVENTS_MAX {
            let name = folder.path().join(OUTBOX).join(format!("{n:020}.json"));
            std::fs::write(name, "{}").unwrap();
        }
        let refused = outbox.store(event(1, "x"), &Redactor::default());
        assert_eq!(
            refused.unwrap_err().kind,
            heirloom_model::ErrorKind::Refused
        );
        let delivered = outbox.deliver(|_| panic!("no file is an event"));
        assert_eq!(delivered, Ok(0));
        assert!(!outbox.has_events());
    }
}

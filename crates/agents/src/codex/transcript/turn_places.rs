//! Places of entries in a conversation that a fork keeps: the turn and the number of calls before the entry.
//!
//! A fork of Codex is a new file that begins with a copy of the conversation, with the time of the copy on every line. The
//! ids of turns and calls are those of the original.

use heirloom_model::{Timestamp, text};

/// Seconds after the start of a fork in which the program writes the copied lines. It writes them at once; a person
/// needs longer for a prompt.
const COPY_SECONDS_MAX: i64 = 5;

/// Conversation from which a file was forked.
#[derive(Debug, Clone)]
struct Fork {
    /// Id of the new conversation.
    own: String,
    /// Time at which it began.
    began: Timestamp,
}

/// Places in a file, found by the scan.
#[derive(Debug, Default)]
pub(super) struct TurnPlaces {
    turns: Vec<Turn>,
    /// Offsets of the lines with calls.
    calls: Vec<u64>,
    /// Number of prompts.
    prompts: u64,
    /// True if a turn has an id.
    has_ids: bool,
    /// True if an entry was read before the first turn with an id.
    begins_in_turn: bool,
    fork: Option<Fork>,
}

/// A turn.
#[derive(Debug)]
struct Turn {
    /// Offset of its first line.
    at: u64,
    /// Its id, or its number in versions without ids.
    name: String,
    is_number: bool,
}

impl TurnPlaces {
    /// Records the first line of a fork.
    pub(super) fn add_fork(&mut self, own: String, began: Timestamp) {
        if self.fork.is_none() {
            self.fork = Some(Fork { own, began });
        }
    }

    /// Records the line at which the turn with this id begins or continues.
    pub(super) fn add_turn(&mut self, at: u64, id: String) {
        self.has_ids = true;
        if self.turns.last().is_none_or(|known| known.name != id) {
            self.turns.push(Turn {
                at,
                name: id,
                is_number: false,
            });
        }
    }

    /// Records a prompt. In versions without ids of turns, it begins a turn.
    pub(super) fn add_prompt(&mut self, at: u64) {
        if !self.has_ids {
            self.begins_in_turn = true;
            self.turns.push(Turn {
                at,
                name: format!("prompt {}", self.prompts),
                is_number: true,
            });
        }
        self.prompts += 1;
    }

    /// Records a line that may have a call.
    pub(super) fn add_call(&mut self, at: u64) {
        self.calls.push(at);
        self.add_entry();
    }

    /// Records any other line of the conversation.
    pub(super) fn add_entry(&mut self) {
        self.begins_in_turn |= !self.has_ids;
    }

    /// Returns true if the places depend on lines before the first one that was read.
    pub(super) fn needs_earlier_lines(&self) -> bool {
        self.begins_in_turn
    }

    /// Returns true if a line with this time was copied from the original conversation.
    pub(super) fn is_copied(&self, when: Option<Timestamp>) -> bool {
        let (Some(fork), Some(when)) = (&self.fork, when) else {
            return false;
        };
        when.as_second() - fork.began.as_second() <= COPY_SECONDS_MAX
    }

    /// Returns the id of an entry with this content on the line at `at`. It is the same in every copy.
    pub(super) fn entry_id(&self, at: u64, when: Option<Timestamp>, content: &str) -> String {
        let turn = self.turns.partition_point(|turn| turn.at <= at);
        let turn = turn.checked_sub(1).and_then(|place| self.turns.get(place));
        let (start, name) = turn.map_or((0, "start"), |turn| (turn.at, turn.name.as_str()));
        let first = self.calls.partition_point(|call| *call < start);
        let calls = self.calls.partition_point(|call| *call < at) - first;
        // Numbers of turns are the same in the original and in its forks, although they are other turns.
        let own = match &self.fork {
            Some(fork) if turn.is_none_or(|turn| turn.is_number) && !self.is_copied(when) => {
                fork.own.as_str()
            }
            Some(_) | None => "",
        };
        let content = text::hash16(content.trim());
        format!("{own} {name}.{calls} {content}")
    }
}

//! Signals in what an agent says: out of its transcript as that grows, and out of its last words.

use super::HookRequest;
use super::state::State;
use crate::engine::Engine;
use crate::hooks::{Host, Moment, said_in, whole_lines, without_fences};
use heirloom_model::stream::StreamFormat;
use heirloom_model::{Fault, Scope, limits, text};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

impl Engine {
    /// Takes the signals that were not heard yet. Whoever says them counts: what stands in a session's transcript is the
    /// main agent's, also when the event is a subagent's; the last words of that are its own.
    pub(super) fn hear(&self, request: &HookRequest<'_>, state: &mut State) -> Result<(), Fault> {
        let said = self.read_transcript_from_last_offset(request, state);
        self.take_signals(said, request.main_scope(), state)?;
        let event = request.event;
        let mut own = match &event.agent_transcript {
            Some(path) if request.wanted.moment == Moment::SubagentEnds => {
                let whole = read_from(path, 0).map_or(Vec::new(), |(bytes, _)| bytes);
                let is_aside = request.host == Host::ClaudeCode;
                said_in(request.host, whole_lines(&whole), is_aside)
            }
            Some(_) | None => Vec::new(),
        };
        if let Some(last) = &event.last_message {
            own.push(without_fences(last).into_owned());
        }
        self.take_signals(own, request.scope(), state)
    }

    fn take_signals(
        &self,
        mut said: Vec<String>,
        scope: Scope,
        state: &mut State,
    ) -> Result<(), Fault> {
        let prefixes = self.signal_prefixes();
        let is_signal = |line: &str| prefixes.iter().any(|prefix| line.contains(prefix.as_str()));
        said.retain(|message| is_signal(message));
        if said.is_empty() {
            return Ok(());
        }
        let mut observer = self.observer(scope, StreamFormat::Text, false)?;
        observer.told(&state.echo);
        let mut heard = Vec::new();
        for message in said {
            let mut fresh = String::with_capacity(message.len() + 1);
            for line in message.lines() {
                let hash = text::hash16(line.trim());
                let is_known =
                    is_signal(line) && (state.heard.contains(&hash) || heard.contains(&hash));
                if is_signal(line) {
                    heard.push(hash);
                }
                if !is_known {
                    fresh.push_str(line);
                    fresh.push('\n');
                }
            }
            observer.push(fresh.as_bytes(), &mut |_| {})?;
        }
        observer.finish(&mut |_| {})?;
        heard.into_iter().for_each(|line| state.heard(line));
        Ok(())
    }

    /// What the agent said since the last look, by its transcript. Nothing of a transcript that cannot be read.
    fn read_transcript_from_last_offset(
        &self,
        request: &HookRequest<'_>,
        state: &mut State,
    ) -> Vec<String> {
        let Some(path) = request.event.transcript.as_deref() else {
            return Vec::new();
        };
        let offset = match &state.transcript {
            Some((known, offset)) if known == path => *offset,
            Some(_) | None => state.first_offset(path),
        };
        let Some((bytes, from)) = read_from(path, offset) else {
            return Vec::new();
        };
        let lines = whole_lines(&bytes);
        let mut end = from + lines.len() as u64;
        // A line that is longer than what is read at once would be waited for for ever.
        if lines.is_empty() && bytes.len() as u64 == limits::HOOK_TRANSCRIPT_BYTES_MAX {
            end = from + bytes.len() as u64;
        }
        state.transcript = Some((path.to_owned(), end));
        said_in(request.host, lines, false)
    }
}

/// The bytes behind `offset`, so many as are read at once, and where they begin: a file that is shorter than it was is
/// another one.
fn read_from(path: &str, offset: u64) -> Option<(Vec<u8>, u64)> {
    let found = std::fs::metadata(path)
        .ok()
        .filter(|found| found.is_file())?;
    let offset = if offset > found.len() { 0 } else { offset };
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(offset)).ok()?;
    let mut bytes = Vec::new();
    let read = file
        .take(limits::HOOK_TRANSCRIPT_BYTES_MAX)
        .read_to_end(&mut bytes);
    read.ok()?;
    Some((bytes, offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_store::durable;

    #[test]
    fn a_transcript_is_read_piece_by_piece() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let most = limits::HOOK_TRANSCRIPT_BYTES_MAX;
        durable::write_atomic(&path, &vec![b'x'; most as usize + 1]).unwrap();
        let path = path.to_str().unwrap();
        let (bytes, from) = read_from(path, 0).unwrap();
        assert_eq!((bytes.len() as u64, from), (most, 0));
        let (bytes, from) = read_from(path, most).unwrap();
        assert_eq!((bytes.len(), from), (1, most));
        assert_eq!(read_from(path, most + 2).unwrap().1, 0);
        assert!(read_from(folder.path().to_str().unwrap(), 0).is_none());
        assert!(read_from("/nonexistent/x", 0).is_none());
    }
}

//! Signals in transcripts and last messages of agents, processed as they appear.

use super::HookRequest;
use super::session_state::HookSessionState;
use crate::Hooks;
use heirloom_agents::StreamFormat;
use heirloom_agents::hooks::{HookEventKind, agent_messages, complete_lines, without_envelopes};
use heirloom_fs::durable::regular_file::{self, LinkPolicy};
use heirloom_model::{Fault, Scope, limits, text};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

/// Interval between two looks at a transcript that is written late.
const TRANSCRIPT_POLL: Duration = Duration::from_millis(20);
/// Number of bytes at the end of a transcript that are searched for its last line.
const LAST_LINE_BYTES_MAX: u64 = 64 << 10;

impl Hooks<'_> {
    /// Ingests new signals. Lines from the session transcript are attributed to the main agent even on subagent
    /// events; the subagent's own transcript and last message to the subagent.
    pub(super) fn ingest_signals(
        &self,
        request: &HookRequest<'_>,
        state: &mut HookSessionState,
    ) -> Result<(), Fault> {
        let messages = self.read_transcript_from_last_offset(request, state);
        self.record_signals(messages, &request.main_scope(), state)?;
        let event = request.event;
        let mut own = match &event.agent_transcript {
            Some(path) if request.spec.kind == HookEventKind::SubagentEnd => {
                let whole = read_from(path, 0).map_or(Vec::new(), |(bytes, _)| bytes);
                let is_aside = request.host.marks_subagent_lines();
                agent_messages(request.host, complete_lines(&whole), is_aside)
            }
            Some(_) | None => Vec::new(),
        };
        if let Some(last) = &event.last_message {
            own.push(without_envelopes(last).into_owned());
        }
        self.record_signals(own, &request.scope(), state)
    }

    fn record_signals(
        &self,
        mut messages: Vec<String>,
        scope: &Scope,
        state: &mut HookSessionState,
    ) -> Result<(), Fault> {
        let prefixes = self.engine.contexts().signal_prefixes();
        let is_signal = |line: &str| prefixes.iter().any(|prefix| line.contains(prefix.as_str()));
        messages.retain(|message| is_signal(message));
        if messages.is_empty() {
            return Ok(());
        }
        let mut seen_signals = Vec::new();
        for message in messages {
            // A block of code without an end ends with its message.
            let runs = crate::Runs::new(self.engine);
            let mut observer = runs.observer(scope.clone(), StreamFormat::Text, false)?;
            observer.add_injected_text(&state.injected_text);
            let mut new_lines = String::with_capacity(message.len() + 1);
            for line in message.lines() {
                let hash = text::hash16(line.trim());
                let is_known = is_signal(line)
                    && (state.seen_signals.contains(&hash) || seen_signals.contains(&hash));
                if is_signal(line) {
                    seen_signals.push(hash);
                }
                if !is_known {
                    new_lines.push_str(line);
                    new_lines.push('\n');
                }
            }
            observer.push(new_lines.as_bytes(), &mut |_| {})?;
            observer.finish(&mut |_| {})?;
        }
        seen_signals
            .into_iter()
            .for_each(|line| state.mark_signal_seen(line));
        Ok(())
    }

    /// Returns the messages of the agent since the last read of its transcript; empty if it cannot be read.
    fn read_transcript_from_last_offset(
        &self,
        request: &HookRequest<'_>,
        state: &mut HookSessionState,
    ) -> Vec<String> {
        // Some programs name the transcript only at the end of a turn.
        let known = state.transcript.as_ref().map(|(path, _)| path.clone());
        let Some(path) = request.event.transcript.clone().or(known) else {
            return Vec::new();
        };
        let offset = match &state.transcript {
            Some((known, offset)) if *known == path => *offset,
            Some(_) | None => state.first_offset(&path),
        };
        state.transcript = Some((path.clone(), offset));
        wait_for_transcript(request, &path, offset);
        let Some((bytes, from)) = read_from(&path, offset) else {
            return Vec::new();
        };
        let lines = complete_lines(&bytes);
        let mut end = from + lines.len() as u64;
        // A line that exceeds the read size is skipped; otherwise it would block the following ones for ever.
        if lines.is_empty() && bytes.len() as u64 == limits::HOOK_TRANSCRIPT_BYTES_MAX {
            end = from + bytes.len() as u64;
        }
        state.transcript = Some((path, end));
        agent_messages(request.host, lines, false)
    }
}

/// Waits until the program, which writes its transcript late, has written what precedes this event. The part before
/// `offset` was read for an earlier event.
fn wait_for_transcript(request: &HookRequest<'_>, path: &str, offset: u64) {
    if !request.host.writes_late(path) {
        return;
    }
    let until = Instant::now() + Duration::from_millis(limits::HOOK_TRANSCRIPT_WAIT_MS);
    let until = until.min(request.deadline);
    let is_current = || {
        let size = std::fs::metadata(path).map_or(0, |found| found.len());
        let event = request.spec.event;
        size > offset && request.host.is_transcript_current(event, &last_line(path))
    };
    while Instant::now() < until && !is_current() {
        std::thread::sleep(TRANSCRIPT_POLL);
    }
}

/// Returns the last complete line of a file, as far as it is not too long; empty without one.
fn last_line(path: &str) -> Vec<u8> {
    let size = std::fs::metadata(path).map_or(0, |found| found.len());
    let Some((bytes, _)) = read_from(path, size.saturating_sub(LAST_LINE_BYTES_MAX)) else {
        return Vec::new();
    };
    let lines = complete_lines(&bytes);
    let line = lines.strip_suffix(b"\n").unwrap_or_default();
    let start = memchr::memrchr(b'\n', line).map_or(0, |at| at + 1);
    line.get(start..).unwrap_or_default().to_vec()
}

/// Reads a file from `offset`, up to the read size; returns the bytes and their offset. A file that became shorter
/// was replaced and is read from its beginning.
fn read_from(path: &str, offset: u64) -> Option<(Vec<u8>, u64)> {
    let mut opened = regular_file::open(Path::new(path), LinkPolicy::Follow).ok()?;
    let offset = if offset > opened.size() { 0 } else { offset };
    let file = &mut opened.file;
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
    use heirloom_fs::durable;

    #[test]
    fn transcript_is_read_in_pieces_and_restarts_when_shorter() {
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

    #[test]
    fn hook_waits_for_a_late_transcript_up_to_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let host = heirloom_agents::AgentProgram::Copilot;
        let event = heirloom_agents::hooks::HookEvent::default();
        let request = HookRequest {
            host,
            spec: host.hook_spec("Stop").unwrap(),
            event: &event,
            shorten: None,
            anchor_every: 0,
            teach: false,
            ask: false,
            deadline: Instant::now() + Duration::from_secs(60),
        };
        let most = Duration::from_millis(limits::HOOK_TRANSCRIPT_WAIT_MS);
        let start = "{\"type\":\"hook.start\",\"data\":{\"hookType\":\"agentStop\"}}\n";
        for (name, text, offset, waits) in [
            ("events.jsonl", start, 0, false),
            ("events.jsonl", start, start.len() as u64, true),
            (
                "events.jsonl",
                "{\"type\":\"assistant.message\"}\n",
                0,
                true,
            ),
            ("other.json", "{}\n", 0, false),
        ] {
            let path = folder.path().join(name);
            durable::write_atomic(&path, text.as_bytes()).unwrap();
            let began = Instant::now();
            wait_for_transcript(&request, path.to_str().unwrap(), offset);
            assert_eq!(began.elapsed() >= most, waits, "{name} {text}");
        }
    }

    #[test]
    fn last_line_is_the_last_complete_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        for (text, line) in [
            ("", ""),
            ("a", ""),
            ("a\nb", "a"),
            ("a\nb\n", "b"),
            ("a\n\n", ""),
        ] {
            durable::write_atomic(&path, text.as_bytes()).unwrap();
            assert_eq!(
                last_line(path.to_str().unwrap()),
                line.as_bytes(),
                "{text:?}"
            );
        }
        assert!(last_line("/nonexistent/x").is_empty());
    }
}

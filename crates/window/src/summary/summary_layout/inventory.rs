//! Inventory of a conversation: touched files, tools, and identifiers.

use super::{SummaryLayout, TOOLS, heading_chars};
use crate::message::MessagePart;
use crate::summary::identifier_tokenizer::{self, TextSyntax};
use crate::summary::identifiers::{self, Identifier, IdentifierTable, UseKind};
use crate::summary::identity_hasher::IdentityHasher;
use crate::summary::summary_format::{SECTIONS, SummarySection, single_line};
use crate::summary::{index_u32, key_events, text_at};
use crate::token_estimate::chars;
use std::collections::HashSet;
use std::hash::BuildHasherDefault;

/// Number of newest outputs searched for identifiers, and bytes of each.
const SHOWN_OUTPUTS: usize = 32;
const SHOWN_BYTES: usize = 1_200;
/// Maximum number of files of each kind; the section's share is the effective limit.
const FILES_MOST: usize = 48;
/// Maximum number of tools in a summary.
const TOOLS_MOST: usize = 8;
const EDITED: &str = "changed: ";
const READ: &str = "read: ";

impl SummaryLayout<'_> {
    /// Writes the touched files, changed ones first; returns them.
    pub(super) fn write_files(&mut self, share: usize) -> Vec<String> {
        let (mut edited, mut read) = (Vec::new(), Vec::new());
        for file in self.digest.uses().files.newest_first() {
            let list = if file.is_edited {
                &mut edited
            } else {
                &mut read
            };
            if list.len() < FILES_MOST
                && let Some(path) = text_at(self.messages, file.place)
            {
                list.push(path.to_owned());
            }
        }
        for earlier in &self.earlier {
            for item in earlier.items(SummarySection::Files) {
                if let Some(paths) = item.strip_prefix(EDITED) {
                    edited.extend(paths.split(' ').map(str::to_owned));
                } else if let Some(paths) = item.strip_prefix(READ) {
                    read.extend(paths.split(' ').map(str::to_owned));
                }
            }
        }
        let mut seen = HashSet::new();
        let mut room = share
            .saturating_sub(heading_chars(SummarySection::Files) + EDITED.len() + READ.len() + 6);
        let mut fit = |paths: Vec<String>| -> Vec<String> {
            let mut out = Vec::new();
            for path in paths {
                let cost = chars(&path) + 1;
                if cost <= room && !path.is_empty() && seen.insert(path.clone()) {
                    room -= cost;
                    out.push(path);
                }
            }
            out
        };
        let (edited, read) = (fit(edited), fit(read));
        let lines: Vec<String> = [(EDITED, &edited), (READ, &read)]
            .into_iter()
            .filter(|(_, paths)| !paths.is_empty())
            .map(|(what, paths)| format!("{what}{}", paths.join(" ")))
            .collect();
        self.write_list(SummarySection::Files, &lines, share);
        [edited, read].concat()
    }

    /// Renders the tools in use with their argument names, most used first. Only whole entries, because a later
    /// summary parses them again.
    pub(super) fn tool_line(&self, chars_max: usize) -> String {
        let mut tools = self.digest.tools.clone();
        tools.sort_by_key(|tool| (std::cmp::Reverse(tool.3), tool.1));
        let mut lines: Vec<String> = Vec::new();
        for (_, message, part, _) in tools.into_iter().take(TOOLS_MOST) {
            let parts = self.messages.get(message).map(|message| &message.parts);
            if let Some(MessagePart::Call(call)) = parts.and_then(|parts| parts.get(part)) {
                let name = call.name.replace([';', '('], " ");
                let keys = key_events::argument_keys(call).join(", ").replace(';', ",");
                lines.push(single_line(&format!("{name}({keys})"), 100));
            }
        }
        for earlier in &self.earlier {
            for item in earlier.items(SummarySection::State) {
                let tools = item.strip_prefix(TOOLS).unwrap_or("").split("; ");
                lines.extend(tools.filter(|tool| !tool.is_empty()).map(str::to_owned));
            }
        }
        let mut seen = HashSet::new();
        lines.retain(|tool| seen.insert(tool.split('(').next().unwrap_or("").to_owned()));
        lines.truncate(TOOLS_MOST);
        let mut room = chars_max.saturating_sub(TOOLS.len());
        let fit = lines.iter().take_while(|tool| {
            let cost = chars(tool) + 2;
            let fits = cost <= room;
            room = room.saturating_sub(cost);
            fits
        });
        fit.cloned().collect::<Vec<_>>().join("; ")
    }

    /// Writes identifiers that are likely to be used again and are not in the other sections.
    pub(super) fn write_identifiers(&mut self) {
        let now = index_u32(self.digest.pushed);
        let mut room = self
            .left
            .saturating_sub(heading_chars(SummarySection::Names) + 3);
        let most = room / 7 + 512;
        let shown = self.output_identifiers();
        let mut ranked: Vec<(u64, &Identifier)> = self
            .digest
            .uses()
            .names
            .most_likely(now, most)
            .into_iter()
            .chain(shown.most_likely(now, most))
            .map(|name| (name.value_per_char(now), name))
            .collect();
        ranked.sort_by_key(|(value, _)| std::cmp::Reverse(*value));
        let written = self.text();
        let mut seen: HashSet<u64, BuildHasherDefault<IdentityHasher>> = HashSet::default();
        let headings = SECTIONS.iter().map(|(_, heading)| *heading);
        for text in headings.chain([written.as_str()]) {
            identifier_tokenizer::scan(text, TextSyntax::Plain, |range| {
                seen.insert(identifier_tokenizer::hash(&text[range]));
            });
        }
        let mut list: Vec<&str> = Vec::new();
        for (_, name) in ranked {
            let Some(token) = text_at(self.messages, name.place) else {
                continue;
            };
            let cost = chars(token) + 1;
            if cost > room {
                break;
            }
            if seen.insert(identifier_tokenizer::hash(token)) {
                room -= cost;
                list.push(token);
            }
        }
        let list = list.join(" ");
        self.write_list(SummarySection::Names, &[list], usize::MAX);
    }

    /// Collects the identifiers in the newest outputs.
    fn output_identifiers(&self) -> IdentifierTable {
        let mut names = IdentifierTable::with_capacity(1_024);
        let mut outputs = 0;
        let from = self.messages.iter().rposition(|message| {
            outputs += message.outputs().count();
            outputs >= SHOWN_OUTPUTS
        });
        for (index, message) in self.messages.iter().enumerate().skip(from.unwrap_or(0)) {
            for (part, what) in message.parts.iter().enumerate() {
                if let MessagePart::Output(output) = what {
                    let text = output.text.as_str();
                    let head = &text[..text.floor_char_boundary(SHOWN_BYTES.min(text.len()))];
                    identifiers::for_each_token(
                        head,
                        TextSyntax::Plain,
                        (index_u32(index), index_u32(part)),
                        |token, place| {
                            names.record_use(token, place, UseKind::ToolText);
                        },
                    );
                }
            }
        }
        names
    }
}

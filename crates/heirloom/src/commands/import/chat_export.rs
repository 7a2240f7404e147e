//! `heirloom import chatgpt` and `heirloom import claude-ai`: exports of conversations, as the archive that the services
//! send or as its unpacked files.

use super::input_file::read_up_to;
use super::other_tools::DiscoveredImports;
use heirloom_engine::{ExternalContent, ExternalSource};
use heirloom_formats::external_memory::{
    ImportedMemory, parse_chat_gpt, parse_claude_ai, parse_memories, parse_projects,
};
use heirloom_fs::durable::regular_file::{self, LinkPolicy};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits};
use std::io::Read;
use std::path::Path;
use zip::ZipArchive;

/// First bytes of an archive with files, and of an empty one.
const ARCHIVE_MAGIC: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// Service whose export is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChatService {
    ChatGpt,
    ClaudeAi,
}

/// Content of a file of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExportPart {
    Conversations,
    Memories,
    Projects,
}

impl ChatService {
    pub(super) fn format(self) -> &'static str {
        match self {
            Self::ChatGpt => "chatgpt",
            Self::ClaudeAi => "claude-ai",
        }
    }

    /// Returns the content of a file of the export; `None` for files that are not read.
    fn part(self, path: &str) -> Option<ExportPart> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_json = name.ends_with(".json");
        // Large exports of ChatGPT have conversations-000.json and so on.
        if is_json && name.starts_with("conversations") {
            return Some(ExportPart::Conversations);
        }
        if self == Self::ChatGpt || !is_json {
            return None;
        }
        let below = |name: &str| folder == name || folder.ends_with(&format!("/{name}"));
        if name == "memories.json" || below("memories") {
            Some(ExportPart::Memories)
        } else if name == "projects.json" || below("projects") {
            Some(ExportPart::Projects)
        } else {
            None
        }
    }

    fn parse(self, part: ExportPart, bytes: &[u8]) -> Result<ImportedMemory, String> {
        match (part, self) {
            (ExportPart::Conversations, Self::ChatGpt) => parse_chat_gpt(bytes),
            (ExportPart::Conversations, Self::ClaudeAi) => parse_claude_ai(bytes),
            (ExportPart::Memories, _) => parse_memories(bytes),
            (ExportPart::Projects, _) => parse_projects(bytes),
        }
    }
}

/// Reads an export: the archive, its unpacked folder, or one of its files.
pub(super) fn read_export(service: ChatService, path: &Path) -> Result<DiscoveredImports, Fault> {
    let format = service.format();
    let mut export = ExportReader {
        service,
        memory: ImportedMemory::default(),
        notes: Vec::new(),
        parts: 0,
    };
    if path.is_dir() {
        export.read_folder(path)?;
    } else if is_archive(path) {
        export.read_archive(path)?;
    } else {
        let bytes = read_up_to(path, limits::CHAT_EXPORT_BYTES_MAX)?;
        let name = path.to_escaped();
        let part = service.part(&name).unwrap_or(ExportPart::Conversations);
        let parsed = service.parse(part, &bytes);
        let parsed = parsed.map_err(|problem| {
            Fault::usage(format!("{name}: {problem}")).hint("nothing was imported")
        })?;
        export.parts += 1;
        export.memory.extend(parsed);
    }
    if export.parts == 0 && export.notes.is_empty() {
        let message = format!("no conversations.json in {}", path.to_escaped());
        return Err(Fault::not_found(message)
            .hint("name the archive or the folder of the export, or its conversations.json"));
    }
    let part = ExternalSource {
        path: path.to_escaped(),
        format,
        content: ExternalContent::Memory(export.memory),
    };
    Ok(DiscoveredImports {
        parts: vec![part],
        notes: export.notes,
    })
}

fn is_archive(path: &Path) -> bool {
    let opened = regular_file::open(path, LinkPolicy::Follow);
    let mut first = [0; 4];
    opened.is_ok_and(|mut opened| {
        opened.file.read_exact(&mut first).is_ok() && ARCHIVE_MAGIC.contains(&first.as_slice())
    })
}

struct ExportReader {
    service: ChatService,
    memory: ImportedMemory,
    notes: Vec<String>,
    /// Number of files that were read.
    parts: usize,
}

impl ExportReader {
    fn add(&mut self, name: &str, part: ExportPart, bytes: &[u8]) {
        self.parts += 1;
        match self.service.parse(part, bytes) {
            Ok(parsed) => self.memory.extend(parsed),
            Err(problem) => self.notes.push(format!("{name}: {problem}; skipped")),
        }
    }

    fn read_folder(&mut self, folder: &Path) -> Result<(), Fault> {
        for path in super::markdown_folder::collect_files(folder, &[".json"])? {
            let name = path.strip_prefix(folder).unwrap_or(&path).to_escaped();
            let Some(part) = self.service.part(&name) else {
                self.memory.omissions.add("other files of the export", 1);
                continue;
            };
            match read_up_to(&path, limits::CHAT_EXPORT_BYTES_MAX) {
                Ok(bytes) => self.add(&name, part, &bytes),
                Err(fault) => self.notes.push(fault.message),
            }
        }
        Ok(())
    }

    /// Reads the files of an archive into memory; nothing is unpacked to the disk.
    fn read_archive(&mut self, path: &Path) -> Result<(), Fault> {
        let shown = path.to_escaped();
        let damaged =
            |error: String| Fault::usage(format!("{shown} is not a readable archive: {error}"));
        let opened = regular_file::open(path, LinkPolicy::Follow);
        let file = opened.map_err(|error| damaged(error.to_string()))?.file;
        let archive = ZipArchive::new(std::io::BufReader::new(file));
        let mut archive = archive.map_err(|error| damaged(error.to_string()))?;
        for index in 0..archive.len().min(limits::MEMORY_FILES_MAX) {
            let mut entry = match archive.by_index(index) {
                Ok(entry) => entry,
                Err(error) => {
                    self.notes
                        .push(format!("file {index} of {shown}: {error}; skipped"));
                    continue;
                }
            };
            if entry.is_dir() {
                continue;
            }
            let name = entry.name().unwrap_or_default();
            let name = heirloom_model::text::escape_name(&name).into_owned();
            let Some(part) = self.service.part(&name) else {
                self.memory.omissions.add("other files of the export", 1);
                continue;
            };
            let packed = entry.compressed_size().max(1);
            let ratio = packed.saturating_mul(limits::EXPORT_PACKED_RATIO_MAX);
            let most = limits::CHAT_EXPORT_BYTES_MAX.min(ratio.max(1 << 20));
            let mut bytes = Vec::new();
            let read = (&mut entry).take(most + 1).read_to_end(&mut bytes);
            match read {
                Ok(_) if bytes.len() as u64 > most => {
                    self.notes
                        .push(format!("{name}: more than {most} bytes; skipped"));
                }
                Ok(_) => self.add(&name, part, &bytes),
                Err(error) => self.notes.push(format!("{name}: {error}; skipped")),
            }
        }
        Ok(())
    }
}

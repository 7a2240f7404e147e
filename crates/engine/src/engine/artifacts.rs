//! Artifacts: files that a task produced, with size and checksum to detect later changes.

use super::Engine;
use super::new_record::check_scope;
use super::records::USER;
use super::tasks::{agent_of_file_name, last};
use heirloom_fs::project_fs::{self, DigestProblem, FileDigest};
use heirloom_model::kinds::{Artifact, ArtifactType};
use heirloom_model::{Fault, Kind, KindData, MergeRule, Record, RecordId, Scope, limits, text};
use heirloom_store::{AppliedChange, Change, Filter};
use serde_json::Value;

/// Source of removals by the orchestrator.
const ORCHESTRATOR: &str = "orchestrator";

/// Artifact to register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewArtifact {
    /// Its path, relative to the project's root or absolute inside it.
    pub path: String,
    /// Scope with a task; its agent is the producer.
    pub scope: Scope,
    /// Type of the file.
    pub artifact_type: ArtifactType,
    /// Description.
    pub description: Option<String>,
    /// Size and checksum according to the producer; computed from the file by default.
    pub digest: Option<FileDigest>,
}

/// Filter of artifacts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArtifactFilter {
    /// Of this task.
    pub task: Option<String>,
    /// Of this type.
    pub artifact_type: Option<ArtifactType>,
}

/// Result of comparing a file with its registered size and checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArtifactStatus {
    /// The file is unchanged.
    Unchanged,
    /// The file was changed.
    Changed,
    /// The file does not exist.
    Missing,
    /// Not comparable: it has no checksum, or the file cannot be read.
    Unknown,
}

impl ArtifactStatus {
    /// All results.
    pub const ALL: [Self; 4] = [Self::Unchanged, Self::Changed, Self::Missing, Self::Unknown];

    /// Returns the name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Missing => "missing",
            Self::Unknown => "unknown",
        }
    }
}

/// Artifact with the state of its file.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifiedArtifact {
    /// The artifact.
    pub record: Record,
    /// Result of the comparison.
    pub status: ArtifactStatus,
    /// Additional problem.
    pub problem: Option<String>,
}

/// Caller that removes an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remover {
    /// The person.
    User,
    /// The orchestrator.
    Orchestrator,
    /// An agent, which must be its producer. The name is not verified: only for local callers.
    Agent(String),
    /// The holder of a token, which must have registered it.
    Holder(Registrar),
}

/// Caller that registers an artifact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Registrar {
    /// The source of the record.
    pub source: String,
    /// Verified identity: the id of a token.
    pub holder: Option<String>,
}

/// Attribute with the token that registered an artifact.
const REGISTERED_BY: &str = "registered_by";

/// Files that agents registered as results of a task.
#[derive(Clone, Copy)]
pub struct Artifacts<'e> {
    pub(super) engine: &'e Engine,
}

impl Artifacts<'_> {
    /// Registers a file of the project; a missing task is created in the same transaction.
    ///
    /// A task has one current artifact for a path: an equal one changes nothing, another one replaces it. Errors:
    /// `Usage` without a task, for a folder, an unreadable or too large file, or an invalid checksum; `NotFound`
    /// without the file; `Refused` for a path that leads out of the project.
    pub fn add(&self, new: &NewArtifact) -> Result<AppliedChange, Fault> {
        let agent = new.scope.agent.clone();
        let source = agent.unwrap_or_else(|| self.engine.actor.to_string());
        let holder = None;
        self.add_by(new, &Registrar { source, holder })
    }

    /// Registers as [`Self::add`], for a caller with a verified identity, which may remove the artifact
    /// later. Registering an unchanged artifact again does not change its registrar.
    pub fn add_by(&self, new: &NewArtifact, by: &Registrar) -> Result<AppliedChange, Fault> {
        let Some(task) = new.scope.task.clone() else {
            return Err(Fault::usage("the artifact names no task").hint("name it with --task ID"));
        };
        check_scope(&new.scope)?;
        self.engine.require_files()?;
        let shown = text::excerpt(&new.path, 120);
        let path = project_fs::normalise_project_path(self.engine.root(), &new.path)
            .map_err(|problem| Fault::refused(format!("artifact `{shown}`: {problem}")))?;
        if let Some(reason) = project_fs::reserved_reason(&path) {
            return Err(Fault::refused(format!("artifact `{shown}`: {reason}"))
                .hint("an artifact is a file that a task produced"));
        }
        let digest = match &new.digest {
            Some(digest) => validated_digest(digest)?,
            None => {
                project_fs::digest_file(&self.engine.root().join(&path), limits::ARTIFACT_BYTES_MAX)
                    .map_err(|problem| digest_fault(&shown, &problem))?
            }
        };
        let description = validated_description(new.description.as_deref())?;
        let path = self.engine.redaction().redact_input(&path).into_owned();
        let source = &*by.source;
        let scope = self
            .engine
            .redaction()
            .redact_scope(new.scope.clone())
            .into_inner();
        let mut record = self
            .engine
            .records()
            .draft(Kind::Artifact, &path, scope, source);
        record.key = Some(Artifact::key(&path, record.scope.task.as_deref()));
        record.attrs = Artifact {
            artifact_type: new.artifact_type.as_str().to_owned(),
            description,
            size_bytes: Some(digest.size_bytes),
            checksum: Some(digest.checksum),
            ..Artifact::file(&path)
        }
        .to_attrs();
        self.set_registrar(&mut record, by)?;
        let put = Change::Put {
            record: Box::new(record),
            merge: MergeRule::Replace,
        };
        let known = self.engine.tasks().known_task(&task, source)?;
        let changes: Vec<Change> = known.into_iter().chain([put]).collect();
        last(&self.engine.apply(&changes)?)
    }

    /// Sets the registering token of a new record; an equal artifact keeps the first one.
    fn set_registrar(&self, record: &mut Record, by: &Registrar) -> Result<(), Fault> {
        let key = record.key.clone().unwrap_or_default();
        let known = Filter::current(&[Kind::Artifact], self.engine.now()).key(&key);
        let known = self.engine.records().find(&known.limit(1))?.pop();
        let same = known.filter(|known| {
            known.text == record.text && known.attr_str("checksum") == record.attr_str("checksum")
        });
        let first = same.map(|known| known.attrs.get(REGISTERED_BY).cloned());
        let holder = first.unwrap_or_else(|| by.holder.clone().map(Value::from));
        if let Some(holder) = holder {
            record.attrs.insert(REGISTERED_BY.to_owned(), holder);
        }
        Ok(())
    }

    /// Returns the artifacts that match `filter`, newest first.
    pub fn list(&self, filter: &ArtifactFilter) -> Result<Vec<Record>, Fault> {
        let scope = Scope {
            task: filter.task.clone(),
            ..Scope::default()
        };
        let question = Filter::current(&[Kind::Artifact], self.engine.now()).scope(scope);
        let mut found = self.engine.records().find(&question)?;
        if let Some(wanted) = filter.artifact_type {
            found.retain(|record| record.attr_str("type") == Some(wanted.as_str()));
        }
        Ok(found)
    }

    /// Compares the artifacts that match `filter` with their files, newest first. Reads the files, changes nothing.
    pub fn verify_all(&self, filter: &ArtifactFilter) -> Result<Vec<VerifiedArtifact>, Fault> {
        let found = self.list(filter)?;
        Ok(found
            .into_iter()
            .map(|record| self.verify(record))
            .collect())
    }

    /// Removes an artifact from the registry; the file stays, and `undo` restores the entry.
    ///
    /// Errors: `NotFound`; `Refused` for an agent that is not its producer; `Failed` if it is not current.
    pub fn remove(&self, id: RecordId, by: &Remover) -> Result<RecordId, Fault> {
        let record = self.engine.records().get(id)?;
        if record.kind != Kind::Artifact {
            return Err(Fault::not_found(format!(
                "record {id} is a {}, not an artifact",
                record.kind
            ))
            .hint("`heirloom artifact list` lists the artifacts"));
        }
        let by = match by {
            Remover::User => USER,
            Remover::Orchestrator => ORCHESTRATOR,
            Remover::Agent(agent) => {
                let producer = record.scope.agent.clone();
                let producer = producer.or_else(|| agent_of_file_name(&record.source));
                if producer.as_deref() != Some(&*self.engine.redaction().redact_input(agent)) {
                    let whose = producer.unwrap_or_else(|| record.source.clone());
                    return Err(Fault::refused(format!(
                        "artifact {id} was registered by {whose}, not by {agent}"
                    ))
                    .hint("its producer, the user and the orchestrator may remove it"));
                }
                agent
            }
            Remover::Holder(by) => {
                let registrar = record.attr_str(REGISTERED_BY);
                if by.holder.is_none() || registrar != by.holder.as_deref() {
                    let whose = registrar.unwrap_or(&record.source);
                    return Err(Fault::refused(format!(
                        "artifact {id} was registered by {whose}, not by this token"
                    ))
                    .hint(
                        "the token that registered it, a user and an orchestrator may remove it",
                    ));
                }
                &by.source
            }
        };
        let retire = Change::Retire {
            id,
            at: self.engine.now(),
            by: by.to_owned(),
        };
        Ok(self.engine.records().apply_one(retire)?.id)
    }

    /// Returns artifacts beyond their retention, oldest first.
    pub(super) fn old_artifacts(&self) -> Result<Vec<Record>, Fault> {
        let Some(cutoff) = self
            .engine
            .tasks()
            .retention_cutoff(self.engine.settings.retention.artifacts_days)
        else {
            return Ok(Vec::new());
        };
        let question = Filter::current(&[Kind::Artifact], self.engine.now()).oldest_first();
        let mut found = self.engine.records().find(&question)?;
        found.retain(|record| record.recorded_at < cutoff && record.id < RecordId::min_at(cutoff));
        Ok(found)
    }

    fn verify(&self, record: Record) -> VerifiedArtifact {
        let (status, problem) = match Artifact::from_record(&record) {
            Ok(typed) => self.compare(&typed),
            Err(bad) => (ArtifactStatus::Unknown, Some(bad.to_string())),
        };
        VerifiedArtifact {
            record,
            status,
            problem,
        }
    }

    fn compare(&self, artifact: &Artifact) -> (ArtifactStatus, Option<String>) {
        use ArtifactStatus::{Changed, Missing, Unchanged, Unknown};
        if let Err(fault) = self.engine.require_files() {
            return (Unknown, Some(fault.message));
        }
        let Some(checksum) = &artifact.checksum else {
            return (Unknown, Some("it has no checksum".to_owned()));
        };
        // The path may have become a link since.
        let inside = match project_fs::normalise_project_path(self.engine.root(), &artifact.path) {
            Ok(inside) => inside,
            Err(problem) => return (Changed, Some(problem.to_string())),
        };
        let path = self.engine.root().join(inside);
        let size = artifact.size_bytes;
        let found = project_fs::file_size(&path).and_then(|now| {
            // A different size proves a change without reading the file.
            if size.is_some_and(|then| then != now) {
                return Ok(false);
            }
            let digest = project_fs::digest_file(&path, limits::ARTIFACT_BYTES_MAX)?;
            Ok(digest.checksum.eq_ignore_ascii_case(checksum))
        });
        match found {
            Ok(true) => (Unchanged, None),
            Ok(false) => (Changed, None),
            Err(DigestProblem::Missing) => (Missing, None),
            Err(problem @ DigestProblem::NotRegularFile) => (Changed, Some(problem.to_string())),
            Err(problem @ (DigestProblem::TooLarge(_) | DigestProblem::Unreadable(_))) => {
                (Unknown, Some(problem.to_string()))
            }
        }
    }
}

/// Validates a digest given by the producer.
fn validated_digest(given: &FileDigest) -> Result<FileDigest, Fault> {
    let checksum = given.checksum.trim().to_ascii_lowercase();
    if checksum.len() != 64 || !checksum.bytes().all(|b| b.is_ascii_hexdigit()) {
        let shown = text::excerpt(&given.checksum, 80);
        return Err(Fault::usage(format!("`{shown}` is not a SHA-256"))
            .hint("64 hexadecimal digits, as `sha256sum` prints them"));
    }
    Ok(FileDigest {
        size_bytes: given.size_bytes,
        checksum,
    })
}

fn validated_description(text: Option<&str>) -> Result<Option<String>, Fault> {
    let text = text.map(str::trim).filter(|words| !words.is_empty());
    let most = limits::DESCRIPTION_BYTES_MAX;
    match text {
        Some(words) if words.len() > most => Err(Fault::usage(format!(
            "the description has {} bytes; at most {most} are allowed",
            words.len()
        ))),
        words => Ok(words.map(str::to_owned)),
    }
}

fn digest_fault(shown: &str, problem: &DigestProblem) -> Fault {
    let message = format!("artifact `{shown}`: {problem}");
    match problem {
        DigestProblem::Missing => {
            Fault::not_found(message).hint("the path is relative to the project's root")
        }
        DigestProblem::NotRegularFile => Fault::usage(message).hint("name a file"),
        DigestProblem::TooLarge(_) => {
            let most = limits::ARTIFACT_BYTES_MAX;
            Fault::usage(message).hint(format!("at most {most} bytes are read"))
        }
        DigestProblem::Unreadable(_) => {
            Fault::failed(message).hint("check the file, its owner and its permissions")
        }
    }
}

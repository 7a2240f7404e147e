//! Artifacts: what a task leaves behind, with what tells later whether it is still the same.

use super::Engine;
use super::new_record::check_scope;
use super::records::USER;
use super::tasks::{agent_of, last};
use crate::places::{self, DigestProblem, FileDigest};
use heirloom_model::kinds::{Artifact, ArtifactType};
use heirloom_model::{Fault, Kind, KindData, Merge, Record, RecordId, Scope, limits, text};
use heirloom_store::{Applied, Change, Filter};

/// Who is named where the orchestrator asks.
const ORCHESTRATOR: &str = "orchestrator";

/// An artifact that is to be registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewArtifact {
    /// Its path, relative to the project's root or absolute inside it.
    pub path: String,
    /// Where it belongs; the task must be named. Its agent is the producer.
    pub scope: Scope,
    /// What it is.
    pub artifact_type: ArtifactType,
    /// What it is, in words.
    pub description: Option<String>,
    /// Size and checksum as its producer knows them; read from the file if they are not said.
    pub digest: Option<FileDigest>,
}

/// Which artifacts are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArtifactFilter {
    /// Of this task.
    pub task: Option<String>,
    /// Of this type.
    pub artifact_type: Option<ArtifactType>,
}

/// How a file compares with what was registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArtifactStatus {
    /// It is what it was.
    Unchanged,
    /// It is not what it was.
    Changed,
    /// It is not there.
    Missing,
    /// Nobody can tell: it has no checksum, or cannot be read.
    Unknown,
}

impl ArtifactStatus {
    /// Its name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Missing => "missing",
            Self::Unknown => "unknown",
        }
    }
}

/// An artifact beside the file that it names.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifiedArtifact {
    /// The artifact.
    pub record: Record,
    /// How the file compares.
    pub status: ArtifactStatus,
    /// What is to be said of it besides.
    pub problem: Option<String>,
}

/// Who wants an artifact to be no longer registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remover {
    /// The person.
    User,
    /// The orchestrator.
    Orchestrator,
    /// This agent, which must be its producer.
    Agent(String),
}

impl Engine {
    /// Registers a file of the project; a task that is not known yet is created in the same step.
    ///
    /// One current artifact for a path in a task: the same again changes nothing, anything else takes its place.
    /// Errors: `Usage` without a task, for a folder, an unreadable or over-large file, a checksum that is none;
    /// `NotFound` without the file; `Refused` for a path outside the project, also through a link.
    pub fn add_artifact(&self, new: &NewArtifact) -> Result<Applied, Fault> {
        let Some(task) = new.scope.task.clone() else {
            return Err(Fault::usage("the artifact names no task").hint("--task ID says which"));
        };
        check_scope(&new.scope)?;
        let shown = text::excerpt(&new.path, 120);
        let path = places::normalise_inside(self.root(), &new.path)
            .map_err(|problem| Fault::refused(format!("artifact `{shown}`: {problem}")))?;
        let digest = match &new.digest {
            Some(said) => checked(said)?,
            None => places::digest(&self.root().join(&path), limits::ARTIFACT_BYTES_MAX)
                .map_err(|problem| refusal(&shown, &problem))?,
        };
        let description = described(new.description.as_deref())?;
        let path = self.clean(&path).into_owned();
        let source = new.scope.agent.clone().unwrap_or_else(|| USER.to_owned());
        let scope = self.clean_scope(new.scope.clone());
        let mut record = self.draft(Kind::Artifact, &path, scope, &source);
        record.key = Some(Artifact::key(&path, record.scope.task.as_deref()));
        record.attrs = Artifact {
            artifact_type: new.artifact_type.as_str().to_owned(),
            description,
            size_bytes: Some(digest.size_bytes),
            checksum: Some(digest.checksum),
            ..Artifact::file(&path)
        }
        .to_attrs();
        let put = Change::Put {
            record: Box::new(record),
            merge: Merge::Replace,
        };
        last(&self.apply(&[self.known_task(&task, &source)?, put])?)
    }

    /// The artifacts that `filter` asks for, newest first.
    pub fn artifacts(&self, filter: &ArtifactFilter) -> Result<Vec<Record>, Fault> {
        let scope = Scope {
            task: filter.task.clone(),
            ..Scope::default()
        };
        let question = Filter::current(&[Kind::Artifact], self.now()).scope(scope);
        let mut found = self.find(&question)?;
        if let Some(wanted) = filter.artifact_type {
            found.retain(|record| record.attr_str("type") == Some(wanted.as_str()));
        }
        Ok(found)
    }

    /// Each artifact that `filter` asks for beside its file, newest first. Reads the files, changes nothing.
    pub fn verify_artifacts(
        &self,
        filter: &ArtifactFilter,
    ) -> Result<Vec<VerifiedArtifact>, Fault> {
        let found = self.artifacts(filter)?;
        Ok(found
            .into_iter()
            .map(|record| self.verified(record))
            .collect())
    }

    /// Registers an artifact no longer; the file stays, and `undo` brings the entry back.
    ///
    /// Errors: `NotFound`; `Refused` for an agent that is not its producer; `Failed` if it is not current.
    pub fn remove_artifact(&self, id: RecordId, by: &Remover) -> Result<RecordId, Fault> {
        let record = self.get(id)?;
        if record.kind != Kind::Artifact {
            return Err(Fault::not_found(format!(
                "record {id} is a {}, not an artifact",
                record.kind
            ))
            .hint("`heirloom artifact list` shows what there is"));
        }
        let by = match by {
            Remover::User => USER,
            Remover::Orchestrator => ORCHESTRATOR,
            Remover::Agent(agent) => {
                let producer = record.scope.agent.clone();
                let producer = producer.or_else(|| agent_of(&record.source));
                if producer.as_deref() != Some(&*self.clean(agent)) {
                    let whose = producer.unwrap_or_else(|| record.source.clone());
                    return Err(Fault::refused(format!(
                        "artifact {id} was registered by {whose}, not by {agent}"
                    ))
                    .hint("its producer, the user and the orchestrator may remove it"));
                }
                agent
            }
        };
        let retire = Change::Retire {
            id,
            at: self.now(),
            by: by.to_owned(),
        };
        Ok(self.apply_one(retire)?.id)
    }

    /// Artifacts that are older than they are kept, oldest first.
    pub(super) fn old_artifacts(&self) -> Result<Vec<RecordId>, Fault> {
        let Some(border) = self.border(self.settings.retention.artifacts_days) else {
            return Ok(Vec::new());
        };
        let question = Filter::current(&[Kind::Artifact], self.now()).oldest_first();
        let found = self.find(&question)?;
        let old = found.iter().filter(|record| record.recorded_at < border);
        Ok(old.map(|record| record.id).collect())
    }

    fn verified(&self, record: Record) -> VerifiedArtifact {
        let (status, problem) = match Artifact::of(&record) {
            Ok(typed) => self.compared(&typed),
            Err(bad) => (ArtifactStatus::Unknown, Some(bad.to_string())),
        };
        VerifiedArtifact {
            record,
            status,
            problem,
        }
    }

    fn compared(&self, artifact: &Artifact) -> (ArtifactStatus, Option<String>) {
        use ArtifactStatus::{Changed, Missing, Unchanged, Unknown};
        let Some(checksum) = &artifact.checksum else {
            return (Unknown, Some("it has no checksum".to_owned()));
        };
        // A link may have been put there since.
        let inside = match places::normalise_inside(self.root(), &artifact.path) {
            Ok(inside) => inside,
            Err(problem) => return (Changed, Some(problem.to_string())),
        };
        let path = self.root().join(inside);
        let size = artifact.size_bytes;
        let found = places::file_size(&path).and_then(|now| {
            // Another size is another content: nothing needs to be read.
            if size.is_some_and(|then| then != now) {
                return Ok(false);
            }
            let digest = places::digest(&path, limits::ARTIFACT_BYTES_MAX)?;
            Ok(digest.checksum.eq_ignore_ascii_case(checksum))
        });
        match found {
            Ok(true) => (Unchanged, None),
            Ok(false) => (Changed, None),
            Err(DigestProblem::Missing) => (Missing, None),
            Err(problem @ DigestProblem::NoFile) => (Changed, Some(problem.to_string())),
            Err(problem @ (DigestProblem::TooLarge(_) | DigestProblem::Unreadable(_))) => {
                (Unknown, Some(problem.to_string()))
            }
        }
    }
}

/// What a producer says of its file, checked.
fn checked(said: &FileDigest) -> Result<FileDigest, Fault> {
    let checksum = said.checksum.trim().to_ascii_lowercase();
    if checksum.len() != 64 || !checksum.bytes().all(|b| b.is_ascii_hexdigit()) {
        let shown = text::excerpt(&said.checksum, 80);
        return Err(Fault::usage(format!("`{shown}` is no SHA-256"))
            .hint("64 hexadecimal digits, as `sha256sum` prints them"));
    }
    Ok(FileDigest {
        size_bytes: said.size_bytes,
        checksum,
    })
}

fn described(said: Option<&str>) -> Result<Option<String>, Fault> {
    let said = said.map(str::trim).filter(|words| !words.is_empty());
    let most = limits::DESCRIPTION_BYTES_MAX;
    match said {
        Some(words) if words.len() > most => Err(Fault::usage(format!(
            "the description has {} bytes; at most {most} are allowed",
            words.len()
        ))),
        words => Ok(words.map(str::to_owned)),
    }
}

fn refusal(shown: &str, problem: &DigestProblem) -> Fault {
    let said = format!("artifact `{shown}`: {problem}");
    match problem {
        DigestProblem::Missing => {
            Fault::not_found(said).hint("the path is relative to the project's root")
        }
        DigestProblem::NoFile => Fault::usage(said).hint("name a file"),
        DigestProblem::TooLarge(_) => {
            let most = limits::ARTIFACT_BYTES_MAX;
            Fault::usage(said).hint(format!("at most {most} bytes are read"))
        }
        DigestProblem::Unreadable(_) => {
            Fault::failed(said).hint("check the file, its owner and its permissions")
        }
    }
}

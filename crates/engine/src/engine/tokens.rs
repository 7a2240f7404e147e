//! Who may ask a server: tokens and login links, of which only hashes are kept.
//!
//! One private file beside the store, `.heirloom/tokens.json`, which no export and no backup carries. A server reads it
//! again when it changed, so a token that is revoked opens nothing from the next request on.

use super::Engine;
use crate::places::{DigestProblem, whole_file};
use blake3::Hash;
use heirloom_model::{AccessRole, Clock, Fault, ProjectName, Timestamp, ToSpan, limits};
use heirloom_store::durable;
use serde::{Deserialize, Serialize};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;

/// The file of tokens, in the folder of the project's memory.
const TOKENS_FILE: &str = "tokens.json";
/// What every token begins with, so that it is known for one wherever it turns up.
const PREFIX: &str = "hl_";
/// Random bytes of a secret.
const SECRET_BYTES: usize = 32;
/// Random bytes of a token's id.
const ID_BYTES: usize = 6;

/// One token, as far as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its name, for whoever revokes it.
    pub id: String,
    /// What its holder may do.
    pub role: AccessRole,
    /// The one project that it opens; all of the store without one.
    pub project: Option<ProjectName>,
    /// When it was made.
    pub created_at: Timestamp,
    hash: Hash,
}

impl Token {
    /// Whether this is the secret. Takes the same time whatever is given.
    pub fn is(&self, secret: &str) -> bool {
        self.hash == blake3::hash(secret.as_bytes())
    }
}

/// A token that was made: the one time that it is told.
#[derive(Debug, Clone)]
pub struct NewToken {
    /// Its name.
    pub id: String,
    /// What opens.
    pub secret: String,
}

/// What a file of tokens looked like; another look, another content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokensStamp(Option<(u64, u64, i64, i64)>);

/// The tokens of a memory.
#[derive(Clone)]
pub struct Tokens {
    file: PathBuf,
    clock: Arc<dyn Clock>,
}

#[derive(Serialize, Deserialize, Default)]
struct Kept {
    version: u32,
    tokens: Vec<KeptToken>,
    #[serde(default)]
    logins: Vec<KeptLogin>,
}

#[derive(Serialize, Deserialize)]
struct KeptToken {
    id: String,
    role: String,
    project: Option<String>,
    hash: String,
    created_at: Timestamp,
}

#[derive(Serialize, Deserialize)]
struct KeptLogin {
    role: String,
    hash: String,
    expires_at: Timestamp,
}

impl Engine {
    /// The tokens that open this memory through a server.
    pub fn tokens(&self) -> Tokens {
        Tokens {
            file: self.folder.join(TOKENS_FILE),
            clock: Arc::clone(&self.clock),
        }
    }
}

impl Tokens {
    /// Makes a token; durable when it returns. Errors: `Refused` when there are too many.
    pub fn create(
        &self,
        role: AccessRole,
        project: Option<ProjectName>,
    ) -> Result<NewToken, Fault> {
        self.change(|kept| add(kept, role, project, self.clock.now()))
    }

    /// Makes the first token of a memory that never had one; `None` if it had.
    pub fn first(&self, role: AccessRole) -> Result<Option<NewToken>, Fault> {
        if self.stamp().0.is_some() {
            return Ok(None);
        }
        self.change(|kept| {
            if kept.version > 0 {
                return Ok(None);
            }
            add(kept, role, None, self.clock.now()).map(Some)
        })
    }

    /// The tokens that there are, oldest first.
    pub fn list(&self) -> Result<Vec<Token>, Fault> {
        let kept = self.read()?.tokens;
        kept.into_iter()
            .map(|kept| {
                let project = kept.project.as_deref().map(ProjectName::new).transpose();
                Ok(Token {
                    id: kept.id,
                    role: (kept.role.parse()).map_err(|bad: String| self.unfit(&bad))?,
                    project: project.map_err(|bad| self.unfit(&bad.to_string()))?,
                    created_at: kept.created_at,
                    hash: (Hash::from_hex(&kept.hash))
                        .map_err(|bad| self.unfit(&bad.to_string()))?,
                })
            })
            .collect()
    }

    /// Takes a token away: it opens nothing any more. Errors: `NotFound`.
    pub fn revoke(&self, id: &str) -> Result<(), Fault> {
        self.change(|kept| {
            let before = kept.tokens.len();
            kept.tokens.retain(|token| token.id != id);
            if kept.tokens.len() == before {
                return Err(Fault::not_found(format!("there is no token `{id}`"))
                    .hint("`heirloom token list` names them"));
            }
            Ok(())
        })
    }

    /// Makes what logs a browser in once, for a short time.
    pub fn new_login(&self, role: AccessRole) -> Result<String, Fault> {
        let secret = random_hex(SECRET_BYTES)?;
        let now = self.clock.now();
        let expires_at = now
            .checked_add(limits::LOGIN_LINK_S.seconds())
            .map_err(|error| Fault::failed(format!("the clock: {error}")))?;
        self.change(|kept| {
            kept.logins.retain(|login| login.expires_at > now);
            let too_many = (kept.logins.len() + 1).saturating_sub(limits::LOGIN_LINKS_MAX);
            kept.logins.drain(..too_many);
            kept.logins.push(KeptLogin {
                role: role.as_str().to_owned(),
                hash: blake3::hash(secret.as_bytes()).to_hex().to_string(),
                expires_at,
            });
            Ok(())
        })?;
        Ok(secret)
    }

    /// Uses what [`Tokens::new_login`] made up. `None` if it was used before, is too old, or was never made.
    pub fn take_login(&self, secret: &str) -> Result<Option<AccessRole>, Fault> {
        let given = blake3::hash(secret.as_bytes());
        let is_it = |login: &KeptLogin| Hash::from_hex(&login.hash).is_ok_and(|hash| hash == given);
        // Whoever guesses makes no file be written.
        if !self.read()?.logins.iter().any(is_it) {
            return Ok(None);
        }
        let now = self.clock.now();
        self.change(|kept| {
            let found = kept.logins.iter().position(is_it);
            let taken = found.map(|at| kept.logins.remove(at));
            let taken = taken.filter(|login| login.expires_at > now);
            let role = taken.map(|login| login.role.parse::<AccessRole>());
            role.transpose().map_err(|bad| self.unfit(&bad))
        })
    }

    /// What the file looks like now. Cheap: nothing is read.
    pub fn stamp(&self) -> TokensStamp {
        // A file that cannot be looked at is as none: whoever reads it then hears why.
        let found = self.file.symlink_metadata().ok();
        TokensStamp(found.map(|f| (f.ino(), f.len(), f.mtime(), f.mtime_nsec())))
    }

    fn read(&self) -> Result<Kept, Fault> {
        let bytes = match whole_file(&self.file, limits::TOKENS_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(DigestProblem::Missing) => return Ok(Kept::default()),
            Err(problem) => return Err(self.unfit(&problem.to_string())),
        };
        serde_json::from_slice(&bytes).map_err(|error| self.unfit(&error.to_string()))
    }

    /// Changes what is kept, while no other process does; on the disk when it returns.
    fn change<T>(&self, change: impl FnOnce(&mut Kept) -> Result<T, Fault>) -> Result<T, Fault> {
        let lock = durable::lock(&self.file.with_extension("lock"), limits::FILE_LOCK_MS)?;
        let mut kept = self.read()?;
        let answer = change(&mut kept)?;
        kept.version = 1;
        let json = serde_json::to_vec_pretty(&kept)
            .map_err(|error| Fault::failed(format!("tokens: {error}")))?;
        durable::write_atomic(&self.file, &json)?;
        drop(lock);
        Ok(answer)
    }

    fn unfit(&self, problem: &str) -> Fault {
        let file = self.file.display();
        Fault::failed(format!("nobody can be let in: {file}: {problem}"))
            .hint("remove the file, and make new tokens: `heirloom token create --role R`")
    }
}

fn add(
    kept: &mut Kept,
    role: AccessRole,
    project: Option<ProjectName>,
    now: Timestamp,
) -> Result<NewToken, Fault> {
    if kept.tokens.len() >= limits::TOKENS_MAX {
        let most = limits::TOKENS_MAX;
        return Err(Fault::refused(format!("there are {most} tokens already"))
            .hint("`heirloom token revoke ID` takes one away"));
    }
    let id = random_hex(ID_BYTES)?;
    let secret = format!("{PREFIX}{}", random_hex(SECRET_BYTES)?);
    kept.tokens.push(KeptToken {
        id: id.clone(),
        role: role.as_str().to_owned(),
        project: project.map(|project| project.as_str().to_owned()),
        hash: blake3::hash(secret.as_bytes()).to_hex().to_string(),
        created_at: now,
    });
    Ok(NewToken { id, secret })
}

fn random_hex(bytes: usize) -> Result<String, Fault> {
    let mut random = [0; SECRET_BYTES];
    let random = &mut random[..bytes];
    getrandom::fill(random)
        .map_err(|error| Fault::failed(format!("the system gives no random bytes: {error}")))?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_model::FixedClock;

    #[test]
    fn so_many_links_wait_and_each_is_used_once() {
        let folder = durable::temporary_folder("tokens-", None).unwrap();
        let at = |second: i64| Tokens {
            file: folder.path().join(TOKENS_FILE),
            clock: Arc::new(FixedClock(heirloom_model::clock::from_micros(
                second * 1_000_000,
            ))),
        };
        let tokens = at(1_000);
        let first = tokens.new_login(AccessRole::User).unwrap();
        let second = tokens.new_login(AccessRole::Admin).unwrap();
        for _ in 1..limits::LOGIN_LINKS_MAX {
            tokens.new_login(AccessRole::User).unwrap();
        }
        assert_eq!(tokens.take_login(&first), Ok(None), "one too many");
        assert_eq!(tokens.take_login(&second), Ok(Some(AccessRole::Admin)));
        assert_eq!(tokens.take_login(&second), Ok(None), "it was used");
        let third = tokens.new_login(AccessRole::User).unwrap();
        let late = at(1_000 + limits::LOGIN_LINK_S);
        assert_eq!(late.take_login(&third), Ok(None), "it is too old");
    }

    #[test]
    fn only_a_hash_is_kept() {
        let folder = durable::temporary_folder("tokens-", None).unwrap();
        let tokens = Tokens {
            file: folder.path().join(TOKENS_FILE),
            clock: Arc::new(FixedClock(Timestamp::UNIX_EPOCH)),
        };
        let before = tokens.stamp();
        let first = tokens.first(AccessRole::Orchestrator).unwrap().unwrap();
        assert_ne!(tokens.stamp(), before);
        assert!(tokens.first(AccessRole::Orchestrator).unwrap().is_none());
        let kept = tokens.list().unwrap();
        assert!(kept[0].is(&first.secret));
        assert!(!kept[0].is(&first.secret[..first.secret.len() - 1]));
        let text = std::fs::read_to_string(folder.path().join(TOKENS_FILE)).unwrap();
        assert!(!text.contains(&first.secret[PREFIX.len()..]));
        tokens.revoke(&first.id).unwrap();
        assert!(tokens.list().unwrap().is_empty());
        assert!(
            tokens.first(AccessRole::Orchestrator).unwrap().is_none(),
            "once"
        );
    }
}

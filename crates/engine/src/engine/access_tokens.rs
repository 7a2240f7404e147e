//! Access tokens and login links of the server; only hashes are stored.
//!
//! They are in a private file next to the store, `.heirloom/tokens.json`, which exports and backups do not contain. A
//! server reads it again when it changed, so a revoked token is refused from the next request on. The tokens of a memory
//! on a database server are a document there, and a revoked token is refused after a second.

mod token_storage;

use crate::engine::Maintenance;
use blake3::Hash;
use heirloom_model::{AccessRole, Clock, Fault, ProjectName, Timestamp, ToSpan, limits, text};
use heirloom_redact::Redactor;
use heirloom_store::Store;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
pub use token_storage::TokenStamp;
use token_storage::TokenStorage;

/// File of tokens, in the memory's folder.
const TOKENS_FILE: &str = "tokens.json";
/// Prefix of tokens, which makes them recognisable.
const PREFIX: &str = "hl_";
/// Random bytes of a secret.
const SECRET_BYTES: usize = 32;
/// Random bytes of a token's id.
const ID_BYTES: usize = 6;

/// Stored data of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Id for listing and revoking.
    pub id: String,
    /// Role of the holder.
    pub role: AccessRole,
    /// Project that it is limited to; `None` for all projects of the store.
    pub project: Option<ProjectName>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Name for people, such as that of the machine that has it.
    pub name: Option<String>,
    hash: Hash,
}

impl Token {
    /// Returns true if this is the token's secret. Compares in constant time.
    pub fn matches_secret(&self, secret: &str) -> bool {
        self.hash == blake3::hash(secret.as_bytes())
    }
}

/// New token with its secret, which is shown only once.
#[derive(Debug, Clone)]
pub struct NewToken {
    /// Id.
    pub id: String,
    /// Secret.
    pub secret: String,
}

/// Tokens of a memory.
#[derive(Clone)]
pub struct Tokens {
    storage: TokenStorage,
    clock: Arc<dyn Clock>,
    redactor: Arc<Redactor>,
}

#[derive(Serialize, Deserialize, Default)]
struct TokenFile {
    #[serde(rename = "version")]
    version: u32,
    #[serde(rename = "tokens")]
    tokens: Vec<StoredToken>,
    #[serde(default)]
    #[serde(rename = "logins")]
    logins: Vec<StoredLogin>,
}

#[derive(Serialize, Deserialize)]
struct StoredToken {
    #[serde(rename = "id")]
    id: String,
    #[serde(rename = "role")]
    role: String,
    #[serde(rename = "project")]
    project: Option<String>,
    #[serde(rename = "hash")]
    hash: String,
    #[serde(rename = "created_at")]
    created_at: Timestamp,
    #[serde(rename = "name", default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct StoredLogin {
    #[serde(rename = "role")]
    role: String,
    #[serde(rename = "hash")]
    hash: String,
    #[serde(rename = "expires_at")]
    expires_at: Timestamp,
}

impl Maintenance<'_> {
    /// Returns the tokens for access to this memory through a server.
    pub fn tokens(&self) -> Tokens {
        Tokens {
            storage: TokenStorage::new(
                Arc::clone(&self.engine.store) as Arc<dyn Store>,
                self.engine.folder.join(TOKENS_FILE),
            ),
            clock: Arc::clone(&self.engine.clock),
            redactor: Arc::clone(&self.engine.redactor),
        }
    }
}

impl Tokens {
    /// Creates a token; durable when it returns. Errors: `Refused` if there are too many.
    pub fn create(
        &self,
        role: AccessRole,
        project: Option<&ProjectName>,
    ) -> Result<NewToken, Fault> {
        self.create_named(role, project, None)
    }

    /// Creates a token with a name for people. Errors: those of [`Tokens::create`]; `Usage` if the name is too long.
    pub fn create_named(
        &self,
        role: AccessRole,
        project: Option<&ProjectName>,
        name: Option<&str>,
    ) -> Result<NewToken, Fault> {
        let most = limits::TOKEN_NAME_CHARS_MAX;
        if name.is_some_and(|name| text::chars(name) > most) {
            return Err(Fault::usage(format!(
                "the name of a token has at most {most} characters"
            )));
        }
        let name = name
            .map(|name| text::one_line(&self.redactor.redact(name)))
            .filter(|name| !name.trim().is_empty());
        let name = name.as_deref();
        self.change(|stored| add(stored, role, project.cloned(), name, self.clock.now()))
    }

    /// Creates the first token of a memory; `None` if it ever had one.
    pub fn create_first(&self, role: AccessRole) -> Result<Option<NewToken>, Fault> {
        if self.stamp().exists() {
            return Ok(None);
        }
        self.change(|stored| {
            if stored.version > 0 {
                return Ok(None);
            }
            add(stored, role, None, None, self.clock.now()).map(Some)
        })
    }

    /// Lists all tokens, oldest first.
    pub fn list(&self) -> Result<Vec<Token>, Fault> {
        let stored = self.read()?.tokens;
        stored
            .into_iter()
            .map(|stored| {
                let project = stored.project.as_deref().map(ProjectName::new).transpose();
                Ok(Token {
                    id: stored.id,
                    role: (stored.role.parse()).map_err(|bad: String| self.file_fault(&bad))?,
                    project: project.map_err(|bad| self.file_fault(&bad.to_string()))?,
                    created_at: stored.created_at,
                    name: stored.name,
                    hash: (Hash::from_hex(&stored.hash))
                        .map_err(|bad| self.file_fault(&bad.to_string()))?,
                })
            })
            .collect()
    }

    /// Moves the tokens of the project `from` to its new name `to`.
    pub fn rename_project(&self, from: &ProjectName, to: &ProjectName) -> Result<(), Fault> {
        let is_of_it = |token: &StoredToken| token.project.as_deref() == Some(from.as_str());
        if !self.read()?.tokens.iter().any(is_of_it) {
            return Ok(());
        }
        self.change(|stored| {
            for token in stored.tokens.iter_mut().filter(|token| is_of_it(token)) {
                token.project = Some(to.as_str().to_owned());
            }
            Ok(())
        })
    }

    /// Revokes a token. Errors: `NotFound`.
    pub fn revoke(&self, id: &str) -> Result<(), Fault> {
        self.change(|stored| {
            let before = stored.tokens.len();
            stored.tokens.retain(|token| token.id != id);
            if stored.tokens.len() == before {
                return Err(Fault::not_found(format!("there is no token `{id}`"))
                    .hint("`heirloom token list` lists them"));
            }
            Ok(())
        })
    }

    /// Creates the secret of a login link: short-lived and for one use.
    pub fn new_login(&self, role: AccessRole) -> Result<String, Fault> {
        let secret = random_hex(SECRET_BYTES)?;
        let now = self.clock.now();
        let expires_at = now
            .checked_add(limits::LOGIN_LINK_S.seconds())
            .map_err(|error| Fault::failed(format!("the clock: {error}")))?;
        self.change(|stored| {
            stored.logins.retain(|login| login.expires_at > now);
            let too_many = (stored.logins.len() + 1).saturating_sub(limits::LOGIN_LINKS_MAX);
            stored.logins.drain(..too_many);
            stored.logins.push(StoredLogin {
                role: role.as_str().to_owned(),
                hash: blake3::hash(secret.as_bytes()).to_hex().to_string(),
                expires_at,
            });
            Ok(())
        })?;
        Ok(secret)
    }

    /// Redeems a secret of [`Tokens::new_login`]. `None` if it was used, has expired, or is unknown.
    pub fn redeem_login(&self, secret: &str) -> Result<Option<AccessRole>, Fault> {
        let given = blake3::hash(secret.as_bytes());
        let is_it =
            |login: &StoredLogin| Hash::from_hex(&login.hash).is_ok_and(|hash| hash == given);
        // Guessed secrets must not cause writes.
        if !self.read()?.logins.iter().any(is_it) {
            return Ok(None);
        }
        let now = self.clock.now();
        self.change(|stored| {
            let found = stored.logins.iter().position(is_it);
            let login = found.map(|at| stored.logins.remove(at));
            let login = login.filter(|login| login.expires_at > now);
            let role = login.map(|login| login.role.parse::<AccessRole>());
            role.transpose().map_err(|bad| self.file_fault(&bad))
        })
    }

    /// Returns the fingerprint of the stored tokens without reading them.
    pub fn stamp(&self) -> TokenStamp {
        self.storage.stamp()
    }

    /// Returns true if [`Tokens::stamp`] needs no round trip to a server.
    pub fn has_fresh_stamp(&self) -> bool {
        self.storage.has_fresh_stamp()
    }

    fn read(&self) -> Result<TokenFile, Fault> {
        self.parse(self.storage.read()?)
    }

    fn parse(&self, bytes: Option<Vec<u8>>) -> Result<TokenFile, Fault> {
        let Some(bytes) = bytes else {
            return Ok(TokenFile::default());
        };
        serde_json::from_slice(&bytes).map_err(|error| self.file_fault(&error.to_string()))
    }

    /// Changes the stored tokens while no other process does; durable when it returns.
    fn change<T>(
        &self,
        mut change: impl FnMut(&mut TokenFile) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.storage.change(|bytes| {
            let mut stored = self.parse(bytes)?;
            let answer = change(&mut stored)?;
            stored.version = 1;
            let json = serde_json::to_vec_pretty(&stored)
                .map_err(|error| Fault::failed(format!("tokens: {error}")))?;
            Ok((json, answer))
        })
    }

    fn file_fault(&self, problem: &str) -> Fault {
        self.storage.fault(problem)
    }
}

fn add(
    stored: &mut TokenFile,
    role: AccessRole,
    project: Option<ProjectName>,
    name: Option<&str>,
    now: Timestamp,
) -> Result<NewToken, Fault> {
    if stored.tokens.len() >= limits::TOKENS_MAX {
        let most = limits::TOKENS_MAX;
        return Err(Fault::refused(format!("there are {most} tokens already"))
            .hint("`heirloom token revoke ID` removes one"));
    }
    let id = random_hex(ID_BYTES)?;
    let secret = format!("{PREFIX}{}", random_hex(SECRET_BYTES)?);
    stored.tokens.push(StoredToken {
        id: id.clone(),
        role: role.as_str().to_owned(),
        project: project.map(|project| project.as_str().to_owned()),
        hash: blake3::hash(secret.as_bytes()).to_hex().to_string(),
        created_at: now,
        name: name.map(str::to_owned),
    });
    Ok(NewToken { id, secret })
}

fn random_hex(bytes: usize) -> Result<String, Fault> {
    let mut random = [0; SECRET_BYTES];
    let random = &mut random[..bytes];
    getrandom::fill(random)
        .map_err(|error| Fault::failed(format!("cannot get random bytes: {error}")))?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod stored_form_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_fs::durable;
    use heirloom_model::FixedClock;

    #[test]
    fn login_links_are_limited_expire_and_work_once() {
        let folder = durable::temporary_folder("tokens-", None).unwrap();
        let at = |second: i64| Tokens {
            storage: TokenStorage::File(folder.path().join(TOKENS_FILE)),
            clock: Arc::new(FixedClock(heirloom_model::clock::from_micros(
                second * 1_000_000,
            ))),
            redactor: Arc::default(),
        };
        let tokens = at(1_000);
        let first = tokens.new_login(AccessRole::User).unwrap();
        let second = tokens.new_login(AccessRole::Admin).unwrap();
        for _ in 1..limits::LOGIN_LINKS_MAX {
            tokens.new_login(AccessRole::User).unwrap();
        }
        assert_eq!(tokens.redeem_login(&first), Ok(None), "one too many");
        assert_eq!(tokens.redeem_login(&second), Ok(Some(AccessRole::Admin)));
        assert_eq!(tokens.redeem_login(&second), Ok(None), "it was used");
        let third = tokens.new_login(AccessRole::User).unwrap();
        let late = at(1_000 + limits::LOGIN_LINK_S);
        assert_eq!(late.redeem_login(&third), Ok(None), "it is too old");
    }

    #[test]
    fn token_name_is_stored_up_to_its_limit() {
        let folder = durable::temporary_folder("tokens-", None).unwrap();
        let tokens = Tokens {
            storage: TokenStorage::File(folder.path().join(TOKENS_FILE)),
            clock: Arc::new(FixedClock(Timestamp::UNIX_EPOCH)),
            redactor: Arc::default(),
        };
        let longest = "n".repeat(limits::TOKEN_NAME_CHARS_MAX);
        let create = |name: &str| tokens.create_named(AccessRole::Agent, None, Some(name));
        create(&longest).unwrap();
        assert!(create(&format!("{longest}n")).is_err());
        tokens.create(AccessRole::Agent, None).unwrap();
        create(" ").unwrap();
        create("build\nserver").unwrap();
        create(&["password=", "q7Hn2kLm9XvB4cRt"].concat()).unwrap();
        let names: Vec<_> = tokens
            .list()
            .unwrap()
            .into_iter()
            .map(|token| token.name)
            .collect();
        let one_line = Some("build | server".to_owned());
        let redacted = Some("password=[redacted:password]".to_owned());
        assert_eq!(names, [Some(longest), None, None, one_line, redacted]);
    }

    #[test]
    fn token_file_contains_only_hash() {
        let folder = durable::temporary_folder("tokens-", None).unwrap();
        let tokens = Tokens {
            storage: TokenStorage::File(folder.path().join(TOKENS_FILE)),
            clock: Arc::new(FixedClock(Timestamp::UNIX_EPOCH)),
            redactor: Arc::default(),
        };
        let before = tokens.stamp();
        let first = tokens
            .create_first(AccessRole::Orchestrator)
            .unwrap()
            .unwrap();
        assert_ne!(tokens.stamp(), before);
        assert!(
            tokens
                .create_first(AccessRole::Orchestrator)
                .unwrap()
                .is_none()
        );
        let stored = tokens.list().unwrap();
        assert!(stored[0].matches_secret(&first.secret));
        assert!(!stored[0].matches_secret(&first.secret[..first.secret.len() - 1]));
        let text = std::fs::read_to_string(folder.path().join(TOKENS_FILE)).unwrap();
        assert!(!text.contains(&first.secret[PREFIX.len()..]));
        tokens.revoke(&first.id).unwrap();
        assert!(tokens.list().unwrap().is_empty());
        assert!(
            tokens
                .create_first(AccessRole::Orchestrator)
                .unwrap()
                .is_none(),
            "once"
        );
    }
}

//! One client's session: whose memory it means, and the way from its requests to the engine.

use super::logging::Loudness;
use super::prompts::Commands;
use super::roots::Roots;
use super::watching::Watching;
use super::{Caller, Settings};
use crate::App;
use crate::app::Whose;
use heirloom_engine::Engine;
use heirloom_model::conflict::may_arbitrate;
use heirloom_model::record::check_name;
use heirloom_model::{ErrorKind, Fault, limits, text};
use rmcp::RoleServer;
use rmcp::model::{ClientCapabilities, ProgressNotificationParam};
use rmcp::service::{Peer, RequestContext};
use std::sync::Arc;
use std::time::Duration;

/// The server's side of one client's session.
#[derive(Clone)]
pub(super) struct Server {
    inner: Arc<Inner>,
}

struct Inner {
    app: App,
    settings: Settings,
    roots: Roots,
    watching: Watching,
    loudness: Loudness,
    /// Whether a request can be sent at any time, and not only while one is answered.
    is_stream: bool,
}

impl Server {
    pub(super) fn new(app: App, settings: Settings, is_stream: bool) -> Self {
        Self {
            inner: Arc::new(Inner {
                app,
                settings,
                roots: Roots::default(),
                watching: Watching::default(),
                loudness: Loudness::default(),
                is_stream,
            }),
        }
    }

    /// The program's version.
    pub(super) fn version(&self) -> &'static str {
        self.inner.app.options().version
    }

    /// The commands that are prompts.
    pub(super) fn commands(&self) -> Option<Arc<dyn Commands>> {
        self.inner.settings.commands.clone()
    }

    /// What the client wants to be told of when it changes.
    pub(super) fn watching(&self) -> &Watching {
        &self.inner.watching
    }

    /// From which level on the client wants to be told.
    pub(super) fn loudness(&self) -> &Loudness {
        &self.inner.loudness
    }

    /// Asks the client for its folders before they are needed, where it can be asked at any time.
    pub(super) async fn look_for_roots(&self, peer: &Peer<RoleServer>, anew: bool) {
        if anew {
            self.inner.roots.forget();
        }
        if self.inner.is_stream {
            let client = peer.peer_info();
            let can = client.map(|client| client.capabilities.clone());
            drop(self.whose(peer, can.as_ref()).await);
        }
    }

    async fn whose(&self, peer: &Peer<RoleServer>, can: Option<&ClientCapabilities>) -> Whose {
        let follows = self.inner.settings.follows_roots;
        let has_roots = follows && can.is_some_and(|can| can.roots.is_some());
        self.inner.roots.whose(peer, has_roots).await
    }

    /// Who calls.
    pub(super) fn caller(&self, context: &RequestContext<RoleServer>) -> Caller {
        let parts = context.extensions.get::<axum::http::request::Parts>();
        let known = parts.and_then(|parts| parts.extensions.get::<Caller>());
        let mut caller = known.cloned().unwrap_or_default();
        if caller.source.is_none() {
            let name = context.client_info().map(|client| client.name);
            caller.source = Some(source_of(name.as_deref().unwrap_or_default()));
        }
        caller
    }

    /// Asks the memory that the client means. While it is worked on the client is told so, if it wants to be.
    ///
    /// Errors: those of `call`; `Interrupted` if the client took its request back.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        call: impl FnOnce(&Engine) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let project = self.caller(context).project;
        let work = async {
            let can = context.client_capabilities();
            let whose = match project {
                Some(project) => Whose::Project(Some(project)),
                None => self.whose(&context.peer, can.as_ref()).await,
            };
            // The files belong to the memory of the folder, not to whatever other project is asked for.
            let is_own = !matches!(whose, Whose::Project(Some(_)));
            let asked = self.inner.app.ask_memory(whose, move |engine| {
                let notes = if is_own { take_in(engine) } else { Vec::new() };
                Ok((call(engine)?, notes))
            });
            asked.await
        };
        let (answer, notes) = told_meanwhile(context, work).await?;
        for note in notes {
            self.inner.loudness.warn(&context.peer, &note).await;
        }
        Ok(answer)
    }
}

/// Waits for `work`, tells the client now and then that it goes on, and gives up with the client.
async fn told_meanwhile<T>(
    context: &RequestContext<RoleServer>,
    work: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    let token = context.meta.get_progress_token();
    let pause = Duration::from_millis(limits::MCP_PROGRESS_PAUSE_MS);
    let mut work = std::pin::pin!(work);
    let mut seconds = 0.0;
    loop {
        tokio::select! {
            answer = &mut work => return answer,
            () = context.ct.cancelled() => {
                return Err(Fault::new(ErrorKind::Interrupted, "the call was cancelled"));
            }
            () = tokio::time::sleep(pause) => {
                seconds += pause.as_secs_f64();
                if let Some(token) = &token {
                    let note = ProgressNotificationParam::new(token.clone(), seconds);
                    let note = note.with_message("memory is still at work");
                    // A client that does not hear it hears the answer.
                    drop(context.peer.notify_progress(note).await);
                }
            }
        }
    }
}

/// Takes in what people wrote into files and agents dropped since the last call; what is to be told of it. What goes
/// wrong with these is no reason not to answer.
fn take_in(engine: &Engine) -> Vec<String> {
    let mut notes = Vec::new();
    match engine.sweep_inbox() {
        Ok(swept) => {
            let failed = swept.failed.into_iter();
            notes.extend(failed.map(|(name, why)| format!("inbox/failed/{name}: {why}")));
        }
        Err(fault) => notes.push(format!("the inbox has to wait: {}", fault.message)),
    }
    match engine.sync_workspace() {
        Ok(report) => notes.extend(report.notes),
        Err(fault) => notes.push(format!("workspace files were not read: {}", fault.message)),
    }
    notes
}

/// A client's name as the source of what it says: never that of a person or the orchestrator.
fn source_of(name: &str) -> String {
    let name = text::one_line(name);
    let name = text::clip(name.trim(), SOURCE_CHARS);
    match check_name("source", name).is_err() || may_arbitrate(name) {
        true => "mcp".to_owned(),
        false => name.to_owned(),
    }
}

/// Characters of a client's name that are kept: in any alphabet they fit.
const SOURCE_CHARS: usize = limits::NAME_BYTES_MAX / 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_never_writes_as_a_person() {
        assert_eq!(source_of("claude-code"), "claude-code");
        for name in ["", " ", "user", "orchestrator", " user\n"] {
            assert_eq!(source_of(name), "mcp", "{name:?}");
        }
        let long = source_of(&"ä".repeat(9_000));
        assert!(long.len() <= limits::NAME_BYTES_MAX, "{}", long.len());
    }
}

//! Notification of other processes about committed writes, and the receiver of such notifications.
//!
//! A write notifies directly after its commit and not inside its transaction: PostgreSQL lets only one transaction with
//! a notification commit at a time, in the whole database (decision 87).

use super::PostgresStore;
use crate::sql::postgres::address::PostgresAddress;
use crate::sql::postgres::tls::TlsMode;
use futures_util::StreamExt;
use futures_util::stream::poll_fn;
use heirloom_model::{ProjectName, limits};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time;
use tokio_postgres::{AsyncMessage, Client, Connection, Error, NoTls};

/// Change in the database that another session may have made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreChange {
    /// A write to this project was committed.
    Project(ProjectName),
    /// Any project may have changed: the watcher has just connected and does not know what was written before.
    Unknown,
}

/// Receiver of notifications. Dropping it ends the notifications.
#[derive(Debug)]
pub struct ChangeWatcher {
    task: JoinHandle<()>,
}

impl Drop for ChangeWatcher {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl PostgresStore {
    /// Calls `on_change` for every write that any process commits, on a thread of its own. After a lost connection it is
    /// called with [`StoreChange::Unknown`], and also at the beginning.
    pub fn watch(&self, on_change: impl Fn(StoreChange) + Send + 'static) -> Option<ChangeWatcher> {
        let runtime = self.runtime.as_ref()?;
        let (sender, receiver) = mpsc::channel();
        let address = self.pool.manager().address().clone();
        let task = runtime.spawn(listen(address, sender));
        let name = "store-watcher".to_owned();
        let calls = thread::Builder::new().name(name).spawn(move || {
            while let Ok(change) = receiver.recv() {
                on_change(change);
            }
        });
        if calls.is_err() {
            task.abort();
            return None;
        }
        Some(ChangeWatcher { task })
    }
}

/// Listens until the receiver is gone; connects again after each failure.
async fn listen(address: PostgresAddress, changes: Sender<StoreChange>) {
    let mut wait = Duration::from_millis(limits::POSTGRES_BACKOFF_MS);
    let longest = Duration::from_millis(limits::POSTGRES_RECONNECT_MAX_MS);
    loop {
        let was_connected = listen_once(&address, &changes).await.is_ok();
        if was_connected {
            wait = Duration::from_millis(limits::POSTGRES_BACKOFF_MS);
        }
        time::sleep(wait).await;
        wait = (2 * wait).min(longest);
    }
}

/// Listens until the connection is lost. Returns an error if none was opened.
async fn listen_once(
    address: &PostgresAddress,
    changes: &Sender<StoreChange>,
) -> Result<(), Error> {
    let (sender, mut names) = unbounded_channel();
    let (client, driver) = match &address.tls {
        TlsMode::Off => {
            let (client, connection) = address.config.connect(NoTls).await?;
            (client, tokio::spawn(forward_names(connection, sender)))
        }
        TlsMode::On(tls) => {
            let (client, connection) = address.config.connect(tls.clone()).await?;
            (client, tokio::spawn(forward_names(connection, sender)))
        }
    };
    let _ending = AbortOnDrop(driver);
    client.batch_execute("LISTEN heirloom").await?;
    // What was committed before is seen by a reader that this call makes read again.
    if changes.send(StoreChange::Unknown).is_err() {
        return Ok(());
    }
    let heartbeat = Duration::from_secs(limits::POSTGRES_HEARTBEAT_S);
    loop {
        match time::timeout(heartbeat, names.recv()).await {
            Ok(Some(name)) => {
                let project = ProjectName::new(&name);
                if let Ok(project) = project
                    && changes.send(StoreChange::Project(project)).is_err()
                {
                    return Ok(());
                }
            }
            Ok(None) => return Ok(()),
            Err(_) if is_alive(&client).await => {}
            Err(_) => return Ok(()),
        }
    }
}

/// Sends the payloads of the notifications until the connection is lost.
async fn forward_names<S, T>(mut connection: Connection<S, T>, names: UnboundedSender<String>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    let mut messages = poll_fn(|cx| connection.poll_message(cx));
    while let Some(Ok(message)) = messages.next().await {
        if let AsyncMessage::Notification(notification) = message
            && names.send(notification.payload().to_owned()).is_err()
        {
            return;
        }
    }
}

/// Returns true if the server answers: a connection whose other end is gone without a trace is silent.
async fn is_alive(client: &Client) -> bool {
    let longest = Duration::from_secs(limits::POSTGRES_CONNECT_TIMEOUT_S);
    let answer = time::timeout(longest, client.simple_query("")).await;
    matches!(answer, Ok(Ok(_)))
}

/// Task that ends with this value.
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

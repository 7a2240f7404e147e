//! Work after a hook in processes that no hook waits for: judgement of ended sessions, files of the inbox.

use crate::language_model_setup;
use crate::platform::detach;
use crate::store_access::FoundProject;
use heirloom_model::limits;
use std::process::{Command, Stdio};

/// Starts `learn --judge` for the newest of the sessions if the user configured a model for it. A process that does not
/// start, or a model that fails, leaves the lessons as they are.
pub(crate) fn start_judgements(found: &FoundProject, sessions: &[String]) {
    let config = &found.config;
    if !language_model_setup::is_on(config) || !config.flag("writer.lessons") {
        return;
    }
    for session in newest(sessions) {
        start_command(found, &["learn", "--judge", "--", session]);
    }
}

/// Starts `watch --once`, which takes in the files of the inbox.
pub(crate) fn start_inbox_sweep(found: &FoundProject) {
    start_command(found, &["watch", "--once"]);
}

fn start_command(found: &FoundProject, arguments: &[&str]) {
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(&found.place.root)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    detach(&mut command);
    drop(command.spawn());
}

/// Returns the first sessions, up to the limit.
fn newest(sessions: &[String]) -> &[String] {
    let most = sessions.len().min(limits::LESSON_JUDGED_SESSIONS_MAX);
    sessions.get(..most).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_judged_up_to_the_limit() {
        let most = limits::LESSON_JUDGED_SESSIONS_MAX;
        let all: Vec<String> = (0..=most).map(|n| n.to_string()).collect();
        assert_eq!(newest(&all[..most]), &all[..most]);
        assert_eq!(newest(&all), &all[..most]);
    }
}

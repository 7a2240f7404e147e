//! A project on a small file system of its own, in a mount namespace that only its processes see.

use crate::driver::{Desk, Ran, finish};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A project on a tmpfs; gone with the process that holds it.
pub(crate) struct Room {
    pub(crate) desk: Desk,
    holder: Child,
    enter: Vec<String>,
    root: PathBuf,
}

impl Room {
    /// A room of `size`, with memory switched on; none where this machine lets nobody mount, which is said.
    pub(crate) fn of(size: &str) -> Option<Self> {
        let room = Self::bare(size)?;
        room.call(&["init"]).expect(0);
        Some(room)
    }

    /// A room without Heirloom.
    #[expect(clippy::print_stdout, reason = "a test that cannot run says so")]
    pub(crate) fn bare(size: &str) -> Option<Self> {
        let as_is = ["--mount"].as_slice();
        let as_root_of_its_own = ["--mount", "--user", "--map-root-user"].as_slice();
        let room = [as_is, as_root_of_its_own]
            .into_iter()
            .find_map(|how| Self::made(how, size));
        if room.is_none() {
            println!(
                "skipped: no file system can be mounted here, neither by this user nor in a namespace"
            );
        }
        room
    }

    fn made(how: &[&str], size: &str) -> Option<Self> {
        let desk = Desk::bare();
        let root = desk.root().to_owned();
        let script =
            "mount -t tmpfs -o size=$1,mode=755 none \"$0\" && echo ready && exec sleep 600";
        let mut holder = Command::new("unshare")
            .args(how)
            .args(["sh", "-c", script])
            .arg(&root)
            .arg(size)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut line = String::new();
        let mut said = BufReader::new(holder.stdout.take().unwrap());
        said.read_line(&mut line).unwrap();
        let mut enter = vec!["--mount".to_owned()];
        if how.len() > 1 {
            enter.extend(["--user", "--preserve-credentials"].map(str::to_owned));
        }
        let mut room = Self {
            enter,
            desk,
            root,
            holder,
        };
        if line.trim() == "ready" && room.command("true", &[]).status().ok()?.success() {
            return Some(room);
        }
        room.leave();
        None
    }

    /// A file of the room, as this process sees it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let root = self.root.strip_prefix("/").unwrap();
        let seen = Path::new("/proc").join(self.holder.id().to_string());
        seen.join("root").join(root).join(name)
    }

    /// A program inside the room.
    fn command(&self, program: &str, args: &[&str]) -> Command {
        let like = self.desk.heirloom(&[]);
        let mut command = Command::new("nsenter");
        for (name, value) in like.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
            .arg("--target")
            .arg(self.holder.id().to_string())
            .args(&self.enter)
            .args(["sh", "-c", "cd \"$0\" && exec \"$@\""])
            .arg(&self.root)
            .arg(program)
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// `heirloom` inside the room.
    pub(crate) fn heirloom(&self, args: &[&str]) -> Command {
        self.command(env!("CARGO_BIN_EXE_heirloom"), args)
    }

    /// One call to its end.
    pub(crate) fn call(&self, args: &[&str]) -> Ran {
        finish(self.heirloom(args), |_| {})
    }

    /// One call that reads `input`.
    pub(crate) fn feed(&self, args: &[&str], input: &str) -> Ran {
        let input = input.to_owned();
        let mut command = self.heirloom(args);
        command.stdin(Stdio::piped());
        finish(command, move |mut pipe| {
            drop(pipe.write_all(input.as_bytes()));
        })
    }

    /// Mounts the room anew: `ro`, `rw`.
    pub(crate) fn remount(&self, how: &str) {
        let options = format!("remount,{how}");
        // From outside, or the mount would be in use by the shell that asks for it.
        let root = self.root.to_str().unwrap();
        finish(self.command("mount", &["-o", &options, root]), |_| {}).expect(0);
    }

    /// Fills the room to its last byte, then makes `free_bytes` free again.
    pub(crate) fn fill(&self, free_bytes: u64) {
        let path = self.path("ballast");
        let mut ballast = std::fs::File::options()
            .create(true)
            .append(true)
            .open(&path)
            .unwrap();
        for size in [1 << 16, 1 << 12, 1] {
            while ballast.write_all(&vec![b'x'; size]).is_ok() {}
        }
        let length = ballast.metadata().unwrap().len();
        ballast.set_len(length - free_bytes).unwrap();
    }

    /// Makes room again.
    pub(crate) fn clear(&self) {
        std::fs::remove_file(self.path("ballast")).unwrap();
    }

    /// The texts of the current records of a kind, oldest first.
    pub(crate) fn texts(&self, kind: &str) -> Vec<String> {
        let listed = self.call(&["list", "--json", "--kind", kind]).expect(0);
        let listed = listed.json();
        let records = listed["records"].as_array().unwrap();
        let text = |record: &serde_json::Value| record["text"].as_str().unwrap().to_owned();
        records.iter().rev().map(text).collect()
    }

    /// Fails unless the store is healthy.
    #[track_caller]
    pub(crate) fn healthy(&self) {
        let status = self.call(&["status", "--json"]).expect(0).json();
        assert_eq!(status["health"], "ok", "{status}");
    }

    /// The names in a folder of the room.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn leave(&mut self) {
        self.holder.kill().unwrap();
        self.holder.wait().unwrap();
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.leave();
    }
}

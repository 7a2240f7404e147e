//! What `heirloom serve` answers a second over real HTTP, how long each answer takes, and what the server holds.

mod pages;

use crate::dice::Dice;
use crate::stats::Times;
use crate::{Outcome, probe};
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Records in the store.
const RECORDS: usize = 100_000;
/// Words of a text.
const WORDS: usize = 19;
/// Clients at once, each with a connection that it keeps.
const CONNECTIONS: usize = 64;
/// How long each load lasts.
const LOAD: Duration = Duration::from_secs(10);
/// And that of writes before other loads: each leaves a record, and those are of a store of the size that is named.
const LOAD_BETWEEN: Duration = Duration::from_secs(3);
/// Starts that are timed.
const STARTS: usize = 20;
/// Streams of events that nothing comes on.
const STREAMS: usize = 1_000;

/// All of it, or one part: `server-get`, `server-post`, `server-recall`, `server-streams` or `server-pages`.
pub(crate) fn measure(heirloom: Option<&Path>, to: Option<usize>, only: &str) -> Outcome<()> {
    let Some(heirloom) = heirloom else {
        println!("server: skipped, no --heirloom BINARY");
        return Ok(());
    };
    let root = tempfile::tempdir()?;
    let engine = probe::engine(root.path())?;
    let records = to.unwrap_or(RECORDS);
    let mut dice = Dice(47);
    probe::fill_with(&engine, 0, records, &mut |_| dice.text(WORDS))?;
    let keys: Vec<String> = keys(&engine)?;
    let wanted = |part: &str| only.strip_prefix("server-").is_none_or(|only| only == part);
    if wanted("pages") {
        pages::fill(&engine)?;
    }
    drop(engine);
    let syncs = probe::bare_syncs(root.path(), 100)?;
    Times::of(&syncs).print("a write with a sync");
    if wanted("starts") {
        starts(heirloom, root.path())?;
    }
    let server = Server::start(heirloom, root.path())?;
    server.print_megabytes("server resident, at rest")?;
    if wanted("get") {
        gets(&server, &keys)?;
    }
    if wanted("post") {
        let lasts = if only == "server-post" {
            LOAD
        } else {
            LOAD_BETWEEN
        };
        posts(&server, lasts)?;
    }
    if wanted("recall") {
        recalls(&server)?;
    }
    server.print_megabytes("server resident, after the load")?;
    if wanted("streams") {
        streams(&server)?;
    }
    if wanted("pages") {
        pages::measure(&server, &probe::reopened(root.path())?)?;
    }
    Ok(())
}

fn gets(server: &Server, keys: &[String]) -> Outcome<()> {
    let one = |n: usize| {
        let key = &keys[n * 7_919 % keys.len()];
        get(&format!("/api/memory/knowledge?category=fact&key={key}"))
    };
    load(server, "server GET knowledge, one by its key", LOAD, &one)?;
    let ten = |_: usize| get("/api/memory/knowledge?category=decision&limit=10");
    load(server, "server GET knowledge, the newest ten", LOAD, &ten)
}

fn posts(server: &Server, lasts: Duration) -> Outcome<()> {
    let post = |n: usize| {
        let said = json!({
            "task_id": format!("{}", n % 50), "agent_id": "bench", "action": "attempted",
            "approach": format!("approach number {n}"), "duration_ms": 5,
        });
        let body = said.to_string();
        let length = body.len();
        format!(
            "POST /api/memory/episodes HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{{head}}\r\n{body}"
        )
    };
    load(server, "server POST episodes, durable", lasts, &post)
}

fn recalls(server: &Server) -> Outcome<()> {
    let prompts = Dice(53).prompts(1_000);
    let recall = |n: usize| {
        let words: Vec<&str> = prompts[n % prompts.len()].split_whitespace().collect();
        let query: String = (words.join("+").chars())
            .filter(|c| c.is_ascii_alphanumeric() || *c == '+')
            .take(400)
            .collect();
        get(&format!("/api/recall?query={query}"))
    };
    load(server, "server GET recall", LOAD, &recall)
}

fn streams(server: &Server) -> Outcome<()> {
    let before = server.megabytes()?;
    let streams = server.follow(STREAMS)?;
    let more = server.megabytes()? - before;
    println!(
        "{:40} {more:12.1} MB more",
        format!("server, {STREAMS} idle event streams")
    );
    drop(streams);
    Ok(())
}

fn keys(engine: &heirloom_engine::Engine) -> Outcome<Vec<String>> {
    let filter = heirloom_engine::Filter::current(&[heirloom_model::Kind::Knowledge], engine.now());
    let found = engine.find(&filter.category("fact").limit(5_000))?;
    Ok(found.into_iter().filter_map(|record| record.key).collect())
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\n{{head}}\r\n")
}

fn starts(heirloom: &Path, root: &Path) -> Outcome<()> {
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let began = Instant::now();
        let server = Server::start(heirloom, root)?;
        let mut client = Client::new(&server)?;
        client.ask("GET /health HTTP/1.1\r\n{head}\r\n")?;
        times.push(began.elapsed());
        drop(server);
    }
    Times::of(&times).print("server, from process start to its first answer");
    Ok(())
}

/// A server that runs.
struct Server {
    child: Child,
    address: SocketAddr,
    token: String,
}

impl Server {
    fn start(heirloom: &Path, root: &Path) -> Outcome<Self> {
        let mut child = Command::new(heirloom)
            .args(["serve", "--port", "0"])
            .current_dir(root)
            .env("HOME", root)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let out = child.stdout.take().ok_or("no standard output")?;
        let mut first = String::new();
        BufReader::new(out).read_line(&mut first)?;
        let address = first.trim().rsplit("://").next().unwrap_or("").parse()?;
        Ok(Self {
            child,
            address,
            token: token(heirloom, root)?,
        })
    }

    /// What the process holds in memory.
    fn megabytes(&self) -> Outcome<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next());
        let kilobytes: f64 = kilobytes.ok_or("no VmRSS")?.parse()?;
        Ok(kilobytes / 1024.0)
    }

    fn print_megabytes(&self, name: &str) -> Outcome<()> {
        println!("{name:40} {:12.1} MB", self.megabytes()?);
        Ok(())
    }

    fn follow(&self, count: usize) -> Outcome<Vec<Client>> {
        let mut streams = Vec::new();
        for _ in 0..count {
            let mut client = Client::new(self)?;
            client.send("GET /api/events HTTP/1.1\r\n{head}\r\n")?;
            let mut line = String::new();
            client.stream.read_line(&mut line)?;
            if !line.contains("200") {
                return Err(line.into());
            }
            streams.push(client);
        }
        Ok(streams)
    }
}

/// A token, made once for a folder.
fn token(heirloom: &Path, root: &Path) -> Outcome<String> {
    let kept = root.join("token");
    if let Ok(token) = std::fs::read_to_string(&kept) {
        return Ok(token);
    }
    let mut making = Command::new(heirloom);
    making.args(["token", "create", "--role", "orchestrator"]);
    let made = making.current_dir(root).env("HOME", root).output()?;
    let token = String::from_utf8(made.stdout)?.trim().to_owned();
    heirloom_store::durable::write_atomic(&kept, token.as_bytes())?;
    Ok(token)
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// One connection that is kept.
struct Client {
    stream: BufReader<TcpStream>,
    head: String,
}

impl Client {
    fn new(server: &Server) -> Outcome<Self> {
        let stream = TcpStream::connect(server.address)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: BufReader::new(stream),
            head: format!(
                "host: localhost\r\nauthorization: Bearer {}\r\n",
                server.token
            ),
        })
    }

    fn send(&mut self, request: &str) -> Outcome<()> {
        let whole = request.replacen("{head}", &self.head, 1);
        self.stream.get_mut().write_all(whole.as_bytes())?;
        Ok(())
    }

    /// Asks, and reads the answer to its end; how many bytes of it were sent.
    fn ask(&mut self, request: &str) -> Outcome<usize> {
        self.send(request)?;
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        if !line.starts_with("HTTP/1.1 20") {
            return Err(format!("{request}\n{line}").into());
        }
        let (mut length, mut is_chunked) = (0, false);
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            if line == "\r\n" {
                break;
            }
            if let Some(said) = line.strip_prefix("content-length: ") {
                length = said.trim().parse()?;
            }
            is_chunked |= line.trim() == "transfer-encoding: chunked";
        }
        if is_chunked {
            return self.chunks();
        }
        self.read(length)?;
        Ok(length)
    }

    fn read(&mut self, length: usize) -> Outcome<()> {
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(())
    }

    fn chunks(&mut self) -> Outcome<usize> {
        let (mut bytes, mut line) = (0, String::new());
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            let length = usize::from_str_radix(line.trim(), 16)?;
            self.read(length + 2)?;
            bytes += length;
            if length == 0 {
                return Ok(bytes);
            }
        }
    }
}

/// All clients ask as fast as they are answered.
fn load(
    server: &Server,
    name: &str,
    lasts: Duration,
    request: &(dyn Fn(usize) -> String + Sync),
) -> Outcome<()> {
    let (count, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let began = Instant::now();
    let times = thread::scope(|scope| {
        let client = || -> Result<Vec<Duration>, String> {
            let mut client = Client::new(server).map_err(|error| error.to_string())?;
            let mut times = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                let request = request(count.fetch_add(1, Ordering::Relaxed));
                let start = Instant::now();
                client.ask(&request).map_err(|error| error.to_string())?;
                times.push(start.elapsed());
            }
            Ok(times)
        };
        let clients: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(client)).collect();
        thread::sleep(lasts);
        is_over.store(true, Ordering::Relaxed);
        let mut times = Vec::new();
        for client in clients {
            times.extend(client.join().map_err(|_| "a client broke")??);
        }
        Ok::<_, String>(times)
    })?;
    let a_second = times.len() as f64 / began.elapsed().as_secs_f64();
    println!("{name:40} {a_second:12.0} a second, {CONNECTIONS} connections");
    Times::of(&times).print(name);
    server.print_megabytes("  resident")?;
    Ok(())
}

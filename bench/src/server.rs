//! Throughput and latency of `heirloom serve` over HTTP, and its resident memory.

mod pages;

use crate::stats::Times;
use crate::zipf::ZipfGenerator;
use crate::{Outcome, fixture, results};
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Number of records in the store.
const RECORDS: usize = 100_000;
/// Number of words of a text.
const WORDS: usize = 19;
/// Number of concurrent clients, each with a kept-alive connection.
const CONNECTIONS: usize = 64;
/// Duration of each load.
const LOAD: Duration = Duration::from_secs(10);
/// Duration of the write load before other loads. It is short because each write leaves a record, and the other loads
/// are reported for the named store size.
const LOAD_BETWEEN: Duration = Duration::from_secs(3);
/// Number of starts that are timed.
const STARTS: usize = 20;
/// Number of idle event streams.
const STREAMS: usize = 1_000;

/// Measures everything, or one part: `server-get`, `server-post`, `server-recall`, `server-streams` or
/// `server-pages`.
pub(crate) fn measure(heirloom: Option<&Path>, to: Option<usize>, only: &str) -> Outcome<()> {
    let Some(heirloom) = heirloom else {
        println!("server: skipped, no --heirloom BINARY");
        return Ok(());
    };
    let root = tempfile::tempdir()?;
    let engine = fixture::engine(root.path())?;
    let records = to.unwrap_or(RECORDS);
    let mut generator = ZipfGenerator(47);
    fixture::fill_with(&engine, 0, records, &mut |_| generator.text(WORDS))?;
    let keys: Vec<String> = fact_keys(&engine)?;
    let is_selected = |part: &str| only.strip_prefix("server-").is_none_or(|only| only == part);
    if is_selected("pages") {
        pages::fill(&engine)?;
    }
    drop(engine);
    let syncs = Times::of(&fixture::bare_syncs(root.path(), 100)?);
    results::times("server.sync", "4 KB write and sync", &syncs);
    if is_selected("starts") {
        measure_starts(heirloom, root.path())?;
    }
    let server = ServerProcess::start(heirloom, root.path())?;
    server.report_megabytes("server.resident_start", "server resident, at rest")?;
    if is_selected("get") {
        measure_gets(&server, &keys)?;
    }
    if is_selected("post") {
        let duration = if only == "server-post" {
            LOAD
        } else {
            LOAD_BETWEEN
        };
        measure_posts(&server, duration, &syncs)?;
    }
    if is_selected("recall") {
        measure_recalls(&server, "server.recall", "server GET recall")?;
    }
    if is_selected("streams") {
        measure_streams(&server)?;
    }
    if is_selected("pages") {
        pages::measure(&server, &fixture::reopen(root.path())?)?;
    }
    Ok(())
}

fn measure_gets(server: &ServerProcess, keys: &[String]) -> Outcome<()> {
    let one = |n: usize| {
        let key = &keys[n * 7_919 % keys.len()];
        get_request(&format!("/api/memory/knowledge?category=fact&key={key}"))
    };
    let name = "server GET knowledge, one by its key";
    run_load(server, ("server.get_one", name), LOAD, &one, None)?;
    let ten = |_: usize| get_request("/api/memory/knowledge?category=decision&limit=10");
    let name = "server GET knowledge, the newest ten";
    run_load(server, ("server.get_ten", name), LOAD, &ten, None)
}

fn measure_posts(server: &ServerProcess, duration: Duration, syncs: &Times) -> Outcome<()> {
    let post = |n: usize| {
        let body = json!({
            "task_id": format!("{}", n % 50), "agent_id": "bench", "action": "attempted",
            "approach": format!("approach number {n}"), "duration_ms": 5,
        });
        let body = body.to_string();
        let length = body.len();
        format!(
            "POST /api/memory/episodes HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{{head}}\r\n{body}"
        )
    };
    let name = "server POST episodes, durable";
    run_load(server, ("server.post", name), duration, &post, Some(syncs))
}

/// Measures recall over HTTP on a store with sentence vectors, all questions different, and the resident memory.
pub(crate) fn measure_sentences(heirloom: &Path, root: &Path) -> Outcome<()> {
    let server = ServerProcess::start(heirloom, root)?;
    let mut generator = ZipfGenerator(59);
    let questions: Vec<String> = (0..20_000)
        .map(|number| {
            let words = generator.text(4);
            format!("why does export {number} fail when {words} is full")
        })
        .collect();
    let name = "server GET recall of questions with sentence vectors";
    ask(&server, "sentences.http", name, &questions)?;
    let name = "server GET recall of prompts with sentence vectors";
    measure_recalls(&server, "sentences.http_prompts", name)
}

fn measure_recalls(server: &ServerProcess, id: &str, name: &str) -> Outcome<()> {
    ask(server, id, name, &ZipfGenerator(53).prompts(20_000))
}

/// Asks each prompt once with all connections.
fn ask(server: &ServerProcess, id: &str, name: &str, prompts: &[String]) -> Outcome<()> {
    let recall = |n: usize| {
        let words: Vec<&str> = prompts[n % prompts.len()].split_whitespace().collect();
        let query: String = (words.join("+").chars())
            .filter(|c| c.is_ascii_alphanumeric() || *c == '+')
            .take(400)
            .collect();
        get_request(&format!("/api/recall?query={query}"))
    };
    run_load(server, (id, name), LOAD, &recall, None)
}

fn measure_streams(server: &ServerProcess) -> Outcome<()> {
    let before = server.megabytes()?;
    let streams = server.follow(STREAMS)?;
    let more = server.megabytes()? - before;
    let name = format!("server resident, more for {STREAMS} idle event streams");
    results::value("server.streams", &name, "MB", more);
    drop(streams);
    Ok(())
}

fn fact_keys(engine: &heirloom_engine::Engine) -> Outcome<Vec<String>> {
    let filter = heirloom_engine::Filter::current(&[heirloom_model::Kind::Knowledge], engine.now());
    let found = engine
        .records()
        .find(&filter.category("fact").limit(5_000))?;
    Ok(found.into_iter().filter_map(|record| record.key).collect())
}

fn get_request(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\n{{head}}\r\n")
}

fn measure_starts(heirloom: &Path, root: &Path) -> Outcome<()> {
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let began = Instant::now();
        let server = ServerProcess::start(heirloom, root)?;
        let mut client = Client::new(&server)?;
        client.request("GET /health HTTP/1.1\r\n{head}\r\n")?;
        times.push(began.elapsed());
        drop(server);
    }
    results::times(
        "server.start",
        "server, from process start to its first answer",
        &Times::of(&times),
    );
    Ok(())
}

/// Running server.
struct ServerProcess {
    child: Child,
    address: SocketAddr,
    token: String,
}

impl ServerProcess {
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

    /// Returns the server's resident memory in MB.
    fn megabytes(&self) -> Outcome<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next());
        let kilobytes: f64 = kilobytes.ok_or("no VmRSS")?.parse()?;
        Ok(kilobytes / 1024.0)
    }

    fn report_megabytes(&self, id: &str, name: &str) -> Outcome<()> {
        results::value(id, name, "MB", self.megabytes()?);
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

/// Returns a token, which is created once for a folder.
fn token(heirloom: &Path, root: &Path) -> Outcome<String> {
    let token_file = root.join("token");
    if let Ok(token) = std::fs::read_to_string(&token_file) {
        return Ok(token);
    }
    let mut create = Command::new(heirloom);
    create.args(["token", "create", "--role", "orchestrator"]);
    let made = create.current_dir(root).env("HOME", root).output()?;
    let token = String::from_utf8(made.stdout)?.trim().to_owned();
    heirloom_fs::durable::write_atomic(&token_file, token.as_bytes())?;
    Ok(token)
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// One kept-alive connection.
struct Client {
    stream: BufReader<TcpStream>,
    head: String,
}

impl Client {
    fn new(server: &ServerProcess) -> Outcome<Self> {
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

    /// Sends a request and reads the answer to its end; returns the size of its body in bytes.
    fn request(&mut self, request: &str) -> Outcome<usize> {
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
            if let Some(length_text) = line.strip_prefix("content-length: ") {
                length = length_text.trim().parse()?;
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

/// Lets all clients send requests as fast as they are answered.
fn run_load(
    server: &ServerProcess,
    (id, name): (&str, &str),
    duration: Duration,
    request: &(dyn Fn(usize) -> String + Sync),
    syncs: Option<&Times>,
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
                client
                    .request(&request)
                    .map_err(|error| error.to_string())?;
                times.push(start.elapsed());
            }
            Ok(times)
        };
        let clients: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(client)).collect();
        thread::sleep(duration);
        is_over.store(true, Ordering::Relaxed);
        let mut times = Vec::new();
        for client in clients {
            times.extend(client.join().map_err(|_| "a client broke")??);
        }
        Ok::<_, String>(times)
    })?;
    let a_second = times.len() as f64 / began.elapsed().as_secs_f64();
    let rate_name = format!("{name}, {CONNECTIONS} connections");
    results::value(&format!("{id}_rate"), &rate_name, "/s", a_second);
    let times = Times::of(&times);
    match syncs {
        Some(syncs) => {
            let yardstick = ("4 KB write and sync", syncs);
            results::times_with_yardstick(id, name, &times, yardstick);
        }
        None => results::times(id, name, &times),
    }
    let (group, part) = id.split_once('.').unwrap_or(("server", id));
    server.report_megabytes(
        &format!("{group}.resident_{part}"),
        &format!("server resident, after {name}"),
    )
}

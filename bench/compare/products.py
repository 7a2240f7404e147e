"""Products: how each is installed, started, written to and asked."""

import functools
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import time
import urllib.parse

from mcp_session import Ended, McpSession, text_of

# Id of a record of Heirloom.
ID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

HERE = pathlib.Path(__file__).resolve().parent


def run_quietly(command, **options):
    """Runs an installation; the error has its output."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stdout[-600:]}")


def size_mb(folder):
    """Size of a folder on disk."""
    return int(subprocess.run(["du", "-sm", folder.resolve()], stdout=subprocess.PIPE, text=True).stdout.split()[0])


class Product:
    """One product; a subclass says what differs."""

    name = ""
    needs = ""
    quality = True
    note = ""

    def __init__(self, root, options):
        self.folder = root / "installed" / self.name
        self.options = options
        self.home = None
        self.running = None
        self.names = {}

    def env(self):
        """Environment with a home of its own, and nothing of this machine's settings."""
        keep = {key: os.environ[key] for key in ("PATH", "LANG", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY") if key in os.environ}
        return {**keep, "HOME": str(self.home), "HF_HUB_OFFLINE": "1"}

    def begin(self, home):
        """Chooses the folder of a new, empty memory."""
        self.home = home
        self.names = {}
        (home / "project").mkdir(parents=True, exist_ok=True)

    def session(self, command):
        return McpSession(command, self.env(), self.home / "project", self.home / "server.log")

    def version(self):
        return ""

    def stored_bytes(self):
        """All bytes of the memory on disk."""
        for path in sorted(self.home.rglob("*")):
            if path.is_file() and not path.is_symlink() and path.name != "server.log":
                yield path.read_bytes()

    def settle(self):
        """Waits until what was written is indexed completely, where this happens later."""

    def present(self, session, tokens):
        """Tokens that the restarted product can read: by default with its search, one by one."""
        return {token for token in tokens if token in self.search_text(session, token)}

    def close(self, session):
        session.close()


class NpmProduct(Product):
    package = ""
    install_options = []

    def install(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "package.json").write_text("{}")
        run_quietly(["npm", "install", "--no-audit", "--no-fund", "--loglevel", "error", *self.install_options, *self.package.split()], cwd=self.folder)

    def package_count(self):
        lock = json.loads((self.folder / "package-lock.json").read_text())
        return sum(1 for name in lock["packages"] if name)

    def version(self):
        name = self.package.split()[0]
        return json.loads((self.folder / "node_modules" / name / "package.json").read_text())["version"]


class PythonProduct(Product):
    package = ""

    def install(self):
        run_quietly([self.options.python, "-m", "venv", self.folder])
        run_quietly([self.folder / "bin/pip", "install", "--quiet", "--no-cache-dir", self.package])

    def packages(self):
        listed = subprocess.run([self.folder / "bin/pip", "list", "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return {entry["name"]: entry["version"] for entry in json.loads(listed.stdout)}

    def package_count(self):
        return len(self.packages()) - 1  # not pip itself

    def version(self):
        return self.packages()[self.package]


class Heirloom(Product):
    name = "heirloom"
    needs = "nothing else"

    def install(self):
        self.folder.mkdir(parents=True)
        shutil.copy(self.options.heirloom, self.folder / "heirloom")

    def package_count(self):
        return 1

    def version(self):
        done = subprocess.run([self.folder / "heirloom", "--version"], stdout=subprocess.PIPE, text=True)
        return done.stdout.split()[1]

    def begin(self, home):
        super().begin(home)
        project = home / "project"
        run_quietly(["git", "init", "-q"], cwd=project)
        run_quietly([self.folder / "heirloom", "init"], cwd=project, env=self.env())

    def start(self):
        return self.session([self.folder / "heirloom", "mcp"])

    def write(self, session, name, text):
        # The answer is one line: `created: ID`.
        answer = text_of(session.result_of("remember", {"text": text}))
        self.names[re.search(ID, answer).group()] = name

    def settle(self):
        # Sentence vectors are computed in quiet moments of the server.
        for _ in range(600):
            status = subprocess.run(
                [self.folder / "heirloom", "status", "--json"], cwd=self.home / "project", env=self.env(), stdout=subprocess.PIPE
            )
            if json.loads(status.stdout)["sentence_vectors"]["missing"] == 0:
                return
            time.sleep(0.5)

    def recall(self, session, question, k):
        # As for the other products, weak hits are not left out.
        return session.result_of("recall", {"query": question, "k": k, "min_relevance": 0})

    def search_text(self, session, question, k=10):
        return text_of(self.recall(session, question, k))

    def search(self, session, question, k=10):
        # Each hit is listed with its id.
        ids = re.findall(ID, text_of(self.recall(session, question, k)))
        return [self.names[one] for one in ids if one in self.names]


class ServerMemory(NpmProduct):
    name = "server-memory"
    package = "@modelcontextprotocol/server-memory"
    needs = "Node.js"
    note = "its search finds a question only as one substring of a name, a type or an observation"

    def env(self):
        return {**super().env(), "MEMORY_FILE_PATH": str(self.home / "memory.jsonl")}

    def start(self):
        return self.session(["node", self.folder / "node_modules/@modelcontextprotocol/server-memory/dist/index.js"])

    def write(self, session, name, text):
        session.call("create_entities", {"entities": [{"name": name, "entityType": "fact", "observations": [text]}]})

    def search_text(self, session, question, k=10):
        return session.call("search_nodes", {"query": question})

    def search(self, session, question, k=10):
        return [entity["name"] for entity in json.loads(self.search_text(session, question))["entities"]][:k]


class BasicMemory(PythonProduct):
    name = "basic-memory"
    package = "basic-memory"
    needs = "Python 3.12 or newer; its semantic search downloads a model"
    note = "measured with its word search: the model of its semantic search is not in the package"

    def env(self):
        notes = self.home / "notes"
        notes.mkdir(exist_ok=True)
        return {
            **super().env(), "BASIC_MEMORY_HOME": str(notes), "BASIC_MEMORY_CONFIG_DIR": str(self.home / "config"),
            "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false", "BASIC_MEMORY_NO_PROMOS": "1",
        }

    def start(self):
        return self.session([self.folder / "bin/basic-memory", "mcp"])

    def write(self, session, name, text):
        session.call("write_note", {"title": name.replace("/", "-"), "content": text, "directory": "facts"})
        self.names[name.replace("/", "-").lower()] = name

    def search_text(self, session, question, k=10):
        arguments = {"query": question, "page_size": k, "search_type": "text", "output_format": "json"}
        return session.call("search_notes", arguments)

    def search(self, session, question, k=10):
        found = json.loads(self.search_text(session, question, k))["results"]
        return [self.names.get(hit["title"].lower(), "") for hit in found]


class LineSession:
    """Driver process that answers one JSON line for each request; used for a library without a server."""

    def __init__(self, product, command):
        started = time.perf_counter()
        self.process = subprocess.Popen(
            command, cwd=product.home / "project", env=product.env(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=open(product.home / "server.log", "ab"), text=True, start_new_session=True,
        )
        self.call("ready")
        self.tools, self.start_ms = None, (time.perf_counter() - started) * 1000

    def call(self, verb, *arguments):
        try:
            self.process.stdin.write(json.dumps([verb, *arguments]) + "\n")
            self.process.stdin.flush()
        except OSError as error:
            raise Ended(str(error)) from error
        line = self.process.stdout.readline()
        if not line:
            raise Ended("the driver ended")
        return json.loads(line)

    kill, close, resident_mb = McpSession.kill, McpSession.close, McpSession.resident_mb


class Mem0(PythonProduct):
    name = "mem0"
    package = "mem0ai"
    needs = "an LLM and an embedding model, by default those of OpenAI"
    quality = False
    note = (
        "library with infer=False (the text is stored as it is, no LLM call), its default store (Qdrant in a folder), and a local "
        "server whose embeddings are hashes of words: no statement about its quality"
    )

    def env(self):
        return {
            **super().env(), "MEM0_TELEMETRY": "False", "MEM0_DIR": str(self.home / "mem0"), "OPENAI_API_KEY": "local",
            "OPENAI_BASE_URL": self.options.fake_url, "COMPARE_STORE": str(self.home / "store"),
        }

    def start(self):
        return LineSession(self, [self.folder / "bin/python", HERE / "mem0_driver.py"])

    def write(self, session, name, text):
        session.call("add", name, text)

    def search(self, session, question, k=10):
        return session.call("search", question, k)

    def present(self, session, tokens):
        everything = " ".join(session.call("all"))
        return {token for token in tokens if token in everything}


class HttpSession:
    """Server that is called over HTTP on loopback."""

    def __init__(self, product, command, port):
        self.port, started = port, time.perf_counter()
        self.process = subprocess.Popen(
            command, cwd=product.home / "project", env=product.env(), stdin=subprocess.PIPE,
            stdout=open(product.home / "server.log", "ab"), stderr=subprocess.STDOUT, start_new_session=True,
        )
        self.connection, self.used = http.client.HTTPConnection("127.0.0.1", port, timeout=60), started
        while True:
            try:
                self.call("GET", product.ready_path)
                break
            except (Ended, RuntimeError):
                if time.perf_counter() - started > 120 or self.process.poll() is not None:
                    raise
                time.sleep(0.01)
        self.tools, self.start_ms = None, (time.perf_counter() - started) * 1000

    def call(self, method, path, body=None):
        """Sends a request; returns the answer's JSON."""
        headers = {"Content-Type": "application/json"}
        try:
            if time.perf_counter() - self.used > 2:
                self.connection.close()  # the server may have closed an idle one
            self.connection.request(method, path, body and json.dumps(body), headers)
            answer = self.connection.getresponse()
            text = answer.read()
            self.used = time.perf_counter()
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            raise Ended(f"{path}: {error}") from error
        if answer.status >= 400:
            raise RuntimeError(f"{path}: {answer.status} {text[:200]}")
        return json.loads(text)

    kill, close, resident_mb = McpSession.kill, McpSession.kill, McpSession.resident_mb


class ClaudeMem(NpmProduct):
    name = "claude-mem"
    package = "claude-mem bun"
    # npm does not come to an end with the optional peers of its dependency; scripts would set up Claude Code.
    install_options = ["--legacy-peer-deps", "--ignore-scripts"]
    needs = "Node.js, Bun, and an LLM that writes its observations"
    note = (
        "its HTTP calls for manual memories and for search, without its LLM; its word search, because the vector store Chroma is "
        "installed by another program"
    )
    ready_path = "/api/readiness"
    port = 0

    def begin(self, home):
        super().begin(home)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def env(self):
        return {
            **super().env(), "CLAUDE_MEM_DATA_DIR": str(self.home / "data"), "CLAUDE_MEM_WORKER_PORT": str(self.port),
            "CLAUDE_MEM_CHROMA_ENABLED": "false", "DO_NOT_TRACK": "1",
        }

    def scripts(self):
        return self.folder / "node_modules/claude-mem/plugin/scripts"

    def start(self):
        bun = self.folder / "node_modules/@oven/bun-linux-x64/bin/bun"
        session = HttpSession(self, [bun, self.scripts() / "worker-service.cjs", "--daemon"], self.port)
        session.tools = self.listed_tools
        return session

    @functools.cached_property
    def listed_tools(self):
        """Tools of its MCP server, which is another process."""
        server = self.session(["node", self.scripts() / "mcp-server.cjs"])
        server.kill()
        return server.tools

    def write(self, session, name, text):
        session.call("POST", "/api/memory/save", {"text": text, "title": name, "project": "project"})

    def found(self, session, question, k):
        query = urllib.parse.urlencode({"query": question, "limit": k, "format": "json", "project": "project"})
        return session.call("GET", f"/api/search?{query}")["observations"]

    def search_text(self, session, question, k=10):
        return json.dumps(self.found(session, question, k))

    def search(self, session, question, k=10):
        return [hit["title"] for hit in self.found(session, question, k)][:k]


PRODUCTS = [Heirloom, ServerMemory, ClaudeMem, Mem0, BasicMemory]

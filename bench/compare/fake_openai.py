"""Local server that speaks OpenAI's embeddings protocol; an embedding is a hash of each word.

It measures a program without a model. Such embeddings say nothing about the quality of a search.
"""

import http.server
import json
import math
import re
import threading
import zlib

DIMENSIONS = 1536


def embedding(text):
    """Counts of the words of a text in hashed places, with length 1."""
    vector = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()):
        vector[zlib.crc32(word.encode()) % DIMENSIONS] += 1.0
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.path.endswith("/embeddings"):
            self.send_error(404, "only embeddings")
            return
        texts = request["input"] if isinstance(request["input"], list) else [request["input"]]
        data = [{"object": "embedding", "index": at, "embedding": embedding(str(text))} for at, text in enumerate(texts)]
        body = json.dumps({"object": "list", "data": data, "model": request.get("model", ""), "usage": {"prompt_tokens": 0, "total_tokens": 0}})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Ignores connections that a killed client has left."""


def begin():
    """Starts the server in this process; returns its address."""
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v1"

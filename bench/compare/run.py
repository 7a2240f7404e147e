#!/usr/bin/env python3
"""Measures Heirloom next to other memories for agents, each through its own ordinary interface.

    bench/compare/run.py --heirloom target/dist/heirloom --out bench/compare/results.json [--data FOLDER]

Every product is installed from its registry into a temporary folder (--work keeps it). Without --data the records are made
up, and the quality of the search is not measured. FOLDER has dev.docs.jsonl and dev.queries.jsonl of the data set that
docs/benchmarks.md describes; commit messages of --conversation are the records, its changelog lines the questions.
"""

import argparse
import datetime
import functools
import json
import os
import pathlib
import platform
import random
import re
import shutil
import statistics
import sys
import tempfile
import threading
import time

import fake_openai
from mcp_session import Ended
from products import PRODUCTS, size_mb

SECRETS = {"AWS key": "AKIAZ7QWERTYUIOPASDF", "OpenAI key": "sk-proj-T3BlbkFJq8Zr2mV6xK9sLw4tYb7nHc1dQe5uJa0GfRi", "password": "tr0ub4dor&3xyz"}
SECRET_FACT = "deploy with AWS_ACCESS_KEY_ID={AWS key}, OPENAI_API_KEY={OpenAI key} and DB_PASSWORD={password}"
CRASH_WRITES = 200


def made_up_records(count):
    """Facts of a made-up project, each with a name of its own."""
    rng = random.Random(7)
    parts = ["billing", "login", "search", "export", "report", "mail", "cache", "upload", "audit", "invoice"]
    verbs = ["reads", "writes", "locks", "retries", "signs", "splits", "caches", "drops"]
    things = ["the token table", "old sessions", "the nightly queue", "every second row", "the proxy header", "large files"]
    for n in range(count):
        text = f"The {rng.choice(parts)} service {rng.choice(verbs)} {rng.choice(things)} on port {rng.randrange(1024, 65000)}, since change {n}"
        yield f"fact-{n}", text


def loaded(options):
    """Returns the records and the questions with the name of the right record."""
    if options.data is None:
        records = list(made_up_records(options.records))
        return records, [(text, None) for _, text in records[:: max(1, len(records) // 200)]]
    lines = [json.loads(line) for line in open(options.data / "dev.docs.jsonl")]
    records = [(doc["id"], doc["text"]) for doc in lines if doc["conversation"] == options.conversation]
    lines = [json.loads(line) for line in open(options.data / "dev.queries.jsonl")]
    questions = [(query["text"], query["gold"][0]) for query in lines if query["conversation"] == options.conversation]
    return records, questions


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def milliseconds(values):
    return {"median": round(statistics.median(values), 2), "p99": round(percentile(values, 0.99), 2), "max": round(max(values), 2)}


def timed(action):
    started = time.perf_counter()
    result = action()
    return (time.perf_counter() - started) * 1000, result


def started(product):
    """Starts a product; remembers its process, which is killed if a part fails."""
    product.running = product.start()
    return product.running


def measure_start(product, root):
    """Median of five starts of a new memory, until the list of tools is answered."""
    times = []
    for n in range(5):
        product.begin(root / f"start-{n}")
        session = started(product)
        times.append(session.start_ms)
        product.close(session)
    return milliseconds(times)


def asked(product, session, questions):
    """Asks all questions; returns the rank of each right record, and the times."""
    times, ranks = [], []
    for text, right in questions:
        took, found = timed(lambda: product.search(session, text))
        times.append(took)
        ranks.append(found.index(right) + 1 if right in found else None)
    return ranks, milliseconds(times)


def shares(ranks):
    """Percentage of the questions whose right record is among the first ones."""
    within = lambda k: round(100 * sum(1 for rank in ranks if rank and rank <= k) / len(ranks), 1)
    return {"first": within(1), "first_5": within(5), "first_10": within(10)}


@functools.lru_cache(maxsize=None)
def words_of(text):
    return frozenset(re.findall(r"[a-z][a-z0-9_]+", text.lower()))


def rarest_words(question, records, count):
    """The words of a question that the fewest records contain, as an agent might choose them."""
    frequency = {word: sum(word in words_of(text) for _, text in records) for word in words_of(question)}
    known = sorted((number, word) for word, number in frequency.items() if number)
    chosen = {word for _, word in known[:count]}
    return " ".join(word for word in re.findall(r"[a-z][a-z0-9_]+", question.lower()) if word in chosen) or question


def measure_work(product, root, records, questions):
    """Writes all records, asks all questions, and measures the memory of the process."""
    product.begin(root / "work")
    session = started(product)
    result = {}
    if session.tools is not None:
        # A client gives these fields to the model; a token counts as four characters.
        shown = [{key: tool.get(key) for key in ("name", "description", "inputSchema")} for tool in session.tools]
        size = len(json.dumps(shown, separators=(",", ":"), ensure_ascii=False))
        result["tools"] = {"count": len(session.tools), "tokens": round(size / 4)}
    writes = [timed(lambda: product.write(session, name, text))[0] for name, text in records]
    result["records"] = len(records)
    result["write_ms"] = milliseconds(writes)
    result["indexed_s"] = round(timed(product.settle)[0] / 1000, 1)
    for text, _ in questions[:10]:
        product.search(session, text)
    ranks, result["recall_ms"] = asked(product, session, questions)
    result["resident_mb"] = session.resident_mb()
    result["store_mb"] = round(sum(map(len, product.stored_bytes())) / 1e6, 1)
    if product.quality and questions and questions[0][1] is not None:
        result["right_record_percent"] = {"questions": len(ranks), "whole_question": shares(ranks)}
        for form, count in {"rarest_word": 1, "two_rarest_words": 2, "four_rarest_words": 4}.items():
            shorter = [(rarest_words(text, records, count), right) for text, right in questions]
            result["right_record_percent"][form] = shares(asked(product, session, shorter)[0])
    product.close(session)
    return result


def measure_secret(product, root):
    """Names of the secrets of one fact that are in clear text on disk."""
    product.begin(root / "secret")
    session = started(product)
    product.write(session, "secrets", SECRET_FACT.format(**SECRETS))
    time.sleep(1)
    product.close(session)
    stored = b"\n".join(product.stored_bytes())
    return [kind for kind, secret in SECRETS.items() if secret.encode() in stored]


def measure_crash(product, root, rounds):
    """Kills the process during writes; counts acknowledged writes that are missing after a new start."""
    rng, acknowledged, missing, broken = random.Random(11), 0, 0, 0
    for n in range(rounds):
        product.begin(root / f"crash-{n}")
        session = started(product)
        done, last = [], rng.randrange(20, CRASH_WRITES - 20)
        try:
            for at in range(CRASH_WRITES):
                if at == last:
                    threading.Timer(rng.uniform(0, 0.03), session.kill).start()
                token = f"marker{n}x{at}y"
                product.write(session, token, f"{token} is a fact about the {at}th part")
                done.append(token)
        except (Ended, RuntimeError, OSError, ValueError):
            pass
        session.kill()
        acknowledged += len(done)
        try:
            session = started(product)
            missing += len(done) - len(product.present(session, done))
            product.close(session)
        except (Ended, RuntimeError, ValueError):
            broken += 1
            missing += len(done)
    return {"kills": rounds, "acknowledged": acknowledged, "missing": missing, "failed_to_start": broken}


def measure(kind, options, root, records, questions):
    """Everything about one product; a part that fails is recorded as its error."""
    product = kind(options.work, options)
    result = {"name": product.name, "needs": product.needs, "note": product.note}
    if not product.folder.exists():
        took, _ = timed(product.install)
        result["install_s"] = round(took / 1000, 1)
    result.update(version=product.version(), packages=product.package_count(), install_mb=size_mb(product.folder))
    parts = {
        "start_ms": lambda: measure_start(product, root),
        "work": lambda: measure_work(product, root, records, questions),
        "secrets_in_clear": lambda: measure_secret(product, root),
        "crash": lambda: measure_crash(product, root, options.kills),
    }
    for name, part in parts.items():
        started = time.perf_counter()
        try:
            result[name] = part()
        except Exception as error:  # recorded, so that one product does not stop the others
            result[name] = {"error": f"{type(error).__name__}: {error}"[:400]}
            if product.running:
                product.running.kill()
        print(f"{product.name}: {name} in {time.perf_counter() - started:.0f} s: {result[name]}", flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heirloom", type=pathlib.Path, required=True, help="the binary to measure")
    parser.add_argument("--out", type=pathlib.Path, help="file for the results, in which those of other products stay; by default they are only printed")
    parser.add_argument("--data", type=pathlib.Path, help="folder of the data set")
    parser.add_argument("--conversation", default="sqlite-utils", help="repository of the data set")
    parser.add_argument("--records", type=int, default=1000, help="records to write without --data")
    parser.add_argument("--kills", type=int, default=5, help="kills during writes")
    parser.add_argument("--only", help="names of products, separated by commas")
    parser.add_argument("--work", type=pathlib.Path, help="folder for installations that are kept")
    parser.add_argument("--python", default=sys.executable, help="Python 3.12 or newer, for products from PyPI")
    options = parser.parse_args()
    options.fake_url = fake_openai.begin()
    temporary = pathlib.Path(tempfile.mkdtemp(prefix="compare-"))
    options.work = options.work or temporary
    records, questions = loaded(options)
    chosen = [kind for kind in PRODUCTS if options.only is None or kind.name in options.only.split(",")]
    results = []
    try:
        for kind in chosen:
            root = temporary / kind.name
            root.mkdir()
            results.append(measure(kind, options, root, records, questions))
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    document = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.system()} {platform.machine()}, {len(os.sched_getaffinity(0))} cores",
        "data": options.conversation if options.data else "made-up facts",
        "products": results,
    }
    if options.out and options.out.exists():
        measured = {result["name"] for result in results}
        earlier = json.loads(options.out.read_text())["products"]
        document["products"] += [result for result in earlier if result["name"] not in measured]
    if options.out:
        options.out.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()

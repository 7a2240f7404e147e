#!/usr/bin/env python3
"""Writes the tables of docs/compare.md from bench/compare/results.json; with --check only compares them."""

import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs/compare.md"
ORDER = ["heirloom", "server-memory", "basic-memory", "claude-mem", "mem0"]


def value(result, *names):
    """A nested value; None if it was not measured."""
    for name in names:
        result = result.get(name) if isinstance(result, dict) else None
    return result


def time_of(result, *names):
    times = value(result, *names)
    if not isinstance(times, dict) or "median" not in times:
        return "–"
    digits = lambda number: f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
    return f"{digits(times['median'])}; {digits(times['p99'])} ms"


def median_of(result, *names):
    return time_of(result, *names).partition(";")[0] + " ms" if time_of(result, *names) != "–" else "–"


def plain(result, *names, unit=""):
    found = value(result, *names)
    return "–" if found is None else f"{found:,}{unit}"


def secrets(result):
    found = result.get("secrets_in_clear")
    if not isinstance(found, list):
        return "–"
    return ", ".join(found) if found else "none"


def crash(result):
    found = result.get("crash", {})
    return f"{found['missing']} of {found['acknowledged']:,}" if "missing" in found else "–"


def rows(results):
    """Rows of the table of costs and safety."""
    yield "Version", lambda r: r["version"]
    yield "Needs", lambda r: r["needs"]
    yield "Installed size; packages", lambda r: f"{r['install_mb']:,} MB; {r['packages']}"
    yield "Start until the first answer", lambda r: median_of(r, "start_ms")
    yield "Write one record: median; p99", lambda r: time_of(r, "work", "write_ms")
    yield "Search: median; p99", lambda r: time_of(r, "work", "recall_ms")
    yield "Resident memory after the searches", lambda r: plain(r, "work", "resident_mb", unit=" MB")
    yield "Store on disk", lambda r: plain(r, "work", "store_mb", unit=" MB")
    yield "MCP tools; tokens of their list", lambda r: f"{plain(r, 'work', 'tools', 'count')}; {plain(r, 'work', 'tools', 'tokens')}"
    yield "Secrets of one fact that are on disk in clear", secrets
    yield "Acknowledged writes missing after five `kill -9`", crash


def table(head, lines):
    text = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return "\n".join(text + [f"| {' | '.join(line)} |" for line in lines])


def rendered(document):
    """All tables by name."""
    by_name = {result["name"]: result for result in document["products"]}
    results = [by_name[name] for name in ORDER if name in by_name]
    names = [result["name"] for result in results]
    costs = table(["", *names], [[title, *map(read, results)] for title, read in rows(results)])
    forms = {"whole_question": "the whole question", "four_rarest_words": "its four rarest words", "two_rarest_words": "two", "rarest_word": "one"}
    shares = []
    for result in results:
        found = value(result, "work", "right_record_percent")
        if found:
            cells = [f"{found[form]['first']:g}; {found[form]['first_10']:g}" for form in forms]
            shares.append([result["name"], *cells])
    quality = table(["Right record first; among the first ten, %", *forms.values()], shares)
    work = results[0]["work"]
    about = (
        f"{document['date']}, {document['machine']}; {work['records']:,} commit messages of {document['data']} as records, "
        f"{work['right_record_percent']['questions']} lines of its changelog as questions."
    )
    return {"about": about, "costs": costs, "quality": quality}


def main():
    document = json.loads((HERE / "results.json").read_text())
    before = text = PAGE.read_text()
    for name, body in rendered(document).items():
        pattern = re.compile(f"(<!-- compare: {name} -->\n\n).*?(\n\n<!-- end -->)", re.DOTALL)
        if not pattern.search(text):
            raise SystemExit(f"{PAGE}: no place for the table {name}")
        text = pattern.sub(lambda found: found[1] + body + found[2], text)
    if "--check" in sys.argv[1:]:
        if text != before:
            raise SystemExit(f"{PAGE} is out of date: run bench/compare/tables.py")
    else:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()

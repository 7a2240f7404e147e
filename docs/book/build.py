#!/usr/bin/env python3
"""Builds the site from the pages of the repository, with mdBook.

    docs/book/build.py [--mdbook PROGRAM] [--out target/book]

The pages stay where they are; SUMMARY.md next to this script lists them by their paths from here. This script copies them into
one folder, gives each section of the guide and each decision a page of its own, and turns links to files that are not pages
into links to the repository. It fails if a link inside the site leads nowhere, or mdBook prints a warning. No network is used.
"""

import argparse
import html.parser
import pathlib
import posixpath
import re
import shutil
import subprocess
import urllib.parse

BOOK = pathlib.Path(__file__).resolve().parent
ROOT = BOOK.parent.parent
REPOSITORY = "https://github.com/heirloom-dev/heirloom/blob/main/"
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
ENTRY = re.compile(r"^(\s*(?:- )?)\[([^\]]+)\]\(([^)]+)\)")


def slug(heading):
    """Anchor of a heading, as in the repository and in mdBook."""
    text = re.sub(r"[`*]|\[|\]\([^)]*\)", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def outside_of_code(text):
    """Lines with a flag that is false inside fenced code."""
    is_code = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            is_code = not is_code
            yield line, False
        else:
            yield line, not is_code


class Site:
    """Pages of the site by their path in the repository, and what their anchors are."""

    def __init__(self, source):
        self.source = source
        self.pages = {}  # path in the repository: path in the site
        self.moved = {}  # (path in the repository, anchor): path in the site
        self.summary = []

    def place(self, path):
        """Path of a page in the site: below docs without that folder, at the root in lower case."""
        place = path.removeprefix("docs/") if path.startswith("docs/") else path.lower()
        return place.replace("README.md", "index.md").replace("readme.md", "index.md")

    def collect(self):
        """Reads SUMMARY.md; adds the sections of the guide and the decisions below their entries."""
        for line in (BOOK / "SUMMARY.md").read_text().splitlines():
            found = ENTRY.match(line)
            if not found:
                self.summary.append(line)
                continue
            start, title, target = found.groups()
            path = posixpath.normpath(posixpath.join("docs/book", target))
            self.pages[path] = self.place(path)
            self.summary.append(f"{start}[{title}]({self.pages[path]})")
            if path == "docs/guide.md":
                self.split_guide(path)
            if path == "docs/decisions/README.md":
                for other in sorted((ROOT / "docs/decisions").glob("0*.md")):
                    name = other.relative_to(ROOT).as_posix()
                    self.pages[name] = self.place(name)
                    heading = other.read_text().splitlines()[0].lstrip("# ")
                    self.summary.append(f"  - [{heading}]({self.pages[name]})")

    def split_guide(self, path):
        """Gives each section of the second level a page."""
        self.sections, place = [], self.pages[path]
        lines = [[]]
        for line, is_text in outside_of_code((ROOT / path).read_text()):
            if is_text and line.startswith("## "):
                place = f"guide/{slug(line[3:])}.md"
                self.sections.append((line[3:], place))
                self.summary.append(f"  - [{line[3:]}]({place})")
                lines.append([])
            if is_text and line.startswith("#"):
                self.moved[(path, slug(line.lstrip("# ")))] = place
            lines[-1].append(line)
        self.guide = lines

    def target(self, path, link, place):
        """A link of a page, as a link of the site."""
        if re.match(r"[a-z][a-z0-9+.-]*:|//", link):
            return link
        file, _, anchor = link.partition("#")
        other = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
        here = posixpath.dirname(place)
        mark = f"#{anchor}" if anchor else ""
        if (other, anchor) in self.moved:
            goal = self.moved[(other, anchor)]
            mark = "" if goal.startswith("guide/") and goal == f"guide/{anchor}.md" else mark
            return posixpath.relpath(goal, here or ".") + mark
        if other in self.pages:
            return posixpath.relpath(self.pages[other], here or ".") + mark if file else link
        if other.startswith("docs/") and (ROOT / other).is_file() and not other.endswith(".md"):
            copy = self.source / other.removeprefix("docs/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / other, copy)
            return posixpath.relpath(other.removeprefix("docs/"), here or ".") + mark
        return REPOSITORY + urllib.parse.quote(other) + mark

    def rewritten(self, path, text, place):
        """Text of a page with the links of the site; markers for tests are left out."""
        lines = []
        for line, is_text in outside_of_code(text):
            if is_text and line.startswith("<!-- ") and line.endswith(" -->"):
                continue
            if is_text:
                line = LINK.sub(lambda found: found[1] + self.target(path, found[2], place) + found[3], line)
            lines.append(line)
        return "\n".join(lines) + "\n"

    def write(self):
        """Writes all pages and SUMMARY.md."""
        for path, place in self.pages.items():
            if path == "docs/guide.md":
                for (_, section), lines in zip([("", place), *self.sections], self.guide):
                    text = "\n".join(lines)
                    if section != place:
                        text = raised(text)
                    self.store(section, self.rewritten(path, text, section))
                listed = "\n".join(f"- [{title}]({section})" for title, section in self.sections)
                with (self.source / place).open("a") as page:
                    page.write(f"\n{listed}\n")
            else:
                self.store(place, self.rewritten(path, (ROOT / path).read_text(), place))
        self.store("SUMMARY.md", "\n".join(self.summary) + "\n")

    def store(self, place, text):
        goal = self.source / place
        goal.parent.mkdir(parents=True, exist_ok=True)
        goal.write_text(text)


def raised(text):
    """Headings one level higher, outside of code."""
    return "\n".join(line[1:] if is_text and line.startswith("##") else line for line, is_text in outside_of_code(text))


class Page(html.parser.HTMLParser):
    """Ids and links of a built page."""

    def __init__(self):
        super().__init__()
        self.ids, self.links = set(), []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.ids.add(value)
            if name in ("href", "src") and value:
                self.links.append(value)


def broken_links(folder):
    """Links inside the built site that lead nowhere."""
    pages = {}
    for file in folder.rglob("*.html"):
        page = Page()
        page.feed(file.read_text())
        pages[file.resolve()] = page
    for file, page in sorted(pages.items()):
        if file.name in ("print.html", "404.html", "toc.html"):
            continue
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            goal = (file.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else file
            anchor = urllib.parse.unquote(parts.fragment)
            if not goal.exists() or (anchor and goal in pages and anchor not in pages[goal].ids):
                yield f"{file.relative_to(folder)}: {link}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mdbook", default="mdbook", help="the program mdBook")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "target/book", help="folder that is replaced")
    options = parser.parse_args()
    out = options.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    source = out / "src"
    source.mkdir(parents=True)
    site = Site(source)
    site.collect()
    site.write()
    for name in ("book.toml", "site.css"):
        shutil.copy(BOOK / name, out)
    built = subprocess.run([options.mdbook, "build", out], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(built.stdout, end="")
    if built.returncode != 0 or re.search(r"\b(WARN|ERROR)\b", built.stdout):
        raise SystemExit("mdBook failed, or printed a warning")
    broken = list(broken_links(out / "book"))
    if broken:
        raise SystemExit("links that lead nowhere:\n" + "\n".join(broken))
    pages = sum(1 for _ in (out / "book").rglob("*.html"))
    print(f"{pages} pages in {out / 'book'}; all links inside the site lead to a page")


if __name__ == "__main__":
    main()

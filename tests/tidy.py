#!/usr/bin/env python3
# Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
"""Checks what no compiler checks: include arrows, file lists, banned calls,
and that README.md shows the text of an example.

    tests/tidy.py [ROOT]

Prints each finding with its remedy; exits 1 if there is any.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                    pathlib.Path(__file__).parent.parent).resolve()

# What each folder may include of ours, besides itself.
PUBLIC = "include/dovetail"
MAY_INCLUDE = {
    PUBLIC: [],
    "base": [PUBLIC],
    "index": [PUBLIC, "base"],
    "observers": [PUBLIC, "base", "index"],
    "engine": [PUBLIC, "base", "index", "observers"],
    "testing": [PUBLIC, "base"],
    "sql": [PUBLIC, "base"],
    "cli": [PUBLIC, "base", "sql"],
    "bench": [PUBLIC, "base"],
    "examples": [PUBLIC],
}
FOLDERS = list(MAY_INCLUDE) + ["tests"]

# (what is not allowed, where it is, why)
BANNED = [
    (r"\bRepairDB\b", [],
     "RepairDB reads logs without checksums; use the open check"),
    (r"\breuse_logs\s*=\s*true", [],
     "reuse_logs loses writes behind a torn tail"),
    (r"\babsl::Mutex\b|\babsl::Notification\b", ["base/mutex.h"],
     "false races under the thread sanitizer; use base/mutex.h"),
    (r"\bsleep_for\b|\bsleep_until\b|\busleep\b",
     ["engine/committer.cc", "engine/replayer.cc", "tests/", "bench/", "cli/",
      "engine/storage/"],
     "wait for a condition, not for time"),
    (r"\b(TODO|FIXME|XXX)\b", ["tests/tidy.py"],
     "file an issue, or name the limit in the docs"),
    (r"std::views::|std::ranges::views", [],
     "clang 14 cannot compile them with this standard library"),
]

LICENCE = "Licensed under the Apache License 2.0."


def folder_of(path):
    for folder in sorted(FOLDERS, key=len, reverse=True):
        if path == folder or path.startswith(folder + "/"):
            return folder
    return None


def sources(pattern_suffixes=(".h", ".cc")):
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in pattern_suffixes and path.is_file():
                yield path.relative_to(ROOT).as_posix(), path.read_text()


def target_of(include):
    """The folder of ours that an include names, or None for others'."""
    if include.startswith("dovetail/v1/"):
        return None  # Generated from proto/.
    if include.startswith("dovetail/"):
        return PUBLIC
    return folder_of(include)


def check_includes(name, text, report):
    folder = folder_of(name)
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'#include [<"]([^>"]+)[>"]', line)
        if not match:
            continue
        include = match.group(1)
        if (include.startswith("leveldb/") and
                not name.startswith(("engine/storage/", "tests/", "bench/"))):
            report(name, number, "LevelDB is included outside engine/storage",
                   "go through engine/storage/store.h")
        target = target_of(include)
        if folder == "tests" or target in (None, folder):
            continue
        if target not in MAY_INCLUDE[folder]:
            report(name, number, f"{folder} includes {target}",
                   "includes point one way; see docs/design.md")


def check_listed(report):
    lists = "".join(p.read_text() for p in ROOT.rglob("CMakeLists.txt")
                    if "build" not in p.relative_to(ROOT).parts)
    for name, _ in sources((".cc",)):
        base = pathlib.PurePosixPath(name).name
        if not re.search(r"[\s(/]" + re.escape(base) + r"[\s)]", lists):
            report(name, 1, "file is in no target", "list it or delete it")


def check_readme(report):
    """The first C++ that README.md shows is compiled and run."""
    readme = (ROOT / "README.md").read_text()
    example = (ROOT / "examples/embed.cc").read_text()
    match = re.search(r"^```cpp\n(.*?)^```$", readme, re.M | re.S)
    if not match or match.group(1) not in example:
        line = readme[:match.start()].count("\n") + 2 if match else 1
        report("README.md", line, "the example is not part of examples/embed.cc",
               "copy the file's text")


def main():
    findings = []

    def report(name, line, what, remedy):
        findings.append(f"{name}:{line}: {what}: {remedy}")

    for name, text in sources():
        if not text.splitlines() or LICENCE not in text.splitlines()[0]:
            report(name, 1, "no licence line", "start with it")
        if name.endswith(".h") and "#pragma once" not in text:
            report(name, 1, "no include guard", "add #pragma once")
        check_includes(name, text, report)
        for pattern, allowed, why in BANNED:
            if any(name.startswith(a) for a in allowed):
                continue
            for number, line in enumerate(text.splitlines(), 1):
                if re.search(pattern, line):
                    report(name, number, f"banned: {pattern}", why)
    check_listed(report)
    check_readme(report)
    for finding in findings:
        print(finding)
    print(f"tidy: {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

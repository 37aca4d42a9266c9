# SPDX-License-Identifier: Apache-2.0
"""Circles in the source tree, for layering.py.

A file needs another one if it

  - includes it; or
  - names a function or an object that the other one, a .c, .cu or .cpp file, defines, and that a header which both
    include declares. So no header hides a circle: a method that calls the file which lists the methods is in one,
    wherever the call is declared.

No files may need each other in a circle, nor may folders of src/ or cli/ that lie side by side. A module is a file
here: x.c needs x.h, and x.h does not need x.c. So what x.c lists (kernels, suites, methods) may include x.h.
"""
import collections
import re

COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
# A function's body or an object's first value, at the beginning of a line. Names in capitals are macros.
DEFINITION = re.compile(
    r"^(?!typedef\b|return\b|else\b|enum\b)((?:[A-Za-z_]\w*[\s*]+)+?)"
    r"((?!__)\w*[a-z]\w*)(?:\([^;{}]*\)\s*\{|(?:\[[^\]]*\])*\s*=[\s{])", re.MULTILINE)
NAME = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")
CALL = re.compile(NAME.pattern + r"(?=\()")
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:\\\n|[^\n])*)", re.MULTILINE)
HEADERS, SOURCES = {".h", ".cuh", ".hpp"}, {".c", ".cu", ".cc", ".cpp"}


class Tree:
    """What files of a source tree include, and what they need."""

    def __init__(self, root, paths, search):
        """`paths` are relative to `root`. `search`: folders in which quoted includes are looked for."""
        self.root, self.paths, self.search = root.resolve(), set(paths), search
        text = {path: (root / path).read_text() for path in self.paths}
        self.included = {path: self.resolve(path, text[path]) for path in self.paths}
        self.closure = {path: self.reach(path) for path in self.paths}
        code = {path: COMMENT_OR_STRING.sub("", text[path]) for path in self.paths}
        # A header's own names are fields and parameters; what it calls belongs to its inline functions.
        self.names = {path: set((CALL if path.suffix in HEADERS else NAME).findall(code[path])) for path in self.paths}
        self.declared = {path: set(NAME.findall(code[path])) for path in self.paths if path.suffix in HEADERS}
        macros = {path: {macro: set(NAME.findall(body)) for macro, body in MACRO.findall(code[path])}
                  for path in self.paths}
        for path in self.paths:
            for header in self.closure[path]:
                for macro in self.names[path] & macros[header].keys():
                    self.names[path] |= macros[header][macro]  # so that a list of methods names them
        self.own = collections.defaultdict(set)  # file -> names that it defines
        self.homes = collections.defaultdict(set)  # name -> files that define it for others
        for path in self.paths:
            for kind, name in DEFINITION.findall(code[path]) if path.suffix in SOURCES else ():
                self.own[path].add(name)
                if "static" not in kind.split():
                    self.homes[name].add(path)

    def resolve(self, path, text):
        found = set()
        for name in INCLUDE.findall(text):
            for base in (path.parent, *self.search):
                target = (self.root / base / name).resolve()
                if target.is_file() and self.root in target.parents:
                    found |= {target.relative_to(self.root)} & self.paths
                    break
        return found

    def reach(self, path):
        seen, todo = {path}, [path]
        while todo:
            new = self.included[todo.pop()] - seen
            seen |= new
            todo += new
        return seen

    def is_declared_for(self, name, user, home):
        shared = self.closure[user] & self.closure[home] - {user}
        return any(name in self.declared.get(path, ()) for path in shared)

    def needs(self):
        """(file, file that it needs): why. The library and the tool need no test, though tests replace some of their
        files by others."""
        reasons = {(path, other): f"{path} includes {other}" for path in self.paths for other in self.included[path]}
        for path in self.paths:
            for name in sorted((self.names[path] & self.homes.keys()) - self.own[path]):
                for home in sorted(self.homes[name]):
                    if self.is_declared_for(name, path, home):
                        reasons.setdefault((path, home), f"{path} names {name}, which {home} defines")
        return {(path, other): why for (path, other), why in reasons.items()
                if path.parts[0] not in ("src", "cli") or other.parts[0] != "tests"}


def shortest_circle(edges, start):
    """The nodes of a shortest circle through `start`, or None."""
    before, todo = {}, collections.deque([start])
    while todo:
        node = todo.popleft()
        for other in sorted(edges[node]):
            if other == start:
                circle = [node]
                while node != start:
                    node = before[node]
                    circle.append(node)
                return circle[::-1]
            if other not in before:
                before[other] = node
                todo.append(other)
    return None


def circles(reasons):
    """A sentence for each circle, until every node in a circle is in one. `reasons`: (node, node) -> sentence."""
    edges, shown = collections.defaultdict(set), set()
    for node, other in reasons:
        edges[node].add(other)
    for start in sorted(edges):
        circle = None if start in shown else shortest_circle(edges, start)
        if circle:
            shown |= set(circle)
            yield "a circle: " + "; ".join(reasons[pair] for pair in zip(circle, circle[1:] + circle[:1]))


def folders_side_by_side(a, b):
    """The folders, of one parent within src/ or cli/, in which two files lie."""
    for depth, (x, y) in enumerate(zip(a.parts[:-1], b.parts[:-1])):
        if x != y:
            within = depth > 0 and a.parts[0] in ("src", "cli")
            return ("/".join(a.parts[:depth + 1]), "/".join(b.parts[:depth + 1])) if within else None
    return None


def check(root, paths, search):
    reasons = Tree(root, paths, search).needs()
    between_folders = {}
    for (path, other), reason in sorted(reasons.items()):
        folders = folders_side_by_side(path, other)
        if folders:
            between_folders.setdefault(folders, reason)
    yield from circles({(path.as_posix(), other.as_posix()): why for (path, other), why in reasons.items()})
    yield from circles(between_folders)

"""Reads the project's own files for the tests of the house."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "saga_app"
HIDDEN = {".git", ".venv", "__pycache__", "build", "dist", "node_modules", "var"}
CACHES = "_cache"


def files(*suffixes: str, under: Path = ROOT) -> list[Path]:
    """The project's files with one of these endings, sorted; nothing that a tool left behind."""
    return sorted(path for path in walk(under) if path.suffix in suffixes)


def walk(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_dir():
            if path.name not in HIDDEN and not path.name.endswith(CACHES) and path.name != ".hypothesis":
                yield from walk(path)
        else:
            yield path


def name(path: Path) -> str:
    """How a person calls the file."""
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def modules(*, under: Path = PACKAGE) -> list[Path]:
    """The Python files somebody wrote: no migrations."""
    return [path for path in files(".py", under=under) if "migrations" not in path.parts]


def room(path: Path) -> str:
    """The first part of a module's name inside the package: "store" for store.py and for store/claims.py."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def functions(path: Path) -> Iterator[tuple[str, ast.AST]]:
    """Every node of a file with the dotted name of the function or class it stands in."""
    yield from _inside(tree(path), "")


def _inside(node: ast.AST, where: str) -> Iterator[tuple[str, ast.AST]]:
    for child in ast.iter_child_nodes(node):
        yield where, child
        named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        yield from _inside(child, f"{where}.{child.name}".lstrip(".") if named else where)


def tracked() -> list[Path]:
    """What Git knows, or everything where Git is not at hand."""
    asked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    return [ROOT / line for line in asked.stdout.split("\0") if line] or list(walk(ROOT))

"""Size of the code: lines without comments, docstrings and blank lines, the longest function, the longest signature.

    python tools/count_lines.py [FOLDER ...]        (default: odesys numerics derivations)

Counted on the text as it is: run `ruff format` first, so that two versions are compared in one layout.
"""

import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def docstring_lines(tree: ast.AST) -> set[int]:
    """Line numbers of all docstrings: of the module, of classes, of functions and below attributes."""
    found: set[int] = set()
    for node in ast.walk(tree):
        for child in getattr(node, "body", []) if isinstance(getattr(node, "body", []), list) else []:
            if (
                isinstance(child, ast.Expr)
                and isinstance(child.value, ast.Constant)
                and isinstance(child.value.value, str)
            ):
                found.update(range(child.lineno, (child.end_lineno or child.lineno) + 1))
    return found


def code_lines(source: str) -> set[int]:
    """Line numbers that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return lines - docstring_lines(ast.parse(source))


def functions(source: str) -> Iterator[tuple[str, int, int]]:
    """Name, code lines and number of parameters of each function."""
    lines = code_lines(source)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, Function):
            given = node.args
            count = len([*given.posonlyargs, *given.args, *given.kwonlyargs]) + bool(given.vararg) + bool(given.kwarg)
            last = node.end_lineno or node.lineno
            yield node.name, sum(node.lineno <= line <= last for line in lines), count


def main(folders: list[str]) -> None:
    total, files, longest, widest = 0, 0, (0, ""), (0, "")
    for folder in folders:
        here = 0
        for file in sorted(Path(folder).rglob("*.py")):
            source = file.read_text(encoding="utf-8")
            here += len(code_lines(source))
            files += 1
            for name, size, parameters in functions(source):
                longest = max(longest, (size, f"{file}:{name}"))
                widest = max(widest, (parameters, f"{file}:{name}"))
        print(f"{here:7,} {folder}")
        total += here
    print(f"{total:7,} lines of code in {files} files")
    print(f"longest function {longest[0]} lines, {longest[1]}; longest signature {widest[0]} parameters, {widest[1]}")


if __name__ == "__main__":
    main(sys.argv[1:] or ["odesys", "numerics", "derivations"])

"""Constructions that make a reader stop, and that CONTRIBUTING.md asks not to write.

Each is a regular expression; a line that may stay all the same is in ``MAY_STAY``.
"""

import ast
import re

import pytest

from tests.helpers.paths import ROOT, modules

NEVER = {
    "repeat the verb": r"\bso (does|do|did|has|was) |\bthe same holds\b",
    "per, not a": r"\b(ms|seconds?|moves?|nodes?|plies|games?|openings?|lines?|characters?|"
    r"threads?|points?|answers?|bits) an? (move|line|ply|process|game|board|column|second|day|"
    r"side|opening|position|simulation|job)\b",
    "your own": r"\bof (yours|ours|mine|theirs)\b",
    "is not a": r"\b(is|are) none\b(?! there)",
    "the ordinary word": r"\b(mends?|mended|anew|afresh|tenable)\b|\bkeep(s|ing)? the value\b",
    "both of what": r"^(Both|Neither|Others) (is|are|has|have|do|does|play|say)\b",
}
MAY_STAY = (  # parts of sentences: the rules themselves, and what a call returns
    "not \"an opening a line\"", "not \"a network of yours\"", "fix (not mend)", "if there is none",
    "place of \"so does\"",
)  # fmt: skip


def sentences(text):
    text = re.sub(r"`[^`]*`", "X", re.sub(r"\]\([^)]*\)", "]", " ".join(text.split())))
    return re.split(r"(?<=[.!?])\s+(?=[A-Z\[])", text)


def of_page(text):
    """The sentences and cells of Markdown, without code and made blocks."""
    text = re.sub(r"(?ms)^```.*?^```$|^<!-- made.*?<!-- end -->$", "", text)
    for block in re.split(r"\n\n|\n(?=\|)", text):
        for part in block.strip("|\n ").split("|") if block.startswith("|") else [block]:
            yield from sentences(part)


def of_module(text):
    """The sentences of docstrings, and the texts of errors."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield from sentences(re.sub(r"(?m)^ *>>>.*$", "", ast.get_docstring(node) or ""))
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            for part in ast.walk(node.exc):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


@pytest.fixture(scope="module")
def texts():
    """Pairs of a file's name and a sentence, or a part of one."""
    paths = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    pages = {str(path.relative_to(ROOT)): path for path in paths}
    readers = [(of_page, pages), (of_module, modules())]
    return [
        (name, text)
        for reader, files in readers
        for name, path in files.items()
        for text in reader(path.read_text())
    ]


@pytest.mark.parametrize("rule", NEVER)
def test_no_sentence_needs_a_second_reading_for(rule, texts):
    found = [(where, text) for where, text in texts if re.search(NEVER[rule], text)]
    assert [hit for hit in found if not any(part in hit[1] for part in MAY_STAY)] == []

"""Messages are written in the words of the caller, and never rewritten."""

import ast
import threading
from contextvars import copy_context
from pathlib import Path

import pytest

from skcrf_sdca._utils.words import Words, in_words, name_of, place, words

ROOT = Path(__file__).parents[2] / "skcrf_sdca"


def texts_of_errors(tree):
    """Yield the calls that change a text in which there is the text of an error."""
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    caught = {node.name for node in handlers if node.name} | {"message"}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr in {"sub", "subn", "replace", "translate"}:
            inner = (
                n for part in (node.func.value, *node.args) for n in ast.walk(part)
            )
            if any(isinstance(n, ast.Name) and n.id in caught for n in inner):
                yield ast.unparse(node)


@pytest.mark.slow
def test_no_message_is_rewritten():
    for path in sorted(ROOT.rglob("*.py")):
        assert not list(texts_of_errors(ast.parse(path.read_text()))), path


def test_a_rewritten_message_would_be_found():
    code = "try:\n    f()\nexcept E as error:\n    re.sub('a', 'b', str(error))"
    assert list(texts_of_errors(ast.parse(code)))
    assert list(texts_of_errors(ast.parse("message.replace('a', 'b')")))


def test_words_hold_in_the_with_statement_alone():
    with in_words(X="X_val"), in_words(sequence="graph", item="node"):
        assert place("X", 3, item=0) == "X_val: graph 3, node 0"
        assert name_of("known") == "known"
    assert words() == Words()
    assert name_of(("X", 3)) == "X: sequence 3"


def test_a_word_that_no_check_has_is_an_error():
    with pytest.raises(ValueError, match="sequense"), in_words(sequense="graph"):
        pass


def test_threads_keep_the_words_of_their_context():
    found = []
    with in_words(X="X_val"):
        run = copy_context().run
        thread = threading.Thread(target=run, args=(lambda: found.append(words().X),))
        thread.start()
        thread.join()
    assert found == ["X_val"]

"""What reads text, and cuts it into tokens, imports NumPy alone."""

import numpy_alone
import pytest

HEAVY = {"joblib", "pandas", "scipy", "sklearn"}
# Names of the package, and what a program does with them.
PROGRAMS = {
    "tokens": """
from skcrf_sdca.text import align_spans, char_spans, token_offsets, tokenize
for pattern in "words", "characters", "blanks":
    tokens, offsets = tokenize("Anna lives in Basel.", pattern)
    assert token_offsets("Anna lives in Basel.", tokens) == offsets
    spans, _ = align_spans([("PER", 0, 4)], offsets)
    assert char_spans(spans, offsets) == [("PER", 0, 4)]
""",
    "labels": """
from skcrf_sdca.text import convert_labels, extract_spans, repair_labels
from skcrf_sdca.text import spans_to_labels, unify_labels
labels = spans_to_labels([("PER", 0, 2)], 3)
assert extract_spans(labels) == [("PER", 0, 2)]
assert convert_labels(labels, "BIO", "BIOES") == ["B-PER", "E-PER", "O"]
assert repair_labels([["O", "I-PER"]], "BIO") == ([["O", "B-PER"]], 1)
assert unify_labels([["PER-B"]], "auto") == [["B-PER"]]
""",
    "templates": """
from skcrf_sdca.text import At, DEFAULT_TEMPLATES, Joint, Lookup, Prefix, Regex
from skcrf_sdca.text import Shape, Suffix, Window, arc_templates, is_capitalized
from skcrf_sdca.text import is_punctuation
Joint("word", At("pos", 1)), Window(Shape(), 2), Regex("a", name="a")
Lookup(["Basel"], name="city")
assert arc_templates()[0] == "h.word h.upos"
""",
    "columns": """
import io
from skcrf_sdca.text import read_conll, write_conll
lines = "Anna B-PER\\nlives O\\n\\n"
X, y = read_conll(io.StringIO(lines), columns=["word", "label"])
write_conll(file := io.StringIO(), X, y)
assert file.getvalue() == lines
""",
    "corpora": """
import io, json
from skcrf_sdca.text import read_corpus, write_corpus
record = {"text": "Anna lives.", "label": [[0, 4, "PER"]]}
files = {
    "json": json.dumps(record),
    "table": "sentence,word,label\\n1,Anna,B-PER\\n1,lives,O\\n1,.,O\\n",
    "columns": "Anna B-PER\\nlives O\\n. O\\n",
    "brackets": "[PER Anna] lives .",
    "markdown": "[Anna](PER) lives .",
    "xml": "<PER>Anna</PER> lives .",
    "slash": "Anna/B-PER lives/O ./O",
}
for name, text in files.items():
    X, y = read_corpus(io.StringIO(text), name)
    assert y == [["B-PER", "O", "O"]], (name, y)
X, y, sources = read_corpus([record], return_sources=True)
write_corpus(file := io.StringIO(), X, y, "doccano", sources=sources)
assert json.loads(file.getvalue()) == {"id": 0, **record}
""",
    "arcs": """
import numpy as np
from skcrf_sdca._kernels.features._single_weights import SingleWeights
from skcrf_sdca.text.features.arc_templates import ArcTemplates
from skcrf_sdca.text.features.relation_features import relation_columns
from skcrf_sdca.text.features.token_arcs import TokenArcs
templates = ArcTemplates.of(["h.word m.word"], ["word"], 8)
arcs = TokenArcs(templates, [["Anna", "lives"]])
weights, scores = SingleWeights(np.ones(8, np.float32)), np.empty((6, 1))
weights.node_scores(arcs.feature_rows(), arcs.offsets, 0, 1, scores)
assert (scores > 0.0).ravel().astype(int).tolist() == [1, 1, 0, 1, 1, 0]
assert relation_columns(arcs.codes, arcs.n_words, np.array([2, 0])).shape == (2, 18)
""",
    "repair of trees": """
from skcrf_sdca.text import clean_trees
X, y, faults = clean_trees(
    ["a", "b", "c"], [[2, 1], [0, 1], [3, 4, 0, 3]],
    wrong="drop", crossing_arcs="projectivize",
)
assert (X, y) == (["b", "c"], [[0, 1], [3, 3, 0, 3]])
assert (faults.cycle, faults.crossing_arcs) == (1, 1)
""",
    "treebanks": """
import io
from skcrf_sdca.text import read_conllu
tree = "1\\tAnna\\tAnna\\tPROPN\\t_\\t_\\t0\\troot\\t_\\t_\\n\\n"
assert read_conllu(io.StringIO(tree)) == ([[{"word": "Anna"}]], [["PROPN"]])
""",
}


@pytest.mark.parametrize("alone", [True, False])
def test_text_is_read_with_numpy_alone(alone):
    code = "".join(PROGRAMS.values())
    code += f"import sys\nprint({HEAVY} & set(sys.modules))"
    assert numpy_alone.printed(code, alone=alone) == "set()\n"

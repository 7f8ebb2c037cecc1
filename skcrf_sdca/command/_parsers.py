"""What `train --parse`, `tag` and `eval` do with a parser of dependency trees.

A parser reads treebanks in CoNLL-U: the columns of its features, and for the fit HEAD
and DEPREL, which `tag` writes.
"""

import argparse
import contextlib
import io
import sys
import time
from functools import partial

from skcrf_sdca._utils.messages import counted
from skcrf_sdca._utils.words import in_words
from skcrf_sdca.estimators.online_dependencies import OnlineDependencyCRF
from skcrf_sdca.metrics import attachment_report, attachment_scores
from skcrf_sdca.persistence import save_model
from skcrf_sdca.text import (
    ArcFeatures,
    arc_templates,
    clean_trees,
    is_punctuation,
    write_conllu,
)
from skcrf_sdca.text.formats.conllu import COLUMNS as CONLLU
from skcrf_sdca.text.formats.conllu import check_known, iter_sentences
from skcrf_sdca.text.formats.label_columns import EMPTY

from ._inputs import answer_all, check_any
from ._options import READING, refuse
from ._streams import encode_output, file_of, write

# The columns that features are made of by default, if a treebank has them.
COLUMNS = ("word", "upos", "xpos")
N_FEATURES = 2**22
MAX_ITER = 5
# Options on reading that treebanks lack.
NOT_OF_TREEBANKS = {*READING} - {"format", "encoding", "columns"}
# Options of `train` that are about labels of tokens.
NOT_OF_TREES = (
    *("templates", "scheme", "repair", "transitions", "label_features"),
    *("features", "label_pairs", "min_count", "decoding", "solver", "search"),
    *("alpha", "l1_ratio", "c1", "c2", "tol", "jobs", "init", "prior", "checkpoint"),
)
# Options that need --parse.
OF_TREES = ("projective", "several_roots", "heads_only", "wrong_trees", "crossing_arcs")
# Options of `tag` and `eval` that a model of trees does not have; it knows its columns.
NOT_OF_PARSERS = {
    "tag": ("columns", "proba", "spans", "to", "jobs"),
    "eval": ("columns", "errors", "other", "scheme"),
}


def add_options(group):
    """Add the options of `train` that are about dependency trees."""
    group.add_argument(
        "--parse",
        action="store_true",
        help="learn the dependency trees of treebanks in CoNLL-U, HEAD and DEPREL, in "
        "place of labels",
    )
    group.add_argument(
        "--projective", action="store_true", help="predict no arcs that cross"
    )
    group.add_argument(
        "--several-roots",
        action="store_true",
        help="several words of a sentence may be below the root",
    )
    group.add_argument(
        "--heads-only", action="store_true", help="learn no relations: HEAD alone"
    )
    group.add_argument(
        "--wrong-trees",
        choices=["raise", "drop"],
        default="raise",
        help="what to do with cycles, several roots and heads that are no words: end "
        "with an error (the default), or leave the sentence out; see --several-roots",
    )
    group.add_argument(
        "--crossing-arcs",
        choices=["keep", "drop", "projectivize"],
        default="keep",
        help="what to do with trees whose arcs cross: keep them (the default), leave "
        "the sentence out, or move arcs up until none cross",
    )


def add_eval_options(parser):
    """Add the options of `eval` that are about dependency trees."""
    parser.add_argument(
        "--leave-out",
        type=_left_out,
        action="append",
        default=[],
        metavar="WORDS",
        help="words that do not count in the scores of a parser: punctuation, which "
        "CoNLL-X leaves out, or a column and values such as upos=PUNCT,SYM; may be "
        "repeated",
    )


def _left_out(text):
    """Return a function that says whether a word of a treebank does not count."""
    if text == "punctuation":
        return lambda word: is_punctuation(word["word"])
    column, _, values = text.partition("=")
    if column not in CONLLU or not values:
        raise argparse.ArgumentTypeError(
            f"must be punctuation, or one of {', '.join(CONLLU)} and its values, such "
            f"as upos=PUNCT,SYM; got {text!r:.80}."
        )
    wanted = set(values.split(","))
    return lambda word: word[column] in wanted


def check_usage(options):
    """End with a usage error if options do not go together."""
    if options.parse:
        refuse(options, [*NOT_OF_TREES, *NOT_OF_TREEBANKS], "is not for --parse.")
        _check_format(options)
    else:
        refuse(options, OF_TREES, "needs --parse.")


def _check_format(options):
    """End with a usage error if --format names another format than CoNLL-U."""
    if options.format not in (None, "conllu"):
        options.usage_error(
            f"--format {options.format}: a parser reads treebanks, --format conllu."
        )


def _check_parser_usage(options):
    """End with a usage error for options of `tag` or `eval` that no parser has."""
    names = [*NOT_OF_PARSERS[options.subcommand], *NOT_OF_TREEBANKS]
    refuse(options, names, "is not for a parser.")
    _check_format(options)


def train(options, say):
    """Fit a parser, save it, and report scores if asked to; `say` tells of progress."""
    sentences = [s for name in options.files for s in _sentences(name, options)]
    check_any(sentences, options.files)
    columns = options.columns or _columns_of(sentences)
    check_known(columns, "--columns:")
    dev = None if options.dev is None else list(_sentences(options.dev, options))
    trees = [_tree(sentence, options.wrong_trees) for sentence in sentences]
    with in_words(y=", ".join(options.files), several_roots="--several-roots"):
        sentences, y, faults = clean_trees(
            sentences,
            trees,
            wrong=options.wrong_trees,
            crossing_arcs=options.crossing_arcs,
            single_root=not options.several_roots,
        )
    check_any(sentences, options.files)
    say(f"{len(sentences)} sentences, {sum(len(h) for h, _ in y)} words; {faults}")
    parser = OnlineDependencyCRF(
        features=_features(columns, options.projective),
        projective=options.projective,
        single_root=not options.several_roots,
        labelled=not options.heads_only,
        max_iter=MAX_ITER if options.max_iter is None else options.max_iter,
        random_state=options.seed,
        verbose=int(not options.quiet),
    )
    begin = time.perf_counter()
    with contextlib.redirect_stdout(sys.stderr):
        parser.fit(_tokens(parser, sentences), _targets(parser, y))
    seconds, epochs = time.perf_counter() - begin, parser.history_["seconds"][-1]
    say(
        f"{counted(parser.n_iter_, 'epoch')} in {epochs:.2f} s, all else of the fit in "
        f"{seconds - epochs:.2f} s"
    )
    save_model(parser, options.output, metadata=options.metadata)
    if dev is not None:
        write([report(parser, dev), "\n"])


def tag(parser, options):
    """Write the sentences of files with their predicted trees."""
    _check_parser_usage(options)
    encode_output(options.encoding.removesuffix("-sig"))

    def answer(batch):
        file = io.StringIO()
        trees = parser.predict(_tokens(parser, batch))
        write_conllu(file, batch, trees=trees)
        write([file.getvalue()])

    sentences = partial(iter_sentences, encoding=options.encoding)
    answer_all(sentences, options.files, options.batch, answer)


def evaluate(parser, options):
    """Print the report on the sentences of files."""
    _check_parser_usage(options)
    sentences = [s for name in options.files for s in _sentences(name, options)]
    check_any(sentences, options.files)
    write([report(parser, sentences, options.leave_out), "\n"])


def report(parser, sentences, left_out=()):
    """Return the attachment scores of a parser, and those of each relation.

    `left_out` are functions that say which words do not count.
    """
    y = _targets(parser, [sentence.tree for sentence in sentences])
    found = list(parser.predict(_tokens(parser, sentences)))
    mask = [
        [not any(is_out(word) for is_out in left_out) for word in sentence.words]
        for sentence in sentences
    ]
    scores = attachment_scores(y, found, mask=mask)
    n_words, n_out = sum(map(len, mask)), sum(own.count(False) for own in mask)
    shares = {"UAS": scores.uas, "LAS": scores.las, "CLAS": scores.clas}
    shares["correct trees"] = scores.exact
    texts = [f"{k}: {100 * v:6.2f}%" for k, v in shares.items() if v is not None]
    lines = [
        f"processed {n_words} words in {len(sentences)} sentences"
        f"{f', {n_out} words left out' if left_out else ''}.",
        "; ".join(texts),
    ]
    if parser.labelled:
        lines.append(attachment_report(y, found, mask=mask, digits=4))
    return "\n".join(lines)


def _sentences(name, options):
    return iter_sentences(file_of(name), options.encoding)


def _tree(sentence, wrong):
    """Return the tree of a sentence; heads that are no numbers are -1, if allowed."""
    if wrong == "raise":
        return sentence.tree
    words = sentence.words
    heads = [int(w["head"]) if w["head"].isdecimal() else -1 for w in words]
    return heads, [word["deprel"] for word in words]


def _columns_of(sentences):
    """Return those of the usual columns that are not empty everywhere."""
    words = [word for sentence in sentences for word in sentence.words]
    return [c for c in COLUMNS if any(word[c] != EMPTY for word in words)]


def _features(columns, projective):
    """Return the templates of the first two columns, and pairs of each further one.

    Projective trees have templates of siblings too.
    """
    tag = columns[min(1, len(columns) - 1)]
    templates = arc_templates(columns[0], tag, context=True, siblings=projective)
    for name in columns[2:]:
        templates += [f"h.{name} m.{name}", f"h.{name} between.{name} m.{name}"]
    return ArcFeatures(templates, columns=tuple(columns), n_features=N_FEATURES)


def _tokens(parser, sentences):
    columns = parser.features.columns
    return [[tuple(word[c] for c in columns) for word in s.words] for s in sentences]


def _targets(parser, y):
    return list(y) if parser.labelled else [heads for heads, _ in y]

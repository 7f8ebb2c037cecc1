"""The sentences of files, and the models that read them.

Owns how the options and a model say which format is read: the `TokenFeatures` of a
model has the names of the columns, and its last step, the CRF, the name of the column
that it predicts.
"""

import warnings

from sklearn.pipeline import Pipeline

from skcrf_sdca._utils.messages import alternatives
from skcrf_sdca.data.label_names import named_lists
from skcrf_sdca.estimators.online_dependencies import OnlineDependencyCRF
from skcrf_sdca.estimators.tagger import Tagger
from skcrf_sdca.persistence import load_model
from skcrf_sdca.persistence._corpus import is_corpus
from skcrf_sdca.text import ReadingWarning, TokenFeatures, unify_labels
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.corpora import ALIASES, FORMATS, guessed_format, options_of
from skcrf_sdca.text.features.values import WORD
from skcrf_sdca.text.formats.attributes import read_attributes, read_scaled
from skcrf_sdca.text.formats.conllu import COLUMNS
from skcrf_sdca.text.formats.label_columns import column_of, columns_of
from skcrf_sdca.text.spans.offsets import check_pattern

from ._columns import LABEL, UNREAD, Asked, ColumnsFormat
from ._formats import AttributesFormat, ConlluFormat, CorpusFormat, TextFormat
from ._options import OF_FORMATS, as_option, lines_of, option_value
from ._streams import STANDARD_INPUT, answered

TEXT = "text"
# The readers of the formats that are written as they were read.
_KEPT = {FORMATS[name].read for name in ("columns", "conllu")}
# Those of the formats whose tokens have features of their own.
_OF_FEATURES = {read_attributes, read_scaled}


def reading_of(options, *, labelled):
    """Return the Reading of files."""
    return Reading(options.encoding, labelled, as_option)


def format_name(options, first):
    """Return the name of the format that the options say, or the name of a file."""
    if is_corpus(first):
        raise ValueError(
            f"{first}: it is a packed folder, which train alone takes, alone; "
            "give the text itself."
        )
    name = options.format
    if name is None:
        return "columns" if first == STANDARD_INPUT else guessed_format(first)
    return ALIASES.get(name, name)


def labelled_sentences(source, names, options):
    """Return the tokens and the labels of all sentences of files, and their Reading."""
    (reading, form), X, y = labelled_reading(source, options), [], []
    for sentence in sentences_of(source, names, reading):
        X.append(sentence.tokens)
        y.append(sentence.labels)
    check_any(y, names)
    return X, y if form is None else unify_labels(y, form), reading


def labelled_reading(source, options):
    """Return the Reading of labelled files, and the form of labels in them, or None."""
    reading = reading_of(options, labelled=True)
    has_features = isinstance(source, AttributesFormat)
    name = source.name if has_features else format_name(options, options.files[0])
    is_guess = options.format is None and not has_features
    # Errors name the option, too.
    reading.take("format", name, option="format" if is_guess else None)
    return reading, options.label_form or FORMATS[name].label_form


def sentences_of(source, names, reading):
    """Yield the sentences of all files."""
    for file in names:
        yield from source.sentences(file, reading)


def warn_of(reading):
    """Warn of what is odd about what was read."""
    for message in reading.messages():
        warnings.warn(message, ReadingWarning, stacklevel=2)


def check_any(y, names):
    """Raise ValueError if there are no sentences in files."""
    if not y:
        raise ValueError(f"{', '.join(names)}: no sentence.")


def answer_all(sentences, names, size, answer):
    """Call a function on the lists of at most `size` sentences of files.

    ``sentences(file)`` yields those of a file. Lists have fewer sentences where a file
    ends, or the program would wait for more of it.
    """
    batch = []

    def answer_batch():
        own, batch[:] = list(batch), []
        if own:
            answer(own)

    for name in names:
        with answered(name, answer_batch) as file:
            for sentence in sentences(file):
                batch.append(sentence)
                if len(batch) >= size:
                    answer_batch()
        answer_batch()


def load_any(path):
    """Return the Tagger or the OnlineDependencyCRF of a model file."""
    model = load_model(path)
    if isinstance(model, OnlineDependencyCRF):
        return model
    return _tagger_of(model, path)


def load_tagger(path):
    """Return the Tagger of a model file."""
    return _tagger_of(load_model(path), path)


def _tagger_of(model, path):
    """Return the Tagger of a model of tokens, or of their features."""
    steps = model.steps if isinstance(model, Pipeline) else [(LABEL, model)]
    *others, (name, crf) = steps
    # The estimator within a compat.CRF has the methods of the others.
    tagger = Tagger(
        [*others, (name, getattr(crf, "estimator_", crf))],
        tokens=getattr(model, "tokens", None),
    )
    if not (_reads_columns(tagger) or _reads_features(tagger)):
        raise ValueError(
            f"{path}: the model cannot read text: it must be a Tagger or a Pipeline "
            "whose first step is a TokenFeatures, or a model of dicts or lists of str."
        )
    return tagger


def _reads_columns(tagger):
    return isinstance(tagger[0], TokenFeatures)


def _reads_features(tagger):
    """Return whether the items of a model are dicts or lists of str."""
    vectorizer = getattr(tagger[0], "vectorizer_", tagger[0])
    return getattr(vectorizer, "input_format_", None) in ("dicts", "strings")


def label_texts(tagger, y):
    """Return label lists of a model as files have them: names, if it has some."""
    return [list(map(str, labels)) for labels in named_lists(tagger, y)]


def source_of(tagger, options, first):
    """Return the format of the files that a tagger reads, of which one is the first."""
    if not _reads_columns(tagger):
        return _features_source(tagger, options)
    features, label = tagger[0], tagger.steps[-1][0]
    name = TEXT if options.format == TEXT else format_name(options, first)
    _check_options(name, options)
    if options.columns and not {*features.read_columns()} <= {*options.columns}:
        options.usage_error(
            f"--columns: the model reads {', '.join(features.read_columns())}, which "
            "must be among them."
        )
    if name == TEXT:
        return _text_format(tagger, options)
    if _has_features(name):
        options.usage_error(
            f"--format {name}: its tokens have features of their own, but the model "
            f"makes those of the columns {', '.join(features.read_columns())}."
        )
    if not keeps_lines(name):
        return corpus_format(name, features.read_columns(), options, tagger.tokens)
    if set(map(column_of, columns_of(label))) <= set(COLUMNS):
        label = label if options.label is None else options.label
        return ConlluFormat(features.read_columns(), label)
    known = _known_labels(tagger)
    return ColumnsFormat(
        options.columns or list(features.columns),
        lines_of(options),
        label=options.label,
        asked=Asked(features.read_columns(), known, options.format is None),
        refuse=options.usage_error,
    )


def _features_source(tagger, options):
    """Return the format of files for a model of features, whose first step names it."""
    name = options.format or tagger.steps[0][0]
    name = ALIASES.get(name, name)
    if not _has_features(name):
        options.usage_error(
            "the model reads tokens that have features of their own: give --format "
            "attributes, mallet or crfsuite."
        )
    _check_options(name, options)
    own = _format_options(name, options)
    return AttributesFormat(name, own, _known_labels(tagger))


def _known_labels(tagger):
    """Return the labels of a model as files have them."""
    classes = tagger[-1].classes_.tolist()
    return frozenset(label_texts(tagger, [classes])[0])


def _has_features(name):
    """Return whether the tokens of a format have features of their own."""
    return name in FORMATS and FORMATS[name].read in _OF_FEATURES


def keeps_lines(name):
    """Return whether a format is written as it was read: columns or CoNLL-U."""
    return FORMATS[name].read in _KEPT


def untrained_source(options):
    """Return the format of the files that a model is trained on."""
    name = format_name(options, options.files[0])
    # Who knows what cut the tokens of a file may say so: new texts are cut alike.
    _check_options(name, options, {"tokens"} if keeps_lines(name) else set())
    if _has_features(name):
        return AttributesFormat(name, _format_options(name, options))
    if not keeps_lines(name):
        return corpus_format(name, options.columns, options)
    if name == "conllu":
        return _treebank(options)
    columns, label = options.columns, options.label
    has_name = label is not None and not label.isdecimal()
    if has_name and columns is not None and label not in columns:
        options.usage_error(
            f"--label {label}: give the number of a column, or a name that is among "
            "--columns."
        )
    return ColumnsFormat(
        columns, lines_of(options), label=label, refuse=options.usage_error
    )


def _treebank(options):
    """Return the format of treebanks in CoNLL-U."""
    source = ConlluFormat(options.columns, options.label)
    for name in source.label_columns:
        if name in source.columns:
            options.usage_error(
                f"{name!r} is the label, and among --columns: choose one of both."
            )
    return source


def _check_options(name, options, more=frozenset()):
    """End with a usage error if a format lacks an option that is given.

    ``more`` are options that say something of the model.
    """
    _pattern(options)
    own = {"tokens"} if name == TEXT else {*options_of(name), *more}
    has_reader = name != TEXT and not keeps_lines(name)
    if has_reader and not _has_features(name):
        # Columns that no one reads are left out of the tokens of any format.
        own.add("columns")
    for option in OF_FORMATS:
        if getattr(options, option) is not None and option not in own:
            options.usage_error(f"--{option}: the format {name} has no such option.")
    for option, _ in options.format_options:
        if not has_reader:
            options.usage_error(f"--option: the format {name} has none.")
        if option not in own:
            options.usage_error(
                f"--option {option}: the format {name} has no such option"
                f"{alternatives(option, own)}."
            )


def _format_options(name, options, tokens=None):
    """Return the options of a format of `read_corpus`.

    A model was trained on texts that ``tokens`` cut, or it does not know.
    """
    given = {option: getattr(options, option) for option in OF_FORMATS}
    known = options_of(name)
    cut_by = _pattern(options) or (tokens if "tokens" in known else None)
    given |= {"columns": None, "tokens": cut_by}
    own = {option: value for option, value in given.items() if value is not None}
    for option, text in options.format_options:
        own[option] = option_value(text, known[option].annotation)
    return own


def corpus_format(name, columns, options, tokens=None):
    """Return a format of `read_corpus` whose tokens have columns."""
    return CorpusFormat(name, columns, _format_options(name, options, tokens))


def _text_format(tagger, options):
    features, read = tagger[0], tagger[0].read_columns()
    if set(read) <= {WORD}:
        pattern = _pattern(options) or tagger.tokens
        return TextFormat(pattern, _known_labels(tagger))
    kept = {WORD: WORD, LABEL: LABEL}
    names = [kept.get(name, UNREAD) for name in features.columns]
    names += [LABEL] * (LABEL not in names)
    options.usage_error(
        f"--format text: the templates of the model read the columns {', '.join(read)} "
        "of each token, and text has words alone. A model without them is trained by "
        f"train --columns {','.join(names)}."
    )


def _pattern(options):
    """Return what --tokens says, or None."""
    if options.tokens is not None:
        try:
            check_pattern(options.tokens, "--tokens")
        except ValueError as error:
            options.usage_error(str(error))
    return options.tokens

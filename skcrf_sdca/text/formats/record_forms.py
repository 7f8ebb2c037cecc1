"""The forms of records of annotated texts: one table says which, and how each is read.

A form has parts, and a record has the form if it has all of them. Some records hold
others, which have forms themselves.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from skcrf_sdca._utils.messages import alternatives

from . import program_forms as programs
from . import record_parts as parts
from .record_fields import (
    are_labels,
    described_record,
    is_list,
    is_mapping,
    is_row,
    is_text,
    list_of,
)
from .record_parts import Annotated, Context, Part

# Forms that a message lists, and those that it lists if none is likely.
_MANY = 3
_USUAL = ("tokens", "spans")


class Form(NamedTuple):
    """A form of records: an example, its parts, and its reader.

    The reader returns what a record says, or yields the records in it.
    """

    example: str
    parts: tuple[Part, ...]
    read: Callable[[Any, Context], Annotated | Iterator[Any]]


def _key(name, is_wanted):
    return Part(
        f"a field {name!r} of this form",
        lambda record, _: is_mapping(record) and is_wanted(record.get(name)),
    )


def _list(words, is_wanted):
    return Part(words, lambda record, _: is_list(record) and is_wanted(record))


def _pair(is_first, is_second):
    def is_pair(record):
        return len(record) == 2 and is_first(record[0]) and is_second(record[1])

    return _list("two items of this form", is_pair)


FORMS: Mapping[str, Form] = {
    "doc": Form(
        "a Doc of spaCy",
        (Part("entities", lambda record, _: hasattr(record, "ents")),),
        programs.of_doc,
    ),
    "rows": Form(
        "[('Anna', 'B-PER'), ('left', 'O')]",
        (_list("a tuple for each token", list_of(programs.is_token_row)),),
        programs.of_rows,
    ),
    "mappings": Form(
        "[{'word': 'Anna', 'ner': 'B-PER'}, {'word': 'left', 'ner': 'O'}]",
        (_list("a mapping for each token", list_of(is_mapping)),),
        programs.of_mappings,
    ),
    "pair": Form(
        "('Anna left', [(0, 4, 'PER')])",
        (_pair(is_text, lambda own: is_list(own) or is_mapping(own)),),
        programs.of_pair,
    ),
    "lists": Form(
        "(['Anna', 'left'], ['B-PER', 'O'])",
        (_pair(is_list, are_labels),),
        programs.of_lists,
    ),
    "bioc": Form(
        "{'passages': [{'offset': 0, 'text': 'Anna left', 'annotations': [{'infons': "
        "{'type': 'PER'}, 'locations': [{'offset': 0, 'length': 4}]}]}]}",
        (_key("passages", list_of(is_mapping)),),
        programs.of_passages,
    ),
    "vertex": Form(
        "{'text_snippet': {'content': 'Anna left'}, 'annotations': [{'display_name': "
        "'PER', 'text_extraction': {'text_segment': {'end_offset': 4}}}]}",
        (_key("text_snippet", is_mapping),),
        programs.of_snippet,
    ),
    "gliner": Form(
        "{'tokenized_text': ['Anna', 'left'], 'ner': [[0, 0, 'PER']]}",
        (_key("tokenized_text", is_list), parts.if_labelled(_key("ner", is_list))),
        programs.of_gliner,
    ),
    "snips": Form(
        "{'data': [{'text': 'Anna', 'entity': 'PER'}, {'text': ' left'}]}",
        (_key("data", list_of(programs.is_part)),),
        programs.of_parts,
    ),
    "label-studio": Form(
        "{'data': {'text': 'Anna left'}, 'annotations': [{'result': [{'value': "
        "{'start': 0, 'end': 4, 'labels': ['PER']}}]}]}",
        (Part("a list of annotations with results", programs.has_results),),
        programs.of_label_studio,
    ),
    "pairs": Form(
        "{'annotations': [['Anna left', {'entities': [[0, 4, 'PER']]}]]}",
        (_key("annotations", list_of(programs.is_text_first)),),
        lambda record, _: iter(record["annotations"]),
    ),
    "dataturks": Form(
        "{'content': 'Anna left', 'annotation': [{'label': ['PER'], 'points': "
        "[{'start': 0, 'end': 3}]}]}",
        (parts.TEXT, _key("annotation", list_of(programs.has_points))),
        programs.of_points,
    ),
    "cluener": Form(
        "{'text': 'Anna left', 'label': {'PER': {'Anna': [[0, 3]]}}}",
        (parts.TEXT, _key("label", is_mapping)),
        programs.of_mentions,
    ),
    "scierc": Form(
        "{'sentences': [['Anna', 'left']], 'ner': [[[0, 0, 'PER']]]}",
        (_key("sentences", list_of(is_row)), parts.if_labelled(_key("ner", is_list))),
        programs.of_scierc,
    ),
    "inner": Form(
        "{'data': {'text': 'Anna left', 'spans': [[0, 4, 'PER']]}}",
        (Part("a record under 'data' or 'rasa_nlu_data'", programs.has_inner),),
        programs.of_inner,
    ),
    "list": Form(
        "{'documents': [{'text': 'Anna left', 'spans': [[0, 4, 'PER']]}]}",
        (Part("a list of records under a usual name", programs.has_list),),
        programs.of_list,
    ),
    "words": Form(
        "{'text': 'Anna left', 'tags': 'B-PER O'}",
        (parts.TEXT, parts.WORD_LABELS),
        parts.of_words,
    ),
    "tokens": Form(
        "{'tokens': ['Anna', 'left'], 'ner_tags': ['B-PER', 'O']}",
        (parts.TOKENS, parts.if_labelled(parts.LABELS)),
        parts.of_tokens,
    ),
    "spans": Form(
        "{'text': 'Anna left', 'spans': [[0, 4, 'PER']]}",
        (parts.TEXT, parts.if_labelled(parts.SPANS)),
        parts.of_spans,
    ),
    "token-spans": Form(
        "{'tokens': ['Anna', 'left'], 'spans': [[0, 1, 'PER']]}",
        (parts.TOKENS, parts.SPANS),
        parts.of_token_spans,
    ),
    "columns": Form(
        "{'tokens': [['Anna', 'left']], 'ner_tags': [['B-PER', 'O']]}",
        (Part("columns of one length", programs.are_columns),),
        programs.of_columns,
    ),
}
# Records that hold others of any form.
HOLDERS = ("inner", "list", "columns")


def check_form(name: str | None) -> None:
    """Raise ValueError if there is no form of this name."""
    if name is not None and name not in FORMS:
        raise ValueError(f"there is no form {name!r}{alternatives(name, FORMS)}.")


def annotated(record: Any, context: Context, given: str | None) -> Iterator[Annotated]:
    """Yield what a record, or each of those in it, says.

    `given` is the name of its form, or of those in it, if it is known.
    """
    if context.leaves_out(record):
        return
    name = _name_of(record, context, given)
    found = FORMS[name].read(record, context)
    if isinstance(found, Annotated):
        context.forms[name] += 1
        yield found
        return
    context.holders[name] = None
    given = given if name in HOLDERS and name != given else None
    for inner in found:
        yield from annotated(inner, context, given)


def _name_of(record, context, given):
    """Return the name of the form of a record; ValueError if it has none."""
    names = FORMS if given is None else (given, *HOLDERS)
    for name in names:
        if not _lacks(record, context, name):
            return name
    raise ValueError(_no_form(record, context, given))


def _lacks(record, context, name):
    """Return the parts that a record lacks of a form, in words."""
    parts = FORMS[name].parts
    return [part.words for part in parts if not part.is_in(record, context)]


def _no_form(record, context, given):
    """Return a message on a record that has no form: what it lacks of likely ones."""
    if is_mapping(record) and context.label not in {None, *record}:
        return f"no field {context.label!r} among {', '.join(map(str, record))}"
    if programs.are_data_sets(record):
        names = ", ".join(map(str, record))
        first = f"data[{next(iter(record))!r:.40}]"
        return f"the data set has the parts {names}: read one, such as {first}"
    if context.labelled and given is None and list_of(is_text)(record):
        return (
            f"no form fits {described_record(record)}, which may be words without "
            "labels: read the table or the data set that has both, or zip(words, "
            "labels)"
        )
    lacks = {name: _lacks(record, context, name) for name in FORMS}
    likely = [
        name for name, form in FORMS.items() if form.parts[0].words not in lacks[name]
    ]
    names = [given] if given is not None else (likely or _USUAL)[:_MANY]
    forms = [
        f"{context.option('form', name)}, as {FORMS[name].example}, lacks "
        f"{' and '.join(lacks[name])}"
        for name in names
    ]
    return (
        f"no form fits {described_record(record)}: {'; '.join(forms)}. The field of "
        f"labels or spans may be named by {context.option('label')}"
    )

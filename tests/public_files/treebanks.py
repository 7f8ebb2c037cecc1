"""Treebanks: CoNLL-X, CoNLL-U and CoNLL-U Plus."""

from .sentences import POS, Kind, lines

COMMENTS = "# sent_id = {s}\n# text = {text}\n"
MISC = lines(
    "{n}\t{word}\t{word}\tX\t{pos}\t_\t0\troot\t_\tname={label}|SpaceAfter=No",
    start=COMMENTS,
)
ONE_LABEL = "all 27 tokens have one label, 'X'; label="

KINDS = {
    "CoNLL-U": Kind(
        {
            "en_ewt-ud-train.conllu": lines(
                "{n}\t{word}\t{word}\t{pos}\t_\tCase=Nom\t0\troot\t_\t_", start=COMMENTS
            )
        },
        labels=POS,
    ),
    "CoNLL-U, XPOS": Kind(
        {"de_hdt-ud-train.conllu": MISC}, {"label": "xpos"}, ONE_LABEL, POS
    ),
    "DaNE": Kind({"da_ddt-ud-train.conllu": MISC}, {"label": "misc:name"}, ONE_LABEL),
    "CoNLL-U, a feature": Kind(
        {"en.conllu": lines("{n}\t{word}\t_\tX\t_\tForm={pos}\t0\troot\t_\t_")},
        {"label": "feats:Form"},
        ONE_LABEL,
        POS,
    ),
    "CoNLL-U Plus": Kind(
        {
            "sl_ssj.conllup": "# global.columns = ID FORM XPOS SSJ:NER\n"
            + lines("{n}\t{word}\t{pos}\t{label}")
        }
    ),
    "CoNLL-X": Kind(
        {
            "spanish_cast3lb_train.conll": lines(
                "{n}\t{word}\t{word}\t{pos}\t{pos}\tnum=s|gen=f\t0\tROOT\t_\t_"
            )
        },
        {"format": "conllu"},
        "all 27 tokens have one label, '_'; label=",
        POS,
    ),
}

"""Measure models of joint tags UPOS|FEATS of a treebank, which are hundreds of labels.

    python joint_tags.py tr_imst                       # the default of CRF()
    python joint_tags.py tr_imst --sentences 300 --set label_pairs=all
    python joint_tags.py tr_imst --set label_features=parts
    python joint_tags.py tr_imst --further dev test     # labels of these files too

The treebank has the files ``ud/NAME.train.conllu.gz`` and ``ud/NAME.test.conllu.gz`` in
the folder of the environment variable ``SKCRF_SDCA_DATA``. The features are those of
``skcrf-sdca train``, from words alone. Printed are the processor seconds of `fit`, with
the features, the peak memory of the process, and the share of right joint tags on the
test sentences, of right parts UPOS, of right tags that the training sentences have, and
how many of the others are right. With ``--further`` the labels have the parts between
their separators, and the model knows the labels of other files of the treebank too.
"""

import argparse
import json
import os
import resource
from pathlib import Path

import numpy as np
from quiet_fits import seconds_of_fit

import tables
from skcrf_sdca import CRF, make_tagger
from skcrf_sdca.text import TokenFeatures, read_conllu

HEADER = (
    "parameters,K,label pairs,features,solver,epochs,fit (s),peak (MiB),P,gap / P,"
    "joint (%),UPOS (%),known (%),unseen"
).split(",")


def read(name, part):
    """Return the words of sentences, as lists of str, and their joint tags."""
    folder = Path(os.environ["SKCRF_SDCA_DATA"]) / "ud"
    path = folder / f"{name}.{part}.conllu.gz"
    X, y = read_conllu(path, label="upos|feats")
    return [[word["word"] for word in sentence] for sentence in X], y


def parameter(text):
    """Return the name and the value of name=value."""
    name, value = text.split("=", 1)
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def row(arguments):
    """Return the row of a fit."""
    X, y = read(arguments.treebank, "train")
    X_test, y_test = read(arguments.treebank, "test")
    X, y = X[: arguments.sentences], y[: arguments.sentences]
    known = set().union(*y)
    given = dict(arguments.set)
    crf = CRF(random_state=0, verbose=arguments.verbose, **given)
    if arguments.further is not None:
        others = [
            set().union(*read(arguments.treebank, p)[1]) for p in arguments.further
        ]
        labels = known.union(*others)
        crf.set_params(label_features={k: k.split("|") for k in labels})
        given["further"] = "+".join(arguments.further)
    tagger = make_tagger(TokenFeatures(), crf)
    seconds = seconds_of_fit(tagger, X, y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 2**10
    found, right = (np.concatenate(part) for part in (tagger.predict(X_test), y_test))
    of_part = [
        a.split("|")[0] == b.split("|")[0] for a, b in zip(found, right, strict=True)
    ]
    is_known = np.isin(right, list(known))
    n_unseen = np.count_nonzero(~is_known)
    n_right = np.count_nonzero((found == right)[~is_known])
    return [
        " ".join(f"{name}={value}" for name, value in given.items()) or "default",
        f"{len(crf.classes_)}",
        f"{np.count_nonzero(crf.transition_):,}",
        f"{crf.n_features_in_:,}",
        crf.solver_,
        f"{crf.n_iter_}",
        f"{seconds:.1f}",
        tables.size(peak),
        f"{crf.primal_objective_:.4f}",
        f"{crf.duality_gap_ / crf.primal_objective_:.1e}",
        f"{100 * np.mean(found == right):.2f}",
        f"{100 * np.mean(of_part):.2f}",
        f"{100 * np.mean((found == right)[is_known]):.2f}",
        f"{n_right} of {n_unseen}",
    ]


def main():
    """Print the row of one fit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("treebank", help="such as tr_imst")
    parser.add_argument("--sentences", type=int, help="the first of the training")
    parser.add_argument(
        "--set", type=parameter, nargs="*", default=[], help="name=value of CRF"
    )
    parser.add_argument(
        "--further", nargs="*", metavar="PART", help="files whose labels are known too"
    )
    parser.add_argument("--verbose", action="store_true")
    tables.show([HEADER, row(parser.parse_args())])


if __name__ == "__main__":
    main()

"""Pack text files that are larger than memory by ``skcrf-sdca pack``.

The text is sentences of CoNLL-2000, drawn with replacement, in which one token of a
hundred has a number behind it: so new features occur to the end. The templates are the
words of three places and a suffix. Each file is packed in its own process, whose data
must not need more than LIMIT (RLIMIT_DATA). Memory is the peak of the resident memory,
program and libraries included. The table is printed, and written as pack_text.csv.

    python examples/benchmarks/pack_text.py [--quick]

takes 2.5 GB of disk in the folder of ``--cache``, and reads /proc: Linux only.
"""

import random
import resource
import tempfile
from pathlib import Path
from time import process_time

import runs
import tables
from skcrf_sdca.command import main as command
from skcrf_sdca.datasets import fetch_conll2000
from skcrf_sdca.persistence import PackedCorpus

SIZES = 3 * 10**7, 3 * 10**8
QUICK_SIZES = 3 * 10**4, 10**5
LIMIT = 400 * 2**20
TEMPLATES = 'Window("word", 1)\nSuffix(3)\n'
HEADER = (
    "text MB",
    "tokens",
    "features",
    "packed MiB",
    "memory MiB",
    "processor s",
    "us/token",
)


def write_text(path, n_bytes):
    """Write a file of columns of about n_bytes."""
    X, y = fetch_conll2000(return_X_y=True)
    draws, written = random.Random(0), 0
    with path.open("w", encoding="utf-8") as file:
        while written < n_bytes:
            i = draws.randrange(len(X))
            lines = [
                f"{_changed(token['word'], draws)} {token['pos']} {label}\n"
                for token, label in zip(X[i], y[i], strict=True)
            ]
            written += file.write("".join([*lines, "\n"]))


def _changed(word, draws):
    return f"{word}{draws.randrange(1000)}" if draws.random() < 0.01 else word


def pack(text, folder):
    """Pack a file; return the row of the table."""
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, resource.RLIM_INFINITY))
    templates = text.with_name("templates")
    templates.write_text(TEMPLATES, encoding="utf-8")
    begin = process_time()
    options = f"--columns word,_,label --templates {templates} -o {folder}"
    if status := command(["pack", str(text), *options.split()]):
        raise RuntimeError(f"pack ended with the status {status}")
    seconds, memory = process_time() - begin, runs.status("VmHWM")
    X = PackedCorpus.open(folder).X
    return [
        f"{text.stat().st_size / 1e6:,.1f}",
        f"{X.n_positions:,}",
        f"{X.n_features:,}",
        tables.size(sum(file.stat().st_size for file in folder.iterdir())),
        tables.size(memory),
        f"{seconds:.0f}",
        f"{1e6 * seconds / X.n_positions:.1f}",
    ]


def main():
    """Make the texts, pack them, and print the table."""
    campaign = runs.start(__doc__, "results/pack_text.csv", names=())
    campaign.cache.mkdir(parents=True, exist_ok=True)
    rows = [list(HEADER)]
    with tempfile.TemporaryDirectory(dir=campaign.cache) as name:
        for n_bytes in QUICK_SIZES if campaign.quick else SIZES:
            text = Path(name) / f"{n_bytes}.txt"
            write_text(text, n_bytes)
            folder = text.with_suffix(".packed")
            rows.append(campaign.pool.submit(pack, text, folder).result())
    tables.show(rows)
    tables.write(rows, campaign.output)


if __name__ == "__main__":
    main()

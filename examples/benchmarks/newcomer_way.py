"""Walk from a file of labelled names to a service and its next model, and time it.

Each step is what a newcomer types: ``train`` on two columns of three, ``info``, the
server of examples/text/tag_server.py, a text for it, ``tag`` of a file of text, the
training on more sentences from the last model, which the server takes into use while a
client asks it, and ``drift``. The table has the seconds of the clock and of the
processor. A request that is lost or answered with an error ends the script.

    python examples/benchmarks/newcomer_way.py [TRAIN DEV NEW]

The files have the columns word, tag and label; by default they are the Dutch ones of
CoNLL-2002, in the folder SKCRF_SDCA_DATA. NEW becomes text, without its labels.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from time import perf_counter, sleep
from urllib.request import urlopen

import tables
from skcrf_sdca.text import read_corpus

COMMAND = [sys.executable, "-P", "-m", "skcrf_sdca"]
COLUMNS = ["--columns", "word,_,label"]
SERVER = Path(__file__).resolve().parents[1] / "text" / "tag_server.py"
# Of so many sentences, one is labelled after the first training.
ONE_OF = 30
# A server that does not answer so long has failed.
MOST_SECONDS = 600
rows = [["step", "clock, s", "processor, s"]]


@contextmanager
def step(name):
    """Time a step of the way."""
    begin, begin_cpu = perf_counter(), processor_seconds()
    yield
    clock, cpu = perf_counter() - begin, processor_seconds() - begin_cpu
    rows.append([name, f"{clock:.1f}", f"{cpu:.1f}" if cpu > 0.0 else tables.NONE])


def processor_seconds():
    """Return those of the processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def command(*arguments):
    """Run a subcommand, show what it prints first, and return all of that."""
    print("$ skcrf-sdca", *arguments, flush=True)
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    print("\n".join([*done.stdout.splitlines()[:6], done.stderr]), flush=True)
    assert done.returncode == 0
    return done.stdout


def ask(address, text=None):
    """Return the answer of the server."""
    with urlopen(address, data=text, timeout=MOST_SECONDS) as response:
        return response.read().decode()


def ask_always(stopped, address, text, answers):
    """Ask again and again, and keep the answers; None is a request without one."""
    while not stopped.is_set():
        try:
            answers.append(ask(address, text))
        except OSError:
            answers.append(None)


def sentences_of(path):
    """Return the sentences of a file with columns, as lists of words and labels."""
    X, y = read_corpus(path, columns=("word", None, "label"))
    return [[token["word"] for token in own] for own in X], y


def write_days(folder, train, new):
    """Write the labelled files of both days, and the text."""
    blocks = [
        "".join(
            f"{word} x {label}\n" for word, label in zip(words, labels, strict=True)
        )
        for words, labels in zip(*sentences_of(train), strict=True)
    ]
    at = len(blocks) - len(blocks) // ONE_OF
    (folder / "day1.txt").write_text("\n".join(blocks[:at]), encoding="utf-8")
    (folder / "more.txt").write_text("\n".join(blocks[at:]), encoding="utf-8")
    text = "\n".join(" ".join(words) for words in sentences_of(new)[0])
    (folder / "new.txt").write_text(text, encoding="utf-8")


def serve_and_retrain(folder, model):
    """Go the way from the first model to the next."""
    with step("server: start"):
        server = subprocess.Popen(
            [sys.executable, SERVER, str(model), "0"], stdout=subprocess.PIPE, text=True
        )
        address = f"http://127.0.0.1:{server.stdout.readline().split()[-1]}"
    stopped, answers = Event(), []
    text = (folder / "new.txt").read_bytes()[:2000].decode(errors="ignore").encode()
    client = Thread(
        target=ask_always, args=(stopped, f"{address}/tag", text, answers), daemon=True
    )
    try:
        with step("server: one text"):
            print(json.loads(ask(f"{address}/tag", text))[:2])
        client.start()
        with step("train --init, on more"):
            files = folder / "day1.txt", folder / "more.txt"
            command("train", *files, *COLUMNS, "-o", model, "--init", model, "-q")
        with step("server: the new model"):
            for _ in range(10 * MOST_SECONDS):
                if 'result="loaded"' in ask(f"{address}/metrics"):
                    break
                sleep(0.1)
        print(ask(f"{address}/metrics"))
    finally:
        stopped.set()
        client.join()
        server.terminate()
        server.wait()
    assert None not in answers
    print(f"{len(answers)} answers, none lost, {len(set(answers))} different ones")


def main():
    """Walk, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", metavar="TRAIN DEV NEW")
    files = parser.parse_args().files
    if not files:
        corpus = Path(os.environ["SKCRF_SDCA_DATA"]) / "conll2002"
        files = [corpus / f"ned.{part}.gz" for part in ("train", "testa", "testb")]
    train, dev, new = files
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = folder / "names.crf"
        write_days(folder, train, new)
        with step("train"):
            command("train", folder / "day1.txt", *COLUMNS, "-o", model, "--dev", dev)
        with step("info"):
            command("info", model)
        with step("tag, a file of text"):
            text, as_text = folder / "new.txt", ["--format", "text"]
            command("tag", "-m", model, "--spans", text, *as_text)
        serve_and_retrain(folder, model)
        with step("drift"):
            both = [*as_text, "--old-format", "columns"]
            command("drift", "-m", model, dev, text, *both)
    tables.show(rows)
    total = sum(float(row[1]) for row in rows[1:])
    print(f"{total / 60:.1f} minutes by the clock")


if __name__ == "__main__":
    main()

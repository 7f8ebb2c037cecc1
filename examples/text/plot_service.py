"""
From a text file to a service
=============================

A file of labelled text becomes a model by one command. A server then answers raw text
with the spans that the model finds. Tomorrow's model takes the place of today's, and no
request is lost. This example does all of it with a small file of names, by the server
that :ref:`sphx_glr_auto_examples_text_tag_server.py` shows to copy. It takes some
seconds::

    python examples/text/plot_service.py

``examples/benchmarks/newcomer_way.py`` goes the same way on the Dutch names of
CoNLL-2002, and says how long each step takes: together 40 seconds of a processor, of
which 10 are a training.
"""

import json
import tempfile
import time
from pathlib import Path
from threading import Thread
from urllib.error import HTTPError
from urllib.request import urlopen

from tag_server import Server

from skcrf_sdca.command import main

# %%
# A file of labelled text
# -----------------------
# A line has a token, its tag and its label, and a blank line ends a sentence. Here the
# file is made; take your own one, of any of the :doc:`formats </formats>`.

NAMES = ["Ada Lovelace", "Alan Turing", "Grace Hopper", "Emmy Noether"]
FRAMES = ["{} was born here .", "we met {} again .", "letters by {} ."]
LABELS = {
    part: f"{'BI'[k]}-PER" for name in NAMES for k, part in enumerate(name.split())
}
temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
lines = [
    "".join(
        f"{word} x {LABELS.get(word, 'O')}\n" for word in frame.format(name).split()
    )
    for frame in FRAMES
    for name in NAMES
]
(folder / "names.txt").write_text("\n".join(lines))
print(lines[0])

# %%
# Train
# -----
# New text has no tags. So the second column is called ``_``, which says that no feature
# is made of it. In a shell this is::
#
#     skcrf-sdca train names.txt --columns word,_,label -o names.crf
#     skcrf-sdca info names.crf

data, model = str(folder / "names.txt"), str(folder / "names.crf")
options = ["--columns", "word,_,label", "-q", "--metadata", "corpus=names of day 1"]
main(["train", data, "-o", model, *options])
status = main(["info", model])

# %%
# Serve and ask
# -------------
# In a shell: ``python tag_server.py names.crf 8000``, and ``curl --data-binary "We met
# Ada." http://localhost:8000/tag``. Here the server is a thread, and takes any port.
# The words of the text are cut as those of the training; offsets are characters.

server = Server(("127.0.0.1", 0), model)
Thread(target=server.serve_forever).start()


def ask(path, body=None):
    """Return the status and the answer for a path; a body is posted."""
    url = f"http://127.0.0.1:{server.server_port}{path}"
    try:
        with urlopen(url, data=body) as response:
            return response.status, response.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


_, answer = ask("/tag", b"Yesterday we met Emmy Lovelace again.")
for span in json.loads(answer):
    print(span)

# %%
# What is wrong in a request is told, and the server goes on:

print(ask("/tag", b"\xff\xfe"))
print(ask("/health"))

# %%
# Another model
# -------------
# More sentences are labelled, and the model is trained again from the weights of the
# last one. ``train`` writes another file and renames it. The server sees it within a
# second, and reads it while the old model answers::
#
#     skcrf-sdca train names.txt more.txt --columns word,_,label -o names.crf \
#         --init names.crf

more = folder / "more.txt"
more.write_text("near x O\nBasel x B-LOC\n\nin x O\nUlm x B-LOC\n\n" * 5)


def wait_for(text):
    """Wait until the metrics have a text."""
    while text not in ask("/metrics")[1]:
        time.sleep(0.1)


text = b"We met Ada Turing in Basel."
print([span["text"] for span in json.loads(ask("/tag", text)[1])])
main(["train", data, str(more), "-o", model, *options, "--init", model])
wait_for('reloads_total{result="loaded"} 1')
print([span["text"] for span in json.loads(ask("/tag", text)[1])])

# %%
# Half of a file is refused with a line of log, and the model goes on:

Path(model).write_bytes(Path(model).read_bytes()[:5000])
wait_for('reloads_total{result="refused"} 1')
print([span["text"] for span in json.loads(ask("/tag", text)[1])])

# %%
# Watch
# -----
# ``/metrics`` has counts and times in the text format of Prometheus. What the server
# does not see is whether the text is still of the kind that the model knows: give
# ``skcrf-sdca drift`` a file of yesterday's requests, see :doc:`/monitoring`.

print(ask("/metrics")[1])

server.shutdown()
server.server_close()
temporary.cleanup()

# sphinx_gallery_thumbnail_path = 'images/examples/service.svg'

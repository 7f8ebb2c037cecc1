"""
A tagger behind HTTP
====================

A server needs a fitted model, and nothing that trained it. ``Predictor`` reads the file
of ``save_model`` with NumPy alone, and labels one sentence in microseconds. This
example trains a small tagger of names, saves it, and answers requests by the server of
Python's standard library::

    python examples/text/plot_http_server.py
"""

import json
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.error import HTTPError
from urllib.request import urlopen

from skcrf_sdca import SDCACRF, make_tagger, save_model
from skcrf_sdca.serving import Predictor
from skcrf_sdca.text import TokenFeatures

# %%
# Train and save
# --------------
# The templates of ``TokenFeatures`` are in the file, so that the server takes tokens.

NAMES = ["Ada Lovelace", "Alan Turing", "Grace Hopper", "Emmy Noether"]
FRAMES = ["{} was born here", "we met {} again", "letters by {}"]
sentences = [frame.format(name).split() for frame in FRAMES for name in NAMES]
given, family = ({name.split()[k] for name in NAMES} for k in (0, 1))
labels = [
    ["B-PER" if w in given else "I-PER" if w in family else "O" for w in sentence]
    for sentence in sentences
]
crf = SDCACRF(transitions="BIO", random_state=0)
tagger = make_tagger(TokenFeatures(), crf).fit(sentences, labels)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "names.zip"
save_model(tagger, path)

# %%
# Serve
# -----
# A server would begin here, in a process of its own. Threads share the predictor. What
# is wrong in a request is an error of ``predict_one``, whose message the client gets.

predictor = Predictor.load(path)
MOST_BYTES = 100_000


class Handler(BaseHTTPRequestHandler):
    """Takes a list of tokens in JSON, and returns their spans."""

    def do_POST(self):
        """Answer a request."""
        size = min(int(self.headers.get("Content-Length", 0)), MOST_BYTES)
        try:
            spans = predictor.spans(json.loads(self.rfile.read(size)))
            status, answer = 200, [[*span[:3], round(span[3], 2)] for span in spans]
        except (ValueError, TypeError) as error:
            status, answer = 400, str(error)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_):
        """Write no log."""


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
Thread(target=server.serve_forever).start()

# %%
# Ask
# ---


def ask(tokens):
    """Return the status and the answer for some tokens."""
    url = f"http://127.0.0.1:{server.server_port}"
    try:
        with urlopen(url, data=json.dumps(tokens).encode()) as response:
            return response.status, json.load(response)
    except HTTPError as error:
        return error.code, json.load(error)


print(ask("we met Emmy Lovelace here".split()))
print(ask(["we", 1]))

server.shutdown()
server.server_close()
folder.cleanup()

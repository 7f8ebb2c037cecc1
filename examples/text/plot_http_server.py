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
import sys
import tempfile
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import SHUT_RD, SHUT_WR
from threading import BoundedSemaphore, Thread, Timer
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
#
# Clients may be slow, and may send anything. Each client has a thread, and at most
# ``MOST_CLIENTS`` are served at a time; others get the status 503 at once. After
# ``MOST_SECONDS`` the server reads no more from a client, so that a slow one does not
# keep its thread. The server compares the length of a body with ``MOST_BYTES`` before
# it reads the body. Each request is a line of log. TLS and passwords are the task of a
# proxy in front of the server.

predictor = Predictor.load(path)
MOST_BYTES, MOST_SECONDS, MOST_CLIENTS = 100_000, 5.0, 32


class Handler(BaseHTTPRequestHandler):
    """Takes a list of tokens in JSON, and returns their spans."""

    timeout = 2 * MOST_SECONDS  # for one read or write

    def do_POST(self):
        """Answer a request."""
        try:
            status, answer = 200, self.spans()
        except HTTPException as error:
            status, answer = error.args
        except (ValueError, TypeError, RecursionError) as error:
            status, answer = 400, str(error)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())
        # A client that still sends gets the answer only if the server still reads.
        self.connection.shutdown(SHUT_WR)
        while self.rfile.read1(MOST_BYTES):
            pass

    def spans(self):
        """Return the spans of the tokens in the body."""
        length = self.headers["Content-Length"]
        if length is None:
            raise HTTPException(411, "Content-Length is missing")
        if not length.isdecimal():
            raise HTTPException(400, f"Content-Length is no number of bytes: {length}")
        if len(length) > 9 or int(length) > MOST_BYTES:
            raise HTTPException(413, f"the body has more than {MOST_BYTES} bytes")
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise HTTPException(408, f"{len(body)} of {length} bytes arrived in time")
        spans = predictor.spans(json.loads(body))
        return [[*span[:3], round(span[3], 2)] for span in spans]


class Server(ThreadingHTTPServer):
    """Serves some clients at a time, each of them for some seconds."""

    places = BoundedSemaphore(MOST_CLIENTS)
    request_queue_size = MOST_CLIENTS

    def process_request(self, connection, address):
        """Start a thread for a client, if there is a place."""
        if self.places.acquire(blocking=False):
            super().process_request(connection, address)
        else:
            connection.sendall(b"HTTP/1.0 503 Service Unavailable\r\n\r\n")
            self.shutdown_request(connection)
            print(address[0], "503: there is no place", file=sys.stderr)

    def process_request_thread(self, connection, address):
        """Serve a client, and end its input in time."""
        end = Timer(MOST_SECONDS, connection.shutdown, [SHUT_RD])
        try:
            end.start()
            super().process_request_thread(connection, address)
        finally:
            end.cancel()
            self.places.release()

    def handle_error(self, _, address):
        """Write a line of log if a client has gone."""
        print(address[0], repr(sys.exception()), file=sys.stderr)


server = Server(("127.0.0.1", 0), Handler)
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

"""
A server of spans, to copy
==========================

This file is a whole server. A client posts text, and gets the spans that a model finds
in it, with their characters and probabilities. The server needs Python, this package
and NumPy, see :doc:`/serving`. ``names.crf`` is a file of ``skcrf-sdca train`` or of
``save_model``, whose features are made of words. To start takes less than a second::

    python tag_server.py names.crf 8000

    curl --data-binary "Ada Lovelace lived here." http://localhost:8000/tag
    curl http://localhost:8000/health
    curl http://localhost:8000/metrics

**A new model**: write it to the same path. ``train`` and ``save_model`` write another
file and rename it, so that no half of a file is ever there; ``mv`` from the same disk
does so too. The server looks each second whether the file is another one. It reads the
new file while the old model answers, and then puts the new model in the place of the
old one: no request waits or is lost. A file that is no model is refused with a line of
log, and the old model goes on.

**Clients** may be slow, and may send anything. Each client has a thread, and at most
``MOST_CLIENTS`` are served at a time; others get the status 503 at once. After
``MOST_SECONDS`` the server reads no more from a client. It compares the length of a
text with ``MOST_BYTES`` before it reads the text. What is wrong in a request is its
answer, and a line of log. TLS and passwords are the task of a proxy in front of the
server.

:ref:`sphx_glr_auto_examples_text_plot_service.py` trains a model, and asks this server.
"""

import json
import logging
import os
import sys
from collections import Counter, deque
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SHUT_RD, SHUT_WR
from threading import BoundedSemaphore, Event, Lock, Thread, Timer
from time import perf_counter

from skcrf_sdca.serving import Predictor

MOST_BYTES, MOST_SECONDS, MOST_CLIENTS = 100_000, 5.0, 32
CHECK_SECONDS = 1.0  # between two looks at the file of the model
log = logging.getLogger("tag_server")


def stamp_of(path):
    """Return what changes if a file is written or replaced; None if there is none."""
    try:
        own = os.stat(path)
    except FileNotFoundError:
        return None
    return own.st_ino, own.st_mtime_ns, own.st_size


def loaded(path):
    """Return the predictor of a file."""
    predictor = Predictor.load(path)
    # A model that reads more than words is refused here, and not at each request.
    if predictor.tag("word").spans is None:
        raise ValueError(f"{path}: the labels of the model are in no tagging scheme")
    return predictor


class Server(ThreadingHTTPServer):
    """Serves a model to some clients at a time, each of them for some seconds."""

    request_queue_size = 128

    def __init__(self, address, path):
        self.path, self.refused = path, None
        self.stamp, self.predictor = stamp_of(path), loaded(path)
        self.counts, self.seconds, self.lock = Counter(), deque(maxlen=1000), Lock()
        self.places, self.closed = BoundedSemaphore(MOST_CLIENTS), Event()
        super().__init__(address, Handler)
        Thread(target=self.watch, daemon=True).start()

    def watch(self):
        """Read the file of the model again whenever it is another one."""
        while not self.closed.wait(CHECK_SECONDS):
            if stamp_of(self.path) != self.stamp:
                self.reload()

    def reload(self):
        """Put the model of the file in the place of the old one, if it is a model."""
        self.stamp = stamp_of(self.path)
        try:
            self.predictor, self.refused = loaded(self.path), None
        except (OSError, ValueError, MemoryError) as error:
            self.refused = str(error)
            log.error("refused, and the old model goes on: %s", error)
        result = "loaded" if self.refused is None else "refused"
        self.count(f'reloads_total{{result="{result}"}}')

    def health(self):
        """Return the path of the model, and why a newer file was refused."""
        return {"model": str(self.path), "refused": self.refused}

    def metrics(self):
        """Return the counts, and the seconds of the last texts, for Prometheus."""
        with self.lock:
            rows, seconds = sorted(self.counts.items()), sorted(self.seconds)
        for share in (0.5, 0.99) if seconds else ():
            name = f'text_seconds{{quantile="{share}"}}'
            rows.append((name, seconds[int(share * len(seconds))]))
        return "".join(f"{name} {figure:.6g}\n" for name, figure in rows)

    def count(self, name, *seconds):
        """Count one more, which may have taken some seconds."""
        with self.lock:
            self.counts[name] += 1
            self.seconds.extend(seconds)

    def process_request(self, connection, address):
        """Start a thread for a client, if there is a place."""
        if self.places.acquire(blocking=False):
            super().process_request(connection, address)
        else:
            connection.sendall(b"HTTP/1.0 503 Service Unavailable\r\n\r\n")
            self.shutdown_request(connection)
            self.count('requests_total{status="503"}')
            log.error("%s 503 there is no place", address[0])

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
        log.error("%s %r", address[0], sys.exception())

    def server_close(self):
        """Look for no more models."""
        self.closed.set()
        super().server_close()


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    timeout = 2 * MOST_SECONDS  # for one read or write

    def do_POST(self):
        """Answer text with its spans."""
        self.answer({"/tag": self.spans})

    def do_GET(self):
        """Say how the server does."""
        self.answer({"/health": self.server.health, "/metrics": self.server.metrics})

    def answer(self, routes):
        """Send what belongs to the path, or what is wrong."""
        try:
            if self.path not in routes:
                raise HTTPException(404, f"there is no {self.path!r:.80}")
            status, answer = 200, routes[self.path]()
        except HTTPException as error:
            status, answer = error.args
        except ValueError as error:
            status, answer = 400, str(error)
        self.server.count(f'requests_total{{status="{status}"}}')
        if status != 200:
            log.error("%s %s %s", self.client_address[0], status, answer)
            answer = {"error": answer}
        is_text = isinstance(answer, str)
        self.send_response(status)
        self.send_header(
            "Content-Type", "text/plain" if is_text else "application/json"
        )
        self.end_headers()
        self.wfile.write((answer if is_text else json.dumps(answer)).encode())
        # A client that still sends gets the answer only if the server still reads.
        self.connection.shutdown(SHUT_WR)
        while self.rfile.read1(MOST_BYTES):
            pass

    def spans(self):
        """Return the spans of the text in the body."""
        length = self.headers["Content-Length"]
        if length is None:
            raise HTTPException(411, "Content-Length is missing")
        if not length.isdecimal():
            raise HTTPException(400, f"Content-Length is no number: {length!r:.80}")
        if len(length) > 9 or int(length) > MOST_BYTES:
            raise HTTPException(413, f"the text has more than {MOST_BYTES} bytes")
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise HTTPException(408, f"{len(body)} of {length} bytes arrived in time")
        begin = perf_counter()
        tagged = self.server.predictor.tag(body.decode())
        self.server.count("texts_total", perf_counter() - begin)
        return [span._asdict() for span in tagged.spans]

    def log_request(self, *_):
        """Write no line of log: errors have theirs."""


if __name__ == "__main__":
    logging.basicConfig(format="%(asctime)s %(message)s")
    with Server(("127.0.0.1", int(sys.argv[2])), sys.argv[1]) as server:
        print(f"serving at port {server.server_port}", flush=True)
        server.serve_forever()

# sphinx_gallery_thumbnail_path = 'images/examples/tag_server.svg'

"""The HTTP server of the gallery under requests that are wrong, large, slow or many.

All of them come over the loopback; each is answered, and takes bounded memory and time.
"""

import json
import socket
import threading
from contextlib import ExitStack
from pathlib import Path
from urllib.request import urlopen

import pytest

SECONDS = 60  # No test waits for so long, but where the server does not answer at all.
MOST_CLIENTS = 4
SENTENCE = json.dumps("we met Emmy Lovelace here".split()).encode()
POST = "POST / HTTP/1.0\r\n"


def wait_for_threads(server, n_places):
    """Return when no thread has a place."""
    for _ in range(n_places):
        assert server.places.acquire(timeout=SECONDS)
    server.places.release(n_places)


@pytest.fixture
def example(monkeypatch):
    folder = Path(__file__).parents[2] / "examples" / "text"
    monkeypatch.syspath_prepend(folder)
    import plot_http_server as example

    wait_for_threads(example.Server, example.MOST_CLIENTS)
    places = threading.BoundedSemaphore(MOST_CLIENTS)
    monkeypatch.setattr(example.Server, "places", places)
    monkeypatch.setattr(example, "MOST_SECONDS", SECONDS)
    return example


@pytest.fixture
def address(example):
    """Return the address of a server, which has no thread left after the test."""
    with example.Server(("127.0.0.1", 0), example.Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_address
        server.shutdown()
        thread.join()
        wait_for_threads(server, MOST_CLIENTS)


def connect(address):
    return socket.create_connection(address, timeout=SECONDS)


def answer_to(client):
    """Return the status of an answer and what it says; None if there is no answer."""
    answer = b"".join(iter(lambda: client.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    return (int(head.split()[1]), body) if head else None


def ask(address, request):
    with connect(address) as client:
        client.sendall(request)
        return answer_to(client)


def posted(body, length=None):
    size = len(body) if length is None else length
    return f"{POST}Content-Length: {size}\r\n\r\n".encode() + body


def test_a_client_gets_its_answer(address):
    url = f"http://127.0.0.1:{address[1]}"
    with urlopen(url, data=SENTENCE, timeout=SECONDS) as response:
        (span,) = json.load(response)
    assert span[:3] == ["PER", 2, 4]


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (POST.encode() + b"\r\n", 411),
        (f"{POST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n".encode(), 411),
        (posted(b"", "-1"), 400),
        (posted(b"", "abc"), 400),
        (posted(b"", "1_0"), 400),
        (posted(b"", "²"), 400),
        (posted(b"", ""), 400),
        (posted(b"", "9" * 5000), 413),
        (posted(b" " * 100_001), 413),
        # More than the buffers of the two sockets hold.
        (posted(b" " * 20_000_000), 413),
        (posted(b""), 400),
        (posted(b"["), 400),
        (posted(b"[" * 99_999), 400),
        (posted(b'[["a",' * 10_000), 400),
        (posted(b'{"a":' * 10_000), 400),
        (posted(b"1" * 5000), 400),
        (posted(b"\xff\xfe"), 400),
        (posted(b"[NaN]"), 400),
        (posted(b"null"), 400),
        (posted(b"7"), 400),
        (posted(b"[1]"), 400),
        (posted(b'[["a"], 1]'), 400),
        (posted(b'{"a": 1}'), 400),
        (posted(b"[[[[[]]]]]"), 400),
        (b"BREW / HTTP/1.0\r\n\r\n", 501),
    ],
)
def test_what_is_wrong_in_a_request_is_answered(address, request_, status, capfd):
    assert ask(address, request_)[0] == status
    assert ask(address, posted(SENTENCE))[0] == 200
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("length", ["-1", "abc", str(10**9), str(10**18)])
def test_no_body_is_read_before_its_length_is_known(address, length):
    """The client does not send it: a server that waits for it gives no answer."""
    status, message = ask(address, posted(b"", length))
    assert status in (400, 413)
    assert json.loads(message)


def test_each_request_is_a_line_of_log(address, capfd):
    ask(address, posted(SENTENCE))
    ask(address, posted(b"["))
    ask(address, posted(b"", "-1"))
    lines = capfd.readouterr().err.splitlines()
    assert [line.split()[-2] for line in lines] == ["200", "400", "400"]


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (posted(SENTENCE, 1000), 408),
        (posted(SENTENCE, 1000)[:-1], 408),
        (f"{POST}Content-Length: 10\r\nX: ".encode(), 408),
        (f"{POST}X: ".encode(), 411),
        (b"", None),
    ],
)
def test_a_client_that_stops_is_left(example, address, monkeypatch, request_, status):
    monkeypatch.setattr(example, "MOST_SECONDS", 0.1)
    answer = ask(address, request_)
    assert (answer and answer[0]) == status


def test_a_client_that_sends_byte_by_byte_is_left(example, address, monkeypatch):
    monkeypatch.setattr(example, "MOST_SECONDS", 0.5)
    with connect(address) as client:
        client.sendall(posted(b"", 100_000))
        client.settimeout(0.01)
        for _ in range(int(SECONDS / 0.01)):
            try:
                answer = client.recv(65536)
                break
            except TimeoutError:
                client.sendall(b" ")
    assert answer.split()[1] == b"408"


def test_no_more_clients_are_served_than_there_are_places(example, address):
    n_threads = threading.active_count()
    with ExitStack() as held:
        slow = [held.enter_context(connect(address)) for _ in range(MOST_CLIENTS)]
        for client in slow:
            client.sendall(posted(b"", 10))
        for _ in range(50):
            with connect(address) as client:
                assert answer_to(client)[0] == 503
        # A thread and a timer for each place.
        assert threading.active_count() <= n_threads + 2 * MOST_CLIENTS
    wait_for_threads(example.Server, MOST_CLIENTS)
    assert ask(address, posted(SENTENCE))[0] == 200


def test_a_client_that_goes_gives_its_place_back(address, capfd):
    for _ in range(3 * MOST_CLIENTS):
        with connect(address) as client:
            client.sendall(posted(b"", 10))
    answers = (ask(address, posted(SENTENCE))[0] for _ in range(10_000))
    assert next(status for status in answers if status != 503) == 200
    assert "Traceback" not in capfd.readouterr().err

"""The HTTP server of the gallery under requests that are wrong, large, slow or many.

All of them come over the loopback; each is answered, and takes bounded memory and time,
also while another model takes the place of the first.
"""

import json
import os
import socket
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.request import urlopen

import pytest

from skcrf_sdca import SDCACRF, make_tagger, save_model
from skcrf_sdca.text import TokenFeatures

SECONDS = 60  # No test waits for so long, but where the server does not answer at all.
MOST_CLIENTS = 4
TEXT = "Ja,  we met Émmy in Basel."
SENTENCE = TEXT.encode()
POST = "POST /tag HTTP/1.0\r\n"
GET = "GET {} HTTP/1.0\r\n\r\n"


def wait_for_threads(server, n_places):
    """Return when no thread has a place."""
    for _ in range(n_places):
        assert server.places.acquire(timeout=SECONDS)
    server.places.release(n_places)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Return the bytes of a model of persons, of one of places, and of tags."""
    X, folder = [["met", "Émmy", "in", "Basel"]] * 9, tmp_path_factory.mktemp("models")
    found = []
    for labels in ["O B-PER O O", "O O O B-LOC", "V N P N"]:
        tagger = make_tagger(TokenFeatures(), SDCACRF(random_state=0))
        save_model(tagger.fit(X, [labels.split()] * 9), folder / "model")
        found.append((folder / "model").read_bytes())
    return found


@pytest.fixture
def example(monkeypatch):
    folder = Path(__file__).parents[2] / "examples" / "text"
    monkeypatch.syspath_prepend(folder)
    import tag_server as example

    monkeypatch.setattr(example, "MOST_CLIENTS", MOST_CLIENTS)
    monkeypatch.setattr(example, "MOST_SECONDS", SECONDS)
    monkeypatch.setattr(example, "CHECK_SECONDS", 0.01)
    return example


@pytest.fixture
def server(example, models, tmp_path):
    """Return a server, which has no thread left after the test."""
    (tmp_path / "model").write_bytes(models[0])
    with example.Server(("127.0.0.1", 0), tmp_path / "model") as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
        wait_for_threads(server, example.MOST_CLIENTS)


@pytest.fixture
def address(server):
    return server.server_address


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


def test_a_client_gets_the_spans_of_its_text(address):
    url = f"http://127.0.0.1:{address[1]}/tag"
    with urlopen(url, data=SENTENCE, timeout=SECONDS) as response:
        (span,) = json.load(response)
    assert 0.5 < span.pop("probability") <= 1.0
    assert span == {"type": "PER", "begin": 12, "end": 16, "text": TEXT[12:16]}
    assert ask(address, posted(b"")) == (200, b"[]")


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
        (posted(b"\xff\xfe"), 400),
        (posted(b"a\xc3"), 400),
        (posted(b"\xed\xa0\x80"), 400),
        (b"POST / HTTP/1.0\r\n\r\n", 404),
        (GET.format("/tag").encode(), 404),
        (GET.format("/" + "x" * 50_000).encode(), 404),
        (b"BREW / HTTP/1.0\r\n\r\n", 501),
    ],
)
def test_what_is_wrong_in_a_request_is_answered(address, request_, status, capfd):
    assert ask(address, request_)[0] == status
    assert ask(address, posted(SENTENCE))[0] == 200
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "body", [b"\n \t\r\n", b"\x00", b"x" * 100_000, b"a b\n" * 9999]
)
def test_what_is_odd_in_a_text_is_answered(address, body):
    assert ask(address, posted(body))[0] == 200


@pytest.mark.parametrize("length", ["-1", "abc", str(10**9), str(10**18)])
def test_no_body_is_read_before_its_length_is_known(address, length):
    """The client does not send it: a server that waits for it gives no answer."""
    status, message = ask(address, posted(b"", length))
    assert status in (400, 413)
    assert json.loads(message)


def test_each_error_is_an_answer_and_a_line_of_log(address, caplog):
    ask(address, posted(SENTENCE))
    status, answer = ask(address, posted(b"\xff"))
    ask(address, posted(b"", "-1\t"))
    ask(address, GET.format("/\x1bx").encode())
    assert status == 400
    assert "can't decode byte 0xff" in json.loads(answer)["error"]
    lines = caplog.messages
    assert [line.split()[1] for line in lines] == ["400", "400", "404"]
    assert lines[0].endswith(json.loads(answer)["error"])
    assert all(line.isprintable() for line in lines)


def metrics(address):
    """Return the figures of a server by their names."""
    lines = ask(address, GET.format("/metrics").encode())[1].decode().splitlines()
    return {name: float(figure) for name, figure in map(str.split, lines)}


def wait_for(address, name, figure):
    """Return when a figure is reached."""
    for _ in range(int(SECONDS / 0.01)):
        if metrics(address).get(name) == figure:
            return
        time.sleep(0.01)
    raise AssertionError(metrics(address))


def test_answers_are_counted_and_measured(address):
    assert metrics(address) == {}
    for body in [SENTENCE, SENTENCE, b"\xff"]:
        ask(address, posted(body))
    found = metrics(address)
    assert found.pop('text_seconds{quantile="0.5"}') > 0.0
    assert found.pop('text_seconds{quantile="0.99"}') > 0.0
    # Those of the metrics are answers, too.
    assert found.pop('requests_total{status="200"}') == 3
    assert found == {'requests_total{status="400"}': 1, "texts_total": 2}


def replace(server, content):
    """Put a file in the place of the model, as `save_model` does."""
    new = server.path.with_name("new")
    new.write_bytes(content)
    os.replace(new, server.path)


def ask_until(stopped, address, answers):
    """Ask again and again, and keep the answers."""
    while not stopped.is_set():
        answers.append(ask(address, posted(SENTENCE)))


@pytest.fixture
def many_clients(example, monkeypatch):
    monkeypatch.setattr(example, "MOST_CLIENTS", 32)


def test_no_request_is_lost_while_models_change(many_clients, server, models, caplog):
    address, stopped = server.server_address, threading.Event()
    answers = [[] for _ in range(3)]
    clients = [
        threading.Thread(target=ask_until, args=(stopped, address, own))
        for own in answers
    ]
    for client in clients:
        client.start()
    try:
        replace(server, models[1])
        wait_for(address, 'reloads_total{result="loaded"}', 1)
        # What is half written, a model of no spans, and no file are refused.
        replace(server, models[0][: len(models[0]) // 2])
        wait_for(address, 'reloads_total{result="refused"}', 1)
        health = json.loads(ask(address, GET.format("/health").encode())[1])
        assert "cannot be read" in health["refused"]
        replace(server, models[2])
        wait_for(address, 'reloads_total{result="refused"}', 2)
        server.path.unlink()
        wait_for(address, 'reloads_total{result="refused"}', 3)
        assert json.loads(ask(address, posted(SENTENCE))[1])[0]["type"] == "LOC"
        replace(server, models[0])
        wait_for(address, 'reloads_total{result="loaded"}', 2)
    finally:
        stopped.set()
        for client in clients:
            client.join()
    health = json.loads(ask(address, GET.format("/health").encode())[1])
    assert health == {"model": str(server.path), "refused": None}
    for own in answers:
        assert {status for status, _ in own} == {200}
        types = [json.loads(body)[0]["type"] for _, body in own]
        # Persons, places, and persons again.
        n_changes = sum(a != b for a, b in zip(types, types[1:], strict=False))
        assert set(types) <= {"PER", "LOC"}
        assert n_changes <= 2
    lines = [line for line in caplog.messages if line.startswith("refused")]
    assert len(lines) == 3
    assert "no tagging scheme" in lines[1]


def test_a_model_that_cannot_tag_text_is_not_served(example, models, tmp_path):
    (tmp_path / "model").write_bytes(models[2])
    with pytest.raises(ValueError, match="no tagging scheme"):
        example.Server(("127.0.0.1", 0), tmp_path / "model")


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


def test_no_more_clients_are_served_than_there_are_places(server, address):
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
    wait_for_threads(server, MOST_CLIENTS)
    assert metrics(address)['requests_total{status="503"}'] == 50
    assert ask(address, posted(SENTENCE))[0] == 200


def test_a_client_that_goes_gives_its_place_back(address, capfd):
    for _ in range(3 * MOST_CLIENTS):
        with connect(address) as client:
            client.sendall(posted(b"", 10))
    answers = (ask(address, posted(SENTENCE))[0] for _ in range(10_000))
    assert next(status for status in answers if status != 503) == 200
    assert "Traceback" not in capfd.readouterr().err

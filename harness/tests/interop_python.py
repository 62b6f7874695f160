# SPDX-License-Identifier: Apache-2.0
# What Python's ssl module does at the other end of parkbench-server, for interop_python_test.sh.
# Prints a line for each case, "ok NAME" or "not ok NAME: WHY", and last how many connections there
# were in all. usage: interop_python.py PORT. Source: docs.python.org/3/library/ssl.html
import http.client
import socket
import ssl
import sys

PATIENCE_S = 20
PORT = int(sys.argv[1])
GREETING = b"Hello, world\n"
REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
RECORD_MAX = 16384
CROWD = 100


def tls_context():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    return context


CONTEXT = tls_context()
connections = 0


def dial():
    global connections
    connections += 1
    raw = socket.create_connection(("127.0.0.1", PORT), timeout=PATIENCE_S)
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return raw


class Peer:
    """A connection whose records are in our hands between the library and the socket. It has
    had one answer, so that the server has parked it."""

    def __init__(self):
        self.raw = dial()
        self.incoming = ssl.MemoryBIO()
        self.outgoing = ssl.MemoryBIO()
        self.tls = CONTEXT.wrap_bio(self.incoming, self.outgoing)
        self.call(self.tls.do_handshake)
        self.ask()

    def flush(self):
        if self.outgoing.pending:
            self.raw.sendall(self.outgoing.read())

    def call(self, function, *args):
        while True:
            try:
                done = function(*args)
                self.flush()
                return done
            except ssl.SSLWantReadError:
                self.flush()
                data = self.raw.recv(65536)
                if data:
                    self.incoming.write(data)
                else:
                    self.incoming.write_eof()

    def records(self, *parts):
        """Each part a record of its own; their bytes, not sent yet."""
        for part in parts:
            assert self.tls.write(part) == len(part)
        return self.outgoing.read()

    def answer(self, body=GREETING):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = self.call(self.tls.read, 1)
            assert byte, "the connection ended inside an answer"
            head += byte
        assert head.startswith(b"HTTP/1.1 200 OK\r\n"), head
        assert b"Content-Length: %d\r\n" % len(body) in head, head
        got = b""
        while len(got) < len(body):
            got += self.call(self.tls.read, len(body) - len(got))
        assert got == body

    def ask(self):
        self.raw.sendall(self.records(REQUEST))
        self.answer()

    def expect_end(self):
        """close_notify, and then the end of the stream; no cut, no reset."""
        try:
            assert self.call(self.tls.read, 1) == b"", "data where the end was due"
        except ssl.SSLZeroReturnError:
            pass
        assert self.raw.recv(1) == b"", "bytes after close_notify"
        self.raw.close()


def keep_alive():
    global connections
    connections += 1
    client = http.client.HTTPSConnection("127.0.0.1", PORT, timeout=PATIENCE_S, context=CONTEXT)
    client.connect()
    used = client.sock
    for path, length in (("/", 13), ("/0", 0), ("/1048576", 1048576), ("/healthz", 13)) * 3:
        client.request("GET", path)
        answer = client.getresponse()
        assert answer.status == 200 and len(answer.read()) == length
        assert client.sock is used, "not the same connection"
    client.close()


def unwrap():
    """close_notify both ways on an idle connection: unwrap() returns only when ours has come."""
    sock = CONTEXT.wrap_socket(dial())
    sock.sendall(REQUEST)
    while not sock.recv(4096).endswith(GREETING):
        pass
    raw = sock.unwrap()
    assert raw.recv(1) == b""
    raw.close()


def several_records():
    """A request in many records of one segment, and in many segments."""
    peer = Peer()
    peer.raw.sendall(peer.records(*(REQUEST[i : i + 1] for i in range(len(REQUEST)))))
    peer.answer()
    for i in range(len(REQUEST)):
        peer.raw.sendall(peer.records(REQUEST[i : i + 1]))
    peer.answer()
    peer.raw.sendall(peer.records(b"GET /100000 HTTP/1.1\r\n", b"Host: a\r\n\r\n", REQUEST))
    peer.answer((b"abcdefghijklmnopqrstuvwxyz" * 3847)[:100000])
    peer.answer()
    peer.ask()
    peer.call(peer.tls.unwrap)


def dribble():
    """A record that comes byte by byte wakes the server for each of them."""
    peer = Peer()
    for byte in peer.records(REQUEST):
        peer.raw.sendall(bytes((byte,)))
    peer.answer()
    peer.ask()
    peer.call(peer.tls.unwrap)


def largest_record():
    """Four requests that fill a record to its last byte."""
    peer = Peer()
    head = b"GET / HTTP/1.1\r\nHost: a\r\nX: "
    request = head + b"x" * (RECORD_MAX // 4 - len(head) - 4) + b"\r\n\r\n"
    record = peer.records(request * 4)
    assert len(record) == RECORD_MAX + 22, "not one record"
    peer.raw.sendall(record)
    for _ in range(4):
        peer.answer()
    peer.ask()
    peer.call(peer.tls.unwrap)


def close_notify_behind_a_request():
    """Half-close as TLS has it: what was asked before it is answered, and ended properly."""
    peer = Peer()
    peer.tls.write(b"GET /260000 HTTP/1.1\r\nHost: a\r\n\r\n")
    try:
        peer.tls.unwrap()
    except ssl.SSLWantReadError:
        pass
    peer.flush()
    # The library reads no data after its close_notify, so the answer is weighed as ciphertext.
    got = 0
    while data := peer.raw.recv(65536):
        got += len(data)
    assert got > 260000 + 16 * 22, "the answer is cut: %d bytes" % got
    peer.raw.close()


def fin_behind_a_request():
    """Half-close as TCP has it."""
    peer = Peer()
    peer.raw.sendall(peer.records(REQUEST))
    peer.raw.shutdown(socket.SHUT_WR)
    peer.answer()
    peer.expect_end()


def crowd():
    """Idle together, woken in another order than they came."""
    peers = [Peer() for _ in range(CROWD)]
    for peer in reversed(peers):
        peer.ask()
    for peer in peers[::2] + peers[1::2]:
        peer.raw.sendall(peer.records(REQUEST))
    for peer in peers:
        peer.answer()
        peer.call(peer.tls.unwrap)


def tampering():
    """A record changed on its way gets the alert that TLS has for that, and nothing else."""
    peer = Peer()
    record = bytearray(peer.records(REQUEST))
    record[20] ^= 1
    peer.raw.sendall(record)
    try:
        peer.call(peer.tls.read, 1)
    except ssl.SSLError as error:
        assert "BAD_RECORD_MAC" in str(error), error
        return
    raise AssertionError("it went unnoticed")


CASES = {
    "keep-alive, twelve requests, 3 MiB": keep_alive,
    "unwrap(), close_notify both ways": unwrap,
    "requests over many records and segments": several_records,
    "a record byte by byte": dribble,
    "a record of the largest size": largest_record,
    "close_notify right behind a request": close_notify_behind_a_request,
    "the end of the stream right behind a request": fin_behind_a_request,
    "%d idle connections" % CROWD: crowd,
    "a record changed on its way": tampering,
}

for name, case in CASES.items():
    try:
        case()
        print("ok", name)
    except (AssertionError, OSError, http.client.HTTPException) as error:
        print("not ok %s: %r" % (name, error))
print("connections", connections)

"""A server before an object store that refuses uploads as stores do that are asked too often (503 Slow Down)."""

import http.client
import itertools
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REFUSAL = b"<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>"


class Proxy(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, store_port: int, every: int):
        super().__init__(("127.0.0.1", port), Handler)
        self.store_port = store_port
        self.every = every
        self.uploads = itertools.count(1)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        # Marks of folders and copies have no body.
        if self.command == "PUT" and body and next(self.server.uploads) % self.server.every == 0:
            self.reply(503, [("Content-Type", "application/xml"), ("Content-Length", str(len(REFUSAL)))], REFUSAL)
            return
        store = http.client.HTTPConnection("127.0.0.1", self.server.store_port)
        # All fields as they are, because the signature covers them.
        store.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in ("connection", "expect"):
                store.putheader(name, value)
        store.endheaders(body)
        answer = store.getresponse()
        data = answer.read()
        fields = [(name, value) for name, value in answer.getheaders() if name.lower() not in
                  ("connection", "transfer-encoding", "content-length")]
        length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(data))
        if length is not None and answer.status != 204:
            fields.append(("Content-Length", length))
        self.reply(answer.status, fields, data)
        store.close()

    def reply(self, status: int, fields: list[tuple[str, str]], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in fields:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer


if __name__ == "__main__":
    Proxy(*map(int, sys.argv[1:])).serve_forever()

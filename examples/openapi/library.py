"""A small REST service in the standard library of Python, described by library.yaml.

    python3 examples/openapi/library.py            listens on 127.0.0.1:8765
    python3 examples/openapi/library.py 0          listens on a free port, and prints it
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

CARD = "card-of-the-example"
AUTHORS = ["Ada Lovelace", "Grace Hopper", "Edsger Dijkstra"]
books = {
    n: {"id": n, "title": f"Volume {n}", "author": AUTHORS[n % 3], "year": 1950 + n}
    for n in range(1, 26)
}
added_by_key = {}
unreliable = {"posts": 1}


class Library(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, value=None):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def book_id(self):
        return int(urlsplit(self.path).path.rsplit("/", 1)[1])

    def allowed(self):
        if self.headers.get("X-Library-Card") == CARD:
            return True
        self.answer(401, {"error": "show your library card"})
        return False

    def do_GET(self):
        if not self.allowed():
            return
        parts = urlsplit(self.path)
        if parts.path.startswith("/v1/books/"):
            book = books.get(self.book_id())
            return self.answer(200, book) if book else self.answer(404, {"error": "there is no such book"})
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        author, since = query.get("filter[author]"), int(query.get("filter[since]", 0))
        found = [b for b in books.values() if b["year"] >= since and author in (None, b["author"])]
        start, limit = int(query.get("cursor", 0)), int(query.get("limit", 10))
        page = {"books": found[start:start + limit]}
        if start + limit < len(found):
            page["next_cursor"] = str(start + limit)
        self.answer(200, page)

    def do_POST(self):
        book = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.allowed():
            return
        key = self.headers.get("Idempotency-Key")
        if key not in added_by_key:
            book["id"] = max(books) + 1
            books[book["id"]] = added_by_key[key] = book
        # The first answer is lost: the book is there, and the caller cannot know.
        if unreliable["posts"] > 0:
            unreliable["posts"] -= 1
            return self.answer(503, {"error": "try again"})
        self.answer(201, added_by_key[key])

    def do_DELETE(self):
        if self.allowed():
            books.pop(self.book_id(), None)
            self.answer(204)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8765), Library)
print(server.server_port, flush=True)
server.serve_forever()

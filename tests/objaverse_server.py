"""A loopback server with the layout of the Objaverse repository on the Hugging Face Hub, which fails on request."""

import gzip
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PREFIX = "/datasets/allenai/objaverse/resolve/main/"
COMMIT = "a" * 40


@dataclass(frozen=True)
class Item:
    """One object to serve."""

    uid: str
    category: str
    content: bytes
    licence: str = "by"
    shard: str = "000-000"
    name: str = "A thing"
    author: str = "Ada"

    @property
    def path(self) -> str:
        return f"glbs/{self.shard}/{self.uid}.glb"


@dataclass
class Site:
    """Files by name, the faults to show on their next GETs, and what was asked for.

    Faults: a status number; "cut" (half of the body, then the connection closes); "html" (a page, status 200); "short"
    (a whole answer with half of the file).
    """

    files: dict[str, bytes]
    faults: dict[str, list[int | str]] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    url: str = ""

    def gets(self, name: str) -> int:
        return self.requests.count(("GET", name))


def layout(items: list[Item]) -> dict[str, bytes]:
    """The repository's files for these objects, annotations included."""
    lvis: dict[str, list[str]] = {}
    metadata: dict[str, dict[str, object]] = {}
    for item in items:
        lvis.setdefault(item.category, []).append(item.uid)
        user = {"username": item.author.lower(), "displayName": item.author}
        viewer = f"https://sketchfab.com/3d-models/{item.uid}"
        entry = {"uid": item.uid, "name": item.name, "license": item.licence, "user": user, "viewerUrl": viewer}
        metadata.setdefault(item.shard, {})[item.uid] = entry
    files = {item.path: item.content for item in items}
    files["lvis-annotations.json.gz"] = pack(lvis)
    files["object-paths.json.gz"] = pack({item.uid: item.path for item in items})
    return files | {f"metadata/{shard}.json.gz": pack(entries) for shard, entries in metadata.items()}


def pack(data: object) -> bytes:
    return gzip.compress(json.dumps(data).encode(), mtime=0)


@contextmanager
def serve(files: dict[str, bytes]) -> Iterator[Site]:
    """Run the site on a free port of the loopback interface."""
    site = Site(files)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(site))
    site.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def log_message(self, format: str, *args: object) -> None:
            pass

        def _answer(self, body: bool) -> None:
            name = self.path.removeprefix(PREFIX)
            site.requests.append((self.command, name))
            if name not in site.files:
                return self._head(404, 0, {"X-Error-Code": "EntryNotFound"})
            content = site.files[name]
            fault = site.faults[name].pop(0) if body and site.faults.get(name) else None
            if isinstance(fault, int):
                return self._head(fault, 0, {"X-Error-Code": "EntryNotFound"} if fault == 404 else {"Retry-After": "0"})
            etag = {"ETag": f'"{hashlib.sha256(content).hexdigest()}"', "X-Repo-Commit": COMMIT}
            if fault == "html":
                content = b"<!DOCTYPE html><html><body>Sign in to continue</body></html>"
            if fault == "short":
                content = content[: len(content) // 2]
            start = 0
            asked = self.headers.get("Range", "")
            if asked.startswith("bytes="):
                start = int(asked[6:].split("-")[0])
                etag["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
            part = content[start:]
            self._head(206 if start else 200, len(part), etag)
            if body and fault == "cut":
                self.wfile.write(part[: len(part) // 2])
                self.wfile.flush()
                self.connection.close()
                self.close_connection = True
            elif body:
                self.wfile.write(part)
            return None

        def _head(self, status: int, length: int, headers: dict[str, str]) -> None:
            self.send_response(status)
            for key, value in headers.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(length))
            self.end_headers()

    return Handler

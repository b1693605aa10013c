"""A loopback Hub: creates data sets and takes commits as the Hugging Face Hub does, and keeps what it was given."""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

OWNER, TOKEN = "ada", "hf_right"
READ_ONLY = "hf_reads_only"
COMMIT = "c" * 40


@dataclass
class Hub:
    """Data sets by name, each its files; which of them are private; commits so far; faults to answer, by path.

    fault: a status for the next requests whose path holds the text.
    """

    repos: dict[str, dict[str, bytes]] = field(default_factory=dict)
    private: dict[str, bool] = field(default_factory=dict)
    commits: int = 0
    blobs: dict[str, bytes] = field(default_factory=dict)
    faults: dict[str, list[int]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    url: str = ""


@contextmanager
def serve() -> Iterator[Hub]:
    """Run the Hub on a free port of the loopback interface."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(hub))
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            self._route()

        def do_POST(self) -> None:
            self._route()

        def do_PUT(self) -> None:
            self._route()

        def _route(self) -> None:
            body = self._body()
            path = self.path.partition("?")[0]
            hub.requests.append(f"{self.command} {path}")
            for text, statuses in hub.faults.items():
                if text in path and statuses:
                    return self._answer(statuses.pop(0), {"error": "out of order"})
            if self.command == "PUT":
                return self._store(path, body)
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if token not in (TOKEN, READ_ONLY):
                return self._answer(401, {"error": "Invalid username or password."})
            if self.command == "POST" and token == READ_ONLY:
                return self._answer(403, {"error": "You don't have the rights to create this."})
            if path == "/api/repos/create":
                return self._create(json.loads(body))
            if path == "/api/validate-yaml":
                return self._answer(200, {"errors": [], "warnings": []})
            name = "/".join(path.removeprefix("/api").removeprefix("/datasets/").split("/")[:2]).removesuffix(".git")
            if name not in hub.repos:
                return self._answer(404, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"})
            if "/preupload/" in path:
                return self._plan(json.loads(body))
            if path.endswith("/info/lfs/objects/batch"):
                return self._batch(json.loads(body))
            if "/commit/" in path:
                return self._commit(name, body)
            if "/tree/" in path:
                files = [{"type": "file", "path": at, "size": len(data)} for at, data in hub.repos[name].items()]
                return self._answer(200, files)
            return self._answer(200, {"id": name, "sha": COMMIT, "private": hub.private[name], "tags": []})

        def _body(self) -> bytes:
            if "chunked" not in self.headers.get("Transfer-Encoding", ""):
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def _create(self, asked: dict[str, Any]) -> None:
            name = f"{asked.get('organization') or OWNER}/{asked['name']}"
            if not name.startswith(f"{OWNER}/"):
                return self._answer(403, {"error": f"You don't have the rights to create a dataset under {name}"})
            assert asked["type"] == "dataset"
            known = name in hub.repos
            hub.repos.setdefault(name, {})
            hub.private.setdefault(name, asked.get("visibility") == "private" or bool(asked.get("private")))
            return self._answer(409 if known else 200, {"url": f"{hub.url}/datasets/{name}", "name": name})

        def _plan(self, asked: dict[str, Any]) -> None:
            """Text goes in the commit, the rest to the store of large files, as .gitattributes there say."""
            large = (".parquet", ".jpg", ".png", ".tar", ".mds")
            files = [
                {"path": item["path"], "uploadMode": "lfs" if item["path"].endswith(large) else "regular",
                 "shouldIgnore": False, "oid": None}
                for item in asked["files"]
            ]  # fmt: skip
            return self._answer(200, {"files": files, "commitOid": COMMIT})

        def _batch(self, asked: dict[str, Any]) -> None:
            objects = []
            for item in asked["objects"]:
                upload = {"actions": {"upload": {"href": f"{hub.url}/store/{item['oid']}", "header": {}}}}
                objects.append(
                    {"oid": item["oid"], "size": item["size"], **({} if item["oid"] in hub.blobs else upload)}
                )
            return self._answer(200, {"transfer": "basic", "objects": objects}, {}, "application/vnd.git-lfs+json")

        def _store(self, path: str, body: bytes) -> None:
            oid = path.rpartition("/")[2]
            if hashlib.sha256(body).hexdigest() != oid:
                return self._answer(400, {"error": "not the content that was promised"})
            hub.blobs[oid] = body
            return self._answer(200, {})

        def _commit(self, name: str, body: bytes) -> None:
            files = dict(hub.repos[name])
            for line in body.splitlines():
                item = json.loads(line)
                value = item["value"]
                if item["key"] == "file":
                    assert value["encoding"] == "base64"
                    files[value["path"]] = base64.b64decode(value["content"])
                elif item["key"] == "lfsFile":
                    files[value["path"]] = hub.blobs[value["oid"]]
            hub.repos[name] = files
            hub.commits += 1
            address = f"{hub.url}/datasets/{name}/commit/{COMMIT}"
            return self._answer(200, {"commitUrl": address, "commitOid": COMMIT, "hookOutput": "", "success": True})

        def _answer(
            self, status: int, data: Any, headers: dict[str, str] | None = None, kind: str = "application/json"
        ) -> None:
            content = json.dumps(data).encode()
            self.send_response(status)
            for key, value in {**(headers or {}), "Content-Type": kind, "Content-Length": str(len(content))}.items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(content)

    return Handler

"""Write the constraints file of this Python: one exact version for every package that `.[all]` needs.

pip resolves the ranges of pyproject.toml without installing anything; packages of this project itself are left out.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> None:
    """`python .ci/constraints.py OUT.txt`"""
    target = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
        subprocess.run([*command, "--report", str(report), ".[all]"], check=True)
        found = json.loads(report.read_text())["install"]
    pins = sorted(
        f"{item['metadata']['name'].lower().replace('_', '-')}=={item['metadata']['version']}"
        for item in found
        if item["metadata"]["name"] != "twinscene"
    )
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    head = f"# Exact versions for Python {version}, made by `make constraints` from the ranges in pyproject.toml.\n"
    target.write_text(head + "\n".join(pins) + "\n")


if __name__ == "__main__":
    main()

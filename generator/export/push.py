"""`--push owner/name`: an export as a data set on a Hub (HF_ENDPOINT, or the Hugging Face Hub)."""

import re
from pathlib import Path

from generator.errors import ConfigError, OutputError


def check_push(name: str) -> None:
    """Before any work: is the name a name, and is there a token? Raises ConfigError, OutputError."""
    from huggingface_hub import get_token

    if not re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        raise ConfigError(f"--push {name}: give it as owner/name, of letters, digits, '-', '_' and '.'")
    if not get_token():
        raise OutputError(f"--push {name}: no token for the Hub; log in with `hf auth login`, or set HF_TOKEN")


def push(folder: Path, name: str, private: bool) -> str:
    """Create the data set where it is not there, upload the folder; its address. Raises OutputError in one line."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    api = HfApi()
    # Lost lines are errors of whatever library speaks HTTP in this version of the client; its own descend from them.
    transport = [base for base in HfHubHTTPError.__bases__ if issubclass(base, Exception)]
    passing: tuple[type[Exception], ...] = (OSError, ValueError, RuntimeError, *transport)
    try:
        url = api.create_repo(name, repo_type="dataset", private=private or None, exist_ok=True)
        api.upload_folder(repo_id=name, folder_path=folder, repo_type="dataset", commit_message="Export of twin scenes")
    except HfHubHTTPError as error:
        raise OutputError(_refused(name, error)) from error
    except passing as error:  # RuntimeError: a file did not go up.
        raise OutputError(f"--push {name}: {_line(error)}; {folder} is whole, run the same command again") from error
    return str(url)


def _refused(name: str, error: Exception) -> str:
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status in (401, 403):
        return (
            f"--push {name}: the Hub refuses the token ({status}); set HF_TOKEN to one that may write there "
            "(`hf auth whoami` says whose it is)"
        )
    return f"--push {name}: {_line(error)}"


def _line(error: Exception) -> str:
    """The first line: the Hub's client says the rest in many."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]

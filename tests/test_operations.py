"""How it is deployed and kept running: runbooks are played, images built where there is a builder, and every line held to the house."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
import yaml

from discreet.samples import write_clinic
from tests.server.conftest import free_port, wait_until_up
from tests.support.opening import start_ledger

ROOT = Path(__file__).parent.parent
OPERATIONS = (ROOT / "docs" / "how-to" / "operate.md").read_text()
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
NOBODY = 10001


def _environment(folder):
    """`discreet` as this Python has it, and nothing of a home."""
    tools = folder / "bin"
    tools.mkdir(exist_ok=True)
    for name, command in {"discreet": "-m discreet", "python": ""}.items():
        (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {command} "$@"\n')
        (tools / name).chmod(0o755)
    return {**os.environ, "PATH": f"{tools}:/usr/bin:/bin"}


def test_a_runbook_does_what_it_says(tmp_path):
    """All blocks of commands, one after the other, as somebody would type them."""
    config = write_clinic(tmp_path / "clinic", patients=50, visits=200)
    start_ledger(config)
    folder = config.parent
    blocks = re.findall(r"```sh\n(.*?)```", OPERATIONS, re.DOTALL)
    assert len(blocks) >= 6
    first = ["discreet ask 'SELECT COUNT(*) FROM visits' --epsilon 0.5"]
    after_backup = ["discreet ask 'SELECT COUNT(*) FROM visits' --epsilon 0.25"]
    for commands in [*first, blocks[0], *after_backup, *blocks[1:]]:
        done = subprocess.run(
            ["/bin/sh", "-euc", commands], cwd=folder, env=_environment(tmp_path), capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"


# The image, line by line


def _instructions():
    joined = re.sub(r"\\\n\s*", "", DOCKERFILE)
    lines = [line for line in joined.splitlines() if line and not line.startswith("#")]
    return [tuple(line.split(" ", 1)) for line in lines]


def test_the_image_is_made_of_files_that_are_there_and_let_in():
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line.startswith("!")}
    copied = [word for kind, rest in _instructions() if kind == "COPY" and "--from" not in rest for word in rest.split()[:-1]]  # fmt: skip
    assert copied
    assert set(copied) <= let_in
    assert all((ROOT / word).exists() for word in copied)


def test_the_image_runs_as_nobody_and_serves_by_options_that_exist():
    kinds = [kind for kind, _ in _instructions()]
    last = {kind: rest for kind, rest in _instructions() if kind in {"USER", "ENTRYPOINT", "EXPOSE", "HEALTHCHECK"}}
    assert int(last["USER"]) == NOBODY
    assert kinds.index("USER") < kinds.index("ENTRYPOINT")
    assert "/healthz" in last["HEALTHCHECK"]
    assert f":{last['EXPOSE']}/" in last["HEALTHCHECK"]
    program, command, _, *options = json.loads(last["ENTRYPOINT"])
    usage = subprocess.run(
        [sys.executable, "-m", program, command, "--help"], capture_output=True, text=True, check=True
    ).stdout
    given = [*options, *COMPOSE["services"]["discreet"]["command"]]
    assert all(option in usage for option in given if option.startswith("--"))


def test_every_service_is_confined_and_every_secret_is_a_file():
    services = COMPOSE["services"]
    for name, service in services.items():
        assert "no-new-privileges:true" in service["security_opt"], name
        assert set(service.get("secrets", ())) <= set(COMPOSE["secrets"]), name
        assert not any(re.search("SECRET$|PASSWORD$", key) for key in service.get("environment", {})), name
    for name in ("discreet", "discreet-init", "proxy"):
        assert services[name]["read_only"]
        assert services[name]["cap_drop"] == ["ALL"]
    assert all("file" in secret for secret in COMPOSE["secrets"].values())
    assert COMPOSE["networks"]["inside"]["internal"]
    assert "ports" not in services["db"]
    assert "ports" not in services["discreet"]
    (proxy,) = [address["ipv4_address"] for name, address in services["proxy"]["networks"].items() if name == "inside"]
    assert services["discreet"]["command"] == ["--proxy", proxy]


def test_settings_in_the_compose_file_are_read_by_the_product():
    source = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    for name in COMPOSE["services"]["discreet"]["environment"]:
        assert f'read_secret("{name.removesuffix("_FILE")}")' in source


def test_a_secret_is_read_from_the_file_that_is_named(tmp_path, monkeypatch):
    from discreet.errors import BadInput
    from discreet.store.env_secrets import read_secret

    monkeypatch.setenv("DISCREET_SECRET", "from the environment")
    assert read_secret("DISCREET_SECRET") == "from the environment"
    (tmp_path / "secret").write_text("from a file\n")
    monkeypatch.setenv("DISCREET_SECRET_FILE", str(tmp_path / "secret"))
    assert read_secret("DISCREET_SECRET") == "from a file"
    monkeypatch.setenv("DISCREET_SECRET_FILE", str(tmp_path / "missing"))
    with pytest.raises(BadInput, match="DISCREET_SECRET_FILE"):
        read_secret("DISCREET_SECRET")


def test_the_image_s_command_holds_open_for_writing_what_is_in_its_folder_alone(tmp_path):
    """What the container does, without one: no home, and a root that nothing is written to."""
    config = write_clinic(tmp_path / "data", patients=50, visits=200)
    start_ledger(config)
    port = free_port()
    (entrypoint,) = [json.loads(rest) for kind, rest in _instructions() if kind == "ENTRYPOINT"]
    command = [sys.executable, "-m", "discreet", "serve", str(config), *entrypoint[3:], "--port", str(port)]
    quiet = {"HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(command, cwd="/", stderr=subprocess.PIPE, env={**os.environ, **quiet})
    try:
        wait_until_up(f"http://127.0.0.1:{port}", process)
        written = list(_files_open_for_writing(process.pid))
        assert written
        assert all(file.is_relative_to(tmp_path / "data") for file in written), written
    finally:
        process.terminate()
        process.wait(20)
        process.stderr.close()


def _files_open_for_writing(process):
    for descriptor in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            target = Path(os.readlink(descriptor))
            facts = Path(f"/proc/{process}/fdinfo/{descriptor.name}").read_text()
            is_written = int(re.search(r"flags:\s+(\d+)", facts)[1], 8) & os.O_ACCMODE != os.O_RDONLY
            if is_written and target.is_file():
                yield target


def _has_builder():
    return (
        shutil.which("docker") is not None
        and subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0
    )


if _has_builder():

    def test_the_image_builds_and_serves(tmp_path):
        start_ledger(write_clinic(tmp_path, patients=50, visits=200))
        for place in (tmp_path, *tmp_path.rglob("*")):
            place.chmod(0o777)
        subprocess.run(["docker", "build", "-t", "discreet-under-test", str(ROOT)], check=True)
        port = free_port()
        confined = ["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
        started = subprocess.run(
            ["docker", "run", "-d", "--rm", *confined, "-p", f"127.0.0.1:{port}:8000", "-v", f"{tmp_path}:/data", "discreet-under-test"],
            check=True, capture_output=True, text=True,
        ).stdout.strip()  # fmt: skip
        try:
            for _ in range(600):
                with contextlib.suppress(httpx.TransportError):
                    assert httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200
                    break
                time.sleep(0.1)
            else:
                raise AssertionError("the container did not come up")
        finally:
            subprocess.run(["docker", "kill", started], capture_output=True, check=False)

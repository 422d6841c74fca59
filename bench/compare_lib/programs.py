"""Finds or builds the programs that measure, and runs them."""

import json
import pathlib
import shutil
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ("liststore", "compare_embedded", "compare_redis", "compare_bare_cql")
TARGETS = ("liststore_program", "compare_embedded", "compare_redis", "compare_bare_cql")


class Failure(Exception):
    """What ends the run, as a sentence for the one who started it."""


def say(text):
    """Progress, on standard error, at once."""
    print(text, file=sys.stderr, flush=True)


def _missing(folder):
    return [name for name in PROGRAMS if not (folder / name).is_file()]


def find(build):
    """The folder of the programs: of the build at `build`, or of the release preset, built if need be."""
    if build:
        for folder in (pathlib.Path(build) / "bin", pathlib.Path(build)):
            if not _missing(folder):
                return folder
        raise Failure(f"{build}: holds no build with {', '.join(PROGRAMS)}")
    folder = ROOT / "build" / "release" / "bin"
    say("building what measures (preset release)")
    configure = ["cmake", "--preset", "release", "-DLISTSTORE_BUILD_BENCH=ON"]
    if not (ROOT / "build/release/CMakeCache.txt").exists():
        configure.append("-DLISTSTORE_BUILD_TESTS=OFF")  # a build that is there keeps its tests
    for command in (configure,
                    ["cmake", "--build", "--preset", "release", "--target", *TARGETS]):
        try:
            run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        except OSError as error:
            raise Failure(f"{command[0]}: {error.strerror}; --build DIR takes a build that is there") from error
        if run.returncode != 0:
            raise Failure(f"{' '.join(command)} failed:\n{(run.stdout + run.stderr)[-4000:]}")
    missing = _missing(folder)
    if missing:
        raise Failure(f"{folder}: {', '.join(missing)} not built")
    return folder


def run_json(command):
    """Runs a program that prints one line of JSON; its progress is passed on. Returns the object."""
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.PIPE) as process:
        last = ""
        try:
            for line in process.stderr:
                last = line.rstrip()
                say(f"    {last}")
            out = process.stdout.read()
        except BaseException:
            process.send_signal(signal.SIGTERM)
            raise
    if process.returncode != 0:
        raise Failure(f"{pathlib.Path(command[0]).name} ended with status {process.returncode}: {last}")
    try:
        return json.loads(out)
    except ValueError as error:
        raise Failure(f"{pathlib.Path(command[0]).name} printed what is no JSON: {error}") from error


def which(name):
    """Path of a program of the system, sbin included; None when it is missing."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/local/sbin")

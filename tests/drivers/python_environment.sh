# Virtual environments for the runners of this folder's Python tests; sourced, not run.
# shellcheck shell=sh

skip() { # WHY
  echo "skipped: $1"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
}

# Makes WORK/environment, unless it is there with just this in it. Wheels only: nothing is compiled here.
make_environment() { # REQUIREMENTS WORK
  if cmp -s "$1" "$2/environment/requirements.txt"; then return; fi
  rm -rf "$2/environment"
  # Debian's Python first, as everywhere in the tests; not every Debian has its module venv.
  for python in "${LISTSTORE_PYTHON:-/usr/bin/python3}" python3; do
    if "$python" -m venv "$2/environment" >"$2/pip.log" 2>&1; then break; fi
    rm -rf "$2/environment"
  done
  [ -d "$2/environment" ] || skip "no Python here makes virtual environments: $(tail -n 1 "$2/pip.log")"
  timeout 300 "$2/environment/bin/python" -m pip install --disable-pip-version-check --no-input \
    --only-binary :all: --timeout 30 --retries 2 --requirement "$1" >"$2/pip.log" 2>&1 ||
    skip "pip has no wheels of $(basename "$(dirname "$1")") for us: $(tail -n 1 "$2/pip.log")"
  cp "$1" "$2/environment/requirements.txt"
}

# Runs pytest in WORK/environment, and ends with its status; what it said is shown when anything failed.
run_pytest() { # WORK ARGUMENT...
  work=$1
  shift
  status=0
  timeout 600 "$work/environment/bin/python" -B -m pytest -q -p no:cacheprovider \
    --junitxml="$work/results.xml" "$@" >"$work/pytest.log" 2>&1 || status=$?
  [ "$status" -eq 0 ] || cat "$work/pytest.log"
  "$work/environment/bin/python" - "$work/results.xml" "$status" <<'END'
import sys, xml.etree.ElementTree as tree
try:
    counts = next(tree.parse(sys.argv[1]).iter("testsuite")).attrib
except (OSError, tree.ParseError):
    counts = {}  # it did not come as far
total, skipped, errors, failures = (
    int(counts.get(name, 0)) for name in ("tests", "skipped", "errors", "failures"))
failed = errors + failures or int(sys.argv[2] != "0")
print(f"{total - skipped - errors - failures} passed, {failed} failed, {skipped} skipped")
END
  exit "$status"
}

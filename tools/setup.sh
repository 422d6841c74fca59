# Shared by tools/run, tools/test and tools/lint; sourced, not run. Goes to the root of the tree.
# shellcheck shell=bash

cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs=${LISTSTORE_JOBS:-$(nproc)}

say() { printf '== %s\n' "$*"; }

# Names of the packages in the given sections of tools/packages.txt.
packages_of() { # SECTION...
  local line section='' wanted
  while IFS= read -r line; do
    case $line in
      '' | '#'*) ;;
      '['*']') section=${line//[\[\]]/} ;;
      *) for wanted in "$@"; do [[ $section == "$wanted" ]] && echo "$line"; done ;;
    esac
  done <tools/packages.txt | sort -u
}

is_installed() { # PACKAGE
  [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# Installs what is missing of the given sections. Where nothing is missing, neither the network nor
# root is needed.
ensure_packages() { # SECTION...
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian system: taking the packages of tools/packages.txt for installed"
    return
  fi
  local package missing=()
  for package in $(packages_of "$@"); do
    is_installed "$package" || missing+=("$package")
  done
  [[ ${#missing[@]} -eq 0 ]] && return
  if [[ $(id -u) -ne 0 ]]; then
    {
      echo "These packages are missing, and installing them takes root. Run once:"
      echo
      echo "  sudo apt-get update && sudo apt-get install --no-install-recommends ${missing[*]}"
      echo
      echo "and then this command again."
    } >&2
    exit 1
  fi
  say "installing ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { DEBIAN_FRONTEND=noninteractive apt-get update -q &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
      "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    echo "apt-get failed; its whole output is in $log" >&2
    exit 1
  fi
  rm -f "$log"
}

# Ninja's output, with a line per tenth instead of one per step; everything else passes.
compact_progress() { # NAME
  local name=$1 line tenth last=-1
  local step='^\[([0-9]+)/([0-9]+)\] '
  while IFS= read -r line; do
    if [[ $line =~ $step ]]; then
      tenth=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
      [[ $tenth -eq $last ]] && continue
      last=$tenth
      printf '   %s: %3d %% of %d steps\n' "$name" $((10 * tenth)) "${BASH_REMATCH[2]}"
    elif [[ $line != 'ninja: no work to do.' ]]; then
      printf '%s\n' "$line"
    fi
  done
}

# Configures and builds a preset. LISTSTORE_WERROR=ON in the environment makes warnings errors.
build_preset() { # PRESET [TARGET...]
  local preset=$1 targets=("${@:2}") log
  mkdir -p build
  log=build/configure-$preset.log
  say "building $preset"
  local tests=ON
  # The program alone needs fewer packages than the tests and benchmarks.
  case "${targets[*]}" in
    liststore_program | 'liststore_program liststore_static') tests=OFF ;;
  esac
  local settings=(-DLISTSTORE_WERROR="${LISTSTORE_WERROR:-OFF}" -DLISTSTORE_BUILD_TESTS="$tests")
  [[ $preset == release ]] && settings+=(-DLISTSTORE_BUILD_BENCH="$tests")
  # A folder that has them keeps them: they would be built anew the next time.
  if [[ $tests == OFF && -f build/$preset/CMakeCache.txt ]]; then
    settings=("${settings[0]}")
  fi
  if ! cmake --preset "$preset" "${settings[@]}" >"$log" 2>&1; then
    cat "$log" >&2
    return 1
  fi
  local build=(cmake --build --preset "$preset" --target "${targets[@]:-all}" --parallel "$jobs")
  if [[ -t 1 ]]; then
    "${build[@]}"
  else
    "${build[@]}" | compact_progress "$preset"
  fi
}

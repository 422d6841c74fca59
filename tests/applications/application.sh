# Shared by the runners of the folders here; sourced, with `here` their folder and PROGRAM WORK_FOLDER as
# arguments. What an application logs stays in the work folder.
# shellcheck shell=sh

program=$(realpath "$1")
mkdir -p "$2"
work=$(realpath "$2")
applications=$(dirname "$here")

skip() { # REASON
  echo "skipped: $1"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
}

need_own_network() {
  "$applications/in_own_network" "$program" "$work" true >"$work/network.log" 2>&1 ||
    skip "no server in a network of its own: $(tail -n 1 "$work/network.log")"
}

# The module at its pinned version as the proxy has it, in $work/module, with what it needs in Go's cache: all of it, or
# what the packages need that are named.
get_go_module() { # PATH VERSION SUM [PACKAGE...]
  command -v go >/dev/null || skip "there is no go here"
  export GOTOOLCHAIN=local GOFLAGS=-mod=readonly
  timeout 300 go mod download -json "$1@$2" >"$work/module.json" 2>"$work/go.log" ||
    skip "$(go version | cut -d ' ' -f 3) does not get $1 $2: $(
      sed -n 's/^\t"Error": "\(.*\)",*$/\1/p' "$work/module.json" | head -n 1)"
  if ! grep -q "\"Sum\": \"$3\"" "$work/module.json"; then
    echo "$1 $2 is not the module that is pinned, $3:"
    cat "$work/module.json"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
  fi
  if [ "$(cat "$work/module/.pinned" 2>/dev/null)" != "$3" ]; then
    [ ! -d "$work/module" ] || chmod -R u+w "$work/module"
    rm -rf "$work/module"
    cp -R "$(sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p' "$work/module.json")" "$work/module"
    chmod -R u+w "$work/module"
    echo "$3" >"$work/module/.pinned"
  fi
  module=$1
  shift 3
  if [ $# -eq 0 ]; then set -- mod download; else set -- list -deps -test "$@"; fi
  (cd "$work/module" && timeout 600 go "$@" >"$work/go.log" 2>&1) ||
    skip "$(go version | cut -d ' ' -f 3) does not get what $module needs: $(tail -n 1 "$work/go.log")"
}

# Runs `go` in the module with a command that builds something.
build_by_go() { # COMMAND ARGUMENT...
  if ! (cd "$work/module" && timeout 3600 go "$@") >"$work/go.log" 2>&1; then
    cat "$work/go.log"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
  fi
}

# The tests of a package of the module as a program, $work/NAME.test.
build_go_tests() { # NAME PACKAGE [OPTION...]
  name=$1 package=$2
  shift 2
  build_by_go test -vet=off -c -o "$work/$name.test" "$@" "$package"
}

maven() { # COMMAND...: runs it, Maven with its goals, with the options of all
  MAVEN_OPTS=-Xmx512m "$@" -B -ntp -f "$here/pom.xml" -Dmaven.repo.local="$(dirname "$work")/maven" \
    -Dwork="$work/target"
}

# The tests of the folder's pom.xml against a server in a network of their own, counted. What they need comes from
# Maven's repositories into the folder `maven` beside the work folder.
run_maven_tests() { # APPLICATION OPTION_OF_COUNT_RESULTS...
  command -v javac >/dev/null || skip "there is no Java compiler here"
  command -v mvn >/dev/null || skip "there is no Maven here"
  [ "$(javac --version 2>/dev/null | sed 's/[^0-9]*\([0-9]*\).*/\1/')" -ge 17 ] 2>/dev/null ||
    skip "$(javac -version 2>&1) is too old; 17 or newer is needed"
  need_own_network
  application=$1
  shift
  rm -rf "$work/target"
  # First everything but the tests themselves, which then need no repository any more.
  if ! maven timeout 1800 mvn -DskipTests test >"$work/maven.log" 2>&1; then
    if grep -q 'COMPILATION ERROR' "$work/maven.log"; then
      cat "$work/maven.log"
      echo "0 passed, 1 failed, 0 skipped"
      exit 1
    fi
    skip "Maven does not get $application: $(grep -m 1 ERROR "$work/maven.log" || tail -n 1 "$work/maven.log")"
  fi
  status=0
  maven "$applications/in_own_network" "$program" "$work" timeout 900 mvn -o test >"$work/maven.log" 2>&1 ||
    status=$?
  if ! ls "$work"/target/surefire-reports/*.xml >/dev/null 2>&1; then
    cat "$work/maven.log"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
  fi
  exec python3 "$applications/count_results.py" --status "$status" "$@" junit "$work"/target/surefire-reports/*.xml
}

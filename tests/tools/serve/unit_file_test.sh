#!/bin/sh
# The unit of the service, as systemd reads it: `unit_file_test.sh UNIT PROGRAM`. 77: there is no systemd-analyze.
set -eu
unit=$1
program=$2
command -v systemd-analyze > /dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# The program that it starts is not installed.
sed "s|^ExecStart=[^ ]*|ExecStart=$program|" "$unit" > "$folder/liststore.service"
grep -q "^ExecStart=$program serve --config \${CONFIGURATION_DIRECTORY} " "$folder/liststore.service"
grep -q "^ConfigurationDirectory=liststore$" "$folder/liststore.service"
said=$(timeout 60 systemd-analyze verify --man=no "$folder/liststore.service" 2>&1) || {
    echo "$said"
    exit 1
}
# What is not known to this systemd is said, and left out: nothing is to be.
if echo "$said" | grep "$folder\|liststore.service"; then exit 1; fi

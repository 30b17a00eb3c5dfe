#!/bin/sh
# Arguments as JSON on stdin, the result as JSON on stdout, progress on stderr. The gateway has checked the arguments
# against the schema, so that a name has no quotes and a number no other characters than digits.
set -eu
PATH=/usr/bin:/bin
arguments=$(cat)
set_name=$(printf '%s' "$arguments" | sed -n 's/.*"set":"\([a-z0-9][a-z0-9_-]*\)".*/\1/p')
keep=$(printf '%s' "$arguments" | sed -n 's/.*"keep":\([0-9][0-9]*\).*/\1/p')
folder="${SNAPSHOT_ROOT:-/var/backups/snapshots}/$set_name"

if [ -z "$set_name" ] || [ -z "$keep" ] || [ ! -d "$folder" ]; then
  echo "there is no set $folder; the operator grants the snapshot root in sandbox.skills.snapshot_purge.write" >&2
  exit 1
fi

# Only what is named as a snapshot is one: 2026-11-30, or 2026-11-30T0400. Their names sort by time.
snapshots=$(find "$folder" -mindepth 1 -maxdepth 1 -type d -regextype posix-extended \
  -regex '.*/[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{4})?' -printf '%f\n' | sort -r)
kept=0
deleted=''
for name in $snapshots; do
  if [ "$kept" -lt "$keep" ]; then
    kept=$((kept + 1))
  else
    echo "deleting $name" >&2
    rm -rf -- "${folder:?}/$name"
    deleted="$deleted${deleted:+,}\"$name\""
  fi
done
printf '{"set":"%s","kept":%s,"deleted":[%s]}\n' "$set_name" "$kept" "$deleted"

#!/bin/sh
# Starts a server with copies of redis.conf and users.acl: `CONFIG REWRITE`, which Sentinels send, must not change the
# originals.  In the latter it puts the digest of each user's password, which is the variable <USER>_PASSWORD; a user
# without one can't log in.  (Such a file has neither comments nor variables of its own.)
#
#   start.sh FOLDER [ARGUMENTS]    FOLDER has the two files; the arguments go to the server
set -eu
folder=$1
shift
umask 077
copies=${COPIES:-/tmp}
cat "$folder/redis.conf" >"$copies/redis.conf"
cat "$folder/users.acl" >"$copies/users.acl"
for user in $(sed -n 's/.*#\([A-Z]*\)_PASSWORD_SHA256.*/\1/p' "$folder/users.acl"); do
  eval "password=\${${user}_PASSWORD:-}"
  digest=
  [ -z "$password" ] || digest="#$(printf %s "$password" | sha256sum | cut -d ' ' -f 1)"
  sed -i -e "s/#${user}_PASSWORD_SHA256/$digest/" "$copies/users.acl"
done
exec "${SERVER:-valkey-server}" "$copies/redis.conf" --aclfile "$copies/users.acl" "$@"

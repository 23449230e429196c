#!/bin/sh
# A first task, step by step, with nothing but curl: initialize, create a task, poll it, take its result.
#
#   sh ops/first_steps.sh [URL] [PATH]
#
# URL   the endpoint; http://127.0.0.1:8000/mcp by default
# PATH  the folder to archive, as the server sees it; its root by default
#
# RECEIVER_TOKEN, if set, is sent as a bearer token.
set -eu

url=${1:-http://127.0.0.1:8000/mcp}
path=${2:-.}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The headers of all requests; those that initialize brings are added below.
cat > "$work/headers" <<HEADERS
Content-Type: application/json
Accept: application/json, text/event-stream
HEADERS
[ -z "${RECEIVER_TOKEN:-}" ] || echo "Authorization: Bearer $RECEIVER_TOKEN" >> "$work/headers"

fail() {
  echo "$1" >&2
  exit 1
}

# Sends a message.  What comes back is in $work/answer.
send() {
  status=$(curl --silent --show-error --header "@$work/headers" --data "$1" \
    --dump-header "$work/answer-headers" --output "$work/answer" --write-out '%{http_code}' "$url") ||
    fail "no answer from $url"
  case $status in
    2??) ;;
    *) fail "HTTP $status: $(cat "$work/answer" 2>/dev/null)" ;;
  esac
  # An event stream holds the answer on its last line of data.
  if grep -qi '^content-type: *text/event-stream' "$work/answer-headers"; then
    sed -n 's/^data: *\({.*}\).*/\1/p' "$work/answer" | tail -n 1 > "$work/event"
    mv "$work/event" "$work/answer"
  fi
  ! grep -q '"error": *{"code"' "$work/answer" || fail "$(cat "$work/answer")"
}

# A member of the answer: a string, or a number.
member() {
  sed -n 's/.*"'"$1"'": *"\{0,1\}\([^",}]*\).*/\1/p' "$work/answer"
}

echo "== initialize"
send '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"first-steps","version":"1"}}}'
cat "$work/answer"; echo
version=$(member protocolVersion)
session=$(tr -d '\r' < "$work/answer-headers" | sed -n 's/^[Mm][Cc][Pp]-[Ss]ession-[Ii]d: *//p')
echo "MCP-Protocol-Version: $version" >> "$work/headers"
[ -z "$session" ] || echo "Mcp-Session-Id: $session" >> "$work/headers"
send '{"jsonrpc":"2.0","method":"notifications/initialized"}'

echo "== tools/call archive_folder, as a task"
escaped=$(printf '%s' "$path" | sed 's/[\\"]/\\&/g')
send '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"archive_folder","arguments":{"path":"'"$escaped"'"},"task":{"ttl":600000}}}'
cat "$work/answer"; echo
task=$(member taskId)
[ -n "$task" ] || fail "the answer names no task"

echo "== tasks/get, until it is over"
while :; do
  send '{"jsonrpc":"2.0","id":3,"method":"tasks/get","params":{"taskId":"'"$task"'"}}'
  cat "$work/answer"; echo
  state=$(member status)
  case $state in
    completed | failed | cancelled) break ;;
  esac
  interval=$(member pollInterval)
  sleep $(( (${interval:-1000} + 999) / 1000 )) # milliseconds, rounded up
done

echo "== tasks/result"
send '{"jsonrpc":"2.0","id":4,"method":"tasks/result","params":{"taskId":"'"$task"'"}}'
cat "$work/answer"; echo
[ "$state" = completed ] || fail "the task is $state"

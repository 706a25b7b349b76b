#!/bin/bash
# 24 callers who ask for streams of some seconds, without an end: more than the plan has slots, so some are told 429.
set -u
call() {
  local model=$1 body line
  body=$(printf '{"model":"%s","stream":true,"max_tokens":%d,"messages":[{"role":"user","content":"%s"}]}' \
    "$model" "$((RANDOM % 60 + 20))" "$(printf 'word %.0s' {1..80})")
  exec 3<>/dev/tcp/sluice/8080 || return
  printf 'POST /v1/chat/completions HTTP/1.1\r\nHost: sluice\r\nConnection: close\r\nContent-Type: application/json\r\n' >&3
  printf 'Authorization: Bearer sk-sluice-compose-demo\r\nContent-Length: %d\r\n\r\n%s' "${#body}" "$body" >&3
  while read -r line <&3; do :; done
  exec 3>&-
}
for caller in {1..24}; do
  while :; do
    ((caller % 3)) && call small || call big
    sleep "$((RANDOM % 3 + 1))"
  done &
done 2>/dev/null
wait

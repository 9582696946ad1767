#!/usr/bin/env bash
# Runs the test executables of this folder, those of test-executables/list: the tests that reach a GPU. All
# others have run in CI. Arguments are test-name filters, as for `cargo test --`; without any, each executable
# runs with the arguments that the list has. GRIDSYNC_TEST_TIMEOUT: seconds for one executable, 600 by
# default. The output of each one is in logs/.
set -u
cd "$(dirname "$0")" || exit 1
export GRIDSYNC_BUNDLE="$PWD" GRIDSYNC_ROOT="$PWD" CARGO_BIN_EXE_gridsync="$PWD/gridsync"
logs="${GRIDSYNC_LOGS:-$PWD/logs}"
mkdir -p "$logs"
passed=0 failed=0 unseen=0

# The sum of the numbers before a word in the closing lines of one log.
count() { grep -h '^test result:' "$2" | grep -oE "[0-9]+ $1" | awk '{ sum += $1 } END { print sum + 0 }'; }

while read -r name package usual; do
  skip=()
  while read -r executable test reason; do
    [ "$executable" = "$name" ] || continue
    skip+=(--skip "$test")
    echo "left out: $name $test: $reason"
  done <test-executables/left-out
  [ $# -gt 0 ] && arguments=("$@") || read -ra arguments <<<"$usual"
  log="$logs/$name.log"
  (cd "$package" && CARGO_MANIFEST_DIR="$PWD" exec timeout -k 10 "${GRIDSYNC_TEST_TIMEOUT:-600}" \
    "$GRIDSYNC_BUNDLE/test-executables/$name" --show-output "${skip[@]}" "${arguments[@]}") \
    >"$log" 2>&1 </dev/null
  status=$?
  good=$(count passed "$log") bad=$(count failed "$log") skipped=$(grep -c 'SKIPPED:' "$log")
  verdict=ok
  if [ "$status" -ne 0 ]; then
    # A test executable that died or ran out of time could not count its failure.
    [ "$bad" -gt 0 ] || bad=1
    verdict="FAILED (status $status)"
    [ "$status" -eq 124 ] || [ "$status" -eq 137 ] && verdict="FAILED (out of time)"
    tail -n 40 "$log"
  fi
  echo "$name: $good passed, $bad failed, $skipped skipped: $verdict"
  passed=$((passed + good)) failed=$((failed + bad)) unseen=$((unseen + skipped))
done < <(grep "^${GRIDSYNC_ONLY:-}" test-executables/list)

# The test harness counts a skipped test as passed. It has not passed.
[ "$unseen" -eq 0 ] || echo "$unseen said SKIPPED: grep SKIPPED $logs/*"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

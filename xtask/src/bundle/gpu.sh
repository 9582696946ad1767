#!/usr/bin/env bash
# Everything that only a machine with a GPU can check:
#   ./gpu.sh tests   every test that reaches a GPU, compute-sanitizer, all experiments
#   ./gpu.sh bench   every suite of benchmarks with its peers in a short form, compared with the last record
#   ./gpu.sh         both
# Each part ends with a verdict, and takes less than nine minutes on an H100 or an H200. Results are in gpu/, or
# in the folder that GRIDSYNC_GPU names: gpu-tests.json and gpu-bench.json for `cargo xtask gpu`, a log of
# each step, and the records. What needs a compiler or no GPU is left out: it has run in CI.
# GRIDSYNC_PASSED may name the gpu-tests.json of an earlier run on the same GPU with the same sources: tests
# that passed there are not run again.
set -u
cd "$(dirname "$0")" || exit 1
here="$PWD" out="${GRIDSYNC_GPU:-$PWD/gpu}" gridsync="$PWD/gridsync"
mkdir -p "$out/logs"
export GRIDSYNC_PEERS="${GRIDSYNC_PEERS:-/tmp/gridsync-peers}" PATH="$PATH:/usr/local/cuda/bin"

case "${1:-all}" in
  tests | bench) parts=$1 ;;
  all) parts='tests bench' ;;
  *) echo 'usage: ./gpu.sh [tests|bench]' >&2; exit 2 ;;
esac

device=$("$gridsync" devices --json 2>/dev/null | grep -o '"name": *"NVIDIA[^"]*"' | head -n 1 | cut -d '"' -f 4)
[ -n "$device" ] || { echo "no NVIDIA GPU: $("$gridsync" devices 2>&1 | head -n 1)" >&2; exit 3; }
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)

# step NAME SECONDS COMMAND…: runs a command, and notes how it ended and how long it took.
step() {
  local name=$1 limit=$2 begin=$SECONDS verdict=passed status
  shift 2
  has_passed "$name" && return
  timeout -k 5 "$limit" "$@" >"$out/logs/$name.log" 2>&1 </dev/null
  status=$?
  if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
    verdict='out of time'
  elif [ "$status" -ne 0 ]; then
    verdict=failed
  fi
  note "$name" "$verdict" $((SECONDS - begin))
}

# has_passed NAME: whether the step passed in the earlier run; then its note is copied.
has_passed() {
  [ -n "${GRIDSYNC_PASSED:-}" ] && grep -o "{\"name\":\"$1\",\"verdict\":\"passed\",\"seconds\":[0-9]*}" \
    "$GRIDSYNC_PASSED" >"$out/steps/$1"
}

# note NAME VERDICT SECONDS. Steps may run at the same time: each has a file.
note() {
  printf '%-28s %-12s %4s s\n' "$1" "$2" "$3"
  printf '{"name":"%s","verdict":"%s","seconds":%s}\n' "$1" "$2" "$3" >"$out/steps/$1"
  case "$2" in
    passed | skipped*) ;;
    *) tail -n 30 "$out/logs/$1.log" | sed 's/^/    /' ;;
  esac
}

skip() { note "$1" "skipped: $2" 0; }

tests() {
  # The compiler of the peers needs no GPU, so it runs in the background.
  command -v nvcc >/dev/null && { "$gridsync" bench build-peers >"$out/logs/peers.log" 2>&1 & }
  run_tests on_a_gpu tests.test.on_a_gpu 100
  run_tests cudarc cudarc.test.on_a_gpu 60
  # It makes the GPU fail, so nothing else runs there.
  run_tests on_a_gpu_fault tests.test.on_a_gpu_fault 30
  # These measure, so nothing else runs there.
  run_tests program-cuda tests.test.program 150 cuda
  # These launch CUDA graphs with branches. Where several processes do that on one GPU, a launch may never
  # end although the GPU is idle: see docs/src/story/graphs.md. So nothing else runs there.
  local part thorough=(--include-ignored --test-threads 1 --slowest 30)
  run_tests conformance-dag tests.test.conformance 150 "${thorough[@]}" --skip emulator --skip every_schedule dag::
  sanitizer memcheck dag dag
  # These take longest, most of it on one core of the host, so several processes share them. The arrays of
  # `huge` fill the GPU.
  run_tests conformance-huge tests.test.conformance 450 "${thorough[@]}" huge:: &
  for part in 1 2 3 4 5 6 7 8; do
    run_tests "conformance-$part" tests.test.conformance 450 "${thorough[@]}" --part "$part/8" --skip huge:: --skip dag:: cuda &
  done
  run_tests program tests.test.program 200 --skip cuda &
  step lab 400 "$gridsync" lab all --device cuda -o "$out/lab" &
  local example
  for example in examples/*; do
    # That one times the CPU.
    [ "$example" = examples/cpu_sum ] && continue
    [ -x "$example" ] && step "example-$(basename "$example")" 30 "$example"
  done
  step verify 220 "$gridsync" verify --device cuda --max-log2 12
  sanitize
  wait
}

# run_tests STEP EXECUTABLE SECONDS [ARGUMENT…]
run_tests() {
  local name=$1 executable=$2 limit=$3
  shift 3
  step "$name" "$limit" env GRIDSYNC_ONLY="$executable " GRIDSYNC_TEST_TIMEOUT="$limit" \
    GRIDSYNC_LOGS="$out/logs/$name" ./run-tests.sh "$@"
}

# Kernels of every kind under the tools of compute-sanitizer.
sanitize() {
  local files="$out/files" tool checks=()
  mkdir -p "$files"
  # 2^20 little-endian f32 between 1 and 2, and the ranges 0..1000 and 1..4096.
  LC_ALL=C awk 'BEGIN { for (i = 0; i < 1048576; i++) printf "%c%c%c%c", i % 251 + 1, i % 241 + 1, 128 + i % 127, 63 }' \
    >"$files/x.f32"
  {
    printf '\223NUMPY\1\0\166\0%-117s\n' "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2), }"
    printf '\0\0\0\0\0\0\0\0\350\3\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\20\0\0\0\0\0\0'
  } >"$files/ranges.npy"
  rows_of '(1024, 1024)' >"$files/rows.npy"
  rows_of '(65536, 16)' >"$files/short.npy"
  for tool in memcheck racecheck synccheck; do
    check "$tool" reduce reduce "$files/x.f32" --dtype f32 --op sum
    check "$tool" scan scan "$files/x.f32" --dtype f32 --op sum -o "$files/scan.$tool"
    check "$tool" select select "$files/x.f32" --dtype f32 --where '> 1.5' -o "$files/select.$tool"
    check "$tool" range-sum range-sum "$files/x.f32" "$files/ranges.npy" --dtype f32 -o "$files/sums.$tool"
    check "$tool" kendall kendall "$files/x.f32" "$files/x.f32" --dtype f32
    check "$tool" sort sort "$files/x.f32" --dtype f32 --argsort -o "$files/sorted.$tool"
    check "$tool" sort-rows sort "$files/rows.npy" --rows -o "$files/rows.$tool"
    check "$tool" sort-short-rows sort "$files/short.npy" --rows --argsort -o "$files/short.$tool"
    check "$tool" locks lab locks
  done
  wait "${checks[@]}"
}

# rows_of SHAPE: the f32 as a matrix.
rows_of() {
  printf '\223NUMPY\1\0\166\0%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': $1, }"
  cat "$files/x.f32"
}

# check TOOL NAME ARGUMENTS…: a call of the program under a tool, next to other calls.
check() {
  sanitizer "$@" &
  checks+=($!)
}

# sanitizer TOOL NAME ARGUMENTS…
sanitizer() {
  local tool=$1 name=$2
  shift 2
  if ! command -v compute-sanitizer >/dev/null; then
    skip "$tool-$name" 'no compute-sanitizer'
    return
  fi
  step "$tool-$name" 200 compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 5 \
    "$gridsync" "$@" --device cuda
}

bench() {
  local records="$out/records" suite arguments peers=(--peers=cuda,cpu)
  rm -rf "$records"
  mkdir -p "$records"
  if command -v nvcc >/dev/null; then
    step build-peers 150 "$gridsync" bench build-peers
  else
    peers=()
    skip peers 'no nvcc'
  fi
  while read -r suite arguments; do
    # shellcheck disable=SC2086
    step "bench-$suite" 150 "$gridsync" bench $suite $arguments "${peers[@]}" --device cuda -o "$records/$suite.jsonl"
  done <<SUITES
barrier --blocks 66,132,264,528 --threads 256
all-reduce --blocks 132,528 --threads 256
scan-threads --blocks 132 --threads 256
calls
reduce --sizes 2^10,2^12,2^16,2^20,2^24,2^28
reduce-rows
scan --sizes 2^10,2^12,2^16,2^20,2^24,2^28
select --sizes 2^16,2^20,2^28
partition --sizes 2^16,2^20,2^24
unique --sizes 2^16,2^20,2^24
segments --sizes 2^16,2^24,2^28
by-key --sizes 2^20,2^28
scan-rows --sizes 2^20,2^28
softmax --sizes 2^20,2^28
sort --sizes 2^16,2^20,2^24,2^28
histogram
kendall --sizes 2^10,2^16,2^20
SUITES
  # Without a peer.
  step bench-rank 100 "$gridsync" bench rank --device cuda -o "$records/rank.jsonl"
  # The GPU taken twice.
  for suite in system scaling; do
    step "bench-$suite" 100 "$gridsync" bench "$suite" --device cuda:0,0 -o "$records/$suite.jsonl"
  done
  "$gridsync" bench peers "$records" >"$out/slower-than-peer.txt" 2>&1
  "$gridsync" bench peers "$records" --json >"$out/slower-than-peer.json" 2>/dev/null
  step compare 30 "$gridsync" bench compare bench/runs "$records" --fail-over 10
  # Nothing of this device to compare with.
  grep -q 'nothing to compare' "$out/logs/compare.log" && skip compare "no record of $device"
  echo
  cat "$out/slower-than-peer.txt"
  echo
  cat "$out/logs/compare.log"
}

# finish PART: its JSON, and the verdict.
finish() {
  local part=$1 bad
  {
    printf '{"part":"%s","device":"%s","driver":"%s","date":"%s","seconds":%s,\n' \
      "$part" "$device" "$driver" "$(date -u +%F)" $((SECONDS - began))
    printf '"sources":%s,\n"steps":[%s]' "$(cat sources.json)" "$(cat "$out"/steps/* | paste -sd ,)"
    if [ "$part" = bench ]; then
      printf ',\n"slower_than_peer":%s' "$(cat "$out/slower-than-peer.json")"
    fi
    printf '}\n'
  } >"$out/gpu-$part.json"
  bad=$(grep -L '"verdict":"passed"\|"verdict":"skipped' "$out"/steps/* | xargs -rn1 basename | paste -sd ' ')
  if [ -n "$bad" ]; then
    echo "VERDICT of $part on $device after $((SECONDS - began)) s: FAILED: $bad"
    failed=1
  else
    echo "VERDICT of $part on $device after $((SECONDS - began)) s: passed"
  fi
}

if [ -n "${GRIDSYNC_PASSED:-}" ] && ! { grep -qF "\"sources\":$(cat sources.json)" "$GRIDSYNC_PASSED" &&
  grep -qF "\"device\":\"$device\",\"driver\":\"$driver\"" "$GRIDSYNC_PASSED"; }; then
  echo "$GRIDSYNC_PASSED is not of these sources on $device with driver $driver: run all tests" >&2
  exit 2
fi

failed=0
for part in $parts; do
  began=$SECONDS
  rm -rf "$out/steps"
  mkdir -p "$out/steps"
  "$part"
  finish "$part"
done
exit "$failed"

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Fuzz the policy and the description parser for a while.
#
# usage: fuzz.sh BUILD_DIR	(CLANG=clang, FUZZ_SECONDS=60)
# The last line is "N passed, N failed, N skipped"; a failure leaves its input
# in BUILD_DIR/crash-*, to be replayed with BUILD_DIR/fuzz FILE.
set -euo pipefail

out=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
kernel=$here/../../../kernel/sched
lib=$here/../../lib/ht
clang=${CLANG:-clang}
seconds=${FUZZ_SECONDS:-60}

if [[ ! $seconds =~ ^[1-9][0-9]*$ ]]; then
	echo "fuzz: FUZZ_SECONDS=$seconds is not a number of seconds" >&2
	exit 2
fi

skip() {
	echo "SKIP: fuzz: $1"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
}

command -v "$clang" >/dev/null || skip "no $clang (package clang)"

echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' >"$out/probe.c"
"$clang" -fsanitize=fuzzer -o "$out/probe" "$out/probe.c" 2>/dev/null ||
	skip "$clang has no libFuzzer (package libclang-rt-14-dev on Debian 12, libclang-rt-19-dev on 13)"

"$clang" -std=gnu11 -g -O1 -Wall -Wextra -D_GNU_SOURCE \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	"-I$kernel" "-I$lib" "-I$here" -o "$out/fuzz" \
	"$here"/{fuzz,gen}.c "$kernel"/ht_{policy,price,check,layout}.c \
	"$lib"/{util,machine,snapshot,tree}.c

mkdir -p "$out/corpus"
cp "$here"/topologies/*.topo "$out/corpus/"
log=$out/fuzz.log
if "$out/fuzz" -max_total_time="$seconds" -max_len=4096 -timeout=20 \
	-rss_limit_mb=2048 -artifact_prefix="$out/" "$out/corpus" \
	>"$log" 2>&1; then
	awk '/^Done/ { print "fuzz: " $2 " runs in " $5 " s" }' "$log"
	echo "1 passed, 0 failed, 0 skipped"
else
	tail -n 40 "$log"
	echo "0 passed, 1 failed, 0 skipped"
	exit 1
fi

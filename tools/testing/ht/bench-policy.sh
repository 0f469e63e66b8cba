#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Instructions per decision on machines of 4 to 4096 CPUs, counted by callgrind
# (INV-10): for a number of LLCs visited they must not differ by more than 10 %.
#
# usage: bench-policy.sh BUILD_DIR	(CC in the environment, gcc by default)
# The last line is "N passed, N failed, N skipped".
set -euo pipefail

out=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
kernel=$here/../../../kernel/sched
lib=$here/../../lib/ht
decisions=256
sizes=(4 16 64 256 1024 4096)

if ! command -v valgrind >/dev/null; then
	echo "SKIP: bench-policy: no valgrind"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi

"${CC:-gcc}" -std=gnu11 -g -O2 -D_GNU_SOURCE -fno-inline-functions-called-once \
	"-I$kernel" "-I$lib" "-I$here" -o "$out/bench-policy" \
	"$here/bench_policy.c" "$kernel"/ht_{policy,price,layout}.c "$lib/util.c"

# Instructions of one decision: CPUS LLCS PRICED.
count() {
	valgrind --tool=callgrind --toggle-collect=ht_policy_select \
		--callgrind-out-file=/dev/null "$out/bench-policy" "$@" \
		"$decisions" 2>"$out/log" || { cat "$out/log" >&2; return 1; }
	awk -v n="$decisions" '/Collected/ { print int($4 / n) }' "$out/log"
}

# One line of the table: the counts, and whether they are flat.
row() {
	local llcs=$1 priced=$2 name=$3 size counts=()

	for size in "${sizes[@]}"; do
		if ((llcs > 1 && size <= 16)); then
			counts+=(-)
		else
			counts+=("$(count "$size" "$llcs" "$priced")")
		fi
	done
	printf '%-34s' "$name"
	printf '%7s' "${counts[@]}"
	printf '%s\n' "${counts[@]}" | awk '
		$1 == "-" { next }
		!least || $1 < least { least = $1 }
		$1 > most { most = $1 }
		END {
			flat = least && most <= least * 1.1
			printf "  %s\n", flat ? "flat" : "NOT FLAT"
			exit !flat
		}'
}

passed=0
failed=0
printf '%-34s' 'instructions per decision, CPUs:'
printf '%7s' "${sizes[@]}"
echo
for priced in 0 1; do
	for llcs in 0 1 2; do
		name="$([[ $priced = 1 ]] && echo prices || echo rules), $llcs LLCs visited"
		if row "$llcs" "$priced" "$name"; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
		fi
	done
done
echo "$passed passed, $failed failed, 0 skipped"
((failed == 0))

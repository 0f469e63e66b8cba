#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# What a context switch and a fork cost, in instructions: SCHED_HT beside
# SCHED_NORMAL, in one guest whose clock counts executed instructions.
#
# Usage: cost.sh [-k BZIMAGE] [-r ROUNDS]
#
# Prints instructions per operation, kernel and user mode together. Under
# SCHED_HT an operation may cost at most 5 % more than under SCHED_NORMAL.
# Last line: N passed, N failed, N skipped.
#
# Exit status: 0 all passed, 1 otherwise, 2 wrong usage.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
limit_pct=105 rounds=2000 kernel=()

while getopts k:r:h opt; do
	case $opt in
	k)	kernel=(--kernel "$OPTARG") ;;
	r)	rounds=$OPTARG ;;
	*)	sed -n 's/^# \{0,1\}//; /^Usage:/,/^$/p' "$0" >&2; exit 2 ;;
	esac
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make -s -C "$top/tools/ht" >&2
cc -O2 -Wall -Wextra -o "$work/cost" "$top/tools/bench/cost.c"

# Both policies in the same guest, one after the other, three times.
cat > "$work/run" <<END
set -e
# Not the price of checking each decision, in a kernel that does.
echo 0 > /sys/kernel/debug/sched_ht/check 2> /dev/null || :
for i in 1 2 3; do
	for op in pipe pipe-apart fork; do
		echo "normal \$($work/cost \$op $rounds)"
		echo "ht \$($top/tools/ht/build/htctl run -- $work/cost \$op $rounds)"
	done
done
END
"$here/vm" "${kernel[@]}" --quiet --icount --append noautogroup --timeout 600 \
	-- sh "$work/run" > "$work/out"

awk -v limit="$limit_pct" '
	{ if (!(($1, $2) in best) || $3 < best[$1, $2]) best[$1, $2] = $3 }
	$1 == "normal" && !seen[$2]++ { order[++n] = $2 }
	END {
		printf "%-12s %14s %14s %8s\n", "operation", "SCHED_NORMAL",
		       "SCHED_HT", "ratio"
		for (i = 1; i <= n; i++) {
			a = best["normal", order[i]]; b = best["ht", order[i]]
			bad = !a || !b || b * 100 > a * limit
			printf "%-12s %14d %14d %7.1f%% %s\n", order[i], a, b,
			       a ? b * 100 / a : 0, bad ? "FAILED" : ""
			failed += bad
		}
		printf "Instructions per operation, least of three; counted by emulation.\n"
		printf "%d passed, %d failed, 0 skipped\n", n - failed, failed
		exit failed || !n
	}' "$work/out"

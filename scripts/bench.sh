#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# The bench so that it cannot rot: its own tests, then a few rows in a guest.
#
# usage: bench.sh short [OPTION OF HTBENCH]...
#
# Figures fail nothing; a missing or garbled result does. Results: out/bench-short.
# Last line: N passed, N failed, N skipped.
#
# exit: 0 nothing failed; 1 something did; 2 usage
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
out=$top/out/bench-short

[ "${1:-}" = short ] || { sed -n 's/^# \{0,1\}//; /^usage:/,/^$/p' "$0" >&2; exit 2; }
shift

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
make -s -C "$top/tools/bench" check 2>&1 | tee "$log" || status=1
# Old results would be taken for this run's.
rm -rf "$out"
"$top/tools/bench/htbench" run --vm --short --out "$out" "$@" 2>&1 | tee -a "$log" || status=1

awk '/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { p += $1; f += $3; s += $5; n++ }
	END {
		if (n < 2)
			f++
		printf "%d passed, %d failed, %d skipped\n", p, f, s
		exit f > 0
	}' "$log" || status=1
exit $status

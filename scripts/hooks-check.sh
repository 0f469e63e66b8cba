#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Weighs the hooks of one kernel version: how many files of the kernel they
# touch, how many lines they add, that they apply without fuzz, and that none
# adds conditional compilation within a function (stubs belong in a header).
#
# usage: scripts/hooks-check.sh [KVER]
# exit: 0 within the budget; 1 not; 2 usage
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

MAX_FILES=20
MAX_ADDED=200
MAX_FAIR=12

KVER=${1:-6.12}
PASSED=0 FAILED=0

verdict()
{
	local what=$1 ok=$2

	if [ "$ok" = 1 ]; then
		PASSED=$((PASSED + 1))
		echo "  ok    $what"
	else
		FAILED=$((FAILED + 1))
		echo "  FAIL  $what"
	fi
}

# "added removed file" summed over all hooks, sorted by file.
totals()
{
	local patch

	for patch in "${PATCHES[@]}"; do
		patch_numstat "$patch"
	done | awk '{ a[$3] += $1; r[$3] += $2 }
		END { for (f in a) print a[f], r[f], f }' | sort -k3
}

budget_table()
{
	totals | awk '
		BEGIN { printf "%-40s %6s %8s\n", "file", "added", "removed" }
		{ printf "%-40s %6d %8d\n", $3, $1, $2; a += $1; r += $2; n++ }
		END { printf "%-40s %6d %8d\n", "total (" n + 0 " files)", a, r }'
}

check_budget()
{
	local files added fair

	read -r files added fair < <(totals | awk '
		{ n++; a += $1 } $3 == "kernel/sched/fair.c" { f = $1 }
		END { print n + 0, a + 0, f + 0 }')
	verdict "files: $files of $MAX_FILES" $((files <= MAX_FILES))
	verdict "lines added: $added of $MAX_ADDED" $((added <= MAX_ADDED))
	verdict "of them in fair.c: $fair of $MAX_FAIR" $((fair <= MAX_FAIR))
}

# Prints the conditionals that file $2 adds to $1 within a function. Kernel
# style begins and ends each function's body with a brace in column one.
added_conditionals()
{
	{ diff --unchanged-line-format='' --old-line-format='' \
		--new-line-format='%dn %L' "$1" "$2" || true; } |
	awk -v name="$3" '
		NR == FNR {
			if ($2 ~ /^#/ && $0 ~ /^[0-9]+ *#[ \t]*(if|el|end)/) want[$1] = 1
			next
		}
		/^{/ { inside = 1 }
		/^}/ { inside = 0 }
		inside && want[FNR] { print name ":" FNR ": " $0 }' - "$2"
}

check_conditionals()
{
	local file bad

	bad=$(cd "$STAGE" && find . -name '*.c' -printf '%P\n' | while IFS= read -r file; do
		[ ! -f "$PRISTINE/$file" ] ||
			added_conditionals "$PRISTINE/$file" "$file" "$file"
	done)
	[ -z "$bad" ] || echo "$bad"
	verdict "no conditional compilation added within a function" \
		"$([ -z "$bad" ] && echo 1 || echo 0)"
}

check_form()
{
	local patch bad=0 want=0

	for patch in "${PATCHES[@]}"; do
		want=$((want + 1))
		if ! [[ $(basename "$patch") == "$(printf '%04d' "$want")"-* ]]; then
			echo "$(basename "$patch"): number $want is expected here"
			bad=1
		fi
		if ! grep -q '^From: ' "$patch" || ! grep -q '^Subject: ' "$patch"; then
			echo "$(basename "$patch"): not in git format-patch form"
			bad=1
		fi
	done
	verdict "numbered without gaps, in format-patch form" $((!bad))
}

check_applies()
{
	local ok=0

	if (HT_HOOKS_ONLY=1 stage_changes "$STAGE" "$KVER" "$PRISTINE"); then
		ok=1
	fi
	verdict "apply in order to linux-source-$KVER without fuzz" "$ok"
	[ "$ok" = 1 ]
}

require_kver "$KVER"
require_tools git patch awk
mapfile -t PATCHES < <(hook_patches "$KVER")
[ "${#PATCHES[@]}" -gt 0 ] || die "patches/$KVER holds no hooks"

PRISTINE=$(pristine_tree "$KVER")
STAGE=$(mktemp -d)
trap 'rm -rf "$STAGE"' EXIT

echo "Hooks for linux-$KVER (${#PATCHES[@]} patches)"
budget_table
check_budget
check_form
if check_applies; then
	check_conditionals
fi
echo "$PASSED passed, $FAILED failed, 0 skipped"
[ "$FAILED" = 0 ]

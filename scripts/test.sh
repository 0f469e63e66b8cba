#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs the layers of tests, each with its time, and adds up what they counted.
#
# usage: scripts/test.sh [LAYER...]        (default: all, in the table's order)
#        scripts/test.sh list
#
# A layer is a command. One of kind `count` ends its output with a line
# "N passed, N failed, N skipped"; one of kind `status` counts as one test.
# A layer fails if it says so, if its status is not 0, if it outlasts its
# limit, or if it ran nothing. Logs: out/test/LAYER.log
# HT_BUDGET=SECONDS: limit for all layers together; those that it leaves no time
# for count as failed.
# exit: 0 nothing failed; 1 something did; 2 usage
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

KVER=${KVER:-6.12}

# name | limit in seconds | kind | command
layer_table()
{
	cat <<-'END'
	check        | 300  | count  | make -s check
	coverage     | 300  | status | make -s coverage
	htctl        | 300  | count  | make -s -C tools/ht check
	scripts      | 120  | count  | scripts/scripts-test.sh
	docs         | 120  | count  | scripts/doc-examples.sh
	fuzz         | 240  | status | make -s fuzz FUZZ_SECONDS=60
	lint         | 900  | count  | scripts/lint.sh $KVER
	patch        | 300  | status | scripts/mkpatch.sh $KVER
	off-check    | 1200 | count  | scripts/off-check.sh $KVER
	matrix       | 1500 | count  | scripts/matrix.sh $KVER
	kernel-base  | 1500 | status | scripts/kernel.sh build $KVER base
	vm           | 1200 | count  | scripts/vm-test.sh
	kunit        | 300  | count  | scripts/kunit.sh $KVER base
	selftest     | 2100 | count  | scripts/selftest.sh
	cost         | 900  | count  | scripts/cost.sh
	smtvm        | 1200 | count  | make -s smtvm-check SMTVM=-s
	bench        | 1200 | count  | scripts/bench.sh short
	mutants      | 1200 | count  | scripts/mutants.sh
	kernel-debug | 1800 | status | scripts/kernel.sh build $KVER debug
	torture      | 600  | count  | scripts/torture.sh
	END
}

layer_names()
{
	layer_table | awk -F'|' '{ gsub(/ /, "", $1); print $1 }'
}

# Field $2 of layer $1.
layer_field()
{
	layer_table | awk -F'|' -v n="$1" -v f="$2" '
		{ name = $1; gsub(/ /, "", name) }
		name == n { gsub(/^ +| +$/, "", $f); print $f }'
}

# The last line of that form in log $1, as three numbers.
counted()
{
	sed -nE 's/^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$/\1 \2 \4/p' "$1" |
		tail -1
}

# Seconds that layer $1 may take, at least one.
layer_limit()
{
	local limit left

	limit=$(layer_field "$1" 2)
	left=$((${HT_BUDGET:-$((SECONDS + limit))} - SECONDS))
	[ "$left" -ge "$limit" ] || limit=$((left > 0 ? left : 1))
	echo "$limit"
}

# Sets P, F, S from how layer $1 ended: status $2, log $3, limit $4.
judge()
{
	local name=$1 rc=$2 log=$3 kind numbers

	kind=$(layer_field "$name" 3)
	P=0 F=0 S=0 WHY=''
	if [ "$kind" = status ]; then
		if [ "$rc" = 0 ]; then P=1; else F=1; fi
	else
		numbers=$(counted "$log")
		read -r P F S <<< "${numbers:-0 0 0}"
		S=${S:-0}
		[ -n "$numbers" ] || WHY='ended without its line of counts'
	fi
	case $rc in
	0) ;;
	124 | 137) WHY="took longer than its limit of $4 s" ;;
	*) [ "$F" -gt 0 ] || WHY="ended with status $rc" ;;
	esac
	[ $((P + F)) -gt 0 ] || WHY=${WHY:-ran no test}
	[ -z "$WHY" ] || F=$((F + 1))
}

# Ends the layer that runs, and all that it started, when we are ended.
interrupted()
{
	trap - INT TERM HUP
	[ -z "$LAYER" ] || { kill "$LAYER" && wait "$LAYER"; } 2>/dev/null || true
	echo "$(basename "$0"): interrupted" >&2
	exit 130
}

# The command runs in its own process group with no standard input, so that
# ending it, on time or early, ends what it started. Sets RC.
run_command()
{
	local limit=$1 log=$2 cmd=$3 out tee

	RC=0
	exec {out}> >(exec tee "$log")
	tee=$!
	timeout -k 30 "$limit" bash -c "$cmd" < /dev/null >&"$out" 2>&1 {out}>&- &
	LAYER=$!
	exec {out}>&-
	wait "$LAYER" || RC=$?
	LAYER=
	wait "$tee" || true
}

run_layer()
{
	local name=$1 limit log=$LOGS/$1.log start=$SECONDS cmd

	limit=$(layer_limit "$name")
	cmd=$(layer_field "$name" 4)
	echo "=== $name: ${cmd//\$KVER/$KVER}"
	run_command "$limit" "$log" "$cmd"
	judge "$name" "$RC" "$log" "$limit"
	[ -z "$WHY" ] || echo "$name: $WHY"
	printf '%-14s %6d s %7d %7d %7d  %s\n' "$name" $((SECONDS - start)) \
		"$P" "$F" "$S" "$WHY" >> "$LOGS/summary"
	echo "=== $name: $((SECONDS - start)) s, $P passed, $F failed, $S skipped"
	[ "$F" = 0 ] || BAD+=("$name")
	PASSED=$((PASSED + P)) FAILED=$((FAILED + F)) SKIPPED=$((SKIPPED + S))
}

# The end of a failed layer's log, for who sees the end of ours only: what failed,
# or where it was when its time was over.
show_failed()
{
	local l

	for l in "${BAD[@]}"; do
		echo "--- $l, the end of its log (out/test/$l.log):"
		grep -E '^ *# hang' "$LOGS/$l.log" | tail -n 30 || true
		grep -E '^(FAIL|FAILED|not ok|again) ' "$LOGS/$l.log" | tail -n 10 || true
		tail -n 12 "$LOGS/$l.log" | cut -c 1-200
	done
}

if [ "${1:-}" = list ]; then
	layer_table
	exit 0
fi
if [ $# -gt 0 ]; then
	LAYERS=("$@")
else
	mapfile -t LAYERS < <(layer_names)
fi
for l in "${LAYERS[@]}"; do
	layer_names | grep -qx "$l" || usage_die "no layer $l; there are: $(layer_names | tr '\n' ' ')"
done

export KVER
cd "$HT_ROOT"
LOGS=$HT_ROOT/out/test
mkdir -p "$LOGS"
take_lock "$LOGS/.lock"
LAYER=
trap interrupted INT TERM HUP
: > "$LOGS/summary"
PASSED=0 FAILED=0 SKIPPED=0
BAD=()
for l in "${LAYERS[@]}"; do
	run_layer "$l"
done
echo
printf '%-14s %8s %7s %7s %7s\n' layer time passed failed skipped
cat "$LOGS/summary"
printf '%-14s %6d s\n' total "$SECONDS"
show_failed
echo "$PASSED passed, $FAILED failed, $SKIPPED skipped"
[ "$FAILED" = 0 ] && [ "$PASSED" -gt 0 ]

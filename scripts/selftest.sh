#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The selftests: boots a kernel with SCHED_HT on one topology after the other
# and runs the programs of tools/testing/selftests/sched_ht there.
#
# usage: scripts/selftest.sh [--list]
#   --list   print the table of guests and stop
# environment:
#   KVER, CONFIG   the kernel (6.12, base)
#   TESTS          only these programs, e.g. TESTS="placement unshare"; a case of
#                  one program: TESTS=placement:beside_busy
#   TOPO           only this topology
#   OUT            where logs go (out/selftest)
#   HT_KERNEL      a bzImage to boot instead
#   HT_VM          what boots it instead of scripts/vm
#   HT_SCX         a sched_ext scheduler to load (scripts/scx-simple.sh builds one)
# A program that fails, or that a guest never came to, runs a second time in a
# fresh guest, and what it does then counts: on a busy host a virtual CPU may
# stand still for many ticks. After a hang it says what hung.
# The last line is "N passed, N failed, N skipped", counted in cases.
# exit: 0 nothing failed; 1 something did; 2 usage
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

KVER=${KVER:-6.12}
CONFIG=${CONFIG:-base}
TESTS=${TESTS:-}
TOPO=${TOPO:-}
OUT=${OUT:-$HT_ROOT/out/selftest}
SRC=$HT_ROOT/tools/testing/selftests/sched_ht
BIN=$HT_ROOT/out/selftest-bin

# One guest a line: topology | options of scripts/vm | boot parameters |
# programs with their arguments, separated by commas. All of it on the smallest
# machine with SMT; elsewhere what depends on the shape.
table()
{
	cat <<-'END'
	1x2x2 | | | policy, sysctl, placement, warm, unshare, accounting, pi, coresched cookies_ht cookies_mixed cookies_alone uclamp, cgroup, hotplug
	1x2x2 | | | tools/ht/tests/run.sh tools/ht/build/htctl, share, kworker -r 20, affinity -t 3, balance, scx -t 60 half without_scheduler, scx -r 20 load_unload
	1x2x2 | | isolcpus=2,3 nohz_full=3 | isolcpus -r 20, share nohz_full_alone nohz_full_share nohz_full_late
	1x2x2 | --cgroup v1 | | cgroup --cgroup v1, affinity --cgroup v1 -t 3 cpuset_storm
	two-llc | | | placement -r 6, warm -r 6, tools/testing/ht/replay_guest.sh tools/ht/build/htctl tools/testing/ht/build/ht-replay, unshare -r 8 released_pair core_falls_idle simultaneous_futex, hotplug smt_control placement_after
	1x4x1 | | | placement -r 6 prev_core sync_wakeup fork_path sequence_9_forks, balance -r 3 idle_pull even_queues
	smt4 | | | placement -r 6 beside_busy all_cores_busy masks, unshare -r 6 released_pair core_falls_idle
	one-thread-core | | | placement -r 6 beside_busy all_cores_busy fork_path, unshare -r 6 released_pair
	hybrid | | | placement -r 6 beside_busy own_llc_busy all_cores_busy, unshare -r 6 simultaneous_futex
	numbered-02-13 | | | placement -r 6 prev_core beside_busy masks class_path, unshare -r 6 released_pair
	1x8x1 | | | capacity
	END
}

trim()
{
	local text=$1

	text=${text#"${text%%[![:space:]]*}"}
	echo "${text%"${text##*[![:space:]]}"}"
}

# Prints the specs among $1 (separated by commas) that TESTS wants, one a line.
# "program:case" in TESTS runs that case wherever the program appears at all.
wanted_specs()
{
	local spec test specs

	IFS=',' read -ra specs <<< "$1"
	for spec in "${specs[@]}"; do
		spec=$(trim "$spec")
		if [ -z "$TESTS" ]; then
			echo "$spec"
			continue
		fi
		for test in $TESTS; do
			[ "${spec%% *}" = "${test%%:*}" ] || continue
			if [ "$test" = "${test%%:*}" ]; then
				echo "$spec"
			else
				echo "${test%%:*} ${test#*:}"
			fi
		done
	done
}

passed=0 failed=0 skipped=0
skips=()
# Whether this is the second try, what needs one, and what all needed one.
second=0
again=()
retried=()

# Sums up the TAP output of one program in file $1; $2 status, $3 seconds,
# $4 spec, $5 guest. Shows it all if anything failed.
sum_up()
{
	local file=$1 status=$2 seconds=$3 spec=$4 guest=$5 ok skip bad line

	# Other test programs of ours end with "N passed, N failed, N skipped".
	if read -r ok _ bad _ skip _ < <(tail -n 1 "$file") &&
		[[ $ok$bad$skip =~ ^[0-9]+$ ]]; then
		add_up "$@"
		return
	fi
	skip=$(grep -cE '^(ok .*|1\.\.0) # SKIP' "$file" || true)
	ok=$(grep -cE '^ok ' "$file" || true)
	ok=$((ok - $(grep -cE '^ok .* # SKIP' "$file" || true)))
	bad=$(grep -cE '^not ok ' "$file" || true)
	while IFS= read -r line; do
		[ -z "$line" ] || skips+=("$guest: ${spec%% *} $line")
	done < <(sed -nE 's/^(ok [0-9]+ |1\.\.0)(.*) # SKIP (.*)/\2: \3/p' "$file")
	add_up "$@"
}

# Counts $ok, $bad and $skip of sum_up(), and shows them.
add_up()
{
	# It died without saying so.
	if [ "$bad" = 0 ] && [ "$status" != 0 ] && [ "$status" != 4 ]; then
		bad=1
	fi
	if [ "$bad" != 0 ] && [ "$second" = 0 ]; then
		again+=("$spec")
		echo "again   $guest: $spec ($bad failed at the first try, $seconds s)"
		grep -E '^(not ok|# FAILED|# hang|Bail out)' "$file" |
			sed 's/^/        /' || true
		return
	fi
	passed=$((passed + ok)) skipped=$((skipped + skip)) failed=$((failed + bad))
	if [ "$bad" = 0 ]; then
		[ "$second" = 0 ] || echo "        passed at the second try:"
		echo "ok      $guest: $spec ($ok passed, $skip skipped, $seconds s)"
	else
		echo "FAILED  $guest: $spec ($bad failed, $ok passed, $skip skipped, $seconds s)"
		sed 's/^/        /' "$file"
	fi
}

# Splits a guest's output in file $1 into programs. Those among the rest of the
# arguments that did not come to an end are run again, or count as failed.
judge_output()
{
	local log=$1 guest=$2 part line spec='' done_specs='' status seconds rest

	shift 2
	part=$(mktemp)
	while IFS= read -r line; do
		case $line in
		'## begin '*)
			spec=${line#'## begin '}
			: > "$part"
			;;
		'## end '*)
			read -r _ _ status seconds rest <<< "$line"
			sum_up "$part" "$status" "$seconds" "$rest" "$guest"
			done_specs+="|$rest|"
			spec=''
			;;
		*)
			echo "$line" >> "$part"
			;;
		esac
	done < "$log"
	[ -z "$spec" ] || sed 's/^/        /' "$part"
	rm -f "$part"
	for spec in "$@"; do
		[[ $done_specs == *"|$spec|"* ]] && continue
		if [ "$second" = 0 ]; then
			again+=("$spec")
			echo "again   $guest: $spec (did not come to its end)"
			continue
		fi
		failed=$((failed + 1))
		echo "FAILED  $guest: $spec (did not come to its end)"
	done
}

# $1 status of guest $2, whose complaints are in file $3. One that hung counts by
# what its programs do in a fresh guest, if any is left to run there; a bad console
# log counts at once.
judge_guest()
{
	local word=FAILED

	case $1 in
	0 | 1) return ;;
	5 | 124)
		if [ "$second" = 0 ] && [ ${#again[@]} -gt 0 ] &&
			! grep -q 'console log is bad' "$3"; then
			word=again
		fi
		;;
	esac
	[ "$word" = again ] || failed=$((failed + 1))
	printf '%-7s %s: the guest ended with %d: %s\n' "$word" "$2" "$1" \
		"$(tail -n 3 "$3")"
}

# $1 topology, $2 vm options, $3 boot parameters, $4... specs
run_guest()
{
	local topo=$1 options=$2 append=$3 name log status=0 start=$SECONDS opts=()

	shift 3
	name=$topo${append:+ ($append)}${options:+ ($options)}
	log=$OUT/$(tr -cs 'a-zA-Z0-9=.\n' '-' <<< "$name$guest_number")$second
	read -ra opts <<< "$options"
	if [ -n "${HT_SCX:-}" ]; then
		opts+=(--env "HT_SCX=$HT_SCX")
	fi
	"${HT_VM:-$HT_ROOT/scripts/vm}" --quiet --kernel "$KERNEL" --topo "$topo" \
		--timeout 600 --log "$log.console.log" --result "$log.json" \
		--append "noautogroup psi=1 $append" "${opts[@]}" -- \
		/bin/bash "$SRC/run_guest.sh" "$BIN" "$@" > "$log.out" 2> "$log.err" ||
		status=$?
	if [ "$status" = 77 ]; then
		skipped=$((skipped + $#))
		skips+=("$name: all: $(tail -n 1 "$log.err")")
		echo "skipped $name: $(tail -n 1 "$log.err")"
		return 0
	fi
	judge_output "$log.out" "$name" "$@"
	sed -n 's/.*\(the host did not run .*\)/        \1/p' "$log.err"
	judge_guest "$status" "$name" "$log.err"
	echo "        $name: $((SECONDS - start)) s in all"
}

# As run_guest(); then, once, what failed in it.
run_guest_twice()
{
	local topo=$1 options=$2 append=$3

	again=() second=0
	run_guest "$@"
	[ ${#again[@]} -gt 0 ] || return 0
	retried+=("${again[@]/#/$topo: }")
	second=1
	run_guest "$topo" "$options" "$append" "${again[@]}"
	second=0
}

run_table()
{
	local topo options append specs wanted

	guest_number=0
	while IFS='|' read -r -u 3 topo options append specs; do
		topo=$(trim "$topo")
		guest_number=$((guest_number + 1))
		[ -z "$TOPO" ] || [ "$TOPO" = "$topo" ] || continue
		mapfile -t wanted < <(wanted_specs "$specs" | awk '!seen[$0]++')
		[ ${#wanted[@]} -gt 0 ] || continue
		run_guest_twice "$topo" "$(trim "$options")" "$(trim "$append")" \
			"${wanted[@]}"
		ran=$((ran + 1))
	done 3< <(table)
}

case ${1:-} in
--list)
	table
	exit 0
	;;
'') ;;
*) usage_die "usage: selftest.sh [--list]  (TESTS= TOPO= KVER= CONFIG= in the environment)" ;;
esac

require_tools make gcc
cd "$HT_ROOT"
mkdir -p "$OUT"
take_lock "$OUT/.lock"
make -s -C "$SRC" OUTPUT="$BIN"
make -s -C "$HT_ROOT/tools/ht"
make -s -C "$HT_ROOT/tools/testing/ht" build/ht-replay
KERNEL=${HT_KERNEL:-$(make -s -C "$HT_ROOT" kernel-path KVER="$KVER" CONFIG="$CONFIG")}
# Not grep -q: it ends at the first match, and the pipe with an error then.
if [ -z "${HT_SCX:-}" ] && table | grep -F scx | cut -d'|' -f4 |
	while read -r specs; do wanted_specs "$specs"; done | grep '^scx' > /dev/null; then
	# Without it the cases that load a scheduler are skipped.
	HT_SCX=$("$HT_ROOT/scripts/scx-simple.sh" "$KVER" "$CONFIG") || HT_SCX=
fi
ran=0
run_table
[ "$ran" -gt 0 ] || usage_die "nothing in the table (--list) matches TESTS=$TESTS TOPO=$TOPO"
if [ ${#retried[@]} -gt 0 ]; then
	echo "Run twice, the second try counts:"
	printf '  %s\n' "${retried[@]}"
fi
if [ ${#skips[@]} -gt 0 ]; then
	echo "Skipped, and why:"
	printf '  %s\n' "${skips[@]}" | sort -u
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]

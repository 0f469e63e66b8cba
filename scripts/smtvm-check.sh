#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Proves the emulated SMT machine (tools/smtvm): that speeds, clocks and timers
# in it are what its model says, whatever the host does meanwhile.
#
# Usage: smtvm-check.sh [-k BZIMAGE] [-s] [-c CPUS]
#   -s        short: once instead of three times, without the largest guests
#   -c CPUS   only boot so many CPUs (2 to a core) and measure each
#
# Medians must be within 1 % of the model, round trips through a pipe within 2 %
# of each other, timers must fire less than a quantum late.
# Last line: N passed, N failed, N skipped.
#
# Exit status: 0 all passed, 1 otherwise, 2 wrong usage.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
runs=3 short='' cpus='' kernel=()
passed=0 failed=0 skipped=0
f2=0.5455 quantum_ns=2000	# the defaults of tools/smtvm/model.c

usage()
{
	sed -n 's/^# \{0,1\}//; /^Usage:/,/^$/p' "$0" >&2
	exit 2
}

while getopts k:sc: opt; do
	case $opt in
	k)	kernel=(--kernel "$OPTARG") ;;
	s)	short=1 runs=1 ;;
	c)	cpus=$OPTARG ;;
	*)	usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# = 0 ] || usage
[[ $cpus =~ ^([1-9][0-9]*)?$ ]] || usage

work=$(mktemp -d)
hogs=()
cleanup()
{
	[ ${#hogs[@]} = 0 ] || kill "${hogs[@]}" 2>/dev/null || :
	rm -rf "$work"
}
trap cleanup EXIT
make -s -C "$top/tools/smtvm" O="$work/bin" >&2
probe=$work/bin/probe

# verdict OK TEXT
verdict()
{
	if [ "$1" = 1 ]; then
		passed=$((passed + 1))
		echo "ok    $2"
	else
		failed=$((failed + 1))
		echo "FAIL  $2"
	fi
}

# guest NAME TOPOLOGY MODEL COMMAND: runs it; the output is in $work/NAME.
guest()
{
	local rc=0

	"$here/vm" ${kernel[@]+"${kernel[@]}"} --quiet --topo "$2" --smtvm="$3" \
		--smtvm-out "$work/$1.json" --append noautogroup --timeout 1200 \
		-- sh -c "$4" > "$work/$1" 2> "$work/$1.err" || rc=$?
	if [ "$rc" = 77 ]; then
		skipped=$((skipped + 1))
		echo "skip  $1: $(tail -1 "$work/$1.err")"
		return 1
	fi
	[ "$rc" = 0 ] || cat "$work/$1.err"
	verdict $((rc == 0)) "$1: runs, console without complaints"
	return "$rc"
}

# Commands for the guest: each set of CPUs, once or several times.
speeds()
{
	local set

	for set in "$@"; do
		echo "echo set $set;"
		seq "$runs" | sed "s|.*|$probe speed $set;|"
	done
}

# The median speed of all CPUs in the set that has this text, in guest NAME.
median_speed()
{
	awk -v set="set $2" '
		/^set / { on = $0 == set }
		on && $1 == "speed" { print $3 }' "$work/$1" | sort -n |
		awk '{ v[NR] = $1 } END { print (NR ? v[int((NR + 1) / 2)] : 0) }'
}

# expect_speed GUEST SET SPEED WHAT
expect_speed()
{
	local is

	is=$(median_speed "$1" "$2")
	verdict "$(awk -v a="$is" -v b="$3" 'BEGIN { d = a / b - 1; print (d < .01 && d > -.01) }')" \
		"$1: $4: speed $is, model $3"
}

# host CPU seconds per guest second from the guest's first mark to its last.
say_cost()
{
	python3 - "$work/$1.json" "$1" <<-'END'
	import json, sys
	marks = [m for m in map(json.loads, open(sys.argv[1])) if m["event"] == "mark"]
	first, last = marks[0], marks[-1]
	guest = (last["v_ns"] - first["v_ns"]) / 1e9
	busy = sum(b["busy_ns"] - a["busy_ns"] for a, b in zip(first["vcpus"], last["vcpus"])) / 1e9
	print(f"      {sys.argv[2]}: {guest:.2f} guest s, {busy:.2f} busy vCPU s; "
	      f"{(last['host_cpu_ns'] - first['host_cpu_ns']) / 1e9 / guest:.1f} host CPU s and "
	      f"{(last['host_ns'] - first['host_ns']) / 1e9 / guest:.1f} host s per guest s")
	END
}

bracketed()
{
	echo "$work/bin/smtvm-mark begin; $1 $work/bin/smtvm-mark end"
}

check_pipes()
{
	local ends values

	for ends in "0 0" "0 1" "0 2"; do
		values=$(awk -v e="pipe $ends" 'index($0, e) == 1 { print $4 }' "$work/$1" | sort -n | xargs)
		verdict "$(awk -v v="$values" 'BEGIN { n = split(v, a, " ");
			print (n > 1 && a[n] <= a[1] * 1.02) }')" \
			"$1: pipe between CPUs ${ends/ / and }: $values ns per round"
	done
}

check_timers()
{
	local worst

	worst=$(awk '$1 == "late" { n++; if ($2 > max) max = $2; if ($2 < 0) bad = 1 }
		END { print (n < 100 || bad ? 999999 : max) }' "$work/$1")
	verdict $((worst < quantum_ns)) "$1: timers fire at most $worst ns late, quantum $quantum_ns"
}

# Signatures per second of each process, in order.
signing_rates()
{
	sed -n 's/^Doing 512 bits private.* for 1s: \([0-9]*\) .* in \([0-9.]*\)s$/\1 \2/p' "$work/$1" |
		awk '{ printf "%.0f ", $1 / $2 }'
}

check_signing()
{
	local rates

	rates=$(signing_rates "$1")
	verdict "$(awk -v v="$rates" 'BEGIN { n = split(v, a, " "); r = (a[2] + a[3]) / 2 / (a[1] + !n);
		print (n == 3 && r > 60 / 110 * .99 && r < 60 / 110 * 1.01) }')" \
		"$1: openssl rsa512 alone, and two on siblings: $rates per second, model 110 : 60"
}

# Three times of `probe walk $1`, each the median of three: an interrupt in one of
# the short reads can take longer than the read.
medians_of_walks()
{
	sed -n "s/^walk $1 //p" "$work/caches" | awk '
		{ for (i = 1; i <= 3; i++) v[i, NR] = $i }
		function least(a, b) { return a < b ? a : b }
		function most(a, b) { return a < b ? b : a }
		function median(i,  a, b, c) {
			a = v[i, 1] + 0; b = v[i, 2] + 0; c = v[i, 3] + 0
			return most(least(a, b), least(most(a, b), c))
		}
		END { if (NR == 3) print median(1), median(2), median(3) }'
}

# The caches: a neighbour on the sibling evicts, one on another core does not;
# a task that moves to another core refills. Starting and reaping the neighbour
# takes kernel work on this core, which evicts a part of the data (37 to 98 us for
# what takes 33 warm and 600 cold).
check_caches()
{
	local beside apart

	guest caches 1x2x2 cache=on \
		"for i in 1 2 3; do $probe walk 0 1; $probe walk 0 2; done" || return 0
	beside=$(medians_of_walks "0 1")
	apart=$(medians_of_walks "0 2")
	verdict "$(awk -v v="$beside" 'BEGIN { split(v, a, " ");
		print (a[1] > 0 && a[2] > 4 * a[1] && a[3] < 2 * a[1]) }')" \
		"caches: warm, after the sibling streamed, moved to the sibling: $beside ns"
	verdict "$(awk -v v="$apart" 'BEGIN { split(v, a, " ");
		print (a[1] > 0 && a[2] < 4 * a[1] && a[3] > 4 * a[1]) }')" \
		"caches: warm, after another core streamed, moved to that core: $apart ns"
}

start_hogs()
{
	while [ ${#hogs[@]} -lt 4 ]; do
		sh -c 'while :; do :; done' &
		hogs+=($!)
	done
}

stop_hogs()
{
	kill "${hogs[@]}" 2>/dev/null || :
	wait "${hogs[@]}" 2>/dev/null || :
	hogs=()
}

four_speeds()
{
	expect_speed "$1" "0" 1 "one task alone"
	expect_speed "$1" "0 1" $f2 "two on siblings"
	expect_speed "$1" "0 2" 1 "two on separate cores"
	expect_speed "$1" "0 1 2 3" $f2 "four on two cores"
}

two_cores()
{
	local sign='openssl speed -seconds 1 rsa512' load

	load="$(speeds "0" "0 1" "0 2" "0 1 2 3")"
	for ends in "0 0" "0 1" "0 2"; do
		load+=" $probe pipe $ends; $probe pipe $ends; $probe pipe $ends;"
	done
	load+=" $probe timer 0; cd /tmp; taskset -c 0 $sign 2>&1;"
	load+=" taskset -c 1 $sign > 1 2>&1 & taskset -c 0 $sign > 0 2>&1; wait; cat 0 1;"
	if guest two-cores 1x2x2 "" "$(bracketed "$load")"; then
		four_speeds two-cores
		check_pipes two-cores
		check_timers two-cores
		check_signing two-cores
		say_cost two-cores
	fi
}

loaded_host()
{
	start_hogs
	if guest loaded-host 1x2x2 "" "$(bracketed "$(speeds "0" "0 1" "0 2" "0 1 2 3")")"; then
		four_speeds loaded-host
		say_cost loaded-host
	fi
	stop_hogs
}

other_cores()
{
	if guest smt4 1x1x4 "f2=$f2,f3=0.4,f4=0.3" "$(speeds "0" "0 1" "0 1 2" "0 1 2 3")"; then
		expect_speed smt4 "0 1" $f2 "two of four threads"
		expect_speed smt4 "0 1 2" 0.4 "three"
		expect_speed smt4 "0 1 2 3" 0.3 "four"
	fi
	if guest twice-as-fast 1x1x2 "ips=2e9" "$(speeds "0" "0 1")"; then
		expect_speed twice-as-fast "0" 2 "2e9 instructions per second"
		expect_speed twice-as-fast "0 1" 1.0909 "two on siblings"
	fi
	if guest uneven one-thread-core "" "lscpu -e=CPU,CORE; $(speeds "0")"; then
		uneven_siblings
	fi
}

# All CPUs busy: one on a core of its own runs at full speed.
uneven_siblings()
{
	local lone all

	lone=$(awk '$1 ~ /^[0-9]+$/ { n[$2]++; cpu[$2] = $1 }
		END { for (c in n) if (n[c] == 1) print cpu[c] }' "$work/uneven" | head -1)
	all=$(awk '$1 ~ /^[0-9]+$/ { print $1 }' "$work/uneven" | xargs)
	guest uneven-busy one-thread-core "" "echo set all; $probe speed $all" || return 0
	verdict "$(awk -v lone="$lone" '
		$1 == "speed" { want = $2 == lone ? 1 : .5455; d = $3 / want - 1; n++
			bad += d > .01 || d < -.01 }
		END { print (n > 2 && !bad) }' "$work/uneven-busy")" \
		"uneven-busy: only CPU $lone, alone on its core, runs at full speed"
}

# $1 CPUs, two to a core, all busy.
many()
{
	local name=cpus-$1 list start=$SECONDS

	list=$(seq 0 $(($1 - 1)) | xargs)
	guest "$name" "1x$(($1 / 2))x2" "" "$(bracketed "echo set $list; $probe speed $list;")" || return 0
	expect_speed "$name" "$list" $f2 "all busy"
	say_cost "$name"
	echo "      $name: boot and all $((SECONDS - start)) s on this host"
}

if [ -n "$cpus" ]; then
	many "$cpus"
else
	two_cores
	loaded_host
	other_cores
	check_caches
	many 2
	many 8
	[ -n "$short" ] || many 16
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]

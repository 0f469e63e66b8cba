#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# The demonstration: from a fresh Debian to a table in one command.
#
# Usage: demo.sh [-r REPETITIONS] [-s SECONDS] [-o DIR] [-k BZIMAGE] [-p POLICY]... [-n]
#
#	-r REPETITIONS	runs with 2 processes, and of three of which one ends, under
#			each policy (default 10)
#	-s SECONDS	length of each phase of openssl speed (default 1)
#	-o DIR		where results go (default out/demo)
#	-k BZIMAGE	boot this kernel instead of building one
#	-p POLICY	normal or ht; may be repeated (default both)
#	-n		do not install packages
#
# Installs the packages that are missing, builds the kernel (make kernel), boots
# it in QEMU with 2 cores of 2 threads, runs S1 (`openssl speed rsa512` with 1
# to 4 processes) under SCHED_NORMAL and SCHED_HT, and prints for each run the
# signing rates and whether two processes shared a core while the other idled;
# then what becomes of two that share a core when the other core's task ends.
#
# Environment: KVER, CONFIG as for make kernel.
#
# Exit status: 0 if all ran and SCHED_HT with 2 processes kept INV-2; 1
# otherwise; 2 for wrong usage.
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

here=$HT_ROOT/scripts
top=$HT_ROOT

repetitions=10 seconds=1 out=$top/out/demo kernel='' policies=() install=yes
KVER=${KVER:-6.12}
CONFIG=${CONFIG:-base}

usage()
{
	sed -n 's/^# \{0,1\}//; /^Usage:/,/^Environment/p' "$0" >&2
	exit 2
}

# What happens now, with the time since the start before it.
step()
{
	printf '[%3d:%02d] %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*"
}

is_number()
{
	[[ $1 =~ ^[1-9][0-9]{0,3}$ ]]
}

while getopts r:s:o:k:p:nh opt; do
	case $opt in
	r)	repetitions=$OPTARG ;;
	s)	seconds=$OPTARG ;;
	o)	out=$OPTARG ;;
	k)	kernel=$OPTARG ;;
	p)	policies+=("$OPTARG") ;;
	n)	install=no ;;
	*)	usage ;;
	esac
done
shift $((OPTIND - 1))
if [ $# -gt 0 ] || ! is_number "$repetitions" || ! is_number "$seconds"; then
	usage
fi
[ ${#policies[@]} -gt 0 ] || policies=(normal ht)
for policy in "${policies[@]}"; do
	case $policy in
	normal | ht) ;;
	*)	usage ;;
	esac
done

prepare()
{
	if [ $install = yes ]; then
		step "packages"
		"$here/deps.sh" "$KVER" kernel demo
	fi
	if [ -z "$kernel" ]; then
		step "kernel $KVER (make kernel): up to 15 minutes the first time, on 2 cores"
		kernel=$(make -s -C "$top" kernel-path KVER="$KVER" CONFIG="$CONFIG")
	fi
	step "htctl"
	make -s -C "$top/tools/ht"
}

# A table must never mix two recordings; nothing but recordings is deleted.
clear_out()
{
	mkdir -p "$out"
	if [ -n "$(ls -A -I .lock "$out")" ] && [ ! -e "$out/machine.txt" ]; then
		die "$out is not empty and holds no recording of the demonstration"
	fi
	take_lock "$out/.lock"
	rm -rf "$out"/{normal,ht}-*-* "$out"/{machine.txt,topology.txt,results.json,table.txt}
}

# openssl speed rsa512 signs and verifies; from 3.2 on it does ten such things.
phases()
{
	case $(openssl version) in
	"OpenSSL 3."[01].*) echo 2 ;;
	*) echo 10 ;;
	esac
}

measure()
{
	local runs=$((${#policies[@]} * (2 * repetitions + 3)))
	local estimate=$((runs * ($(phases) * seconds + 4) / 60 + 1))

	clear_out
	step "booting 2 cores x 2 threads for $runs runs: about $estimate minutes"
	"$here/vm" --kernel "$kernel" --smp 1,2,2 --mem 1024 --rw "$out" \
		--timeout $((estimate * 60 * 5)) -- \
		"$here/demo-guest.sh" "$out" "$top/tools/ht/build/htctl" \
		"$repetitions" "$seconds" "${policies[@]}"
}

report()
{
	local check=() status=0

	[[ " ${policies[*]} " != *' ht '* ]] || check=(--check)
	echo
	"$here/demo-report" "${check[@]}" --json "$out/results.json" "$out" |
		tee "$out/table.txt" || status=1
	echo
	step "raw recordings and the table are in $out"
	return $status
}

prepare
measure
report

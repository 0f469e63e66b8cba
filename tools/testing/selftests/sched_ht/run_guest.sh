#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The guest's half of selftest.sh: runs programs one after the other.
#
# usage: run_guest.sh DIR SPEC...
#   DIR    where the programs are
#   SPEC   a program with its arguments, as one word: "unshare -r 5 released_pair"
#          with "fault=NAME " in front: with that fault switched on;
#          a path with a slash is seen from the working directory
#
# Around the output of each there is a line
#	## begin SPEC
#	## end STATUS SECONDS SPEC
# A program that hangs is the last one, unless a fault is switched on.
# exit: 0 all passed or skipped; 1 some failed; 5 one hung
set -uo pipefail

faults=/sys/kernel/debug/sched_ht/fault

set_fault()
{
	[ -e "$faults" ] || mount -t debugfs debugfs /sys/kernel/debug
	if ! echo "$1" > "$faults"; then
		echo "# fault switch $1: refused"
		return 1
	fi
}

# At CPU offline 6.12.y stops fair's deadline server whether it is active or
# not; an idle one's bandwidth is subtracted twice, and the kernel warns. That
# has nothing to do with SCHED_HT, so tests of hotplug go without the servers.
fair_servers()
{
	local file

	for file in /sys/kernel/debug/sched/fair_server/cpu*/runtime; do
		[ ! -e "$file" ] || echo "$1" > "$file"
	done
}

run_spec()
{
	local spec=$1 fault='' words start=$SECONDS status

	echo "## begin $spec"
	read -ra words <<< "$spec"
	if [[ ${words[0]} == fault=* ]]; then
		fault=${words[0]#fault=}
		words=("${words[@]:1}")
	fi
	if [ -n "$fault" ] && ! set_fault "$fault"; then
		echo "## end 3 0 $spec"
		return 3
	fi
	case ${words[0]} in
	hotplug | churn) fair_servers 0 ;;
	esac
	[[ ${words[0]} == */* ]] || words[0]=$dir/${words[0]}
	"${words[@]}" < /dev/null
	status=$?
	case ${words[0]##*/} in
	hotplug | churn) fair_servers 50000000 ;;
	esac
	[ -z "$fault" ] || set_fault none
	echo "## end $status $((SECONDS - start)) $spec"
	return $status
}

dir=$1
shift
result=0
for spec in "$@"; do
	run_spec "$spec"
	case $? in
	0 | 4) ;;
	5)
		[[ $spec == fault=* ]] || exit 5
		result=1
		;;
	*) result=1 ;;
	esac
done
exit $result

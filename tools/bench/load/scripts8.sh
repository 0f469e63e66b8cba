#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Shell scripts, 8 at once: each starts a few short programs on a small file.
#
# usage: scripts8.sh TIMES        runs the 8 TIMES times
#        scripts8.sh one NAME     one of them, with scratch files called NAME
#
# The working directory is scratch; programs, sh among them, come by PATH.
set -e

one()
{
	sort "$0" > "$1.sorted"
	grep -c e "$1.sorted" > "$1.count"
	od -t x1 "$1.sorted" | tr -s ' ' '\n' | sort | uniq -c | tail -n 3 > "$1.bytes"
	rm -f "$1.sorted" "$1.count" "$1.bytes"
}

if [ "$1" = one ]; then
	one "$2"
	exit
fi
round=0
while [ "$round" -lt "$1" ]; do
	round=$((round + 1))
	for i in 1 2 3 4 5 6 7 8; do
		sh "$0" one "scratch.$i" &
	done
	wait
done

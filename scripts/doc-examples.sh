#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs the examples of the documentation, so that they stay true.
#
# Usage: doc-examples.sh [-l] [FILE]...	(default: README and all documentation)
#	-l	list the examples instead of running them
#
# An example is a block of shell marked with where it runs:
#	Markdown	<!-- example: KIND -->		before a fenced block
#	reST		.. example: KIND		before a "::" block
#	roff		.\" example: KIND		before .EX and .EE
# KIND is "anywhere", or "sched_ht" for those that need a kernel with the policy
# and root; without, these are skipped. Run it in the virtual machine to have
# them too:
#	scripts/vm -- scripts/doc-examples.sh
#
# Ends with a line "N passed, N failed, N skipped"; exit status 1 if any failed.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
htctl_dir=${HTCTL_DIR:-$top/tools/ht/build}
limit=120
list=no

if [ "${1:-}" = -l ]; then
	list=yes
	shift
fi
if [ $# -gt 0 ]; then
	files=("$@")
else
	mapfile -t files < <(cd "$top" && find README.md Documentation -name '*.md' \
		-o -name '*.rst' -o -name '*.[1-8]' | sort)
	cd "$top"
fi

# Writes each example of file $1 to $2/LINE.KIND.
extract()
{
	awk -v dir="$2" '
	function start(kind_line) {
		kind = kind_line
		sub(/.*example: */, "", kind)
		sub(/[^a-z_].*/, "", kind)
		out = dir "/" NR "." kind
		state = "marked"
	}
	function finish() { close(out); state = "" }

	/^(<!--|\.\.|\.\\") example: / { start($0); next }
	state == "marked" && /^(```|\.EX|::)/ {
		style = substr($0, 1, 2); state = "in"; printf "" > out; next
	}
	state != "in" { next }
	style == "``" && /^```/ { finish(); next }
	style == ".E" && /^\.EE/ { finish(); next }
	style == "::" && /^[^ \t]/ { finish(); next }
	style == ".E" { gsub(/\\-/, "-"); gsub(/\\e/, "\\") }
	{ print > out }
	' "$1"
}

have_sched_ht()
{
	"$htctl_dir/htctl" run -- true 2>/dev/null && [ "$(id -u)" = 0 ]
}

passed=0 failed=0 skipped=0

run_example()
{
	local name=$1 script=$2 kind=$3 log

	if [ "$kind" = sched_ht ] && [ $runs_sched_ht = no ]; then
		skipped=$((skipped + 1))
		echo "skip $name (needs root and a kernel with SCHED_HT)"
		return
	fi
	log=$script.log
	if (cd "$work" && PATH=$htctl_dir:$PATH timeout $limit bash -euo pipefail "$script") \
			>"$log" 2>&1 </dev/null; then
		passed=$((passed + 1))
		echo "ok   $name"
	else
		failed=$((failed + 1))
		echo "FAIL $name"
		sed 's/^/     | /' "$script" "$log"
	fi
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
runs_sched_ht=no
[ $list = yes ] || ! have_sched_ht || runs_sched_ht=yes

for file in "${files[@]}"; do
	dir=$work/$(echo "$file" | tr / _)
	mkdir "$dir"
	extract "$file" "$dir"
	mapfile -t examples < <(find "$dir" -type f | sort -V)
	for example in "${examples[@]}"; do
		base=$(basename "$example")
		if [ $list = yes ]; then
			echo "== $file:${base%.*} (${base#*.})"
			cat "$example"
		else
			run_example "$file:${base%.*}" "$example" "${base#*.}"
		fi
	done
done
[ $list = yes ] || echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]

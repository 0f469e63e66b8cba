#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Branch coverage of the policy by the host tests, and of its neighbours for
# information. Fails if a branch of ht_policy.c is never taken.
#
# usage: coverage.sh BUILD_DIR	(CC in the environment, gcc by default)
set -euo pipefail

out=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
kernel=$here/../../../kernel/sched
lib=$here/../../lib/ht
cc=${CC:-gcc}
flags=(-std=gnu11 -g -O0 -D_GNU_SOURCE "-I$kernel" "-I$lib" "-I$here")

cd "$out"
rm -f -- *.gcda *.gcno *.gcov
for src in "$kernel"/ht_{policy,price,check,layout}.c; do
	"$cc" "${flags[@]}" --coverage -c -o "$(basename "$src" .c).o" "$src"
done
for src in "$here"/{main,gen,test_*}.c "$lib"/*.c; do
	"$cc" "${flags[@]}" -c -o "$(basename "$src" .c).o" "$src"
done
"$cc" --coverage -o ht-test ./*.o -ljansson
./ht-test "$here" >test.log || { cat test.log; exit 1; }

# Branches of one file: "taken total".
branches() {
	gcov -b -c -p -o . "$1.o" >/dev/null 2>&1
	local report
	report=$(ls -- *"$1.c.gcov")
	awk '/^branch / { total++; taken += $3 == "taken" && $4 + 0 > 0 }
	     END { print taken + 0, total + 0 }' "$report"
}

status=0
for file in ht_policy ht_check ht_layout; do
	read -r taken total < <(branches "$file")
	printf '%-12s %4d of %4d branches taken, %5.1f %%\n' "$file.c" \
		"$taken" "$total" \
		"$(awk -v a="$taken" -v b="$total" 'BEGIN { print b ? 100 * a / b : 0 }')"
	if [[ $file == ht_policy && ($taken -ne $total || $total -eq 0) ]]; then
		status=1
		awk '/^ *[0-9#=-]+\*?:/ { line = $0 }
		     /^branch / && !($3 == "taken" && $4 + 0 > 0) {
			print line
			print
		     }' \
			./*ht_policy.c.gcov
	fi
done
if ((status)); then
	echo "coverage: ht_policy.c has branches that no test takes" >&2
fi
exit "$status"

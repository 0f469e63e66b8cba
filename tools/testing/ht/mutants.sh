#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Build every broken policy of mutants.c in place of the real one and run the
# host tests on it. Each must turn them red; the unbroken wrapper must not.
#
# usage: mutants.sh BUILD_DIR OBJECT...	(CC, CFLAGS in the environment)
# Prints a table (what caught it: failures by suite) and the line
# "N passed, N failed, N skipped", where passed means caught.
set -euo pipefail

out=$(realpath "$1")
shift
here=$(dirname "$(realpath "$0")")
cc=${CC:-gcc}
read -r -a flags <<<"${CFLAGS:-}"
passed=0
failed=0

build() {
	"$cc" "${flags[@]}" ${1:+"-D$1"} -c -o "$out/mutant.o" "$here/mutants.c"
	"$cc" -fsanitize=address,undefined -o "$out/ht-test" "${objects[@]}" \
		"$out/mutant.o" -ljansson
}

# Failures by suite, "tables 12 random 5", from the log.
caught_by() {
	awk '/^FAIL: / { split($2, part, ":"); n[part[1]]++ }
	     /^SUMMARY: / { n["sanitizer"]++ }
	     END { for (suite in n) printf "%s %d  ", suite, n[suite] }' "$1"
}

# A healthy suite must pass, a broken policy must not.
judge() {
	local name=$1 want=$2 status=0 log=$out/$1.log
	HT_ROUNDS=${HT_ROUNDS:-1500} timeout 60 "$out/ht-test" "$here" \
		tables words price random >"$log" 2>&1 || status=$?
	if [[ $( ((status)) && echo red || echo green) == "$want" ]]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		name="$name (WRONG)"
	fi
	printf '%-28s %-6s %s\n' "$name" \
		"$([[ $status -eq 0 ]] && echo green || echo red)" \
		"$(caught_by "$log")"
}

objects=("$@")
printf '%-28s %-6s %s\n' MUTANT TESTS 'FAILURES BY SUITE'
build ""
judge none green
mapfile -t names < <(sed -n 's/^#ifdef \(HT_MUTANT_[A-Z_]*\)$/\1/p' "$here/mutants.c")
for name in "${names[@]}"; do
	build "$name"
	judge "${name#HT_MUTANT_}" red
done
echo "$passed passed, $failed failed, 0 skipped"
((failed == 0))

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Static checks, each file or tool one verdict: checkpatch --strict on our
# kernel files and the hooks, sparse, kernel-doc, shellcheck, the hook budget.
#
# usage: scripts/lint.sh [KVER]
# exit: 0 clean; 1 not; 2 usage
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

KVER=${1:-6.12}
PASSED=0 FAILED=0 SKIPPED=0

# What checkpatch asks for that an overlay cannot or need not have: a
# MAINTAINERS entry of the kernel's, sign-offs and commit ids.
CHECKPATCH_IGNORE=FILE_PATH_CHANGES,MISSING_SIGN_OFF,NO_AUTHOR_SIGN_OFF,FROM_SIGN_OFF_MISMATCH,EMAIL_SUBJECT

# Runs "$@" (after a name); silent when it succeeds.
step()
{
	local name=$1 out

	shift
	if out=$("$@" 2>&1); then
		PASSED=$((PASSED + 1))
	else
		FAILED=$((FAILED + 1))
		echo "FAIL $name"
		echo "$out" | head -60 | sed 's/^/    /'
	fi
}

checkpatch()
(
	# It leaves a file of names in its working directory, if that is git's.
	cd "$WORK"
	perl "$PRISTINE/scripts/checkpatch.pl" --root="$PRISTINE" --strict \
		--terse --quiet --no-summary --show-types \
		--ignore "$CHECKPATCH_IGNORE" "$@"
)

# By standard input: a file that git tracks it would take for source code. The
# class's places in the linker script and in sched_init() are lines like those
# of the other classes.
checkpatch_hook()
{
	local out

	out=$(checkpatch - < "$1") || true
	echo "$out" | awk '
		NR == FNR { line[FNR] = $0; next }
		{ split($0, part, ":"); at = line[part[2]] }
		/CHECK:SPACING/ && at ~ /^\+\t\*\(__ht_sched_class\)/ { next }
		/WARNING:AVOID_BUG/ && at ~ /BUG_ON\(!sched_class_above/ { next }
		/./ { print; bad = 1 }
		END { exit bad }' "$1" -
}

# Tracepoints have a layout of their own, which checkpatch does not know.
checkpatch_source()
{
	case $1 in
	include/trace/*) checkpatch --ignore \
		"$CHECKPATCH_IGNORE,OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT" -f "$HT_ROOT/$1" ;;
	*) checkpatch -f "$HT_ROOT/$1" ;;
	esac
}

kernel_sources()
{
	overlay_files | grep -E '^(kernel|include)/.*\.[ch]$'
}

kernel_doc()
{
	local out

	out=$(perl "$PRISTINE/scripts/kernel-doc" -none -Werror "$1" 2>&1) || true
	echo "$out" | grep -vE '^$|no structured comments found' | grep . && return 1
	return 0
}

# Sparse through kbuild, in the tree that the base kernel is built in anyway:
# only what it says about our files counts.
sparse_ours()
{
	local tree log out

	tree=$("$HT_ROOT/scripts/kernel.sh" configure "$KVER" base) || return 1
	log=$(mktemp)
	(
		take_lock "$tree.lock"
		kernel_make "$tree" "-j$HT_JOBS" C=2 CHECK=sparse kernel/sched/
	) > "$log" 2>&1 || { tail -20 "$log"; rm -f "$log"; return 1; }
	out=$(grep -E '(^|/)((ht|ht_[a-z_]*|topology_ht)\.[ch]):[0-9]+.*(warning|error):' "$log") || true
	rm -f "$log"
	echo "$out"
	[ -z "$out" ]
}

shell_scripts()
{
	(cd "$HT_ROOT" && git ls-files -co --exclude-standard) | while IFS= read -r f; do
		[ -f "$HT_ROOT/$f" ] || continue
		if [[ $f == *.sh ]] || head -c 64 "$HT_ROOT/$f" | head -1 | tr -d '\0' |
				grep -qE '^#!.*\b(ba|da)?sh\b'; then
			echo "$f"
		fi
	done
}

spdx_missing()
{
	local out

	out=$( (cd "$HT_ROOT" && git ls-files -co --exclude-standard) | while IFS= read -r f; do
		case $f in
		COPYING | LICENSE* | *.patch | *.json | *.svg | *.png | *.out | *.txt) continue ;;
		*/corpus/* | */expected/* | */fixtures/* | */tests/report/* | *.tree) continue ;;
		esac
		[ -f "$HT_ROOT/$f" ] || continue
		head -5 "$HT_ROOT/$f" | grep -q SPDX-License-Identifier || echo "$f"
	done)
	echo "$out"
	[ -z "$out" ]
}

require_kver "$KVER"
require_tools git perl sparse shellcheck
PRISTINE=$(pristine_tree "$KVER")
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
cd "$HT_ROOT"

while IFS= read -r f; do
	step "checkpatch $f" checkpatch_source "$f"
	step "kernel-doc $f" kernel_doc "$f"
done < <(kernel_sources)
while IFS= read -r p; do
	step "checkpatch $(basename "$p")" checkpatch_hook "$p"
done < <(hook_patches "$KVER")
step "SPDX line in each file" spdx_missing
step "sparse" sparse_ours
while IFS= read -r f; do
	step "shellcheck $f" shellcheck -x "$f"
done < <(shell_scripts)
step "hook budget" "$HT_ROOT/scripts/hooks-check.sh" "$KVER"
echo "$PASSED passed, $FAILED failed, $SKIPPED skipped"
[ "$FAILED" = 0 ]

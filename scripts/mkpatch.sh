#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Writes out/sched-ht-KVER.patch: the class, its documentation and selftests
# and the hooks, in one file that `git am` and `patch -p1` both take, and
# tries both on pristine source.
#
# usage: scripts/mkpatch.sh [KVER]
# exit: 0 written and applies; 1 not; 2 usage
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

KVER=${1:-6.12}

git_in()
{
	local repo=$1

	shift
	git -C "$repo" -c user.name=sched_ht -c user.email=sched_ht@localhost \
		-c core.autocrlf=false -c commit.gpgsign=false -c gc.auto=0 "$@"
}

# Author and date are the last commit's, so that one checkout makes one patch.
release_identity()
{
	local author date

	author=$(git -C "$HT_ROOT" log -1 --format='%an <%ae>' 2>/dev/null) || author=
	date=$(git -C "$HT_ROOT" log -1 --format=%aI 2>/dev/null) || date=
	AUTHOR=${author:-sched_ht <sched_ht@localhost>}
	DATE=${date:-1970-01-01T00:00:00Z}
	export GIT_COMMITTER_DATE=$DATE
	REVISION=$(git -C "$HT_ROOT" describe --always --dirty 2>/dev/null || echo unknown)
}

message()
{
	cat <<-END
		sched/ht: Add an SMT-aware scheduling class

		A task that chooses SCHED_HT (policy 8) is given an idle physical core
		before an idle thread of a busy one, and leaves a shared core as soon as
		a whole core becomes idle. Tasks of other policies keep their share of
		each CPU. CONFIG_SCHED_HT_AWARE switches it on; see
		Documentation/scheduler/ and the help text of the option.

		For Debian's linux-source-$KVER; made from revision $REVISION.
	END
}

# A repository of the files that the hooks touch, as they are in pristine.
baseline_repo()
{
	local repo=$1 file

	git init -q "$repo"
	while IFS= read -r file; do
		[ -f "$PRISTINE/$file" ] || continue
		mkdir -p "$repo/$(dirname "$file")"
		cp "$PRISTINE/$file" "$repo/$file"
	done < <(cd "$WORK/stage" && find . -type f -printf '%P\n')
	git_in "$repo" add -A -f
	git_in "$repo" commit -q --allow-empty -m "linux-source-$KVER" \
		--date "$DATE" --author "$AUTHOR"
}

write_patch()
{
	baseline_repo "$WORK/repo"
	cp -r "$WORK/stage/." "$WORK/repo/"
	git_in "$WORK/repo" add -A -f
	message | git_in "$WORK/repo" commit -q -F - --date "$DATE" --author "$AUTHOR"
	git_in "$WORK/repo" format-patch -1 --stdout --no-signature \
		--stat=80 --zero-commit > "$OUT"
}

same_as_stage()
{
	local tree=$1 file

	while IFS= read -r file; do
		cmp -s "$WORK/stage/$file" "$tree/$file" ||
			die "$2 gave another $file than the overlay and hooks do"
	done < <(cd "$WORK/stage" && find . -type f -printf '%P\n')
}

try_patch()
{
	cp -al "$PRISTINE" "$WORK/tree"
	patch -d "$WORK/tree" -p1 -F0 -s < "$OUT" ||
		die "patch -p1 refuses $OUT"
	same_as_stage "$WORK/tree" "patch -p1"
}

try_git_am()
{
	baseline_repo "$WORK/am"
	git_in "$WORK/am" am -q "$OUT" || die "git am refuses $OUT"
	same_as_stage "$WORK/am" "git am"
}

require_kver "$KVER"
require_tools git patch
PRISTINE=$(pristine_tree "$KVER")
# In the cache, since hard links do not cross file systems.
WORK=$(mktemp -d "$HT_CACHE/stage.XXXXXX")
trap 'rm -rf "$WORK"' EXIT
OUT=$HT_ROOT/out/sched-ht-$KVER.patch
mkdir -p "$HT_ROOT/out" "$WORK/stage"
release_identity
stage_changes "$WORK/stage" "$KVER" "$PRISTINE"
write_patch
try_patch
try_git_am
note "takes patch -p1 and git am: $(patch_numstat "$OUT" | wc -l) files, $(wc -l < "$OUT") lines"
echo "out/$(basename "$OUT")"

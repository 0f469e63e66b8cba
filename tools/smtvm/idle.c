// SPDX-License-Identifier: GPL-2.0
/*
 * Whether QEMU's worker threads are doing something: a file that the guest
 * reads over 9p, say. Idle time must not be skipped meanwhile, or the guest
 * would see a read of some microseconds last until its next timer.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "qemu_abi.h"
#include "smtvm.h"

#define MAX_THREADS	512

/* Files that tell which system call each other thread sleeps in. */
static int calls[MAX_THREADS];
static int nr_calls;

/* A thread that waits in one of these waits for work. */
static bool waits(long call)
{
	return call == SYS_futex || call == SYS_ppoll || call == SYS_poll ||
	       call == SYS_rt_sigtimedwait;
}

static bool busy(int fd)
{
	char text[32];
	ssize_t len = pread(fd, text, sizeof(text) - 1, 0);

	if (len <= 0)
		return false;	/* has just ended */
	text[len] = '\0';
	return !strncmp(text, "running", 7) || !waits(strtol(text, NULL, 10));
}

static void open_thread(int dir, const char *tid)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "%s/syscall", tid);
	fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		calls[nr_calls++] = fd;
}

/* All threads but the calling one. */
static void open_threads(DIR *tasks)
{
	const struct dirent *e;
	long self = syscall(SYS_gettid);

	while (nr_calls)
		close(calls[--nr_calls]);
	rewinddir(tasks);
	while ((e = readdir(tasks)) && nr_calls < MAX_THREADS) {
		if (e->d_name[0] != '.' && atol(e->d_name) != self)
			open_thread(dirfd(tasks), e->d_name);
	}
}

/*
 * Called by the main loop's thread, before each skip. Threads come and go seldom;
 * the directory's link count tells.
 */
bool smtvm_workers_busy(void)
{
	static DIR *tasks;
	static nlink_t known;
	struct stat st;

	if (!tasks)
		tasks = opendir("/proc/self/task");
	if (!tasks || fstat(dirfd(tasks), &st))
		return false;
	if (st.st_nlink != known)
		open_threads(tasks);
	known = st.st_nlink;
	for (int i = 0; i < nr_calls; i++) {
		if (busy(calls[i]))
			return true;
	}
	return false;
}

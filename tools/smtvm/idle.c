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
#include <sys/syscall.h>
#include <unistd.h>

#include "qemu_abi.h"
#include "smtvm.h"

/* A thread that waits in one of these waits for work. */
static bool waits(long call)
{
	return call == SYS_futex || call == SYS_ppoll || call == SYS_poll ||
	       call == SYS_rt_sigtimedwait;
}

/* The system call that a thread sleeps in, -1 if it runs. */
static long syscall_of(int dir, const char *tid)
{
	char path[300], text[64];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "%s/syscall", tid);
	fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return SYS_futex;	/* has just ended */
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0)
		return SYS_futex;
	text[len] = '\0';
	return strncmp(text, "running", 7) ? strtol(text, NULL, 10) : -1;
}

/* Called by the main loop's thread, which is busy asking. */
bool smtvm_workers_busy(void)
{
	static DIR *tasks;
	const struct dirent *e;
	long self = syscall(SYS_gettid);
	bool busy = false;

	if (!tasks)
		tasks = opendir("/proc/self/task");
	if (!tasks)
		return false;
	rewinddir(tasks);
	while (!busy && (e = readdir(tasks))) {
		if (e->d_name[0] == '.' || atol(e->d_name) == self)
			continue;
		busy = !waits(syscall_of(dirfd(tasks), e->d_name));
	}
	return busy;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * First process of a guest that scripts/vm boots.
 *
 * Makes the host's files the root (read-only 9p under a tmpfs overlay), mounts
 * what programs expect, tells the host which topology the kernel sees, waits
 * for its approval, runs one command and reports how it ended. Output and
 * verdict travel by virtio-serial ports, never by the console:
 *
 *   ht.out, ht.err  the command's output; ht.in its input, if asked for
 *   ht.ctl          lines. guest: hello, cpus, cpu, smt, ready, started,
 *                   exit CODE OUT ERR, fail TEXT.  host: go, bye, dump
 *
 * /ht.conf in the initramfs says what to do: NUL-terminated KEY=VALUE strings.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define MAX_ITEMS	4096
#define PORT_WAIT_MS	20000

enum port { PORT_CTL, PORT_OUT, PORT_ERR, PORT_IN, NR_PORTS };

static const char *const port_names[NR_PORTS] = {
	"ht.ctl", "ht.out", "ht.err", "ht.in"
};

static struct {
	char *argv[MAX_ITEMS + 1];
	char *envp[MAX_ITEMS + 1];
	char *rw[MAX_ITEMS + 1];
	int nr_argv, nr_envp, nr_rw;
	const char *cwd;
	const char *cgroup;
	bool with_stdin;
	bool tty;
	int rows, cols;
} conf;

static int ports[NR_PORTS] = { -1, -1, -1, -1 };
static unsigned long long sent[2];

/* Ends */

static void __attribute__((noreturn)) restart(void)
{
	sync();
	/* QEMU runs with -no-reboot: this ends it. */
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static void write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return;
		if (n > 0) {
			data += n;
			len -= n;
		}
	}
}

static void kmsg(const char *text)
{
	int fd = open("/dev/kmsg", O_WRONLY);
	char line[1100];

	if (fd < 0)
		return;
	/* One write is one record. */
	snprintf(line, sizeof(line), "vm-init: %s\n", text);
	write_all(fd, line, strlen(line));
	close(fd);
}

static void __attribute__((format(printf, 1, 2))) tell(const char *fmt, ...)
{
	char line[4096];
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(line, sizeof(line) - 1, fmt, args);
	va_end(args);
	if (len > (int)sizeof(line) - 2)
		len = sizeof(line) - 2;
	line[len++] = '\n';
	write_all(ports[PORT_CTL], line, len);
}

static void __attribute__((noreturn, format(printf, 1, 2)))
fail(const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	kmsg(text);
	if (ports[PORT_CTL] >= 0) {
		tell("fail %s", text);
		/* Let the host read it before the device goes away. */
		usleep(200 * 1000);
	}
	restart();
}

/* Small files */

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok;

	if (fd < 0)
		return false;
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok;
}

/* First line of a file into buf, or what to say instead. */
static const char *get(char *buf, size_t size, const char *missing,
		       const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static const char *get(char *buf, size_t size, const char *missing,
		       const char *fmt, ...)
{
	char path[512];
	va_list args;
	ssize_t n;
	int fd;

	va_start(args, fmt);
	vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, buf, size - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return missing;
	buf[n] = 0;
	buf[strcspn(buf, "\n")] = 0;
	return buf;
}

/* Configuration */

static void add_item(char **list, int *nr, char *value)
{
	if (*nr >= MAX_ITEMS)
		fail("more than %d arguments or variables", MAX_ITEMS);
	list[(*nr)++] = value;
}

static void take_setting(char *key, char *value)
{
	if (!strcmp(key, "arg"))
		add_item(conf.argv, &conf.nr_argv, value);
	else if (!strcmp(key, "env"))
		add_item(conf.envp, &conf.nr_envp, value);
	else if (!strcmp(key, "rw"))
		add_item(conf.rw, &conf.nr_rw, value);
	else if (!strcmp(key, "cwd"))
		conf.cwd = value;
	else if (!strcmp(key, "cgroup"))
		conf.cgroup = value;
	else if (!strcmp(key, "stdin"))
		conf.with_stdin = true;
	else if (!strcmp(key, "tty"))
		conf.tty = sscanf(value, "%dx%d", &conf.rows, &conf.cols) == 2;
	else
		fail("unknown setting '%s'", key);
}

static void read_conf(void)
{
	struct stat st;
	char *buf, *p;
	int fd = open("/ht.conf", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0)
		fail("no /ht.conf: %m");
	buf = malloc(st.st_size + 1);
	if (!buf || read(fd, buf, st.st_size) != st.st_size)
		fail("cannot read /ht.conf: %m");
	close(fd);
	buf[st.st_size] = 0;
	for (p = buf; p < buf + st.st_size; ) {
		char *next = p + strlen(p) + 1;
		char *value = strchr(p, '=');

		if (!value)
			fail("bad setting '%s'", p);
		*value++ = 0;
		take_setting(p, value);
		p = next;
	}
	if (!conf.nr_argv || !conf.cwd)
		fail("/ht.conf lacks a command or a directory");
}

/* Ports */

static bool open_port(const char *dev)
{
	char name[64], path[300];
	int i;

	if (!strcmp(get(name, sizeof(name), "", "/sys/class/virtio-ports/%s/name", dev), ""))
		return false;
	for (i = 0; i < NR_PORTS; i++) {
		if (strcmp(name, port_names[i]) || ports[i] >= 0)
			continue;
		snprintf(path, sizeof(path), "/dev/%s", dev);
		ports[i] = open(path, O_RDWR | O_CLOEXEC);
		return ports[i] >= 0;
	}
	return false;
}

static bool have_ports(void)
{
	return ports[PORT_CTL] >= 0 && ports[PORT_OUT] >= 0 && ports[PORT_ERR] >= 0 &&
	       (ports[PORT_IN] >= 0 || !(conf.with_stdin || conf.tty));
}

/* The kernel finds ports in the background. */
static void open_ports(void)
{
	int waited;

	for (waited = 0; waited < PORT_WAIT_MS; waited += 5) {
		DIR *dir = opendir("/sys/class/virtio-ports");
		struct dirent *entry;

		while (dir && (entry = readdir(dir)))
			if (entry->d_name[0] != '.')
				open_port(entry->d_name);
		if (dir)
			closedir(dir);
		if (have_ports())
			return;
		usleep(5000);
	}
	fail("no virtio-serial ports: the kernel needs CONFIG_VIRTIO_CONSOLE and CONFIG_VIRTIO_PCI");
}

/* File systems */

static void must_mount(const char *source, const char *target, const char *type,
		       unsigned long flags, const char *options)
{
	if (mount(source, target, type, flags, options) < 0)
		fail("cannot mount %s on %s: %m", type, target);
}

/* For what a kernel may have been built without. */
static bool may_mount(const char *source, const char *target, const char *type,
		      const char *options)
{
	mkdir(target, 0755);
	return mount(source, target, type, 0, options) == 0;
}

static void mount_9p(const char *tag, const char *target, unsigned long flags,
		     const char *cache)
{
	char options[128];

	snprintf(options, sizeof(options),
		 "trans=virtio,version=9p2000.L,msize=507904,cache=%s", cache);
	if (mount(tag, target, "9p", flags, options) < 0)
		fail("cannot mount the host's files (9p %s) on %s: %m", tag, target);
}

static void mount_root(void)
{
	/* Loose: nobody but this guest looks at its view, and it is read-only. */
	mount_9p("ht.root", "/lower", MS_RDONLY, "loose");
	must_mount("tmpfs", "/upper", "tmpfs", 0, "mode=755,size=75%");
	mkdir("/upper/files", 0755);
	mkdir("/upper/work", 0755);
	must_mount("overlay", "/root", "overlay", 0,
		   "lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work");
}

static void enter_root(void)
{
	/* The root of an initramfs cannot be pivoted away, only covered. */
	if (chdir("/root") < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 ||
	    chroot(".") < 0 || chdir("/") < 0)
		fail("cannot enter the root: %m");
}

static void link_fds(void)
{
	/* Present already if the kernel's devtmpfs kept them. */
	if (symlink("/proc/self/fd", "/dev/fd") || symlink("/proc/self/fd/0", "/dev/stdin") ||
	    symlink("/proc/self/fd/1", "/dev/stdout") || symlink("/proc/self/fd/2", "/dev/stderr"))
		return;
}

static void mount_system(void)
{
	must_mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	must_mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	must_mount("devtmpfs", "/dev", "devtmpfs", MS_NOSUID, "mode=755");
	mkdir("/dev/pts", 0755);
	mkdir("/dev/shm", 01777);
	must_mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
		   "gid=5,mode=620,ptmxmode=666");
	must_mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
	must_mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755");
	mkdir("/run/lock", 01777);
	may_mount("debugfs", "/sys/kernel/debug", "debugfs", NULL);
	may_mount("tracefs", "/sys/kernel/tracing", "tracefs", NULL);
	may_mount("bpf", "/sys/fs/bpf", "bpf", "mode=700");
	link_fds();
}

static void mount_cgroup2(void)
{
	static const char *const controllers[] = {
		"+cpu", "+cpuset", "+memory", "+pids", "+io"
	};
	size_t i;

	if (!may_mount("cgroup2", "/sys/fs/cgroup", "cgroup2", NULL))
		return;
	for (i = 0; i < sizeof(controllers) / sizeof(controllers[0]); i++)
		put("/sys/fs/cgroup/cgroup.subtree_control", controllers[i]);
}

static void mount_cgroup1(void)
{
	must_mount("tmpfs", "/sys/fs/cgroup", "tmpfs", 0, "mode=755");
	if (!may_mount("cgroup", "/sys/fs/cgroup/cpu", "cgroup", "cpu,cpuacct") &&
	    !may_mount("cgroup", "/sys/fs/cgroup/cpu", "cgroup", "cpu"))
		fail("this kernel has no cgroup v1 cpu controller");
	may_mount("cgroup", "/sys/fs/cgroup/cpuset", "cgroup", "cpuset");
}

static void mount_cgroups(void)
{
	if (!conf.cgroup || !strcmp(conf.cgroup, "v2"))
		mount_cgroup2();
	else if (!strcmp(conf.cgroup, "v1"))
		mount_cgroup1();
}

static void make_dirs(const char *path)
{
	char part[4096];
	size_t i;

	for (i = 1; path[i] && i < sizeof(part) - 1; i++) {
		if (path[i] != '/')
			continue;
		memcpy(part, path, i);
		part[i] = 0;
		mkdir(part, 0755);
	}
	mkdir(path, 0755);
}

static void mount_shares(void)
{
	char tag[32];
	int i;

	for (i = 0; i < conf.nr_rw; i++) {
		make_dirs(conf.rw[i]);
		snprintf(tag, sizeof(tag), "ht.rw%d", i);
		/* Reads are cached only while a file is open or mapped. */
		mount_9p(tag, conf.rw[i], 0, "mmap");
	}
}

static void loopback_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (ioctl(fd, SIOCGIFFLAGS, &ifr) == 0) {
		ifr.ifr_flags |= IFF_UP | IFF_RUNNING;
		ioctl(fd, SIOCSIFFLAGS, &ifr);
	}
	close(fd);
}

/* Emulation on a busy host is slow, not stuck. */
static void be_patient(void)
{
	put("/proc/sys/kernel/hung_task_timeout_secs", "600");
	put("/proc/sys/kernel/watchdog_thresh", "60");
}

/* Each mount waits for RCU, seconds in all in a debug kernel. Only while booting. */
static void hurry(bool on)
{
	put("/sys/kernel/rcu_expedited", on ? "1" : "0");
}

/* Topology, as the kernel sees it */

#define CPUS "/sys/devices/system/cpu"

static const char *cache_list(char *buf, size_t size, int cpu, int level)
{
	char value[64];
	int i;

	for (i = 0; i < 16; i++) {
		const char *got = get(value, sizeof(value), "",
				      CPUS "/cpu%d/cache/index%d/level", cpu, i);

		if (!*got)
			break;
		if (atoi(got) == level &&
		    strcmp(get(value, sizeof(value), "", CPUS "/cpu%d/cache/index%d/type", cpu, i),
			   "Instruction"))
			return get(buf, size, "none",
				   CPUS "/cpu%d/cache/index%d/shared_cpu_list", cpu, i);
	}
	return "none";
}

static int node_of(int cpu)
{
	char path[128];
	struct dirent *entry;
	int node = 0;
	DIR *dir;

	snprintf(path, sizeof(path), CPUS "/cpu%d", cpu);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (sscanf(entry->d_name, "node%d", &node) == 1)
			break;
	if (dir)
		closedir(dir);
	return node;
}

static void tell_cpu(int cpu)
{
	char siblings[512], package[512], l2[512], llc[512];

	tell("cpu %d siblings=%s package=%s l2=%s llc=%s node=%d", cpu,
	     get(siblings, sizeof(siblings), "none",
		 CPUS "/cpu%d/topology/thread_siblings_list", cpu),
	     get(package, sizeof(package), "none",
		 CPUS "/cpu%d/topology/package_cpus_list", cpu),
	     cache_list(l2, sizeof(l2), cpu, 2), cache_list(llc, sizeof(llc), cpu, 3),
	     node_of(cpu));
}

/* Each CPU of a list such as "0-3,8". */
static void tell_cpus(const char *list)
{
	int first, last, len;

	while (sscanf(list, "%d%n", &first, &len) == 1) {
		list += len;
		last = first;
		if (*list == '-') {
			if (sscanf(list + 1, "%d%n", &last, &len) != 1)
				return;
			list += len + 1;
		}
		for (; first <= last; first++)
			tell_cpu(first);
		if (*list != ',')
			return;
		list++;
	}
}

static void tell_topology(void)
{
	char online[512], possible[512], present[512], active[16];
	struct utsname name;

	uname(&name);
	tell("kernel %s", name.release);
	get(online, sizeof(online), "", CPUS "/online");
	tell("cpus online=%s present=%s possible=%s", online,
	     get(present, sizeof(present), "", CPUS "/present"),
	     get(possible, sizeof(possible), "", CPUS "/possible"));
	tell("smt %s", get(active, sizeof(active), "0", CPUS "/smt/active"));
	tell_cpus(online);
	tell("ready");
}

/* The command */

struct stream {
	int from;
	enum port to;
};

static void __attribute__((noreturn)) run_command(int in, int out, int err)
{
	sigset_t none;

	dup2(in, 0);
	dup2(out, 1);
	dup2(err, 2);
	if (conf.tty) {
		setsid();
		ioctl(0, TIOCSCTTY, 0);
	} else {
		/* No session of its own: that would be an autogroup, too. */
		setpgid(0, 0);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (chdir(conf.cwd) < 0) {
		fprintf(stderr, "vm: cannot enter %s: %m\n", conf.cwd);
		_exit(126);
	}
	conf.argv[conf.nr_argv] = NULL;
	conf.envp[conf.nr_envp] = NULL;
	environ = conf.envp;
	execvp(conf.argv[0], conf.argv);
	fprintf(stderr, "vm: cannot run %s: %m\n", conf.argv[0]);
	_exit(errno == ENOENT ? 127 : 126);
}

static int open_pty(void)
{
	struct winsize size = { .ws_row = conf.rows, .ws_col = conf.cols };
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 || grantpt(fd) < 0 || unlockpt(fd) < 0)
		fail("no pseudo terminal: %m");
	ioctl(fd, TIOCSWINSZ, &size);
	return fd;
}

static pid_t start_tty(struct stream *streams, int *input)
{
	int master = open_pty();
	int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	pid_t pid;

	if (slave < 0)
		fail("cannot open the terminal: %m");
	pid = fork();
	if (pid == 0)
		run_command(slave, slave, slave);
	close(slave);
	streams[0] = (struct stream){ master, PORT_OUT };
	streams[1] = (struct stream){ -1, PORT_ERR };
	*input = master;
	return pid;
}

static pid_t start_piped(struct stream *streams, int *input)
{
	int in[2] = { -1, -1 }, out[2], err[2];
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0 || pipe2(in, O_CLOEXEC) < 0)
		fail("cannot make pipes: %m");
	if (!conf.with_stdin) {
		close(in[0]);
		close(in[1]);
		in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		in[1] = -1;
	}
	pid = fork();
	if (pid == 0)
		run_command(in[0], out[1], err[1]);
	close(in[0]);
	close(out[1]);
	close(err[1]);
	streams[0] = (struct stream){ out[0], PORT_OUT };
	streams[1] = (struct stream){ err[0], PORT_ERR };
	*input = in[1];
	return pid;
}

/* Copies what there is; false at the end of the stream. */
static bool pump(struct stream *s)
{
	char buf[32768];
	ssize_t n = read(s->from, buf, sizeof(buf));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0) {
		close(s->from);
		s->from = -1;
		return false;
	}
	write_all(ports[s->to], buf, n);
	sent[s->to - PORT_OUT] += n;
	return true;
}

/* What is left in the pipes once everybody is gone. */
static void drain(struct stream *streams)
{
	int i;

	for (i = 0; i < 2; i++) {
		struct pollfd pfd = { .fd = streams[i].from, .events = POLLIN };

		while (streams[i].from >= 0 && poll(&pfd, 1, 0) == 1)
			if (!pump(&streams[i]))
				break;
	}
}

static void feed(int *input)
{
	char buf[4096];
	ssize_t n = read(ports[PORT_IN], buf, sizeof(buf));

	if (n > 0) {
		write_all(*input, buf, n);
		return;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* The host's input ended. A terminal says so by its own character. */
	if (conf.tty)
		write_all(*input, "\004", 1);
	else
		close(*input);
	*input = -1;
}

static void show_state(void)
{
	put("/proc/sysrq-trigger", "l");
	put("/proc/sysrq-trigger", "w");
	put("/proc/sysrq-trigger", "t");
	tell("dumped");
}

static void listen_to_host(void)
{
	char buf[64];
	ssize_t n = read(ports[PORT_CTL], buf, sizeof(buf) - 1);

	if (n <= 0)
		return;
	buf[n] = 0;
	if (strstr(buf, "dump"))
		show_state();
}

static int exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Reaps whatever died; true once it is the command. */
static bool reap(pid_t command, int *code)
{
	bool ours = false;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != command)
			continue;
		*code = exit_code(status);
		ours = true;
	}
	return ours;
}

static int watch(pid_t command, struct stream *streams, int input, int sigfd)
{
	struct signalfd_siginfo info;
	int code = 0;

	for (;;) {
		struct pollfd fds[5] = {
			{ .fd = sigfd, .events = POLLIN },
			{ .fd = ports[PORT_CTL], .events = POLLIN },
			{ .fd = streams[0].from, .events = POLLIN },
			{ .fd = streams[1].from, .events = POLLIN },
			{ .fd = input < 0 ? -1 : ports[PORT_IN], .events = POLLIN },
		};

		if (poll(fds, 5, -1) < 0)
			continue;
		if (fds[2].revents)
			pump(&streams[0]);
		if (fds[3].revents)
			pump(&streams[1]);
		if (fds[4].revents)
			feed(&input);
		if (fds[1].revents)
			listen_to_host();
		if (fds[0].revents && read(sigfd, &info, sizeof(info)) > 0 &&
		    reap(command, &code))
			return code;
	}
}

/* Whatever the command left behind; it may still hold the pipes open. */
static void kill_rest(void)
{
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

static void await(const char *word)
{
	char buf[64];
	ssize_t n;

	for (;;) {
		n = read(ports[PORT_CTL], buf, sizeof(buf) - 1);
		if (n <= 0)
			restart();
		buf[n] = 0;
		if (strstr(buf, word))
			return;
	}
}

static void run(void)
{
	struct stream streams[2];
	sigset_t child;
	int code, input = -1, sigfd;
	pid_t pid;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	sigfd = signalfd(-1, &child, SFD_CLOEXEC);
	tell("started");
	pid = conf.tty ? start_tty(streams, &input) : start_piped(streams, &input);
	if (pid < 0)
		fail("cannot fork: %m");
	code = watch(pid, streams, input, sigfd);
	kill_rest();
	drain(streams);
	sync();
	tell("exit %d %llu %llu", code, sent[0], sent[1]);
	await("bye");
}

int main(void)
{
	mkdir("/dev", 0755);
	/* Mounted already if the kernel does that for an initramfs. */
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	must_mount("sysfs", "/sys", "sysfs", 0, NULL);
	read_conf();
	open_ports();
	tell("hello");
	hurry(true);
	mount_root();
	enter_root();
	mount_system();
	mount_cgroups();
	mount_shares();
	loopback_up();
	be_patient();
	hurry(false);
	sethostname("ht-vm", 5);
	tell_topology();
	await("go");
	run();
	restart();
}

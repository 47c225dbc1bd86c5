// cepoll: how fast an epoll loop can answer HTTP/1.1 at all. A request ends at the first
// empty line; of its header only a closing "close" is looked at. All answers to what one
// read brought go out in one write. It is a yardstick, not a server.
//
//   cc -O2 -pthread -o cepoll cepoll.c && ./cepoll -addr 127.0.0.1:0 -t 1
//
// One thread a loop; each has its own listening socket (SO_REUSEPORT).

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { IN_SIZE = 65536, OUT_SIZE = 262144, EVENTS = 512, BACKLOG = 4096 };

// What a connection keeps between two events: a part of a request, and answers that the
// socket would not take. Both are rare, so an idle connection costs this struct only.
struct conn {
	int fd;
	int closing; // close when out is empty
	uint32_t in_len, out_len;
	char *in, *out;
};

struct loop {
	int epoll, listener;
	time_t second; // what the answers' Date was made for
	size_t keep_len, close_len;
	char keep[256], close[256];
	char in[IN_SIZE], out[OUT_SIZE];
};

static void die(const char *what) {
	perror(what);
	exit(1);
}

// The answers are made once a second: their Date is all that ever changes.
static void refresh_answers(struct loop *l) {
	time_t now = time(NULL);
	if (now == l->second)
		return;
	l->second = now;
	struct tm tm;
	char date[64];
	gmtime_r(&now, &tm);
	strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &tm);
	const char *format = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n"
	                     "Date: %s\r\n%s\r\nHello, World!";
	l->keep_len = snprintf(l->keep, sizeof l->keep, format, date, "");
	l->close_len = snprintf(l->close, sizeof l->close, format, date, "Connection: close\r\n");
}

static void conn_free(struct conn *c) {
	close(c->fd); // leaves the epoll set by itself
	free(c->in);
	free(c->out);
	free(c);
}

static void watch(struct loop *l, struct conn *c, uint32_t events) {
	struct epoll_event ev = {.events = events, .data.ptr = c};
	epoll_ctl(l->epoll, EPOLL_CTL_MOD, c->fd, &ev);
}

// Keeps what the socket did not take, and stops reading until it has gone. 0: out of memory.
static int keep_output(struct loop *l, struct conn *c, const char *p, size_t n) {
	c->out = malloc(n);
	if (!c->out)
		return 0;
	memcpy(c->out, p, n);
	c->out_len = n;
	watch(l, c, EPOLLOUT);
	return 1;
}

// Writes n answer bytes; 0 when the connection is finished.
static int send_answers(struct loop *l, struct conn *c, size_t n) {
	ssize_t w = n ? write(c->fd, l->out, n) : 0;
	if (w < 0 && errno != EAGAIN)
		return 0;
	if (w < 0)
		w = 0;
	if ((size_t)w < n)
		return keep_output(l, c, l->out + w, n - w);
	return !c->closing;
}

// Answers the whole requests in l->in[0..n) into l->out; *used counts their bytes. Stops
// when l->out is full.
static size_t answer(struct loop *l, struct conn *c, size_t n, size_t *used) {
	size_t out = 0;
	*used = 0;
	while (!c->closing && out + sizeof l->close < OUT_SIZE) {
		char *p = l->in + *used;
		char *end = memmem(p, n - *used, "\r\n\r\n", 4);
		if (!end)
			break;
		*used = end + 4 - l->in;
		c->closing = end - p >= 5 && memcmp(end - 5, "close", 5) == 0;
		if (c->closing) {
			memcpy(l->out + out, l->close, l->close_len);
			out += l->close_len;
		} else {
			memcpy(l->out + out, l->keep, l->keep_len);
			out += l->keep_len;
		}
	}
	return out;
}

// Puts an unfinished request aside. 0: out of memory, or longer than any request may be.
static int keep_input(struct loop *l, struct conn *c, size_t from, size_t to) {
	if (from == to)
		return 1;
	if (to - from == IN_SIZE)
		return 0;
	c->in = malloc(to - from);
	if (!c->in)
		return 0;
	memcpy(c->in, l->in + from, to - from);
	c->in_len = to - from;
	return 1;
}

static size_t take_input(struct loop *l, struct conn *c) {
	size_t n = c->in_len;
	if (n) {
		memcpy(l->in, c->in, n);
		free(c->in);
		c->in = NULL;
		c->in_len = 0;
	}
	return n;
}

// Reads until a short read; 0 when the connection is finished.
static int on_readable(struct loop *l, struct conn *c) {
	for (;;) {
		size_t have = take_input(l, c), room = IN_SIZE - have, used;
		ssize_t n = read(c->fd, l->in + have, room);
		if (n == 0 || (n < 0 && errno != EAGAIN))
			return 0;
		if (n < 0)
			return keep_input(l, c, 0, have);
		size_t out = answer(l, c, have + n, &used);
		if (!keep_input(l, c, used, have + n) || !send_answers(l, c, out))
			return 0;
		if ((size_t)n < room || c->out_len)
			return 1;
	}
}

static int on_writable(struct loop *l, struct conn *c) {
	ssize_t w = write(c->fd, c->out, c->out_len);
	if (w < 0)
		return errno == EAGAIN;
	c->out_len -= w;
	memmove(c->out, c->out + w, c->out_len);
	if (c->out_len)
		return 1;
	free(c->out);
	c->out = NULL;
	watch(l, c, EPOLLIN);
	return !c->closing;
}

static void on_accept(struct loop *l) {
	for (;;) {
		int fd = accept4(l->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0)
			return;
		struct conn *c = calloc(1, sizeof *c);
		if (!c) {
			close(fd);
			return;
		}
		c->fd = fd;
		struct epoll_event ev = {.events = EPOLLIN, .data.ptr = c};
		if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &ev) < 0)
			conn_free(c);
	}
}

static void on_event(struct loop *l, struct epoll_event *ev) {
	struct conn *c = ev->data.ptr;
	if (!c) {
		on_accept(l);
		return;
	}
	int open = c->out_len ? on_writable(l, c) : on_readable(l, c);
	if (!open)
		conn_free(c);
}

static void *run(void *arg) {
	struct loop *l = arg;
	struct epoll_event evs[EVENTS], ev = {.events = EPOLLIN, .data.ptr = NULL};
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll < 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->listener, &ev) < 0)
		die("epoll");
	for (;;) {
		int n = epoll_wait(l->epoll, evs, EVENTS, -1);
		if (n < 0 && errno != EINTR)
			die("epoll_wait");
		refresh_answers(l);
		for (int i = 0; i < n; i++)
			on_event(l, &evs[i]);
	}
	return NULL;
}

static int listen_on(struct sockaddr_in *addr) {
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof *addr;
	if (fd < 0)
		die("socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one); // accepted sockets inherit it
	if (bind(fd, (struct sockaddr *)addr, len) < 0 || listen(fd, BACKLOG) < 0)
		die("listen");
	if (getsockname(fd, (struct sockaddr *)addr, &len) < 0) // the port, when it was 0
		die("getsockname");
	return fd;
}

static struct sockaddr_in parse_addr(char *s) {
	struct sockaddr_in addr = {.sin_family = AF_INET};
	char *colon = strrchr(s, ':');
	if (!colon) {
		fprintf(stderr, "-addr: want HOST:PORT\n");
		exit(2);
	}
	*colon = 0;
	addr.sin_port = htons(atoi(colon + 1));
	if (inet_pton(AF_INET, s, &addr.sin_addr) != 1) {
		fprintf(stderr, "-addr: want an IPv4 address\n");
		exit(2);
	}
	return addr;
}

int main(int argc, char **argv) {
	char standard[] = "127.0.0.1:0", *where = standard;
	int threads = 1;
	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "-addr"))
			where = argv[i + 1];
		else if (!strcmp(argv[i], "-t"))
			threads = atoi(argv[i + 1]);
	}
	if (threads < 1)
		threads = 1;
	struct sockaddr_in addr = parse_addr(where);
	signal(SIGPIPE, SIG_IGN);
	struct loop *loops = calloc(threads, sizeof *loops);
	if (!loops)
		die("calloc");
	for (int i = 0; i < threads; i++)
		loops[i].listener = listen_on(&addr);
	for (int i = 1; i < threads; i++) {
		pthread_t t;
		if (pthread_create(&t, NULL, run, &loops[i]) != 0)
			die("pthread_create");
	}
	char host[INET_ADDRSTRLEN];
	inet_ntop(AF_INET, &addr.sin_addr, host, sizeof host);
	printf("listening %s:%d\n", host, ntohs(addr.sin_port));
	fflush(stdout);
	run(&loops[0]);
}

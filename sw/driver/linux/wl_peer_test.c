// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/*
 * Tests the module through its file, and measures: a line for each check, and at the end
 * "all N tests passed" with status 0, or how many failed with status 1.
 *
 *   wl_peer_test [--device FILE] [--remove] [--stress SECONDS] [--measure] [--no-tests]
 *
 * --device   instead of /dev/warpline_peer0
 * --remove   also has the function fail while it is open, resets it, takes it off its bus, and puts
 *            it back
 * --stress   also has several processes use it for so long while it is reset again and again
 * --measure  also tells what things take, after the tests
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "warpline_peer.h"

/* Registers of the manual. */
#define IDENTITY 0x000
#define PRESENT 0x00C
#define SCRATCH 0x028
#define EVENTS 0x030
#define COMMANDS 0x040
#define IDENTITY_VALUE 0x574C5044

#define MOST 1024

static const char *path = "/dev/warpline_peer0";
static unsigned int checks, failures;
static int peer = -1; /* the file of most tests */
static struct warpline_peer_info info;

static bool check_(bool right, const char *what, unsigned int line)
{
	++checks;
	failures += !right;
	if (right)
		printf("ok %u %s\n", checks, what);
	else
		printf("FAILED %u %s (line %u, errno %d: %s)\n", checks, what, line, errno,
		       strerror(errno));
	fflush(stdout);
	return right;
}
#define check(right, what) check_(right, what, __LINE__)

/* That a call fails, and how. */
#define refused(call, error, what) check((errno = 0, (call)) == -1 && errno == (error), what)

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000U + t.tv_nsec;
}

/* Calls. */

static int submit_to(int file, const struct warpline_peer_command *commands, unsigned int count)
{
	const struct warpline_peer_submit s = { .commands = (uintptr_t)commands, .count = count };

	return ioctl(file, WARPLINE_PEER_IOC_SUBMIT, &s);
}

static int wait_at(int file, struct warpline_peer_completion *completions, unsigned int count,
		   unsigned int at_least, unsigned int timeout_us)
{
	const struct warpline_peer_wait w = { .completions = (uintptr_t)completions,
					      .count = count,
					      .at_least = at_least,
					      .timeout_us = timeout_us };

	return ioctl(file, WARPLINE_PEER_IOC_WAIT, &w);
}

/* A simulated device may take its time. */
#define PATIENCE_US 60000000U

/* Submits one and waits for it: its status, or -1. */
static int run_at(int file, const struct warpline_peer_command *command,
		  struct warpline_peer_completion *completion)
{
	struct warpline_peer_completion own;

	if (!completion)
		completion = &own;
	if (submit_to(file, command, 1) != 1 || wait_at(file, completion, 1, 1, PATIENCE_US) != 1)
		return -1;
	return completion->status;
}

static int run(const struct warpline_peer_command *command)
{
	return run_at(peer, command, NULL);
}

static struct warpline_peer_command copy_of(void *to, const void *from, uint32_t bytes)
{
	return (struct warpline_peer_command){ .opcode = WARPLINE_PEER_COPY,
					       .source_kind = WARPLINE_PEER_MEMORY,
					       .destination_kind = WARPLINE_PEER_MEMORY,
					       .length = bytes,
					       .source = (uintptr_t)from,
					       .destination = (uintptr_t)to };
}

static struct warpline_peer_command fill_of(void *to, uint64_t pattern, uint32_t bytes)
{
	return (struct warpline_peer_command){ .opcode = WARPLINE_PEER_FILL,
					       .destination_kind = WARPLINE_PEER_MEMORY,
					       .length = bytes,
					       .destination = (uintptr_t)to,
					       .operand = pattern };
}

static struct warpline_peer_command add_of(void *to, uint64_t operand, uint32_t bytes)
{
	return (struct warpline_peer_command){ .opcode = WARPLINE_PEER_FETCH_ADD,
					       .destination_kind = WARPLINE_PEER_MEMORY,
					       .length = bytes,
					       .destination = (uintptr_t)to,
					       .operand = operand };
}

static struct warpline_peer_command to_buffer(uint64_t offset, const void *from, uint32_t bytes)
{
	return (struct warpline_peer_command){ .opcode = WARPLINE_PEER_READ,
					       .source_kind = WARPLINE_PEER_MEMORY,
					       .destination_kind = WARPLINE_PEER_DEVICE,
					       .length = bytes,
					       .source = (uintptr_t)from,
					       .destination = offset };
}

static struct warpline_peer_command from_buffer(void *to, uint64_t offset, uint32_t bytes)
{
	return (struct warpline_peer_command){ .opcode = WARPLINE_PEER_WRITE,
					       .source_kind = WARPLINE_PEER_DEVICE,
					       .destination_kind = WARPLINE_PEER_MEMORY,
					       .length = bytes,
					       .source = offset,
					       .destination = (uintptr_t)to };
}

static int read_register(uint32_t offset, uint32_t bytes, uint64_t *value)
{
	struct warpline_peer_access a = { .offset = offset, .bytes = bytes };
	const int result = ioctl(peer, WARPLINE_PEER_IOC_READ_REGISTER, &a);

	*value = a.value;
	return result;
}

static int write_register(uint32_t offset, uint32_t bytes, uint64_t value)
{
	struct warpline_peer_access a = { .offset = offset, .bytes = bytes, .value = value };

	return ioctl(peer, WARPLINE_PEER_IOC_WRITE_REGISTER, &a);
}

static uint8_t *memory_of(size_t bytes)
{
	uint8_t *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	return memory;
}

/* Numbers that repeat from run to run. */
static uint32_t state = 1;

static uint32_t draw(void)
{
	state = state * 1664525U + 1013904223U;
	return state >> 8;
}

static void scramble(uint8_t *memory, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; ++i)
		memory[i] = draw();
}

/* Tests. */

static void test_registers(void)
{
	uint64_t value = 0;

	check(info.abi == WARPLINE_PEER_ABI, "the driver has this header's calls");
	check(info.version >> 16 == 1 && info.queues >= 1 && info.commands >= 1 &&
		      info.queue < info.queues && info.buffer_bytes >= 4096 && !info.failed,
	      "the device is told of");
	check(!read_register(IDENTITY, 4, &value) && value == IDENTITY_VALUE, "IDENTITY");
	check(!read_register(COMMANDS, 8, &value), "a register of 8 bytes");
	check(!write_register(SCRATCH + 4, 4, 0x12345678) &&
		      !read_register(SCRATCH + 4, 4, &value) && value == 0x12345678,
	      "SCRATCH keeps what is written");
	refused(read_register(EVENTS, 4, &value), EPERM, "no register whose reading clears it");
	refused(read_register(0x410, 4, &value), EPERM, "no register of a queue");
	refused(read_register(0xFFFFFFFC, 4, &value), EPERM, "no register beyond the last");
	refused(read_register(IDENTITY, 8, &value), EINVAL, "no register of another size");
	refused(read_register(IDENTITY + 1, 4, &value), EPERM, "no misaligned register");
	refused(write_register(IDENTITY, 4, 1), EPERM, "no write to what is read only");
	refused(write_register(SCRATCH, 4, 1ULL << 32), EINVAL, "no value that does not fit");
}

static void test_commands(void)
{
	const size_t most = 3 << 20;
	uint8_t *from = memory_of(most + 4096), *to = memory_of(most + 4096);
	struct warpline_peer_command c = { .opcode = WARPLINE_PEER_NOP };
	struct warpline_peer_completion done;
	unsigned int i, right = 0;
	uint64_t *word = (uint64_t *)to;

	check(run(&c) == WARPLINE_PEER_OK, "NOP");
	c.cookie = 0xFEDCBA9876543210;
	check(!run_at(peer, &c, &done) && done.cookie == c.cookie &&
		      done.found_ns >= done.rung_ns && done.rung_ns != 0 &&
		      done.found_ns <= now_ns(),
	      "the cookie comes back, with times");

	c = fill_of(to + 5, 0x8877665544332211, 100);
	check(run(&c) == WARPLINE_PEER_OK && to[4] == 0 && to[5] == 0x11 && to[12] == 0x88 &&
		      to[13] == 0x11 && to[104] == 0x44 && to[105] == 0,
	      "FILL");
	scramble(from, most + 4096);
	for (i = 0; i < 40; ++i) {
		const uint32_t bytes = 1 + draw() % (i < 30 ? 20000 : most);
		const uint32_t source = draw() % 4096, destination = draw() % 4096;

		memset(to, 0, most + 4096);
		c = copy_of(to + destination, from + source, bytes);
		right += run(&c) == WARPLINE_PEER_OK &&
			 !memcmp(to + destination, from + source, bytes) &&
			 (destination == 0 || to[destination - 1] == 0) &&
			 (destination + bytes == most + 4096 || to[destination + bytes] == 0);
	}
	check(right == 40, "COPY of any size, from and to anywhere");
	memset(to, 0, most);
	c = fill_of(to + 3, 0x8877665544332211, most - 8);
	right = run(&c) == WARPLINE_PEER_OK;
	for (i = 0; i < most - 8; ++i)
		right = right && to[3 + i] == 0x11 * (i % 8 + 1);
	check(right, "FILL of more pieces than a scatter list has");

	c = to_buffer(96, from + 3, 4000);
	check(run(&c) == WARPLINE_PEER_OK, "READ into the device's buffer");
	c = from_buffer(to + 7, 100, 3996);
	check(run(&c) == WARPLINE_PEER_OK && !memcmp(to + 7, from + 7, 3996), "WRITE out of it");
	c = from_buffer(to, info.buffer_bytes - 16, 16);
	check(run(&c) == WARPLINE_PEER_OK, "its last bytes");
	c = from_buffer(to, info.buffer_bytes - 15, 16);
	refused(submit_to(peer, &c, 1), EINVAL, "not past its end");
	c = from_buffer(to, -8ULL, 16);
	refused(submit_to(peer, &c, 1), EINVAL, "nor around it");

	*word = 40;
	c = add_of(word, 2, 8);
	check(!run_at(peer, &c, &done) && done.result == 40 && *word == 42, "FETCH_ADD of 8 bytes");
	c = add_of(word, -1ULL, 4);
	check(!run_at(peer, &c, &done) && done.result == 42 && *word == 41, "FETCH_ADD of 4");
	munmap(from, most + 4096);
	munmap(to, most + 4096);
}

static void test_events(void)
{
	struct warpline_peer_command c = { .opcode = WARPLINE_PEER_NOTIFY, .operand = 0xCAFE0001 };
	struct warpline_peer_event event = {};

	while (!ioctl(peer, WARPLINE_PEER_IOC_EVENT, &event))
		;
	check(errno == EAGAIN, "no event is told");
	check(run(&c) == WARPLINE_PEER_OK, "NOTIFY");
	check(!ioctl(peer, WARPLINE_PEER_IOC_EVENT, &event) && event.value == 0xCAFE0001 &&
		      event.left == 0,
	      "its event");
	c.operand = 1ULL << 32;
	refused(submit_to(peer, &c, 1), EINVAL, "no event of more than 32 bits");
}

/* A mistake in each field of a command. */
static void test_bad_commands(void)
{
	uint8_t *memory = memory_of(3 * 4096);
	const struct warpline_peer_command good = copy_of(memory + 4096, memory, 64);
	struct warpline_peer_command c = good;
	struct warpline_peer_command two[2] = { good, good };

	c.opcode = 7;
	refused(submit_to(peer, &c, 1), EINVAL, "no unknown opcode");
	c.opcode = 255;
	refused(submit_to(peer, &c, 1), EINVAL, "nor the last");
	c = good;
	c.source_kind = 4;
	refused(submit_to(peer, &c, 1), EINVAL, "no unknown kind");
	c.source_kind = WARPLINE_PEER_NOTHING;
	refused(submit_to(peer, &c, 1), EINVAL, "no COPY from nothing");
	c.source_kind = WARPLINE_PEER_DEVICE;
	refused(submit_to(peer, &c, 1), EINVAL, "no COPY from the device");
	c = good;
	c.destination_kind = WARPLINE_PEER_SHARED;
	c.destination = 0;
	refused(submit_to(peer, &c, 1), EINVAL, "no shared memory that was not made");
	c = good;
	c.reserved = 1;
	refused(submit_to(peer, &c, 1), EINVAL, "nothing where 0 belongs");
	c = good;
	c.operand = 1;
	refused(submit_to(peer, &c, 1), EINVAL, "no operand of a COPY");
	c = good;
	c.length = 0;
	refused(submit_to(peer, &c, 1), EINVAL, "no length of 0");
	c.length = WARPLINE_PEER_MOST_BYTES + 1;
	refused(submit_to(peer, &c, 1), EINVAL, "nor beyond 2^24");
	c = (struct warpline_peer_command){ .length = 1 };
	refused(submit_to(peer, &c, 1), EINVAL, "no length of a NOP");
	c = (struct warpline_peer_command){ .source = 1 };
	refused(submit_to(peer, &c, 1), EINVAL, "nor an address");
	c = add_of(memory + 4, 1, 8);
	refused(submit_to(peer, &c, 1), EINVAL, "no misaligned FETCH_ADD");
	c = add_of(memory, 1, 2);
	refused(submit_to(peer, &c, 1), EINVAL, "nor one of 2 bytes");

	c = good;
	c.source = 8;
	refused(submit_to(peer, &c, 1), EFAULT, "no memory that is not there");
	c.source = 0xFFFF800000000000;
	refused(submit_to(peer, &c, 1), EFAULT, "nor the kernel's");
	c.source = -16ULL;
	refused(submit_to(peer, &c, 1), EFAULT, "nor around the end");
	mprotect(memory + 8192, 4096, PROT_READ);
	c = copy_of(memory + 8192, memory, 64);
	refused(submit_to(peer, &c, 1), EFAULT, "no destination that is read only");
	c = copy_of(memory + 8192 - 32, memory, 64);
	refused(submit_to(peer, &c, 1), EFAULT, "nor one that is so in part");
	c = copy_of(memory, memory + 8192, 64);
	check(run(&c) == WARPLINE_PEER_OK, "but a source");

	two[1].opcode = 99;
	check(submit_to(peer, two, 2) == 1, "commands before a bad one are taken");
	check(wait_at(peer, &(struct warpline_peer_completion){}, 1, 1, PATIENCE_US) == 1,
	      "and done");
	munmap(memory, 3 * 4096);
}

static void test_bad_calls(void)
{
	struct warpline_peer_completion done;
	struct warpline_peer_command nop = {};
	struct warpline_peer_submit s = { .commands = (uintptr_t)&nop, .count = 1, .reserved = 1 };
	struct warpline_peer_wait w = { .completions = (uintptr_t)&done,
					.count = 1,
					.reserved = 1 };
	uint64_t begin;

	refused(ioctl(peer, _IO(WARPLINE_PEER_IOC_MAGIC, 99)), ENOTTY, "no unknown call");
	refused(ioctl(peer, 0x5401, NULL), ENOTTY, "nor another device's");
	refused(ioctl(peer, WARPLINE_PEER_IOC_INFO, NULL), EFAULT, "no answer to nowhere");
	refused(ioctl(peer, WARPLINE_PEER_IOC_SUBMIT, 8), EFAULT, "no question from nowhere");
	refused(ioctl(peer, WARPLINE_PEER_IOC_WAIT, 8), EFAULT, "nor a wait");
	refused(ioctl(peer, WARPLINE_PEER_IOC_READ_REGISTER, 8), EFAULT, "nor an access");
	refused(ioctl(peer, WARPLINE_PEER_IOC_SHARED, 8), EFAULT, "nor memory");
	refused(ioctl(peer, WARPLINE_PEER_IOC_SUBMIT, &s), EINVAL, "0 where 0 belongs");
	refused(ioctl(peer, WARPLINE_PEER_IOC_WAIT, &w), EINVAL, "there, too");
	refused(submit_to(peer, &nop, 0), EINVAL, "no commands at all");
	refused(submit_to(peer, NULL, 1), EFAULT, "no commands that are not there");
	refused(submit_to(peer, &nop, 0x80000000), EINVAL, "nor more than an int counts");
	refused(wait_at(peer, &done, 0, 0, 0), EINVAL, "no wait for nothing");
	refused(wait_at(peer, &done, 1, 2, 0), EINVAL, "nor for more than there is room for");

	refused(wait_at(peer, &done, 1, 0, 0), EAGAIN, "nothing is there");
	begin = now_ns();
	refused(wait_at(peer, &done, 1, 1, 50000), ETIMEDOUT, "nor within a time");
	check(now_ns() - begin >= 50000000, "which is waited for");
	check(submit_to(peer, &nop, 1) == 1, "a command");
	refused(wait_at(peer, NULL, 1, 1, PATIENCE_US), EFAULT, "whose completion goes nowhere");
	check(wait_at(peer, &done, 1, 1, PATIENCE_US) == 1, "and is not lost");
	refused(read(peer, &done, 1), EINVAL, "no read()");
	refused(write(peer, &done, 1), EINVAL, "no write()");
	check(lseek(peer, 0, SEEK_SET) == -1 && errno == ESPIPE, "no lseek()");
}

static void test_read_only(void)
{
	struct warpline_peer_command nop = {};
	struct warpline_peer_shared shared = { 1 };
	struct warpline_peer_info other;
	const int file = open(path, O_RDONLY);

	if (!check(file >= 0, "the device is opened for reading"))
		return;
	check(!ioctl(file, WARPLINE_PEER_IOC_INFO, &other) && other.queue != info.queue,
	      "and has another queue");
	refused(submit_to(file, &nop, 1), EBADF, "but submits nothing");
	refused(ioctl(file, WARPLINE_PEER_IOC_SHARED, &shared), EBADF, "shares nothing");
	refused(ioctl(file, WARPLINE_PEER_IOC_RESET), EBADF, "and resets nothing");
	close(file);
}

static void test_batches(void)
{
	static struct warpline_peer_command commands[MOST];
	static struct warpline_peer_completion done[MOST];
	static bool seen[MOST];
	const unsigned int count = info.commands < MOST ? info.commands : MOST - 1;
	uint64_t *counter = (uint64_t *)memory_of(4096);
	unsigned int i, right = 0, taken = 0;
	int got = 0;

	for (i = 0; i <= count; ++i) {
		commands[i] = add_of(counter, 1, 8);
		commands[i].cookie = i;
	}
	check(submit_to(peer, commands, count + 1) == (int)count,
	      "as many commands as the queue holds");
	refused(submit_to(peer, commands, 1), EAGAIN, "and no more");
	while (taken < count && (got = wait_at(peer, done, MOST, 1, PATIENCE_US)) > 0) {
		for (i = 0; i < (unsigned int)got; ++i) {
			right += done[i].status == 0 && done[i].cookie < count &&
				 !seen[done[i].cookie];
			seen[done[i].cookie] = true;
		}
		taken += got;
	}
	check(right == count && *counter == count, "each is done once, whatever their order");
	for (taken = 0; taken < 4 * count && got > 0; taken += got) {
		if (submit_to(peer, commands, count / 2 + 1) != (int)(count / 2 + 1))
			break;
		got = wait_at(peer, done, MOST, count / 2 + 1, PATIENCE_US);
		if (got != (int)(count / 2 + 1))
			break;
	}
	check(taken >= 4 * count, "round after round of the ring, by one wait each");
	munmap(counter, 4096);
}

static void test_polling(void)
{
	struct warpline_peer_command nop = {};
	struct warpline_peer_completion done;
	struct pollfd p = { .fd = peer, .events = POLLIN | POLLOUT };
	struct epoll_event event = { .events = EPOLLIN }, got = {};
	const int epoll = epoll_create1(0);

	check(poll(&p, 1, 0) == 1 && p.revents == POLLOUT, "poll() tells of room");
	p.events = POLLIN;
	check(poll(&p, 1, 20) == 0, "and of nothing done");
	check(submit_to(peer, &nop, 1) == 1 && poll(&p, 1, PATIENCE_US / 1000) == 1 &&
		      p.revents == POLLIN,
	      "and wakes");
	check(wait_at(peer, &done, 1, 0, 0) == 1 && poll(&p, 1, 0) == 0,
	      "and of what was taken no more");
	check(!epoll_ctl(epoll, EPOLL_CTL_ADD, peer, &event), "epoll takes it");
	check(submit_to(peer, &nop, 1) == 1 &&
		      epoll_wait(epoll, &got, 1, PATIENCE_US / 1000) == 1 && got.events == EPOLLIN,
	      "and wakes");
	check(wait_at(peer, &done, 1, 0, 0) == 1, "and it is there");
	close(epoll);
	fcntl(peer, F_SETFL, O_NONBLOCK);
	refused(wait_at(peer, &done, 1, 1, PATIENCE_US), EAGAIN, "O_NONBLOCK waits for nothing");
	fcntl(peer, F_SETFL, 0);
}

static void on_alarm(int signal)
{
	(void)signal;
}

static void test_signals(void)
{
	const struct sigaction action = { .sa_handler = on_alarm };
	struct warpline_peer_completion done;

	sigaction(SIGALRM, &action, NULL);
	alarm(1);
	refused(wait_at(peer, &done, 1, 1, WARPLINE_PEER_FOREVER), EINTR, "a signal ends a wait");
}

static sigjmp_buf after_fault;
static void on_fault(int signal)
{
	siglongjmp(after_fault, signal);
}

/* The signal that a load ends with; 0: none. */
static int fault_at(const volatile uint8_t *place)
{
	const struct sigaction action = { .sa_handler = on_fault },
			       none = { .sa_handler = SIG_DFL };
	int signal;

	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	signal = sigsetjmp(after_fault, 1);
	if (!signal)
		(void)*place;
	sigaction(SIGBUS, &none, NULL);
	sigaction(SIGSEGV, &none, NULL);
	return signal;
}

static void *map_at(uint64_t offset, size_t bytes, int flags)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, peer, offset);
}

static void test_shared(void)
{
	struct warpline_peer_shared shared = { 0 };
	struct warpline_peer_command c;
	uint8_t *memory, *own = memory_of(4096);

	check(map_at(WARPLINE_PEER_MAP_SHARED, 4096, MAP_SHARED) == MAP_FAILED && errno == EINVAL,
	      "no mapping of shared memory that was not made");
	refused(ioctl(peer, WARPLINE_PEER_IOC_SHARED, &shared), EINVAL, "none of 0 bytes");
	shared.bytes = WARPLINE_PEER_MOST_SHARED + 1;
	refused(ioctl(peer, WARPLINE_PEER_IOC_SHARED, &shared), EINVAL, "nor of too many");
	shared.bytes = 10000;
	check(!ioctl(peer, WARPLINE_PEER_IOC_SHARED, &shared) && shared.bytes == 12288,
	      "whole pages");
	refused(ioctl(peer, WARPLINE_PEER_IOC_SHARED, &shared), EBUSY, "and once");
	check(map_at(WARPLINE_PEER_MAP_SHARED, 12288, MAP_PRIVATE) == MAP_FAILED && errno == EINVAL,
	      "none mapped private");
	check(map_at(WARPLINE_PEER_MAP_SHARED, 16384, MAP_SHARED) == MAP_FAILED && errno == EINVAL,
	      "none beyond its end");
	check(map_at(8192, 8192, MAP_SHARED) == MAP_FAILED && errno == EINVAL,
	      "nor from its last page on");
	memory = map_at(WARPLINE_PEER_MAP_SHARED, 12288, MAP_SHARED);
	if (!check(memory != MAP_FAILED && memory[0] == 0 && memory[12287] == 0,
		   "it is mapped, and clear"))
		return;
	scramble(memory, 12288);
	c = copy_of(NULL, NULL, 5000);
	c.source_kind = c.destination_kind = WARPLINE_PEER_SHARED;
	c.source = 1;
	c.destination = 6001;
	check(run(&c) == WARPLINE_PEER_OK && !memcmp(memory + 1, memory + 6001, 5000),
	      "COPY in it");
	c.destination = 12288 - 4999;
	refused(submit_to(peer, &c, 1), EINVAL, "not past its end");
	c.destination = -1ULL;
	refused(submit_to(peer, &c, 1), EINVAL, "nor around it");
	c = copy_of(own, NULL, 4096);
	c.source_kind = WARPLINE_PEER_SHARED;
	c.source = 8192;
	check(run(&c) == WARPLINE_PEER_OK && !memcmp(own, memory + 8192, 4096), "COPY out of it");
	c = copy_of(own, memory, 4096);
	refused(submit_to(peer, &c, 1), EFAULT, "but not as memory of the process");
	munmap(memory, 12288);
	munmap(own, 4096);
}

static void test_buffer(void)
{
	uint8_t *own = memory_of(4096), *buffer;
	struct warpline_peer_command c;
	unsigned int i;

	check(map_at(WARPLINE_PEER_MAP_BUFFER, info.buffer_bytes + 4096, MAP_SHARED) ==
			      MAP_FAILED &&
		      errno == EINVAL,
	      "no mapping beyond the buffer");
	check(map_at(1ULL << 40, 4096, MAP_SHARED) == MAP_FAILED && errno == EINVAL,
	      "nor far beyond");
	buffer = map_at(WARPLINE_PEER_MAP_BUFFER, info.buffer_bytes, MAP_SHARED);
	if (!check(buffer != MAP_FAILED, "the buffer is mapped"))
		return;
	for (i = 0; i < 4096; i += 8)
		*(volatile uint64_t *)(buffer + i) = i * 0x0101010101ULL;
	c = from_buffer(own, 0, 4096);
	check(run(&c) == WARPLINE_PEER_OK &&
		      !memcmp(own + 8, &(uint64_t){ 8 * 0x0101010101ULL }, 8) &&
		      !memcmp(own + 4088, &(uint64_t){ 4088 * 0x0101010101ULL }, 8),
	      "the device sees what was stored there before the command");
	scramble(own, 4096);
	c = to_buffer(info.buffer_bytes - 4096, own, 4096);
	check(run(&c) == WARPLINE_PEER_OK && *(volatile uint64_t *)(buffer + info.buffer_bytes -
								    8) == *(uint64_t *)(own + 4088),
	      "and the other way");
	munmap(buffer, info.buffer_bytes);
	munmap(own, 4096);
}

static void test_many_files(void)
{
	int files[64], other, count = 0;

	while (count < 64 && (files[count] = open(path, O_RDWR | O_CLOEXEC)) >= 0)
		++count;
	check(count == (int)info.queues - 1 && errno == EBUSY,
	      "each queue is opened once, then EBUSY");
	if (count > 0) {
		close(files[--count]);
		other = open(path, O_RDWR);
		check(other >= 0, "a queue that was closed is free");
		close(other);
	}
	while (count > 0)
		close(files[--count]);
}

static int exit_of(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Copies on a file, of the caller's own: whether all of it was right. */
static bool works_at(int file, unsigned int rounds)
{
	uint8_t *from = memory_of(65536), *to = memory_of(65536);
	bool right = true;

	while (rounds--) {
		struct warpline_peer_command c =
			copy_of(to + draw() % 100, from + draw() % 100, 1 + draw() % 60000);

		scramble(from, 65536);
		right = right && run_at(file, &c, NULL) == WARPLINE_PEER_OK &&
			!memcmp((void *)(uintptr_t)c.destination, (void *)(uintptr_t)c.source,
				c.length);
	}
	munmap(from, 65536);
	munmap(to, 65536);
	return right;
}

static void test_processes(void)
{
	const pid_t first = fork();
	pid_t second;
	int status;

	if (first == 0) {
		const int file = open(path, O_RDWR);

		_exit(file >= 0 && works_at(file, 20) ? 0 : 1);
	}
	check(works_at(peer, 20), "two processes have a queue each");
	check(exit_of(first) == 0, "and the other, too");
	second = fork();
	if (second == 0)
		_exit(works_at(peer, 5) ? 0 : 1);
	status = exit_of(second);
	check(status == 0, "a child has its parent's queue");
	check(works_at(peer, 5), "which stays when the child has ended");
}

static void *of_thread(void *right)
{
	const int file = open(path, O_RDWR);

	*(bool *)right = file >= 0 && works_at(file, 10);
	close(file);
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[4];
	bool right[4];
	unsigned int i, count = info.queues - 1 < 4 ? info.queues - 1 : 4, all = 0;

	for (i = 0; i < count; ++i)
		pthread_create(&threads[i], NULL, of_thread, &right[i]);
	for (i = 0; i < count; ++i) {
		pthread_join(threads[i], NULL);
		all += right[i];
	}
	check(all == count, "threads with queues of their own");
}

static void test_closing(void)
{
	static struct warpline_peer_command commands[200];
	const size_t bytes = 1 << 20;
	uint8_t *from = memory_of(bytes), *to = memory_of(bytes);
	unsigned int i, round, right = 0;

	for (i = 0; i < 200; ++i)
		commands[i] = copy_of(to, from, 4096 + i);
	for (round = 0; round < 10; ++round) {
		const int file = open(path, O_RDWR);

		right += submit_to(file, commands, round + 1) == (int)round + 1;
		right += !close(file);
	}
	check(right == 20, "files are closed with commands under way");
	if (fork() == 0) {
		const int file = open(path, O_RDWR);
		struct warpline_peer_command c = copy_of(to, from, bytes);

		submit_to(file, &c, 1);
		submit_to(file, commands, 100);
		kill(getpid(), SIGKILL);
	}
	wait(NULL);
	check(works_at(peer, 3), "a process is killed with commands under way");
	munmap(from, bytes);
	munmap(to, bytes);
	check(!ioctl(peer, WARPLINE_PEER_IOC_INFO, &info) && !info.failed, "and the device works");
}

/* Memory that a program unmaps while the device has it stays the device's until then. */
static void test_unmapping(void)
{
	uint8_t *from = memory_of(1 << 20), *to = memory_of(1 << 20);
	struct warpline_peer_command c = copy_of(to, from, 1 << 20);
	struct warpline_peer_completion done = { .status = 99 };

	check(submit_to(peer, &c, 1) == 1, "a copy");
	munmap(from, 1 << 20);
	munmap(to, 1 << 20);
	check(wait_at(peer, &done, 1, 1, PATIENCE_US) == 1 && done.status == WARPLINE_PEER_OK,
	      "whose memory is unmapped meanwhile");
}

static void test_reset(void)
{
	static struct warpline_peer_command commands[100];
	static struct warpline_peer_completion done[100];
	const uint64_t recoveries = info.recoveries;
	uint8_t *from = memory_of(1 << 20), *to = memory_of(1 << 20);
	unsigned int i, fine = 0, aborted = 0;
	int got;

	for (i = 0; i < 100; ++i)
		commands[i] = copy_of(to, from, 100000);
	check(submit_to(peer, commands, 100) > 0, "many commands");
	if (!check(!ioctl(peer, WARPLINE_PEER_IOC_RESET), "a reset"))
		return;
	while ((got = wait_at(peer, done, 100, 1, 200000)) > 0)
		for (i = 0; i < (unsigned int)got; ++i) {
			fine += done[i].status == WARPLINE_PEER_OK;
			aborted += done[i].status == WARPLINE_PEER_ABORTED;
		}
	check(fine + aborted >= 1 && errno == ETIMEDOUT, "ends all of them, done or ABORTED");
	printf("   %u done, %u aborted\n", fine, aborted);
	check(works_at(peer, 3), "and the device works");
	check(!ioctl(peer, WARPLINE_PEER_IOC_INFO, &info) && info.recoveries > recoveries &&
		      !info.failed,
	      "and says so");
	munmap(from, 1 << 20);
	munmap(to, 1 << 20);
}

static void test_unloading(void)
{
	refused(syscall(SYS_delete_module, "warpline_peer", O_NONBLOCK), EWOULDBLOCK,
		"the module is not unloaded while a device is open");
}

static bool write_file(const char *name, const char *text)
{
	const int file = open(name, O_WRONLY);
	bool right = false;

	if (file >= 0) {
		right = write(file, text, strlen(text)) == (ssize_t)strlen(text);
		close(file);
	}
	return right;
}

/* Writes 1 to a file, a while later. */
static void *write_soon(void *name)
{
	usleep(200000);
	return (void *)(uintptr_t)write_file(name, "1");
}

/* A file that the kernel has of the function. */
static bool name_of(const char *file, char *name)
{
	char link[128];
	struct stat st;

	if (stat(path, &st))
		return false;
	snprintf(link, sizeof(link), "/sys/dev/char/%u:%u/device/%s", major(st.st_rdev),
		 minor(st.st_rdev), file);
	return realpath(link, name);
}

/* Copies in a row, while things happen to the device. Every one that is done must be right. */
struct crowd {
	uint8_t *from, *to;
	struct warpline_peer_command commands[8];
	unsigned int done, aborted, wrong;
};
#define CROWD_BYTES 50000

static void gather(struct crowd *crowd)
{
	memset(crowd, 0, sizeof(*crowd));
	crowd->from = memory_of(8 * CROWD_BYTES);
	crowd->to = memory_of(8 * CROWD_BYTES);
}

static void scatter(struct crowd *crowd)
{
	munmap(crowd->from, 8 * CROWD_BYTES);
	munmap(crowd->to, 8 * CROWD_BYTES);
}

/* Submits all eight. Returns as ioctl() does. */
static int submit_crowd(struct crowd *crowd, int file)
{
	unsigned int i;

	scramble(crowd->from, 1000);
	for (i = 1000; i < 8 * CROWD_BYTES; i += 1000)
		memcpy(crowd->from + i, crowd->from, 1000);
	for (i = 0; i < 8; ++i) {
		const uint32_t at = i * CROWD_BYTES;

		crowd->commands[i] =
			copy_of(crowd->to + at, crowd->from + at, 1 + draw() % CROWD_BYTES);
		crowd->commands[i].cookie = i;
	}
	return submit_to(file, crowd->commands, 8);
}

/* Waits for so many of them. Returns how many came. */
static unsigned int await_crowd(struct crowd *crowd, int file, unsigned int count)
{
	struct warpline_peer_completion done[8];
	unsigned int taken = 0;
	int i, got;

	while (taken < count && (got = wait_at(file, done, 8, 1, PATIENCE_US)) > 0) {
		for (i = 0; i < got; ++i) {
			const struct warpline_peer_command *c =
				&crowd->commands[done[i].cookie % 8];
			const void *from = (void *)(uintptr_t)c->source;
			const void *to = (void *)(uintptr_t)c->destination;

			if (done[i].status == WARPLINE_PEER_OK) {
				++crowd->done;
				crowd->wrong += memcmp(from, to, c->length) != 0;
			} else if (done[i].status == WARPLINE_PEER_ABORTED) {
				++crowd->aborted;
			} else {
				++crowd->wrong;
			}
		}
		taken += got;
	}
	return taken;
}

/* A reset of the whole function, as by an administrator. */
static void test_function_reset(void)
{
	char name[4096];
	struct crowd crowd;
	pthread_t thread;
	void *written = NULL;
	uint64_t end = now_ns() + 500000000;
	bool lost = false;

	if (!check(name_of("reset", name), "the function can be reset"))
		return;
	gather(&crowd);
	pthread_create(&thread, NULL, write_soon, name);
	while (now_ns() < end) {
		const int got = submit_crowd(&crowd, peer);

		if (got < 0 && errno != EAGAIN)
			lost = true;
		if (got > 0 && await_crowd(&crowd, peer, got) != (unsigned int)got)
			lost = true;
	}
	pthread_join(thread, &written);
	check(written && !lost && !crowd.wrong && crowd.done, "it is, while it is used");
	printf("   %u done, %u aborted\n", crowd.done, crowd.aborted);
	scatter(&crowd);
	check(works_at(peer, 3), "and works");
}

/* Two bytes of the function's configuration space. */
static uint16_t config(unsigned int offset, const uint16_t *value)
{
	uint16_t was = 0xFFFF;
	char name[4096];
	int file;

	if (!name_of("config", name))
		return was;
	file = open(name, O_RDWR);
	if (pread(file, &was, 2, offset) != 2 || (value && pwrite(file, value, 2, offset) != 2))
		was = 0xFFFF;
	close(file);
	return was;
}

static unsigned int capability(uint8_t id)
{
	unsigned int at = config(0x34, NULL) & 0xFF, tries;

	for (tries = 0; at >= 0x40 && tries < 48; ++tries) {
		const uint16_t head = config(at, NULL);

		if ((head & 0xFF) == id)
			return at;
		at = head >> 8;
	}
	return 0;
}

/* Takes bits of the COMMAND register away while a command is submitted. Returns what it was. */
#define PCI_COMMAND 0x04
#define MEMORY_SPACE 2
#define BUS_MASTER 4
static uint16_t submit_without(uint16_t bits)
{
	const struct warpline_peer_command nop = {};
	const uint16_t command = config(PCI_COMMAND, NULL), less = command & ~bits;

	check(command != 0xFFFF && config(PCI_COMMAND, &less) == command, "bits are taken away");
	check(submit_to(peer, &nop, 1) == 1, "a command");
	return command;
}

/* The device is found out, recovers, and programs are told. */
static void test_failures(void)
{
	static const char limit[] = "/sys/module/warpline_peer/parameters/command_timeout_ms";
	const unsigned int msix = capability(0x11);
	const uint16_t control = msix ? config(msix + 2, NULL) : 0, masked = control | 1 << 14;
	struct warpline_peer_completion done = {};
	struct pollfd p = { .fd = peer, .events = POLLIN };
	struct warpline_peer_command nop = {};
	uint16_t command;

	check(write_file(limit, "300"), "commands may take 300 ms");
	check(msix && config(msix + 2, &masked) == control, "interrupts are masked");
	check(run_at(peer, &nop, &done) == WARPLINE_PEER_OK && !done.interrupt_ns,
	      "a completion of which no interrupt tells");
	check(config(msix + 2, &control) == masked, "and are no more");
	check(works_at(peer, 3), "and the device works");

	submit_without(BUS_MASTER);
	check(wait_at(peer, &done, 1, 1, PATIENCE_US) == 1 && done.status == WARPLINE_PEER_ABORTED,
	      "a device that could not read its ring is recovered");
	check(works_at(peer, 3), "and works");

	command = submit_without(MEMORY_SPACE);
	config(PCI_COMMAND, &command);
	check(wait_at(peer, &done, 1, 1, PATIENCE_US) == 1 && done.status == WARPLINE_PEER_ABORTED,
	      "a device that heard of none is recovered");
	check(works_at(peer, 3), "and works");

	command = submit_without(MEMORY_SPACE | BUS_MASTER);
	check(wait_at(peer, &done, 1, 1, PATIENCE_US) == 1 && done.status == WARPLINE_PEER_ABORTED,
	      "a device that does not answer is given up");
	check(poll(&p, 1, 0) == 1 && p.revents == POLLERR, "poll() says so");
	check(!ioctl(peer, WARPLINE_PEER_IOC_INFO, &info) && info.failed, "and so does it");
	refused(submit_to(peer, &nop, 1), ENODEV, "no command");
	refused(open(path, O_RDWR), ENODEV, "nobody else");
	refused(ioctl(peer, WARPLINE_PEER_IOC_RESET), ENODEV, "no reset");
	config(PCI_COMMAND, &command);
	check(!ioctl(peer, WARPLINE_PEER_IOC_RESET), "but one when it answers again");
	check(works_at(peer, 3), "and the device works");
	check(write_file(limit, "30000"), "commands may take their time again");
}

/* What a process does in the meantime: 0 if it found nothing wrong. */
static int stress_one(unsigned int seed, uint64_t end)
{
	struct crowd crowd;
	unsigned int rounds = 0;

	state = seed;
	gather(&crowd);
	while (now_ns() < end && !crowd.wrong) {
		const int file = open(path, O_RDWR);
		unsigned int i;

		if (file < 0) {
			if (errno != EAGAIN && errno != EIO && errno != EBUSY)
				return 2;
			continue;
		}
		for (i = draw() % 10; i > 0; --i) {
			const int got = submit_crowd(&crowd, file);

			if (got < 0 && errno != EAGAIN && errno != EIO)
				return 3;
			if (got > 0 && await_crowd(&crowd, file, got) != (unsigned int)got)
				return 4;
		}
		/* These are under way as it is closed, and their memory may be given back before.
		 */
		submit_crowd(&crowd, file);
		if (draw() % 2) {
			scatter(&crowd);
			gather(&crowd);
		}
		close(file);
		++rounds;
	}
	scatter(&crowd);
	return crowd.wrong || !rounds;
}

static void test_stress(unsigned int seconds)
{
	const uint64_t end = now_ns() + seconds * 1000000000ULL;
	const unsigned int count = info.queues - 1 < 6 ? info.queues - 1 : 6;
	unsigned int i, resets = 0, right = 0;
	bool is_function = false;
	char name[4096];
	pid_t children[6];

	is_function = name_of("reset", name);
	for (i = 0; i < count; ++i) {
		children[i] = fork();
		if (children[i] == 0)
			_exit(stress_one(i + 1, end));
	}
	while (now_ns() < end) {
		usleep(20000 + draw() % 200000);
		if (is_function && resets % 4 == 3)
			write_file(name, "1");
		else
			ioctl(peer, WARPLINE_PEER_IOC_RESET);
		++resets;
	}
	for (i = 0; i < count; ++i) {
		const int status = exit_of(children[i]);

		right += status == 0;
		if (status)
			printf("   process %u ended with %d\n", i, status);
	}
	printf("   %u resets\n", resets);
	check(right == count && resets > 0, "several processes and resets");
	check(works_at(peer, 3), "and the device works");
}

static void test_removal(void)
{
	static struct warpline_peer_command commands[100];
	static struct warpline_peer_completion done[100];
	struct warpline_peer_shared shared = { 4096 };
	struct warpline_peer_command nop = {};
	struct pollfd p = { .fd = peer, .events = POLLIN };
	uint8_t *from = memory_of(1 << 20), *to = memory_of(1 << 20), *buffer, *memory;
	char name[4096];
	pthread_t thread;
	void *removed = NULL;
	unsigned int i, taken = 0;
	int got, tries;

	if (!check(name_of("remove", name), "sysfs has the device"))
		return;
	ioctl(peer, WARPLINE_PEER_IOC_SHARED, &shared);
	buffer = map_at(WARPLINE_PEER_MAP_BUFFER, 4096, MAP_SHARED);
	memory = map_at(WARPLINE_PEER_MAP_SHARED, 4096, MAP_SHARED);
	check(fault_at(buffer) == 0 && fault_at(memory) == 0, "what is mapped is there");
	for (i = 0; i < 100; ++i)
		commands[i] = copy_of(to, from, 100000);
	pthread_create(&thread, NULL, write_soon, name);
	while ((got = submit_to(peer, commands, 100)) > 0 || errno == EAGAIN) {
		got = wait_at(peer, done, 100, 1, PATIENCE_US);
		if (got > 0)
			taken += got;
	}
	check(errno == ENODEV, "the device is removed while it is used: ENODEV");
	pthread_join(thread, &removed);
	check(removed, "by sysfs");
	while ((got = wait_at(peer, done, 100, 1, PATIENCE_US)) > 0)
		taken += got;
	check(got == -1 && errno == ENODEV && taken > 0,
	      "what was under way is completed, then ENODEV");
	refused(submit_to(peer, &nop, 1), ENODEV, "no command");
	refused(ioctl(peer, WARPLINE_PEER_IOC_INFO, &info), ENODEV, "no answer");
	refused(ioctl(peer, WARPLINE_PEER_IOC_RESET), ENODEV, "no reset");
	refused(ioctl(peer, WARPLINE_PEER_IOC_SHARED, &shared), ENODEV, "no memory");
	check(poll(&p, 1, 0) == 1 && (p.revents & POLLHUP), "poll() says so");
	check(map_at(WARPLINE_PEER_MAP_BUFFER, 4096, MAP_SHARED) == MAP_FAILED && errno == ENODEV,
	      "no mapping");
	check(fault_at(buffer) == SIGBUS && fault_at(memory) == SIGBUS, "what was mapped is gone");
	check(!close(peer), "the file is closed");
	check(write_file("/sys/bus/pci/rescan", "1"), "the bus is searched again");
	for (tries = 0, peer = -1; tries < 100 && peer < 0; ++tries) {
		peer = open(path, O_RDWR);
		if (peer < 0)
			usleep(50000);
	}
	check(peer >= 0 && works_at(peer, 3), "and the device is there and works");
	munmap(buffer, 4096);
	munmap(memory, 4096);
	munmap(from, 1 << 20);
	munmap(to, 1 << 20);
}

/* Measurements. */

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void tell(const char *what, uint64_t *ns, unsigned int count)
{
	qsort(ns, count, sizeof(*ns), compare);
	printf("%-34s median %9.2f us, 1%% %9.2f, 99%% %9.2f (%u times)\n", what,
	       ns[count / 2] / 1e3, ns[count / 100] / 1e3, ns[count - 1 - count / 100] / 1e3,
	       count);
}

#define TIMES 1001

static void measure_accesses(void)
{
	static uint64_t access[TIMES], call[TIMES];
	struct warpline_peer_access a = { .offset = PRESENT, .bytes = 4 };
	unsigned int i;

	for (i = 0; i < TIMES; ++i) {
		const uint64_t begin = now_ns();

		ioctl(peer, WARPLINE_PEER_IOC_READ_REGISTER, &a);
		call[i] = now_ns() - begin;
		access[i] = a.ns;
	}
	tell("read of a register", access, TIMES);
	tell("the same with its system call", call, TIMES);
	a.offset = SCRATCH;
	for (i = 0; i < TIMES; ++i) {
		ioctl(peer, WARPLINE_PEER_IOC_WRITE_REGISTER, &a);
		access[i] = a.ns;
	}
	tell("posted write of a register", access, TIMES);
}

static void measure_interrupts(void)
{
	static uint64_t interrupt[TIMES], whole[TIMES];
	const struct warpline_peer_command nop = {};
	struct warpline_peer_completion done;
	unsigned int i, told = 0;

	for (i = 0; i < TIMES; ++i) {
		const uint64_t begin = now_ns();

		if (run_at(peer, &nop, &done))
			return;
		whole[i] = now_ns() - begin;
		if (done.interrupt_ns)
			interrupt[told++] = done.interrupt_ns - done.rung_ns;
	}
	if (told)
		tell("doorbell to interrupt, NOP", interrupt, told);
	tell("submit to completion, NOP", whole, TIMES);
}

/* Keeps the queue full. */
static void measure_throughput(const char *what, const struct warpline_peer_command *command,
			       unsigned int count)
{
	static struct warpline_peer_command commands[MOST];
	static struct warpline_peer_completion done[MOST];
	const unsigned int depth = info.commands < 1000 ? info.commands : 1000;
	unsigned int i, submitted = 0, taken = 0;
	const uint64_t begin = now_ns();
	double seconds;
	int got;

	for (i = 0; i < MOST; ++i)
		commands[i] = *command;
	while (taken < count) {
		unsigned int batch = depth - (submitted - taken);

		if (batch > count - submitted)
			batch = count - submitted;
		if (batch) {
			got = submit_to(peer, commands, batch);
			if (got > 0)
				submitted += got;
			else if (errno != EAGAIN)
				break;
		}
		got = wait_at(peer, done, MOST, 1, PATIENCE_US);
		if (got <= 0)
			break;
		taken += got;
	}
	seconds = (now_ns() - begin) / 1e9;
	printf("%-34s %.0f commands/s, %.2f MB/s (%u commands, %u in flight)\n", what,
	       taken / seconds, (double)taken * command->length / seconds / 1e6, taken, depth);
	if (taken != count)
		printf("   only %u of %u were done\n", taken, count);
}

static void measure(void)
{
	uint8_t *from = memory_of(65536), *to = memory_of(65536);
	struct warpline_peer_command c = {};

	measure_accesses();
	measure_interrupts();
	measure_throughput("NOP", &c, 20000);
	c = copy_of(to, from, 4096);
	measure_throughput("COPY of 4 KiB", &c, 5000);
	c = copy_of(to, from, 65536);
	measure_throughput("COPY of 64 KiB", &c, 500);
	munmap(from, 65536);
	munmap(to, 65536);
}

static void test(bool removal, unsigned int stress)
{
	test_registers();
	test_commands();
	test_events();
	test_bad_commands();
	test_bad_calls();
	test_read_only();
	test_batches();
	test_polling();
	test_signals();
	test_shared();
	test_buffer();
	test_many_files();
	test_processes();
	test_threads();
	test_closing();
	test_unmapping();
	test_reset();
	test_unloading();
	if (removal) {
		test_failures();
		test_function_reset();
	}
	if (stress)
		test_stress(stress);
	if (removal)
		test_removal();
}

int main(int argc, char **argv)
{
	bool removal = false, measured = false, tested = true;
	unsigned int stress = 0;
	int i;

	for (i = 1; i < argc; ++i) {
		if (!strcmp(argv[i], "--device") && i + 1 < argc) {
			path = argv[++i];
		} else if (!strcmp(argv[i], "--remove")) {
			removal = true;
		} else if (!strcmp(argv[i], "--stress") && i + 1 < argc) {
			stress = strtoul(argv[++i], NULL, 10);
		} else if (!strcmp(argv[i], "--measure")) {
			measured = true;
		} else if (!strcmp(argv[i], "--no-tests")) {
			tested = false;
		} else {
			fprintf(stderr, "usage: wl_peer_test [--device FILE] [--remove] "
					"[--measure] [--no-tests]\n");
			return 2;
		}
	}
	peer = open(path, O_RDWR);
	if (peer < 0 || ioctl(peer, WARPLINE_PEER_IOC_INFO, &info)) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 2;
	}
	if (tested)
		test(removal, stress);
	if (measured && peer >= 0)
		measure();
	if (!tested)
		return 0;
	if (failures)
		printf("%u of %u tests failed\n", failures, checks);
	else
		printf("all %u tests passed\n", checks);
	return failures != 0;
}

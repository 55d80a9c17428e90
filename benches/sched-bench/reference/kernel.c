/* Sends frames by a device of this kernel, class by class, and tells the processor time of this thread. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BURST 32
#define LENGTH_BYTES 700
#define MAJOR 0x10000u

static int64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

/* Nanoseconds of processor time for so many packets, in bursts of 32 of one class each; -1 if they cannot be sent. */
int64_t reference_send(const char *device, uint32_t classes, uint32_t packets)
{
	/* To nobody, of a type that nobody takes. */
	static char frame[LENGTH_BYTES] = { 2, 9, 9, 9, 9, 9, 2, 0, 0, 0, 0, 1, 0x88, 0xb5 };
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_protocol = htons(0x88b5),
		.sll_ifindex = (int)if_nametoindex(device) };
	struct iovec bytes = { frame, sizeof(frame) };
	struct mmsghdr messages[BURST];
	uint64_t seed = 1;
	int link = socket(AF_PACKET, SOCK_RAW, 0);
	int64_t start;

	if (link < 0 || bind(link, (struct sockaddr *)&to, sizeof(to)) < 0)
		return -1;
	memset(messages, 0, sizeof(messages));
	for (int at = 0; at < BURST; at++) {
		messages[at].msg_hdr.msg_iov = &bytes;
		messages[at].msg_hdr.msg_iovlen = 1;
	}
	start = cpu_ns();
	for (uint32_t sent = 0; sent < packets; sent += BURST) {
		int priority;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		/* A priority that is a class's name chooses that class. */
		priority = (int)(MAJOR + 1 + (seed >> 33) % classes);
		if (setsockopt(link, SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority)) < 0 ||
		    sendmmsg(link, messages, BURST, 0) != BURST)
			return -1;
	}
	start = cpu_ns() - start;
	close(link);
	return start;
}

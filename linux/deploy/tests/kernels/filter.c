/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Sets a multicast filter that takes more than a page, and reads it back. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { SOURCES = 2000 };

int main(void)
{
	struct ip_mreq group = { .imr_multiaddr.s_addr = htonl(0xef010101), .imr_interface.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = IP_MSFILTER_SIZE(SOURCES);
	struct ip_msfilter *filter = calloc(1, length);
	int udp = socket(AF_INET, SOCK_DGRAM, 0);

	filter->imsf_multiaddr = group.imr_multiaddr;
	filter->imsf_interface = group.imr_interface;
	filter->imsf_fmode = MCAST_INCLUDE;
	filter->imsf_numsrc = SOURCES;
	for (int i = 0; i < SOURCES; i++)
		filter->imsf_slist[i].s_addr = htonl(0x0a000001 + i);
	if (setsockopt(udp, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof(group)) ||
	    setsockopt(udp, IPPROTO_IP, IP_MSFILTER, filter, length)) {
		perror("setsockopt");
		return 1;
	}
	filter->imsf_slist[SOURCES - 1].s_addr = 0;
	if (getsockopt(udp, IPPROTO_IP, IP_MSFILTER, filter, &length)) {
		perror("getsockopt");
		return 1;
	}
	return length != IP_MSFILTER_SIZE(SOURCES) || ntohl(filter->imsf_slist[SOURCES - 1].s_addr) != 0x0a000000 + SOURCES;
}

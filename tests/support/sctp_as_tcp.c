/* Makes SCTP sockets TCP, where the kernel has no SCTP: enough for Osmocom's programs to start and
   to find each other on one machine. Preload it. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int socket(int domain, int type, int protocol)
{
    if (protocol == IPPROTO_SCTP) {
        type = (type & ~0xf) | SOCK_STREAM;
        protocol = IPPROTO_TCP;
    }
    return REAL(socket)(domain, type, protocol);
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
    return level == IPPROTO_SCTP ? 0 : REAL(setsockopt)(fd, level, name, value, size);
}

int getsockopt(int fd, int level, int name, void *restrict value, socklen_t *restrict size)
{
    if (level != IPPROTO_SCTP)
        return REAL(getsockopt)(fd, level, name, value, size);
    memset(value, 0, *size);
    return 0;
}

static socklen_t size_of(const struct sockaddr *address)
{
    return address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

/* Of several addresses the first. */
int sctp_bindx(int fd, struct sockaddr *addresses, int count, int flags)
{
    return bind(fd, addresses, size_of(addresses));
}

int sctp_connectx(int fd, struct sockaddr *addresses, int count, uint32_t *id)
{
    return connect(fd, addresses, size_of(addresses));
}

int sctp_sendmsg(int fd, const void *message, size_t octets, struct sockaddr *to, socklen_t size,
                 uint32_t ppid, uint32_t flags, uint16_t stream, uint32_t lifetime, uint32_t context)
{
    return send(fd, message, octets, 0);
}

int sctp_recvmsg(int fd, void *message, size_t octets, struct sockaddr *from, socklen_t *size,
                 void *info, int *flags)
{
    if (info) {
        uint32_t m3ua = htonl(3); /* the protocol of what comes, in struct sctp_sndrcvinfo */
        memset(info, 0, 32);
        memcpy((char *)info + 8, &m3ua, sizeof m3ua);
    }
    if (flags)
        *flags = 0;
    return recv(fd, message, octets, 0);
}

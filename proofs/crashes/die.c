/* Loaded before libc (LD_PRELOAD): the process kills itself at a named call.

   DIE_AT is WHERE:N, where WHERE is
     before-sync  after-sync    at the N-th fsync or fdatasync
     half-write                 in the N-th pwrite, of which half is written
     before-send  after-send    at the N-th send to a socket
   counted from the start, or from when the file DIE_FROM is there, where one is named.
   It is SIGKILL: nothing of the process runs after it, and what the kernel has is kept. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long passed;
static atomic_int begun;

/* Whether calls are counted by now. */
static int has_begun(void) {
  const char *from = getenv("DIE_FROM");
  if (atomic_load(&begun)) return 1;
  int error = errno;  /* of the call that is looked at, which its caller reads */
  int is_there = from == NULL || access(from, F_OK) == 0;
  errno = error;
  if (is_there) atomic_store(&begun, 1);
  return is_there;
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/* Whether this call is the one. */
static int is_now(const char *where) {
  const char *at = getenv("DIE_AT");
  size_t length = strlen(where);
  if (at == NULL || strncmp(at, where, length) != 0 || at[length] != ':') return 0;
  if (!has_begun()) return 0;
  return atomic_fetch_add(&passed, 1) + 1 == atol(at + length + 1);
}

static int synced(const char *name, int fd) {
  if (is_now("before-sync")) die();
  int done = ((int (*)(int))dlsym(RTLD_NEXT, name))(fd);
  if (is_now("after-sync")) die();
  return done;
}

int fsync(int fd) { return synced("fsync", fd); }
int fdatasync(int fd) { return synced("fdatasync", fd); }

static ssize_t written(const char *name, int fd, const void *from, size_t count, off_t at) {
  ssize_t (*real)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, name);
  if (is_now("half-write")) {
    real(fd, from, count / 2, at);
    die();
  }
  return real(fd, from, count, at);
}

ssize_t pwrite(int fd, const void *from, size_t count, off_t at) {
  return written("pwrite", fd, from, count, at);
}
ssize_t pwrite64(int fd, const void *from, size_t count, off_t at) {
  return written("pwrite64", fd, from, count, at);
}

ssize_t send(int fd, const void *from, size_t count, int flags) {
  if (is_now("before-send")) die();
  ssize_t done = ((ssize_t (*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send"))(
      fd, from, count, flags);
  if (is_now("after-send")) die();
  return done;
}

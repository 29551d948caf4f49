/* Loaded before libc (LD_PRELOAD): what a machine does when it goes wrong, as a test orders it.

   The orders are in a file that both have mapped: a line of six numbers for each kind of call, in
   the order of tests/support/bad_machine.py. A call that its order does not name goes on to libc. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum call { WRITE, SYNC, TRUNCATE, OPEN, READ, RENAME, UNLINK, RESOLVE, THREAD, MEMORY, CLOCK };
#define CALLS 11
#define SHORT (-1)  /* in place of an errno: half of what was to be written */
#define HANG (-2)   /* as long as the order stands */

struct order {
  int64_t error;  /* the errno; 0: no order */
  int64_t after;  /* so many calls go well first */
  int64_t times;  /* how many fail then; less than 0: all */
  int64_t files;  /* which files: see kind() */
  int64_t hits;   /* how many failed */
  int64_t seconds;
};

static volatile struct order *orders;
static const char *home;
static __thread int writes_the_journal;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("BAD_MACHINE_ORDERS");
  home = getenv("BAD_MACHINE_HOME");
  if (path == NULL || home == NULL) return;
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void *at = mmap(NULL, CALLS * sizeof(struct order), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (at != MAP_FAILED) orders = at;
}

/* 1: the database; 2: its -wal; 4: its -shm; 8: another file of the directory; 0: not ours. */
static int kind(const char *path) {
  size_t length = strlen(home);
  if (strncmp(path, home, length) != 0 || path[length] != '/') return 0;
  const char *name = path + length + 1;
  if (strcmp(name, "risala.db") == 0) return 1;
  if (strcmp(name, "risala.db-wal") == 0) return 2;
  if (strcmp(name, "risala.db-shm") == 0) return 4;
  return 8;
}

static int kind_of(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return kind(path);
}

/* The errno that the next call gets; 0: none. */
static int64_t struck(enum call call) {
  volatile struct order *order = &orders[call];
  if (__atomic_load_n(&order->after, __ATOMIC_SEQ_CST) > 0) {
    __atomic_fetch_sub(&order->after, 1, __ATOMIC_SEQ_CST);
    return 0;
  }
  if (order->times == 0) return 0;
  if (order->times > 0) __atomic_fetch_sub(&order->times, 1, __ATOMIC_SEQ_CST);
  __atomic_fetch_add(&order->hits, 1, __ATOMIC_SEQ_CST);
  return order->error;
}

static int64_t struck_fd(enum call call, int fd) {
  if (orders == NULL || orders[call].error == 0) return 0;
  return (kind_of(fd) & orders[call].files) ? struck(call) : 0;
}

static int64_t struck_path(enum call call, const char *path) {
  if (orders == NULL || orders[call].error == 0) return 0;
  return (kind(path) & orders[call].files) ? struck(call) : 0;
}

#define NEXT(type, name) static type next; if (next == NULL) next = (type)dlsym(RTLD_NEXT, name)
#define FAIL(error) do { errno = (int)(error); return -1; } while (0)

typedef ssize_t (*pwrite_t)(int, const void *, size_t, off_t);
static ssize_t bad_pwrite(pwrite_t next, int fd, const void *from, size_t size, off_t at) {
  int64_t error = struck_fd(WRITE, fd);
  if (error == SHORT) return next(fd, from, size > 1 ? size / 2 : size, at);
  if (error) FAIL(error);
  return next(fd, from, size, at);
}
ssize_t pwrite(int fd, const void *from, size_t size, off_t at) {
  NEXT(pwrite_t, "pwrite");
  return bad_pwrite(next, fd, from, size, at);
}
ssize_t pwrite64(int fd, const void *from, size_t size, off_t at) {
  NEXT(pwrite_t, "pwrite64");
  return bad_pwrite(next, fd, from, size, at);
}

typedef ssize_t (*write_t)(int, const void *, size_t);
ssize_t write(int fd, const void *from, size_t size) {
  NEXT(write_t, "write");
  int64_t error = struck_fd(WRITE, fd);
  if (error == SHORT) return next(fd, from, size > 1 ? size / 2 : size);
  if (error) FAIL(error);
  return next(fd, from, size);
}

typedef ssize_t (*pread_t)(int, void *, size_t, off_t);
ssize_t pread(int fd, void *into, size_t size, off_t at) {
  NEXT(pread_t, "pread");
  int64_t error = struck_fd(READ, fd);
  if (error) FAIL(error);
  return next(fd, into, size, at);
}
ssize_t pread64(int fd, void *into, size_t size, off_t at) {
  NEXT(pread_t, "pread64");
  int64_t error = struck_fd(READ, fd);
  if (error) FAIL(error);
  return next(fd, into, size, at);
}

typedef int (*sync_t)(int);
static int bad_sync(sync_t next, int fd) {
  if (orders != NULL && (kind_of(fd) & 3)) writes_the_journal = 1;
  int64_t error = struck_fd(SYNC, fd);
  if (error) FAIL(error);
  return next(fd);
}
int fsync(int fd) {
  NEXT(sync_t, "fsync");
  return bad_sync(next, fd);
}
int fdatasync(int fd) {
  NEXT(sync_t, "fdatasync");
  return bad_sync(next, fd);
}

typedef int (*truncate_t)(int, off_t);
int ftruncate(int fd, off_t size) {
  NEXT(truncate_t, "ftruncate");
  int64_t error = struck_fd(TRUNCATE, fd);
  if (error) FAIL(error);
  return next(fd, size);
}
int ftruncate64(int fd, off_t size) {
  NEXT(truncate_t, "ftruncate64");
  int64_t error = struck_fd(TRUNCATE, fd);
  if (error) FAIL(error);
  return next(fd, size);
}

typedef int (*open_t)(const char *, int, ...);
#define OPENED(name)                                        \
  int name(const char *path, int flags, ...) {              \
    NEXT(open_t, #name);                                    \
    va_list more;                                           \
    va_start(more, flags);                                  \
    mode_t mode = va_arg(more, int);                        \
    va_end(more);                                           \
    int64_t error = struck_path(OPEN, path);                \
    if (error) FAIL(error);                                 \
    return next(path, flags, mode);                         \
  }
OPENED(open)
OPENED(open64)

typedef int (*rename_t)(const char *, const char *);
int rename(const char *from, const char *to) {
  NEXT(rename_t, "rename");
  int64_t error = struck_path(RENAME, to);
  if (error) FAIL(error);
  return next(from, to);
}

typedef int (*unlink_t)(const char *);
int unlink(const char *path) {
  NEXT(unlink_t, "unlink");
  int64_t error = struck_path(UNLINK, path);
  if (error) FAIL(error);
  return next(path);
}

typedef int (*resolve_t)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **found) {
  NEXT(resolve_t, "getaddrinfo");
  if (orders != NULL && orders[RESOLVE].error != 0 && node != NULL &&
      strspn(node, "0123456789.") != strlen(node)) {  /* a name, and not an address */
    int64_t error = struck(RESOLVE);
    struct timespec moment = {0, 20 * 1000 * 1000};
    if (error == HANG) {
      while (orders[RESOLVE].error == HANG) nanosleep(&moment, NULL);
      return EAI_AGAIN;
    }
    if (error) return EAI_AGAIN;
  }
  return next(node, service, hints, found);
}

typedef int (*thread_t)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int pthread_create(pthread_t *made, const pthread_attr_t *how, void *(*run)(void *), void *with) {
  NEXT(thread_t, "pthread_create");
  if (orders != NULL && orders[THREAD].error != 0) {
    int64_t error = struck(THREAD);
    if (error) return (int)error;
  }
  return next(made, how, run, with);
}

/* Memory runs out only for the thread that syncs the journal: it is its batch that is of interest. */
extern void *__libc_malloc(size_t);
extern void *__libc_realloc(void *, size_t);
static int is_out_of_memory(void) {
  return writes_the_journal && orders != NULL && orders[MEMORY].error != 0 && struck(MEMORY) != 0;
}
void *malloc(size_t size) {
  if (is_out_of_memory()) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_malloc(size);
}
void *realloc(void *old, size_t size) {
  if (is_out_of_memory()) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_realloc(old, size);
}

typedef int (*clock_t_)(clockid_t, struct timespec *);
int clock_gettime(clockid_t clock, struct timespec *into) {
  NEXT(clock_t_, "clock_gettime");
  int status = next(clock, into);
  if (orders != NULL && clock == CLOCK_REALTIME && status == 0) into->tv_sec += orders[CLOCK].seconds;
  return status;
}

/* Loaded before libc (LD_PRELOAD): each sync takes SLOW_SYNC_MS longer, as on a slower disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void wait_longer(void) {
  const char *ms = getenv("SLOW_SYNC_MS");
  if (ms == NULL) return;
  long whole = strtol(ms, NULL, 10);
  struct timespec left = {whole / 1000, (whole % 1000) * 1000000};
  while (nanosleep(&left, &left) != 0) {
  }
}

int fsync(int fd) {
  wait_longer();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}

int fdatasync(int fd) {
  wait_longer();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
}

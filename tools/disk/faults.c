/*
 * A disk that fails or is slow on command. Preloaded into a process, this stands between it and the C library, and looks at
 * files below DISK_FAULTS_FOLDER alone. What is wrong with them is said by DISK_FAULTS_CONTROL, a file of seven 32-bit
 * integers: the errno of writes, of syncs, of reads, of links and of modes (0: they succeed), the microseconds that a sync
 * takes longer, and how many calls have failed so far. With DISK_FAULTS_KEPT, a folder, what was synced is copied there, and what was removed is
 * removed there: what a power cut leaves.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

struct control {
  volatile int32_t write_errno, sync_errno, read_errno, link_errno, mode_errno, sync_delay_us;
  int32_t failed;
};

static struct control none, *control = &none;
static const char *folder, *kept;
static size_t folder_length;
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("DISK_FAULTS_CONTROL");
  folder = getenv("DISK_FAULTS_FOLDER");
  kept = getenv("DISK_FAULTS_KEPT");
  if (path == NULL || folder == NULL) return;
  folder_length = strlen(folder);
  int fd = open(path, O_RDWR | O_CLOEXEC);
  void *map = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) {
    perror(path);
    _exit(70);
  }
  close(fd);
  control = map;
}

/* The name within the folder; NULL for any other file. */
static const char *name_in(const char *path) {
  return strncmp(path, folder, folder_length) == 0 && path[folder_length] == '/' ? path + folder_length + 1 : NULL;
}

static const char *name_of(int fd, char path[PATH_MAX]) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return NULL;
  path[length] = 0;
  return name_in(path);
}

static int fail(int found, int32_t with) {
  if (!found) return 0;
  errno = with;
  __sync_fetch_and_add(&control->failed, 1);
  return 1;
}

static int fails(int fd, int32_t with) {
  char path[PATH_MAX];
  int before = errno;
  int found = with != 0 && name_of(fd, path) != NULL;
  errno = before;
  return fail(found, with);
}

static int fails_at(const char *path, int32_t with) { return fail(with != 0 && name_in(path) != NULL, with); }

static void keep(int fd) {
  char path[PATH_MAX], copy[PATH_MAX], buffer[65536];
  const char *name = name_of(fd, path);
  if (name == NULL || strchr(name, '/') != NULL) return;
  snprintf(copy, sizeof copy, "%s/%s", kept, name);
  pthread_mutex_lock(&keeping);
  int to = open(copy, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  off_t at = 0;
  for (ssize_t got; (got = REAL(pread64)(fd, buffer, sizeof buffer, at)) > 0; at += got)
    if (REAL(pwrite64)(to, buffer, got, at) != got) abort();
  if (to < 0 || ftruncate(to, at) != 0) abort();
  close(to);
  pthread_mutex_unlock(&keeping);
}

static int synced(int fd, int (*sync)(int)) {
  if (fails(fd, control->sync_errno)) return -1;
  char path[PATH_MAX];
  if (control->sync_delay_us > 0 && name_of(fd, path) != NULL) {
    struct timespec time = {control->sync_delay_us / 1000000, control->sync_delay_us % 1000000 * 1000L};
    nanosleep(&time, NULL);
  }
  if (kept != NULL) keep(fd);
  return sync(fd);
}

int fsync(int fd) { return synced(fd, REAL(fsync)); }
int fdatasync(int fd) { return synced(fd, REAL(fdatasync)); }

ssize_t write(int fd, const void *from, size_t size) {
  return fails(fd, control->write_errno) ? -1 : REAL(write)(fd, from, size);
}
ssize_t pwrite(int fd, const void *from, size_t size, off_t at) {
  return fails(fd, control->write_errno) ? -1 : REAL(pwrite)(fd, from, size, at);
}
ssize_t pwrite64(int fd, const void *from, size_t size, off64_t at) {
  return fails(fd, control->write_errno) ? -1 : REAL(pwrite64)(fd, from, size, at);
}
ssize_t read(int fd, void *to, size_t size) { return fails(fd, control->read_errno) ? -1 : REAL(read)(fd, to, size); }
ssize_t pread(int fd, void *to, size_t size, off_t at) {
  return fails(fd, control->read_errno) ? -1 : REAL(pread)(fd, to, size, at);
}
ssize_t pread64(int fd, void *to, size_t size, off64_t at) {
  return fails(fd, control->read_errno) ? -1 : REAL(pread64)(fd, to, size, at);
}

int unlink(const char *path) {
  char copy[PATH_MAX];
  const char *name = kept == NULL ? NULL : name_in(path);
  if (name != NULL) {
    snprintf(copy, sizeof copy, "%s/%s", kept, name);
    REAL(unlink)(copy);
  }
  return REAL(unlink)(path);
}

int link(const char *from, const char *to) { return fails_at(to, control->link_errno) ? -1 : REAL(link)(from, to); }
int chmod(const char *path, mode_t mode) { return fails_at(path, control->mode_errno) ? -1 : REAL(chmod)(path, mode); }

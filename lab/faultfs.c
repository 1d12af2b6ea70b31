/* A file system that passes everything through to a folder, and makes the faults that its user asks for.
 *
 *   faultfs FOLDER MOUNTPOINT [FUSE OPTIONS]
 *
 * Write lines `NAME N` to its file `.faults`, or `NAME N FILE` for the file of that name only; 0 removes a fault. Reading
 * `.faults` returns how many requests there have been, and `hung FILE N` for each file with a fault. The faults:
 *   delay-us      every read and write takes N microseconds longer
 *   read-eio, write-eio, fsync-eio, close-eio
 *                 the N-th such request from now fails with EIO
 *   read-eio-all  every read from now on fails with EIO (1)
 *   short-read, short-write
 *                 the N-th such request from now moves half of its bytes
 *   enospc-after  after N more bytes have been written, each write fails with ENOSPC
 *   hang-ms       the next read or write is answered N milliseconds late
 *   hold          no read or write is answered (1), until this fault is removed
 *   hang-forever  the next N reads or writes are never answered
 *   hang-fsync, hang-open, hang-close
 *                 the N-th such request from now is never answered
 *   hang-look     no request for attributes or names is answered (1), until this fault is removed
 *   direct-io     files opened from now on bypass the kernel's page cache (1); with the cache, short reads are not seen
 *   uncached      files opened from now on bypass the page cache of the folder (1); requests must be whole blocks
 */
#define FUSE_USE_VERSION 31
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum fault {
    DELAY_US, READ_EIO, WRITE_EIO, FSYNC_EIO, CLOSE_EIO, SHORT_READ, SHORT_WRITE, ENOSPC_AFTER, HANG_MS, HANG_FOREVER,
    HANG_FSYNC, HANG_OPEN, HANG_CLOSE, HANG_LOOK, DIRECT_IO, READ_EIO_ALL, UNCACHED,
    HOLD, FAULTS
};
static const char *const FAULT_NAMES[FAULTS] = {
    "delay-us", "read-eio", "write-eio", "fsync-eio", "close-eio", "short-read", "short-write", "enospc-after", "hang-ms",
    "hang-forever", "hang-fsync", "hang-open", "hang-close", "hang-look", "direct-io",
    "read-eio-all", "uncached", "hold",
};
enum request { READS, WRITES, FSYNCS, CLOSES, LOOKS, REQUESTS };
static const char *const REQUEST_NAMES[REQUESTS] = {"reads", "writes", "fsyncs", "closes", "looks"};

static const char CONTROL[] = "/.faults";
/* The faults of one file, or of all files (the first entry, which has no name). Entries are never removed. */
enum { SCOPES_MAX = 256 };
struct scope {
    char file[64];
    atomic_long faults[FAULTS];
    atomic_long hung;
};
static struct scope scopes[SCOPES_MAX];
static atomic_int scope_count = 1;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;
static atomic_long requests[REQUESTS];
/* The number of bytes that can still be written while ENOSPC_AFTER is set. */
static atomic_long space_left;
static int root;

static int is_control(const char *path) { return strcmp(path, CONTROL) == 0; }

/* The path below the root folder, in the form for calls like openat(). */
static const char *below(const char *path) { return path[1] == '\0' ? "." : path + 1; }

static int outcome(long result) { return result < 0 ? -errno : (int)result; }

/* The entry of this file, or that of all files. */
static struct scope *scope_of(const char *path) {
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    for (int index = atomic_load(&scope_count) - 1; index > 0; index--)
        if (strcmp(scopes[index].file, name) == 0)
            return &scopes[index];
    return &scopes[0];
}

/* Counts one request of the N that lead to a fault. Returns the count before this request. */
static long count_down(struct scope *scope, enum fault fault) {
    long left = atomic_load(&scope->faults[fault]);
    while (left > 0)
        if (atomic_compare_exchange_weak(&scope->faults[fault], &left, left - 1))
            return left;
    return 0;
}

/* Returns true for the N-th request only. */
static int is_due(const char *path, enum fault fault) {
    return count_down(scope_of(path), fault) == 1 || (scope_of(path) != &scopes[0] && count_down(&scopes[0], fault) == 1);
}

static void hang(const char *path) {
    atomic_fetch_add(&scope_of(path)->hung, 1);
    for (;;)
        pause();
}

static void wait_for_faults(const char *path) {
    struct scope *scope = scope_of(path);
    long late_ms = atomic_exchange(&scope->faults[HANG_MS], 0);
    if (late_ms > 0)
        usleep((useconds_t)late_ms * 1000);
    if (count_down(scope, HANG_FOREVER) > 0)
        hang(path);
    while (atomic_load(&scope->faults[HOLD]))
        usleep(1000);
    long delay_us = atomic_load(&scope->faults[DELAY_US]);
    if (delay_us > 0)
        usleep((useconds_t)delay_us);
}

static struct scope *scope_to_set(const char *file) {
    pthread_mutex_lock(&adding);
    struct scope *scope = *file ? scope_of(file) : &scopes[0];
    int count = atomic_load(&scope_count);
    if (*file && scope == &scopes[0]) {
        scope = count < SCOPES_MAX ? &scopes[count] : NULL;
        if (scope) {
            snprintf(scope->file, sizeof scope->file, "%s", file);
            atomic_store(&scope_count, count + 1);
        }
    }
    pthread_mutex_unlock(&adding);
    return scope;
}

static int set_fault(const char *name, long value, const char *file) {
    struct scope *scope = scope_to_set(file);
    for (int fault = 0; scope && fault < FAULTS; fault++)
        if (strcmp(name, FAULT_NAMES[fault]) == 0) {
            if (fault == ENOSPC_AFTER)
                atomic_store(&space_left, value);
            atomic_store(&scope->faults[fault], value);
            return 0;
        }
    return -EINVAL;
}

/* Reads one or more lines `NAME N` or `NAME N FILE`. */
static int set_faults(const char *text, size_t size) {
    char *copy = strndup(text, size);
    int result = copy ? (int)size : -ENOMEM;
    char *rest = copy;
    for (char *line; result > 0 && (line = strsep(&rest, "\n"));) {
        char name[32], file[64] = "";
        long value;
        if (*line == '\0')
            continue;
        if (sscanf(line, "%31s %ld %63s", name, &value, file) < 2 || set_fault(name, value, file) != 0)
            result = -EINVAL;
    }
    free(copy);
    return result;
}

static int read_counts(char *buffer, size_t size, off_t offset) {
    char text[SCOPES_MAX * 96];
    int length = 0;
    for (int request = 0; request < REQUESTS; request++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s %ld\n", REQUEST_NAMES[request],
                           atomic_load(&requests[request]));
    for (int index = 1; index < atomic_load(&scope_count); index++)
        length += snprintf(text + length, sizeof text - (size_t)length, "hung %s %ld\n", scopes[index].file,
                           atomic_load(&scopes[index].hung));
    if (offset >= length)
        return 0;
    size_t length_read = (size_t)(length - offset) < size ? (size_t)(length - offset) : size;
    memcpy(buffer, text + offset, length_read);
    return (int)length_read;
}

/* Reads or writes the bytes. With `uncached` set, this bypasses the page cache of the folder and needs whole blocks. */
static long move(struct fuse_file_info *file, char *into, const char *from, size_t size, off_t offset) {
    int fd = (int)file->fh;
    if (!atomic_load(&scopes[0].faults[UNCACHED]))
        return into ? pread(fd, into, size, offset) : pwrite(fd, from, size, offset);
    void *aligned;
    if (posix_memalign(&aligned, 4096, size) != 0)
        return errno = ENOMEM, -1;
    if (from)
        memcpy(aligned, from, size);
    long moved = into ? pread(fd, aligned, size, offset) : pwrite(fd, aligned, size, offset);
    int error = errno;
    if (into && moved > 0)
        memcpy(into, aligned, (size_t)moved);
    free(aligned);
    return errno = error, moved;
}

static int do_read(const char *path, char *buffer, size_t size, off_t offset, struct fuse_file_info *file) {
    if (is_control(path))
        return read_counts(buffer, size, offset);
    atomic_fetch_add(&requests[READS], 1);
    wait_for_faults(path);
    if (is_due(path, READ_EIO) || atomic_load(&scope_of(path)->faults[READ_EIO_ALL]))
        return -EIO;
    if (is_due(path, SHORT_READ))
        size /= 2;
    return outcome(move(file, buffer, NULL, size, offset));
}

static int do_write(const char *path, const char *buffer, size_t size, off_t offset, struct fuse_file_info *file) {
    if (is_control(path))
        return set_faults(buffer, size);
    atomic_fetch_add(&requests[WRITES], 1);
    wait_for_faults(path);
    if (is_due(path, WRITE_EIO))
        return -EIO;
    if (atomic_load(&scopes[0].faults[ENOSPC_AFTER]) > 0 && atomic_fetch_sub(&space_left, (long)size) < (long)size)
        return -ENOSPC;
    if (is_due(path, SHORT_WRITE))
        size /= 2;
    return outcome(move(file, NULL, buffer, size, offset));
}

static int do_fsync(const char *path, int data_only, struct fuse_file_info *file) {
    if (is_control(path))
        return 0;
    atomic_fetch_add(&requests[FSYNCS], 1);
    if (is_due(path, HANG_FSYNC))
        hang(path);
    if (is_due(path, FSYNC_EIO))
        return -EIO;
    return outcome(data_only ? fdatasync((int)file->fh) : fsync((int)file->fh));
}

/* The result is what close() returns to the program. */
static int do_flush(const char *path, struct fuse_file_info *file) {
    (void)file;
    if (is_control(path))
        return 0;
    atomic_fetch_add(&requests[CLOSES], 1);
    if (is_due(path, HANG_CLOSE))
        hang(path);
    return is_due(path, CLOSE_EIO) ? -EIO : 0;
}

static int keep(int opened, struct fuse_file_info *file) {
    if (opened < 0)
        return -errno;
    file->fh = (uint64_t)opened;
    file->direct_io = atomic_load(&scopes[0].faults[DIRECT_IO]) != 0;
    return 0;
}

/* Files of the folder are opened without O_DIRECT, because the buffers of this program are not aligned. O_DIRECT of the
 * user's program concerns the kernel only; `uncached` is the fault for direct I/O on the folder. */
static int own_flags(const struct fuse_file_info *file) {
    return (file->flags & ~O_DIRECT) | (atomic_load(&scopes[0].faults[UNCACHED]) ? O_DIRECT : 0);
}

static int do_open(const char *path, struct fuse_file_info *file) {
    if (is_control(path)) {
        file->direct_io = 1;
        return 0;
    }
    if (is_due(path, HANG_OPEN))
        hang(path);
    return keep(openat(root, below(path), own_flags(file)), file);
}

static int do_create(const char *path, mode_t mode, struct fuse_file_info *file) {
    return keep(openat(root, below(path), own_flags(file), mode), file);
}

static int do_release(const char *path, struct fuse_file_info *file) {
    return is_control(path) ? 0 : outcome(close((int)file->fh));
}

static int do_getattr(const char *path, struct stat *stat, struct fuse_file_info *file) {
    if (!is_control(path)) {
        atomic_fetch_add(&requests[LOOKS], 1);
        while (atomic_load(&scopes[0].faults[HANG_LOOK]))
            usleep(10000);
        return outcome(file ? fstat((int)file->fh, stat) : fstatat(root, below(path), stat, AT_SYMLINK_NOFOLLOW));
    }
    memset(stat, 0, sizeof *stat);
    stat->st_mode = S_IFREG | 0600;
    stat->st_nlink = 1;
    return 0;
}

static int do_truncate(const char *path, off_t size, struct fuse_file_info *file) {
    if (is_control(path))
        return 0;
    if (file)
        return outcome(ftruncate((int)file->fh, size));
    int opened = openat(root, below(path), O_WRONLY);
    if (opened < 0)
        return -errno;
    int result = outcome(ftruncate(opened, size));
    close(opened);
    return result;
}

static int do_fallocate(const char *path, int mode, off_t offset, off_t size, struct fuse_file_info *file) {
    return is_control(path) ? -EOPNOTSUPP : outcome(fallocate((int)file->fh, mode, offset, size));
}

static off_t do_lseek(const char *path, off_t offset, int whence, struct fuse_file_info *file) {
    off_t found = is_control(path) ? 0 : lseek((int)file->fh, offset, whence);
    return found < 0 ? -errno : found;
}

static int do_flock(const char *path, struct fuse_file_info *file, int operation) {
    return is_control(path) ? 0 : outcome(flock((int)file->fh, operation));
}

static int do_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *file,
                      enum fuse_readdir_flags flags) {
    (void)offset, (void)file, (void)flags;
    int opened = openat(root, below(path), O_RDONLY | O_DIRECTORY);
    DIR *folder = opened < 0 ? NULL : fdopendir(opened);
    if (!folder)
        return -errno;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (fill(buffer, entry->d_name, NULL, 0, 0))
            break;
    closedir(folder);
    return 0;
}

static int do_mkdir(const char *path, mode_t mode) { return outcome(mkdirat(root, below(path), mode)); }

static int do_rmdir(const char *path) { return outcome(unlinkat(root, below(path), AT_REMOVEDIR)); }

static int do_unlink(const char *path) { return outcome(unlinkat(root, below(path), 0)); }

static int do_rename(const char *from, const char *to, unsigned flags) {
    return outcome(renameat2(root, below(from), root, below(to), flags));
}

static int do_link(const char *from, const char *to) { return outcome(linkat(root, below(from), root, below(to), 0)); }

static int do_symlink(const char *target, const char *path) { return outcome(symlinkat(target, root, below(path))); }

static int do_readlink(const char *path, char *buffer, size_t size) {
    ssize_t length = readlinkat(root, below(path), buffer, size - 1);
    if (length < 0)
        return -errno;
    buffer[length] = '\0';
    return 0;
}

static int do_chmod(const char *path, mode_t mode, struct fuse_file_info *file) {
    (void)file;
    return outcome(fchmodat(root, below(path), mode, 0));
}

static int do_chown(const char *path, uid_t user, gid_t group, struct fuse_file_info *file) {
    (void)file;
    return outcome(fchownat(root, below(path), user, group, AT_SYMLINK_NOFOLLOW));
}

static int do_utimens(const char *path, const struct timespec times[2], struct fuse_file_info *file) {
    (void)file;
    return is_control(path) ? 0 : outcome(utimensat(root, below(path), times, AT_SYMLINK_NOFOLLOW));
}

static int do_statfs(const char *path, struct statvfs *space) {
    (void)path;
    return outcome(fstatvfs(root, space));
}

/* The kernel may send many requests at a time, so that requests that hang do not block others. */
static void *begin(struct fuse_conn_info *connection, struct fuse_config *config) {
    (void)config;
    connection->max_background = 1024;
    return NULL;
}

static const struct fuse_operations OPERATIONS = {
    .init = begin,
    .getattr = do_getattr, .readlink = do_readlink, .mkdir = do_mkdir, .unlink = do_unlink, .rmdir = do_rmdir,
    .symlink = do_symlink, .rename = do_rename, .link = do_link, .chmod = do_chmod, .chown = do_chown,
    .truncate = do_truncate, .open = do_open, .read = do_read, .write = do_write, .statfs = do_statfs, .flush = do_flush,
    .release = do_release, .fsync = do_fsync, .readdir = do_readdir, .create = do_create, .utimens = do_utimens,
    .flock = do_flock, .fallocate = do_fallocate, .lseek = do_lseek,
};

int main(int count, char *words[]) {
    if (count < 3) {
        fprintf(stderr, "usage: faultfs FOLDER MOUNTPOINT [FUSE OPTIONS]\n");
        return 2;
    }
    root = open(words[1], O_RDONLY | O_DIRECTORY);
    if (root < 0) {
        perror(words[1]);
        return 2;
    }
    umask(0);
    words[1] = words[0];
    return fuse_main(count - 1, words + 1, &OPERATIONS, NULL);
}

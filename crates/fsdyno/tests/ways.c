// Writes and reads a file in a process that begins in another way each time: ways WAY BYTES.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static long bytes;
static char block[4096];

static void work(void) {
    int file = open("work", O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (long done = 0; done < bytes; done += sizeof block)
        if (write(file, block, sizeof block) != sizeof block) _exit(1);
    lseek(file, 0, SEEK_SET);
    for (long done = 0; done < bytes; done += sizeof block)
        if (read(file, block, sizeof block) != sizeof block) _exit(1);
    _exit(0);
}
// Long enough that on a busy machine, too, the end of its parent is seen before its own.
static void later(void) { sleep(2); work(); }
static int child(void *none) { work(); return 0; }
static void *thread(void *none) { work(); return none; }

int main(int count, char **words) {
    static char stack[65536] __attribute__((aligned(16)));
    char *again[] = {words[0], "exec", words[2], NULL};
    pid_t pid;
    pthread_t one;
    bytes = atol(words[2]);
#define WAY(name) else if (!strcmp(words[1], name))
    if (count != 3) return 2;
    WAY("exec") work();
    WAY("fork") { if (!fork()) work(); wait(NULL); }
    WAY("vfork") { if (!vfork()) { execve(words[0], again, environ); _exit(1); } wait(NULL); }
    WAY("posix_spawn") { posix_spawn(&pid, words[0], NULL, NULL, again, environ); wait(NULL); }
    WAY("clone") { clone(child, stack + sizeof stack, SIGCHLD, NULL); wait(NULL); }
    WAY("clone without a signal") { clone(child, stack + sizeof stack, 0, NULL); waitpid(-1, NULL, __WALL); }
    WAY("CLONE_PARENT") clone(child, stack + sizeof stack, CLONE_PARENT | SIGCHLD, NULL);
    WAY("thread") { pthread_create(&one, NULL, thread, NULL); pthread_join(one, NULL); }
    WAY("setsid") { if (!fork()) { setsid(); work(); } wait(NULL); }
    WAY("not awaited") { if (!fork()) later(); }
    WAY("double fork") { if (!fork()) { if (!fork()) later(); _exit(0); } wait(NULL); }
    WAY("daemon") { if (!daemon(1, 1)) later(); }
    WAY("of a parent that is killed") { if (!(pid = fork())) { if (!fork()) later(); raise(SIGKILL); } wait(NULL); }
    else return 2;
    return 0;
}

/*
 * A library that is preloaded into the guest's kernel, User-Mode Linux. That kernel restores the registers of its processes
 * with ptrace and passes the state that it knows (up to AVX-512). On a processor with a larger state (AMX), ptrace needs the
 * whole state and answers EFAULT. This library then copies what the kernel has passed into the whole state of the process,
 * and passes that.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

enum { STATE_BYTES_MAX = 1 << 16 };

typedef long (*ptrace_call)(int, int, void *, void *);

static long set_whole_state(ptrace_call real, int process, const struct iovec *part)
{
    static _Thread_local char state[STATE_BYTES_MAX] __attribute__((aligned(64)));
    struct iovec whole = {.iov_base = state, .iov_len = sizeof state};

    if (real(PTRACE_GETREGSET, process, (void *)NT_X86_XSTATE, &whole) != 0)
        return -1;
    if (part->iov_len >= whole.iov_len) {
        errno = EFAULT;
        return -1;
    }
    memcpy(state, part->iov_base, part->iov_len);
    return real(PTRACE_SETREGSET, process, (void *)NT_X86_XSTATE, &whole);
}

long ptrace(enum __ptrace_request request, ...)
{
    static ptrace_call real;
    va_list words;

    if (!real)
        real = (ptrace_call)dlsym(RTLD_NEXT, "ptrace");
    va_start(words, request);
    int process = va_arg(words, int);
    void *address = va_arg(words, void *);
    void *data = va_arg(words, void *);
    va_end(words);

    long answer = real(request, process, address, data);
    if (answer == -1 && errno == EFAULT && request == PTRACE_SETREGSET && address == (void *)NT_X86_XSTATE)
        return set_whole_state(real, process, data);
    return answer;
}

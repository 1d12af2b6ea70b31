/* Starts a program, waits until a file is there, and then gives the program and those that it has started an order of
   the console, as Windows does: a thread of each process calls its handlers. Wine itself knows only Ctrl-C.
   order NUMBER FILE WORD... */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>
#include <tlhelp32.h>

enum { LOOK_MS = 20, FAREWELL_MS = 60000, NOT_STARTED = 98, NOT_TOLD = 97, NOT_ENDED = 96 };

static BOOL tell(DWORD number, void *order)
{
    FARPROC handlers = GetProcAddress(GetModuleHandleA("kernelbase"), "CtrlRoutine");
    HANDLE process = OpenProcess(PROCESS_ALL_ACCESS, FALSE, number);
    return handlers && CreateRemoteThread(process, NULL, 0, (LPTHREAD_START_ROUTINE)(void *)handlers, order, 0, NULL);
}

static BOOL tell_all(DWORD first, void *order)
{
    PROCESSENTRY32 entry = { .dwSize = sizeof entry };
    HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
    BOOL told = TRUE, more;
    for (more = Process32First(all, &entry); more; more = Process32Next(all, &entry))
        if (entry.th32ParentProcessID == first)
            told &= tell(entry.th32ProcessID, order);
    return tell(first, order) && told;
}

int main(int count, char **words)
{
    char line[8192] = "";
    STARTUPINFOA start = { .cb = sizeof start };
    PROCESS_INFORMATION made;
    DWORD code;
    for (int at = 3; at < count; at++) {
        strcat(line, "\"");
        strcat(line, words[at]);
        strcat(line, "\" ");
    }
    if (!CreateProcessA(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &made))
        return NOT_STARTED;
    while (GetFileAttributesA(words[2]) == INVALID_FILE_ATTRIBUTES)
        if (WaitForSingleObject(made.hProcess, LOOK_MS) == WAIT_OBJECT_0)
            break;
    if (!tell_all(made.dwProcessId, (void *)(size_t)atoi(words[1])))
        TerminateProcess(made.hProcess, NOT_TOLD);
    if (WaitForSingleObject(made.hProcess, FAREWELL_MS))
        TerminateProcess(made.hProcess, NOT_ENDED);
    GetExitCodeProcess(made.hProcess, &code);
    return code;
}

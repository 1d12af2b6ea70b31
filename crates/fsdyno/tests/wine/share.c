/* Gives the drive N: what a mapped drive of Windows has behind its letter, and runs a command.
   share TARGET COMMAND */

#include <windows.h>
#include <winternl.h>

enum { NOT_MAPPED = 98, NOT_STARTED = 97 };

NTSTATUS NTAPI NtOpenSymbolicLinkObject(PHANDLE, ACCESS_MASK, POBJECT_ATTRIBUTES);
NTSTATUS NTAPI NtMakeTemporaryObject(HANDLE);

/* A letter that has something behind it is not given anything else. */
static void forget(WCHAR *letter)
{
    UNICODE_STRING name;
    OBJECT_ATTRIBUTES link;
    HANDLE old;
    RtlInitUnicodeString(&name, letter);
    InitializeObjectAttributes(&link, &name, OBJ_CASE_INSENSITIVE, NULL, NULL);
    if (NtOpenSymbolicLinkObject(&old, DELETE, &link) < 0)
        return;
    NtMakeTemporaryObject(old);
    CloseHandle(old);
}

int main(int count, char **words)
{
    STARTUPINFOA start = { .cb = sizeof start };
    PROCESS_INFORMATION made;
    DWORD code;
    forget(L"\\??\\N:");
    if (count != 3 || !DefineDosDeviceA(DDD_RAW_TARGET_PATH, "N:", words[1]))
        return NOT_MAPPED;
    if (!CreateProcessA(NULL, words[2], NULL, NULL, TRUE, 0, NULL, NULL, &start, &made))
        return NOT_STARTED;
    WaitForSingleObject(made.hProcess, INFINITE);
    GetExitCodeProcess(made.hProcess, &code);
    return code;
}

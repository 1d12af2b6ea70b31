/* Opens a file that it shares with nobody, says so by making a second one, and waits until that is removed.
   hold FILE SIGN */

#include <windows.h>

int main(int count, char **words)
{
    HANDLE held = CreateFileA(words[1], GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL);
    if (count != 3 || held == INVALID_HANDLE_VALUE)
        return 1;
    CloseHandle(CreateFileA(words[2], GENERIC_WRITE, FILE_SHARE_DELETE, NULL, CREATE_NEW, 0, NULL));
    while (GetFileAttributesA(words[2]) != INVALID_FILE_ATTRIBUTES)
        Sleep(20);
    return 0;
}

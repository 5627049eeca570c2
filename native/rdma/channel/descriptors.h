/** Opens descriptors of other processes of the same user by their numbers. */
#pragma once
#include <napi.h>

#include <sys/types.h>

/**
 * Opens descriptor `fd` of process `pid` in this process. Checks first, through an O_PATH descriptor, that the file has
 * the expected kind and belongs to this user: looking at a file has no effect on it, but opening it can have one.
 * @param kind S_IFREG or S_IFIFO
 * @param flags flags of open(2); close-on-exec is added
 * @param name name of the descriptor for error messages
 * @throws Napi::Error if the file has another kind or another owner, or cannot be opened
 */
int OpenDescriptor(Napi::Env env, uint64_t pid, uint64_t fd, mode_t kind, int flags, const char* name);

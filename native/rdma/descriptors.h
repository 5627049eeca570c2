/** Descriptors of other processes of this user, opened here by their numbers. */
#pragma once
#include <napi.h>

#include <sys/types.h>

/**
 * Opens descriptor `fd` of process `pid` for oneself. Only what is of the kind that is expected and belongs to this user is opened: to
 * look at something does nothing to it, to open it can.
 * @param kind S_IFREG, S_IFIFO
 * @param flags of open(2); close-on-exec is added
 */
int OpenOf(Napi::Env env, uint64_t pid, uint64_t fd, mode_t kind, int flags, const char* name);

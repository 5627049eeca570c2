/**
 * Declares the few functions of libuv that the addon uses. Node.js exports them, and their ABI has been fixed since
 * libuv 1.0. They are declared here because node-api-headers contains no headers of libuv, and a build should need only
 * g++ and npm.
 */
#pragma once
#include <pthread.h>

extern "C" {

struct uv_loop_s;
struct uv_handle_s;

/** A handle is memory of this size; its content belongs to libuv. */
unsigned long uv_handle_size(int type);
void* uv_handle_get_data(const uv_handle_s* handle);
void uv_handle_set_data(uv_handle_s* handle, void* data);
void uv_ref(uv_handle_s* handle);
void uv_unref(uv_handle_s* handle);
void uv_close(uv_handle_s* handle, void (*closed)(uv_handle_s* handle));
int uv_poll_init(uv_loop_s* loop, uv_handle_s* poll, int fd);
int uv_poll_start(uv_handle_s* poll, int events, void (*ready)(uv_handle_s* poll, int status, int events));
int uv_poll_stop(uv_handle_s* poll);
int uv_idle_init(uv_loop_s* loop, uv_handle_s* idle);
int uv_idle_start(uv_handle_s* idle, void (*turn)(uv_handle_s* idle));
int uv_idle_stop(uv_handle_s* idle);

/** `uv_rwlock_t` is `pthread_rwlock_t` on all systems but Windows. */
int uv_rwlock_init(pthread_rwlock_t* lock);
void uv_rwlock_destroy(pthread_rwlock_t* lock);
void uv_rwlock_rdlock(pthread_rwlock_t* lock);
void uv_rwlock_rdunlock(pthread_rwlock_t* lock);
void uv_rwlock_wrlock(pthread_rwlock_t* lock);
void uv_rwlock_wrunlock(pthread_rwlock_t* lock);

struct uv_lib_t {
  void* handle;
  char* errmsg;
};
int uv_dlopen(const char* file, uv_lib_t* library);
int uv_dlsym(uv_lib_t* library, const char* name, void** symbol);
const char* uv_dlerror(const uv_lib_t* library);
}

/** Values of `uv_handle_type` and `uv_poll_event`. */
constexpr int kUvIdle = 6;
constexpr int kUvPoll = 8;
constexpr int kUvReadable = 1;

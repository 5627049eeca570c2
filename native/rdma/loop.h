/**
 * The few functions of libuv that the addon needs, which Node.js exports and whose ABI is fixed since libuv 1.0. Declared here, since
 * the headers of libuv are not part of node-api-headers: g++ and npm are all that a build needs.
 */
#pragma once

extern "C" {

struct uv_loop_s;
struct uv_handle_s;

/** Handles are memory of this size; what is in them is libuv's. */
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

}

/** `uv_handle_type`, `uv_poll_event`. */
constexpr int kUvIdle = 6;
constexpr int kUvPoll = 8;
constexpr int kUvReadable = 1;

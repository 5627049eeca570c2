/** Calls functions of JavaScript from the event loop, when native code has seen a change that JavaScript waits for. */
#pragma once
#include <napi.h>

/**
 * Calls the function without arguments, and then runs the microtasks and next-tick callbacks that the function has
 * queued. An exception becomes an uncaught exception, as in every callback of Node.js. The classes of node-addon-api
 * are not used here, because they end the process if the thread is being terminated and no function can be called.
 * @returns the result of the function; undefined if the function, or a callback that it has queued, has thrown and the
 * program continues; nullptr if the function could not be called
 */
napi_value CallBack(napi_env env, napi_async_context context, napi_value self, napi_value function);

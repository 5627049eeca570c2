/** Functions of JavaScript that the event loop calls, in answer to something that native code watches. */
#pragma once
#include <napi.h>

/**
 * Calls it without arguments, and lets what it has put off run. What it throws is an uncaught exception, as everywhere. Not by the
 * classes of node-addon-api: they end the process when a thread is being terminated, which nothing can be called in.
 * @returns what it has returned; undefined when it, or what it has put off, has thrown and the program goes on all the same; nullptr when it
 * could not be called
 */
napi_value CallBack(napi_env env, napi_async_context context, napi_value self, napi_value function);

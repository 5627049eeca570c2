#include "node/callback.h"

napi_value CallBack(napi_env env, napi_async_context context, napi_value self, napi_value function) {
  napi_value result = nullptr;
  const napi_status status = napi_make_callback(env, context, self, function, 0, nullptr, &result);
  if (status == napi_ok) return result;
  napi_value error = nullptr;
  if (status == napi_pending_exception && napi_get_and_clear_last_exception(env, &error) == napi_ok) {
    // Returns if the program handles uncaught exceptions; the program then continues.
    if (napi_fatal_exception(env, error) == napi_ok && napi_get_undefined(env, &result) == napi_ok) return result;
  }
  return nullptr;
}

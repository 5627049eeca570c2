/** Calls of operations from JavaScript: which overload is meant, with which arguments; run here, or recorded. */
#pragma once
#include <napi.h>

/** (name) → a number for `Call`; `name` as in `OverloadsOf` @throws TypeError if there is no such operation */
Napi::Value OperationNumber(const Napi::CallbackInfo& info);
/**
 * (operation, options, …arguments) → results. `operation`: by its number; `options`: an object with arguments by name, or
 * undefined; `arguments`: in order. An operation whose tensors are recorded is recorded as well, and so is one without tensors
 * while there is a recorder.
 */
Napi::Value Call(const Napi::CallbackInfo& info);
/** (name) → schemas of its overloads, as text; an empty array if there are none */
Napi::Value Overloads(const Napi::CallbackInfo& info);
/** (names) → those of them that this libtorch does not have */
Napi::Value Missing(const Napi::CallbackInfo& info);
/** () → schemas of all operations */
Napi::Value Schemas(const Napi::CallbackInfo& info);

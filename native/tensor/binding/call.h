/**
 * Functions for JavaScript that call operations. A call selects the overload that matches the arguments, and runs it in
 * this process or records it.
 */
#pragma once
#include <napi.h>

/**
 * `operationNumber(name) -> number`: returns the number that `call` takes. `name` is a name as in `OverloadsOf`.
 * @throws TypeError if the operation does not exist
 */
Napi::Value OperationNumber(const Napi::CallbackInfo& info);
/**
 * `call(operation, options, ...arguments) -> results`: `operation` is a number from `operationNumber`, `options` is an
 * object with arguments by name, or undefined, and `arguments` are positional. The call is recorded if one of its
 * tensors is recorded, or if it has no tensors and a recorder is in use.
 */
Napi::Value Call(const Napi::CallbackInfo& info);
/** `overloadsOf(name) -> string[]`: returns the schemas of the overloads. Empty if the operation does not exist. */
Napi::Value Overloads(const Napi::CallbackInfo& info);
/** `missingOperations(names) -> string[]`: returns the names of operations that this libtorch does not have. */
Napi::Value Missing(const Napi::CallbackInfo& info);
/** `allSchemas() -> string[]`: returns the schemas of all operations. */
Napi::Value Schemas(const Napi::CallbackInfo& info);

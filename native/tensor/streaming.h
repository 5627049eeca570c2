/** What functions of JavaScript for streams are made of. */
#pragma once
#include <napi.h>

#include <functional>
#include <string>

#include "stream.h"

/** What a job has come to, on its way to JavaScript. */
struct Outcome {
  std::function<Napi::Value(Napi::Env)> value;
  Failed failure;
  std::string error;
};

using Task = std::function<void(Executor& executor, Outcome& outcome)>;

/** The first argument. @throws Napi::TypeError */
Stream& StreamArgument(const Napi::CallbackInfo& info);
/** Runs a task in the order of the stream. @param verb `cannot <verb>: …` if it throws */
Napi::Value Promised(const Napi::CallbackInfo& info, std::string verb, Task task);

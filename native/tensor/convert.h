/**
 * Values of JavaScript as arguments of operations, and results back. Never throws for what a user has passed: which overload is meant
 * is found by trying.
 *
 * Numbers: JavaScript does not tell 2 from 2.0. A number without fraction is an integer, also where any number can be given; an object
 * with one property `float` says that it is none.
 */
#pragma once
#include <napi.h>

#include <string>

#include "op.h"

/** @returns whether it fits; if not, `expected` says what does: `a tensor` */
bool Convert(Napi::Env env, napi_value value, const Parameter& parameter, c10::IValue& result, std::string& expected);
/** What kind of value this is, for messages: `a string`, `"float33"`, `an array`. */
std::string Describe(Napi::Env env, napi_value value);
/** Tensors, numbers, and lists of them. */
Napi::Value ResultOf(Napi::Env env, const c10::IValue& value);
/** What a call returns: nothing, one result, or an array of them. */
Napi::Value ResultsOf(Napi::Env env, const torch::jit::Stack& results);

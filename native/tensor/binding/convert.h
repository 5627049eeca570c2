/**
 * Converts values of JavaScript to arguments of operations, and results of operations to values of JavaScript. A value
 * that does not match a parameter causes no exception, because the overload of a call is found by trying.
 *
 * Numbers: JavaScript does not distinguish 2 from 2.0. A number without a fraction is an integer, also for parameters
 * that accept any number. An object with the property `float` denotes a floating-point number.
 */
#pragma once
#include <napi.h>

#include <string>

#include "libtorch/op.h"

struct Box;

/** A value with its type. The type is determined once, though several overloads may inspect the value. */
struct Passed {
  napi_value value = nullptr;
  napi_valuetype type = napi_undefined;
  /** The box of a tensor, or null for other values. */
  const Box* box = nullptr;
};

Passed PassedOf(Napi::Env env, napi_value value);
/**
 * Converts a value to the type of a parameter.
 * @param expected receives a description of the values that match, for example `a tensor`, if this value does not; may
 * be null
 * @returns whether the value matches
 */
bool Convert(Napi::Env env, const Passed& given, const Parameter& parameter, c10::IValue& result,
             std::string* expected);
/** Returns a description of a value for messages: `a string`, `"float33"`, `an array`. */
std::string Describe(Napi::Env env, napi_value value);
/** Converts a tensor, a number, or a list of them. */
Napi::Value ResultOf(Napi::Env env, const c10::IValue& value);
/** Converts the results of a call: undefined, one value, or an array. */
Napi::Value ResultsOf(Napi::Env env, const torch::jit::Stack& results);

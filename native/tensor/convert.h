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

struct Box;

/** A value, and what it is: asked for once, though several overloads may look at it. */
struct Passed {
  napi_value value = nullptr;
  napi_valuetype type = napi_undefined;
  /** Null: it is no tensor. */
  const Box* box = nullptr;
};

Passed PassedOf(Napi::Env env, napi_value value);
/** @param expected told what does fit, if it does not: `a tensor`; null: nobody wants to know @returns whether it fits */
bool Convert(Napi::Env env, const Passed& given, const Parameter& parameter, c10::IValue& result, std::string* expected);
/** What kind of value this is, for messages: `a string`, `"float33"`, `an array`. */
std::string Describe(Napi::Env env, napi_value value);
/** Tensors, numbers, and lists of them. */
Napi::Value ResultOf(Napi::Env env, const c10::IValue& value);
/** What a call returns: nothing, one result, or an array of them. */
Napi::Value ResultsOf(Napi::Env env, const torch::jit::Stack& results);

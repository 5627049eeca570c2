/** The names of the types of elements. */
#pragma once
#include <string>

#include "libtorch/torch.h"

/** Returns the type with a name, or Undefined. */
c10::ScalarType DtypeOf(const std::string& name);
/** Returns the name of a type. Types without a name of Viceroy, such as quantized ones, have libtorch's name. */
const char* DtypeName(c10::ScalarType dtype);
/** Returns all names, separated by commas. */
const std::string& DtypeNames();
/** Returns whether a number is a type that has a name. */
bool IsDtype(int64_t number);

/** The types of elements by the names that users give them. */
#pragma once
#include <string>

#include "torch.h"

/** The type of this name. @returns Undefined if there is none */
c10::ScalarType DtypeOf(const std::string& name);
/** The name of a type; libtorch's own for those that have none here, such as quantized ones. */
const char* DtypeName(c10::ScalarType dtype);
/** All names, with commas between them, for messages. */
const std::string& DtypeNames();
/** Whether a number from the wire is a type that has a name. */
bool IsDtype(int64_t number);

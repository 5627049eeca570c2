/** Names of operations that somebody may have meant. */
#pragma once
#include <string>

/** ` (did you mean …?)`, by the names that differ from this one in least places; empty if none is near. @param name with its namespace */
std::string NearOperations(const std::string& name);

/** Suggests names of operations for a name that does not exist. */
#pragma once
#include <string>

/**
 * Returns ` (did you mean …?)` with up to 3 similar names, or an empty text if no name is similar.
 * @param name the name with its namespace
 */
std::string SimilarOperations(const std::string& name);

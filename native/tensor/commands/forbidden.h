/** The operations of libtorch that no command may call. */
#pragma once
#include <string>

/**
 * Returns whether an operation reaches beyond tensors, for example to files, threads or memory at a given address.
 * Neither a controller nor a worker accepts such an operation.
 * @param name the name with its namespace: `aten::set_`
 */
bool IsForbidden(const std::string& name);

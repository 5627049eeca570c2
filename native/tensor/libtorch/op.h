/**
 * The operations of libtorch's dispatcher, and the types of their parameters and results. The table is read from the
 * loaded library, once per process. Pointers into the table stay valid.
 */
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "libtorch/torch.h"

/** The type of a parameter. `other` denotes types that cannot be passed from outside, such as storages and streams. */
enum class Kind : uint8_t {
  tensor,
  integer,
  real,
  boolean,
  text,
  /** A number of any type. */
  scalar,
  device,
  generator,
  dtype,
  layout,
  memoryFormat,
  other,
};

struct Parameter {
  std::string name;
  Kind kind;
  /** Whether the argument can be null. */
  bool optional;
  bool list;
  /** Whether elements of the list can be null. */
  bool optionalElements;
  /** Whether a single value can be passed instead of the list. */
  bool single;
  /** Whether the argument can be passed by name only. */
  bool named;
  bool hasDefault;
  c10::IValue defaultValue;
  /** Whether the operation writes to the argument. */
  bool written;
};

struct Op {
  c10::OperatorHandle handle;
  /** The name with namespace and overload: `aten::add.Tensor`. */
  std::string name;
  std::vector<Parameter> parameters;
  /** Whether the caller passes the output. JavaScript does not call such operations. */
  bool hasOut;
  /** Whether all results are tensors or lists of tensors. True if there are no results. */
  bool returnsTensors;
};

/**
 * Returns the overloads of an operation, the overload without a name first. Leaves out overloads with parameters that
 * cannot be passed. Empty if there are none.
 * @param name the name with its namespace: `aten::add` for all overloads, `aten::add.Tensor` for one
 */
const std::vector<const Op*>& OverloadsOf(const std::string& name);
/** The overloads of a name. Calls refer to it by its number. Its address never changes. */
struct Operation {
  /** The name with its namespace. */
  std::string name;
  /** The result of `OverloadsOf`. */
  std::vector<const Op*> overloads;
};

/**
 * Returns the number of a name, which stays the same for the rest of the process. Names without overloads have numbers,
 * too.
 */
size_t NumberOf(const std::string& name);
/** Returns null for an unknown number. */
const Operation* OperationAt(size_t number);
/** Returns one overload, or null. */
const Op* FindOp(const std::string& name, const std::string& overload);
/**
 * Returns whether an operation exists.
 * @param name the name with its namespace and without overload
 */
bool HasOp(const std::string& name);
/** Returns the schemas of all operations of the namespace `aten`, sorted. */
std::vector<std::string> AllSchemas();
/** Returns the schema without its namespace: `add.Tensor(Tensor self, …)`. */
std::string SchemaText(const Op& op);

/**
 * Operations of libtorch's dispatcher, with what their schemas say of arguments and results. Read from the library that is loaded,
 * once for the process; what was found stays where it is.
 */
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "torch.h"

/** What a parameter takes. `other`: what cannot be given from outside, such as storages and streams. */
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
  /** `null` can be given. */
  bool optional;
  bool list;
  /** Of a list: `null` can be given for an element. */
  bool optionalElements;
  /** Of a list: one value stands for a list of it. */
  bool single;
  /** Only by its name. */
  bool named;
  bool hasDefault;
  c10::IValue defaultValue;
  /** The operation writes to it. */
  bool written;
};

struct Op {
  c10::OperatorHandle handle;
  /** `aten::add.Tensor` */
  std::string name;
  std::vector<Parameter> parameters;
  /** An output is handed in: called by JavaScript never. */
  bool hasOut;
  /** All its results are tensors or lists of them; also if it has none. */
  bool returnsTensors;
};

/**
 * The overloads that a name has, the plain one first; those whose parameters cannot be given are left out. Empty if there are none.
 * @param name with its namespace: `aten::add` for all overloads, `aten::add.Tensor` for one
 */
const std::vector<const Op*>& OverloadsOf(const std::string& name);
/** All that a name stands for, by which calls find it. Stays where it is. */
struct Operation {
  /** With its namespace. */
  std::string name;
  /** As OverloadsOf answers them. */
  std::vector<const Op*> overloads;
};

/** The same number for the same name, for as long as the process lives; also for a name without overloads. */
size_t NumberOf(const std::string& name);
/** Null for a number that was not answered. */
const Operation* OperationAt(size_t number);
/** One overload; null if there is none. */
const Op* FindOp(const std::string& name, const std::string& overload);
/** Whether there is an operation of this name, with its namespace and without overload. */
bool HasOp(const std::string& name);
/** The schemas of all operations of namespace `aten`, as text, sorted. */
std::vector<std::string> AllSchemas();
/** `add.Tensor(Tensor self, …)`: the schema without its namespace. */
std::string SchemaText(const Op& op);

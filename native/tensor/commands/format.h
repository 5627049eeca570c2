/**
 * The format of the commands that a controller records and workers execute. Numbers are little-endian and not aligned.
 * Counts and lengths have 32 bits. docs/decisions/0083 gives the reasons for this format.
 *
 *     command  = defineOp    name:text overload:text      defines the next operation; the first has number 0
 *              | defineSite  where:text                   defines the next call site; the first has number 0
 *              | call        op:u32 site:u32 argument* n:u32 result:u64*n    result 0: the result is not used
 *              | drop        n:u32 reference:u64*n
 *              | seed        seed:u64 ranks:u8            ranks 1: each rank has a different sequence
 *              | put         reference:u64 constant       creates a tensor from its elements
 *              | define      program:u32 arguments:u32 externals gradients:u32 locals:u32 numbers:u32 body kept
 *                            replacements               defines a program, which `replay` executes
 *              | forget      program:u32                  the program can no longer be replayed
 *              | bind        program:u32 n:u32 reference:u64*n    the tensors that are the gradients of the program
 *              | replay      program:u32 n:u32 argument:u64*n base:u64 n:u32 number:f64*n
 *     text     = n:u32 byte*n
 *     constant = dtype:u8 wrapped:u8 dimensions:u8 size:u64* n:u32 byte*n
 *     externals = n:u32 reference:u64*n
 *     body     = n:u32 byte*n                             commands of the kinds `call`, `drop`, `seed` and `put`
 *     kept     = n:u32 slot:u64*n                         locals that outlive a replay
 *     replacements = n:u32 slot:u64*n                     for each gradient, the local that replaces it
 *
 * An argument is a tag and its data. A call has one argument for each parameter of the operation.
 *
 * The commands of a body contain slots instead of references. Slot 0 is none. Then follow the arguments of the replay,
 * the externals, the gradients, and the locals, which are the tensors that the body creates. The local with index j,
 * from 0, becomes tensor `base + j`. A body drops all its locals except those that are kept and those that replace
 * gradients. At the end of a replay, each gradient is replaced by its local, which gets the number of the gradient.
 * Arguments of the kinds `variable` and `variables` take the numbers of the replay, in order. docs/decisions/0229 gives
 * the reasons.
 */
#pragma once
#include <cstdint>

enum class Command : uint8_t { defineOp = 1, defineSite, call, drop, seed, put, define, forget, bind, replay };

enum class Tag : uint8_t {
  none,
  /** An undefined tensor. */
  undefined,
  /** u64: the number of a tensor. */
  reference,
  /** A tensor in the format of `put`. */
  constant,
  /** i64 */
  integer,
  /** f64 */
  real,
  /** u8 */
  boolean,
  /** text */
  text,
  /** The device of the worker. */
  device,
  /** n:u32 i64*n */
  integers,
  /** n:u32 f64*n */
  reals,
  /** n:u32 u8*n */
  booleans,
  /** n:u32 (integer | real | boolean)*n */
  scalars,
  /** n:u32 u64*n */
  references,
  /** n:u32 u64*n, 0 for none */
  optionalReferences,
  /** A complex number: its real and its imaginary part, f64 each. */
  complex,
  /** In programs only: the next number of the replay. */
  variable,
  /** In programs only: n:u32, the next n numbers of the replay. */
  variables,
};

/**
 * The maximum size in bytes of a tensor of the controller's process that is sent together with the command that uses
 * it.
 */
constexpr uint64_t kMaxConstantBytes = 64 << 10;

/** The maximum number of programs of a worker. */
constexpr size_t kMaxPrograms = 1024;
/** The maximum size in bytes of all bodies of a worker's programs together. */
constexpr size_t kMaxProgramBytes = size_t{256} << 20;
/** The maximum number of arguments, gradients, locals or numbers of a program. */
constexpr uint32_t kMaxProgramSlots = 1 << 20;

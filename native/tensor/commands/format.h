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
 *     text     = n:u32 byte*n
 *     constant = dtype:u8 wrapped:u8 dimensions:u8 size:u64* n:u32 byte*n
 *
 * An argument is a tag and its data. A call has one argument for each parameter of the operation.
 */
#pragma once
#include <cstdint>

enum class Command : uint8_t { defineOp = 1, defineSite, call, drop, seed, put };

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
};

/**
 * The maximum size in bytes of a tensor of the controller's process that is sent together with the command that uses
 * it.
 */
constexpr uint64_t kMaxConstantBytes = 64 << 10;

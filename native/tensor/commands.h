/**
 * The stream of commands that a controller records and workers execute. Little-endian, without alignment; counts and lengths have
 * 32 bits. docs/decisions/0083 says why it looks as it does.
 *
 *     command = defineOp    name:text overload:text               the next number of an operation, from 0
 *             | defineSite  where:text                            the next number of a place in the controller's code, from 0
 *             | call        op:u32 site:u32 argument* n:u32 result:u64*n    0: nobody wants this result
 *             | drop        n:u32 reference:u64*n
 *             | seed        seed:u64 ranks:u8                     1: each rank has numbers of its own
 *             | put         reference:u64 constant                a tensor by its elements
 *     text    = n:u32 byte*n
 *     constant = dtype:u8 wrapped:u8 dimensions:u8 size:u64* n:u32 byte*n
 *
 * An argument is a tag and what follows it; a call has as many as the operation has parameters.
 */
#pragma once
#include <cstdint>

enum class Command : uint8_t { defineOp = 1, defineSite, call, drop, seed, put };

enum class Tag : uint8_t {
  none,
  /** A tensor that is not defined. */
  undefined,
  /** u64 */
  reference,
  /** As `put` has it. */
  constant,
  /** i64 */
  integer,
  /** f64 */
  real,
  /** u8 */
  boolean,
  /** text */
  text,
  /** The worker's own. */
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
  /** A number: its real and its imaginary part, each f64. */
  complex,
};

/** Tensors that are used from here travel with the command that uses them: up to this many bytes. */
constexpr uint64_t kMostConstantBytes = 64 << 10;

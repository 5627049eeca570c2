/** Compares two states of a schema in Cap'n Proto. Structs correspond by their place, members by their order. */

import type { Pair } from "../../shared/evolution/pair.js";
import type { CapnpFile, CapnpMember, CapnpSchemaType, CapnpStruct } from "../capnp/capnp-schema.js";

export interface CapnpChange {
  /** The full path of the changed member: `Tree.leaf.size`. */
  readonly place: string;
  /** The member of the exported type that contains the change: `size` for `Tree.size.unit`. */
  readonly member: string;
  /** The type in Cap'n Proto's notation: `Int32`, `union of absent and Int32`. */
  readonly was: string;
  readonly is: string;
}

/** Returns the struct of an exported type. */
export function rootStruct(files: readonly CapnpFile[], module: string, name: string): CapnpStruct | undefined {
  const file = files.find((one) => one.module === module);
  return file?.types.find((type): type is CapnpStruct => type.kind === "struct" && type.root?.name === name);
}

/**
 * Returns the changed members of two structs and of the structs in them.
 * @param seen the struct pairs that were already compared: newer structs by older struct
 */
export function structChanges(
  place: string,
  { older, newer }: Pair<CapnpStruct>,
  seen: Map<CapnpStruct, Set<CapnpStruct>>,
): readonly CapnpChange[] {
  const known = seen.get(older) ?? new Set();
  if (known.has(newer)) return [];
  seen.set(older, known.add(newer));
  const found: CapnpChange[] = [];
  for (const [i, member] of newer.members.entries()) {
    const before = older.members[i];
    const { property: source } = member;
    // A removed member keeps only its slot.
    if (before === undefined || source === undefined || before.property === undefined) continue;
    const here = `${place}.${source}`;
    const [was, is] = [memberText(before), memberText(member)];
    if (was !== is) {
      found.push({ place: here, member: source, was, is });
      // The members after it have moved too.
      break;
    }
    const inner = { older: structIn(before.type), newer: structIn(member.type) };
    if (inner.older === undefined || inner.newer === undefined) continue;
    const below = structChanges(here, { older: inner.older, newer: inner.newer }, seen);
    found.push(...below.map((change) => ({ ...change, member: source })));
  }
  return found;
}

function structIn(type: CapnpSchemaType): CapnpStruct | undefined {
  if (type.kind === "list") return structIn(type.element);
  return type.kind === "struct" || type.kind === "nullable" ? type.target : undefined;
}

function memberText({ type, ordinals, optional, nullable }: CapnpMember): string {
  if (ordinals === 1) return capnpTypeText(type);
  // `absent` and `null` share one slot.
  const ways = optional && nullable ? "absent, null" : "absent";
  return `union of ${ways} and ${capnpTypeText(type)}`;
}

function capnpTypeText(type: CapnpSchemaType): string {
  switch (type.kind) {
    case "data":
      return scalarText[type.scalar];
    case "enum":
      return "enum";
    case "text":
    case "json":
      return "Text";
    case "bytes":
      return "Data";
    case "typedArray":
      return type.element === "uint8clamped" ? "Data" : `List(${elementText[type.element]})`;
    case "list":
      return `List(${capnpTypeText(type.element)})`;
    case "struct":
      return type.target.shape === "choice" ? "struct of a union" : "struct";
    case "nullable":
      return "struct of null or a value";
    case "anyPointer":
      return "AnyPointer";
    case "void":
      return "Void";
  }
}

const scalarText = {
  bool: "Bool",
  uint16: "UInt16",
  int32: "Int32",
  uint32: "UInt32",
  int64: "Int64",
  uint64: "UInt64",
  float32: "Float32",
  float64: "Float64",
  date: "Int64 of milliseconds",
} as const;

const elementText = {
  int8: "Int8",
  int16: "Int16",
  uint16: "UInt16",
  int32: "Int32",
  uint32: "UInt32",
  bigint64: "Int64",
  biguint64: "UInt64",
  float32: "Float32",
  float64: "Float64",
} as const;

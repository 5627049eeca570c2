/**
 * The path of a type while a schema is lowered. It determines the name of the message for an inline type and the lock
 * block that contains the ids of its members.
 */

import { pascalCase } from "../../../shared/protobuf/names.js";
import { printName } from "../../lock/index.js";
import type { Position } from "../../model/type.js";

export interface NamePath {
  /** The preferred name of a message at this path, qualified in a namespace: `Order.LineMeta`. */
  readonly name: string;
  /**
   * The preferred name of an enum at this path. In an instance of a generic type it does not contain the type
   * arguments, because all instances share the enum.
   */
  readonly enumName: string;
  /** Whether the name is already taken for this path, because the path is that of a declaration. */
  readonly isClaimed: boolean;
  /** The path of a shape in the lock: `Entry.meta`. */
  readonly path: string;
  /** The schema file whose lock blocks contain the path. */
  readonly lockModule: string;
  /** The schema file whose `.proto` file gets the message. */
  readonly module: string;
  readonly doc: string;
  readonly at: Position;
  /** The paths of inline types that are arguments of the surrounding generic type, by type key. */
  readonly args: ReadonlyMap<string, NamePath>;
}

export interface PathStep {
  /** The suffix for the name; may be empty. */
  readonly name: string;
  /** The suffix for the path. */
  readonly path: string;
  readonly at?: Position;
}

/**
 * Returns the path of a part. An inline type has no documentation of its own; the documentation belongs to its member.
 */
export function namePathBelow(place: NamePath, { name, path, at = place.at }: PathStep): NamePath {
  return {
    ...place,
    name: place.name + name,
    enumName: place.enumName + name,
    isClaimed: false,
    path: place.path + path,
    doc: "",
    at,
  };
}

/** Returns the step to a property, a parameter or a case. */
export function memberStep(name: string, at: Position): PathStep {
  return { name: pascalCase(name), path: `.${printName(name)}`, at };
}

export function variantStep(tag: string, at: Position): PathStep {
  return { name: pascalCase(tag), path: `|${printName(tag)}`, at };
}

export function elementStep(i: number, label?: string): PathStep {
  return { name: label === undefined ? `Item${i + 1}` : pascalCase(label), path: `[${i}]` };
}

/** The steps to parts that have no name. */
export const steps = {
  item: { name: "Item", path: "[]" },
  key: { name: "Key", path: "{key}" },
  value: { name: "Value", path: "{}" },
  entry: { name: "Entry", path: "" },
  notNull: { name: "Value", path: "" },
  /** The list for the rest elements of a tuple, and its elements. The lock uses one path for both. */
  rest: { name: "Rest", path: "[...]" },
  restItem: { name: "Item", path: "" },
  port: { name: "Port", path: "(port)" },
} as const satisfies Readonly<Record<string, PathStep>>;

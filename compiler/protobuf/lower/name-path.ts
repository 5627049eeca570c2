/**
 * Where a type stands, while a schema is lowered: what the message is called that is written there in place, and where the
 * lock keeps the ids of its members.
 */

import { pascalCase } from "../../../shared/protobuf/names.js";
import { printName } from "../../lock/index.js";
import type { Position } from "../../model/type.js";

export interface NamePath {
  /** The preferred name of a message that stands here, qualified in a namespace: `Order.LineMeta`. */
  readonly name: string;
  /**
   * What an enum that stands here would like to be called: as a message, but in an instance of a generic type by the type
   * alone. It is the same in all of them.
   */
  readonly enumName: string;
  /** Taken for it already: it is a declaration. */
  readonly isClaimed: boolean;
  /** As the lock knows a shape that is written here: `Entry.meta`. */
  readonly path: string;
  /** The file whose lock blocks those are. */
  readonly lockModule: string;
  /** The file that the message goes to. */
  readonly module: string;
  readonly doc: string;
  readonly at: Position;
  /** Types written in place as arguments of the generic type that this stands in, by key. */
  readonly args: ReadonlyMap<string, NamePath>;
}

export interface PathStep {
  /** Added to the name; empty: nothing. */
  readonly name: string;
  /** Added to the path. */
  readonly path: string;
  readonly at?: Position;
}

/** What is written in place has no documentation of its own: that is its member's. */
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

/** A property, a parameter, a case. */
export function memberStep(name: string, at: Position): PathStep {
  return { name: pascalCase(name), path: `.${printName(name)}`, at };
}

export function variantStep(tag: string, at: Position): PathStep {
  return { name: pascalCase(tag), path: `|${printName(tag)}`, at };
}

export function elementStep(i: number, label?: string): PathStep {
  return { name: label === undefined ? `Item${i + 1}` : pascalCase(label), path: `[${i}]` };
}

/** What something is made of, without a name of its own. */
export const steps = {
  item: { name: "Item", path: "[]" },
  key: { name: "Key", path: "{key}" },
  value: { name: "Value", path: "{}" },
  entry: { name: "Entry", path: "" },
  notNull: { name: "Value", path: "" },
  /** The list that the rest of a tuple is, and its elements: the lock has one path for both. */
  rest: { name: "Rest", path: "[...]" },
  restItem: { name: "Item", path: "" },
  port: { name: "Port", path: "(port)" },
} as const satisfies Readonly<Record<string, PathStep>>;

/**
 * Names of messages, enums and services, without their package: in Pascal case, letters and digits alone. What a namespace
 * declares is nested: `Order.Line`. Declarations get the names they have; what has none in the schema is named by where it
 * stands, or by what it is an instance of, and gives way when a name is taken.
 */
import { pascalCase } from "../../../shared/protobuf/names.js";
import type { Position, Type } from "../../model/type.js";
import type { ProtoClash } from "./lowered-schema.js";

/** A type argument in the name of an instance: `Int32`, `ItemList`, `StringToItemMap`. */
export function argumentName(type: Type, nameOf: (type: Type) => string): string {
  const inner = (part: Type) => argumentName(part, nameOf);
  switch (type.kind) {
    case "scalar":
      return pascalCase(type.scalar);
    case "typedArray":
      return `${pascalCase(type.element)}Array`;
    case "array":
      return `${inner(type.element)}List`;
    case "set":
      return `${inner(type.element)}Set`;
    case "map":
      return `${inner(type.key)}To${inner(type.value)}Map`;
    case "record":
      return `${inner(type.value)}Record`;
    case "nullable":
      return `Nullable${inner(type.inner)}`;
    case "tuple":
      return `${[...type.elements.map((element) => element.type), ...(type.rest ? [type.rest] : [])].map(inner).join("")}Tuple`;
    default:
      return nameOf(type);
  }
}

interface NameHolder {
  /** `Tree of schemas/a.ts`. */
  readonly what: string;
}

export class MessageNames {
  readonly #package: string;
  readonly #holders = new Map<string, NameHolder>();
  readonly clashes: ProtoClash[] = [];

  constructor(packageName: string) {
    this.#package = packageName;
  }

  fullName(name: string): string {
    return `${this.#package}.${name}`;
  }

  /** For what a user has named: that name. If it is taken that is a clash, and a number tells the two apart. */
  claim(name: string, what: string, at: Position): string {
    const first = this.#holders.get(name);
    if (first !== undefined) this.clashes.push({ kind: "type", name, first: first.what, second: what, at });
    return this.findFree(name, what);
  }

  /** For what has no name of its own: `wanted`, or that with a number. */
  findFree(wanted: string, what: string): string {
    let name = wanted;
    for (let i = 2; this.#holders.has(name); i++) name = `${wanted}${i}`;
    this.#holders.set(name, { what });
    return name;
  }
}

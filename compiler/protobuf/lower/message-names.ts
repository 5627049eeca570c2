/**
 * Names messages, enums and services, without their package: in Pascal case, with letters and digits only. The
 * declarations of a namespace are nested: `Order.Line`. Declarations keep their names. A type without a name in the
 * schema is named after its path or its instance, and gets another name if that name is taken.
 */
import { pascalCase } from "../../../shared/protobuf/names.js";
import type { Position, Type } from "../../model/type.js";
import type { ProtoClash } from "./lowered-schema.js";
import type { ModuleOrigins } from "./module-origins.js";

/** Returns the text of a type argument in the name of an instance: `Int32`, `ItemList`, `StringToItemMap`. */
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
  /** A description of the holder: `Tree of schemas/a.ts`. */
  readonly what: string;
}

/** The names of all protobuf packages of a schema. Schema files of different npm packages can share one. */
export class PackageNames {
  readonly #origins: ModuleOrigins;
  readonly #names = new Map<string, MessageNames>();
  readonly clashes: ProtoClash[] = [];

  constructor(origins: ModuleOrigins) {
    this.#origins = origins;
  }

  /** Returns the names of the protobuf package of a schema file. */
  of(module: string): MessageNames {
    const { package: name } = this.#origins.of(module);
    const known = this.#names.get(name) ?? new MessageNames(name, this.clashes);
    this.#names.set(name, known);
    return known;
  }
}

export class MessageNames {
  readonly #package: string;
  readonly #clashes: ProtoClash[];
  readonly #holders = new Map<string, NameHolder>();

  constructor(packageName: string, clashes: ProtoClash[]) {
    this.#package = packageName;
    this.#clashes = clashes;
  }

  fullName(name: string): string {
    return `${this.#package}.${name}`;
  }

  /**
   * Takes the name that the user has chosen. If the name is already taken, this is a clash, and a number is appended.
   */
  claim(name: string, what: string, at: Position): string {
    const first = this.#holders.get(name);
    if (first !== undefined) this.clash(name, first.what, what, at);
    return this.findFree(name, what);
  }

  clash(name: string, first: string, second: string, at: Position): void {
    this.#clashes.push({ kind: "type", name: this.fullName(name), first, second, at });
  }

  /** Takes a name for something that has none in the schema: `wanted`, with a number appended if it is taken. */
  findFree(wanted: string, what: string): string {
    let name = wanted;
    for (let i = 2; this.#holders.has(name); i++) name = `${wanted}${i}`;
    this.#holders.set(name, { what });
    return name;
  }
}

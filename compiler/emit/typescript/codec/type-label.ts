/** The labels of types: in error messages, and as parts of the names of private codecs. */
import { flatName } from "../../../../shared/names/qualified-name.js";
import type { SchemaIndex } from "../../../model/resolve.js";
import type { Type } from "../../../model/type.js";
import { upperFirst } from "./lockstep/body.js";

/** Returns a short form of the schema's notation: `Page<Item>`, `Map<string, int32>`, `Item[]`. */
export function typeLabel(type: Type, index: SchemaIndex): string {
  const text = (part: Type): string => typeLabel(part, index);
  switch (type.kind) {
    case "scalar":
      return type.scalar;
    case "typedArray":
      return `${type.element}array`;
    case "array":
      return `${/[ |]/.test(text(type.element)) ? `(${text(type.element)})` : text(type.element)}[]`;
    case "tuple":
      return `[${[...type.elements.map((element) => text(element.type)), ...(type.rest ? [`...${text(type.rest)}[]`] : [])].join(", ")}]`;
    case "map":
      return `Map<${text(type.key)}, ${text(type.value)}>`;
    case "set":
      return `Set<${text(type.element)}>`;
    case "record":
      return `Record<string, ${text(type.value)}>`;
    case "nullable":
      return `${text(type.inner)} | null`;
    case "ref": {
      const { name } = index.type(type.target);
      return type.args.length === 0 ? name : `${name}<${type.args.map(text).join(", ")}>`;
    }
    case "port":
      return `Port<${text(type.element)}>`;
    case "objectRef":
      return `ObjectRef<${text(type.element)}>`;
    case "mesh":
      return `Mesh<${index.actor(type.actor).name}>`;
    case "inline":
      return type.shape.kind === "message" ? "object" : type.shape.kind;
    default:
      return type.kind;
  }
}

/** Returns the label as letters and digits: `Page<Item[]>` -> `PageOfItems`. */
export function typeHint(type: Type, index: SchemaIndex): string {
  const hint = (part: Type): string => typeHint(part, index);
  switch (type.kind) {
    case "array":
      return `${hint(type.element)}s`;
    case "map":
      return `${hint(type.key)}To${hint(type.value)}`;
    case "set":
      return `SetOf${hint(type.element)}`;
    case "record":
      return `RecordOf${hint(type.value)}`;
    case "nullable":
      return `${hint(type.inner)}OrNull`;
    case "port":
      return `PortOf${hint(type.element)}`;
    case "objectRef":
      return `ObjectRefOf${hint(type.element)}`;
    case "ref": {
      const name = flatName(index.type(type.target).name);
      return type.args.length === 0 ? name : `${name}Of${type.args.map(hint).join("And")}`;
    }
    default:
      return upperFirst(typeLabel(type, index).replace(/[^\p{ID_Continue}]+/gu, ""));
  }
}

/**
 * Prints types in the notation of the lock: short, on one line, without the ids of other declarations. Two texts are
 * equal if the types are equal by name.
 */
import type { DeclarationKey, Type } from "../model/index.js";

/** Returns the name of a declaration, without its file. */
export function declarationName(key: DeclarationKey): string {
  return key.slice(key.lastIndexOf("#") + 1);
}

/** @param named returns the name of a declaration */
export function typeText(type: Type, named: (key: DeclarationKey) => string = declarationName): string {
  const text = (part: Type): string => typeText(part, named);
  switch (type.kind) {
    case "scalar":
      return type.scalar;
    case "typedArray":
      return `${type.element}array`;
    case "array":
      return `${text(type.element)}[]`;
    case "tuple": {
      const elements = type.elements.map((element) => text(element.type) + (element.optional ? "?" : ""));
      if (type.rest !== undefined) elements.push(`...${text(type.rest)}[]`);
      return `[${elements.join(", ")}]`;
    }
    case "map":
      return `map<${text(type.key)}, ${text(type.value)}>`;
    case "set":
      return `set<${text(type.element)}>`;
    case "record":
      return `record<${text(type.value)}>`;
    case "nullable":
      return `nullable<${text(type.inner)}>`;
    case "ref":
      return named(type.target) + (type.args.length === 0 ? "" : `<${type.args.map(text).join(", ")}>`);
    case "parameter":
      return type.name;
    case "inline":
      return type.shape.kind === "alias" ? text(type.shape.type) : type.shape.kind;
    case "port":
      return `port<${text(type.element)}>`;
    case "objectRef":
      return `objectref<${text(type.element)}>`;
    case "mesh":
      return `mesh<${[named(type.actor), ...(type.dimensions ?? []).map((name) => JSON.stringify(name))].join(", ")}>`;
    case "rdmaBuffer":
      return "rdmabuffer";
    case "tensor":
      return "tensor";
    case "wellKnown":
      return type.name.toLowerCase();
    case "unsupported":
      return "unsupported";
  }
}

/** Computes properties of a type without creating the structs that the type needs. */
import { instantiate, partsOf, type SchemaIndex, type Shape, type Type, typeKey } from "../model/index.js";
import { numericEnumType, type SlotType, scalarType, slotType, voidType } from "./slot-type.js";

/** Returns whether a type holds a handle outside of the members of a struct. */
export function holdsHandle(type: Type, index: SchemaIndex, seen: ReadonlySet<string> = new Set()): boolean {
  switch (type.kind) {
    case "port":
    case "mesh":
    case "rdmaBuffer":
    case "tensor":
    case "objectRef":
      return true;
    case "inline":
      return type.shape.kind === "alias" && holdsHandle(type.shape.type, index, seen);
    case "ref": {
      const key = typeKey(type);
      const shape = instantiate(index.type(type.target), type.args);
      return shape.kind === "alias" && !seen.has(key) && holdsHandle(shape.type, index, new Set([...seen, key]));
    }
    default:
      return partsOf(type).some((part) => holdsHandle(part, index, seen));
  }
}

/** Returns the type that a struct stores for a type, without creating other structs. */
export function slotTypeOf(type: Type, index: SchemaIndex, seen: ReadonlySet<string> = new Set()): SlotType {
  if (holdsHandle(type, index)) return slotType(voidType);
  switch (type.kind) {
    case "nullable":
      return { ...slotTypeOf(type.inner, index, seen), nullable: true };
    case "scalar": {
      const known = scalarType(type.scalar);
      return slotType(known.kind === "data" ? known : { kind: "anyPointer" });
    }
    case "inline":
      return slotTypeOfShape(type.shape, type, index, seen);
    case "ref": {
      const key = typeKey(type);
      if (seen.has(key)) return slotType({ kind: "anyPointer" });
      return slotTypeOfShape(instantiate(index.type(type.target), type.args), type, index, new Set([...seen, key]));
    }
    default:
      return slotType({ kind: "anyPointer" });
  }
}

function slotTypeOfShape(shape: Shape, type: Type, index: SchemaIndex, seen: ReadonlySet<string>): SlotType {
  if (shape.kind === "alias") return slotTypeOf(shape.type, index, seen);
  if (shape.kind !== "enum") return slotType({ kind: "anyPointer" });
  return slotType(numericEnumType(shape.values, type) ?? { kind: "data", scalar: "uint16" });
}

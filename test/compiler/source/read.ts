/** Reads schemas out of texts, for tests. */
import type { Field, Schema, Shape, Type } from "../../../compiler/model/index.js";
import { openTypeSource, type ReadSchema, readSchema, type TypeSource } from "../../../compiler/source/index.js";

let shared: TypeSource | undefined;

/** @param files by their path */
export function readFiles(files: Readonly<Record<string, string>>): ReadSchema {
  shared ??= openTypeSource({ exists: () => false });
  shared.update(Object.entries(files).map(([path, text]) => ({ path, text })));
  return readSchema(shared, "test");
}

const vocabulary = [
  "Actor, Fixed32, Fixed64, Float32, Int32, Int64, Mesh, Oneof, Port, RdmaBuffer, Sfixed32, Sfixed64, Sint32, Sint64,",
  "ObjectRef, Stream, Task, Tensor, Uint32, Uint64, Timestamp, Duration, FieldMask, Empty, Any, Struct, Value, ListValue, NullValue,",
  "DoubleValue, FloatValue, Int64Value, UInt64Value, Int32Value, UInt32Value, BoolValue, StringValue, BytesValue",
].join(" ");

/** One file that imports everything; throws when something is wrong with it. */
export function readText(text: string): Schema {
  const { schema, diagnostics } = readFiles({
    "schemas/a.ts": `import type { ${vocabulary} } from "viceroy/schema";\n${text}`,
  });
  if (diagnostics.length > 0) throw new Error(diagnostics.map((found) => `${found.code} ${found.text}`).join("\n"));
  return schema;
}

export function shapeOf(schema: Schema, name: string): Shape {
  const found = schema.modules.flatMap((module) => module.types).find((type) => type.name === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found.shape;
}

export function fieldsOf(schema: Schema, name: string): readonly Field[] {
  const shape = shapeOf(schema, name);
  if (shape.kind !== "message") throw new Error(`${name} is no message but ${shape.kind}`);
  return shape.fields;
}

/** Types as short texts: what they are, without positions. */
export function show(type: Type): string {
  switch (type.kind) {
    case "scalar":
      return type.scalar;
    case "typedArray":
      return `${type.element}array`;
    case "array":
      return `${type.readonly ? "readonly " : ""}${show(type.element)}[]`;
    case "tuple": {
      const elements = type.elements.map((element) => {
        return `${element.name === undefined ? "" : `${element.name}: `}${show(element.type)}${element.optional ? "?" : ""}`;
      });
      const rest = type.rest === undefined ? [] : [`...${show(type.rest)}`];
      return `${type.readonly ? "readonly " : ""}[${[...elements, ...rest].join(", ")}]`;
    }
    case "map":
      return `${type.readonly ? "readonly " : ""}map<${show(type.key)}, ${show(type.value)}>`;
    case "set":
      return `${type.readonly ? "readonly " : ""}set<${show(type.element)}>`;
    case "record":
      return `record<${show(type.value)}>`;
    case "nullable":
      return `${show(type.inner)} | null`;
    case "ref": {
      const name = type.target.replace(/^.*#/, "");
      return type.args.length === 0 ? name : `${name}<${type.args.map(show).join(", ")}>`;
    }
    case "parameter":
      return type.name;
    case "inline":
      return showShape(type.shape);
    case "port":
      return `port<${show(type.element)}>`;
    case "objectRef":
      return `objectRef<${show(type.element)}>`;
    case "mesh":
      return `mesh<${[type.actor.replace(/^.*#/, ""), ...(type.dimensions ?? ["*"])].join(", ")}>`;
    case "wellKnown":
      return `google.protobuf.${type.name}`;
    default:
      return type.kind;
  }
}

export function showShape(shape: Shape): string {
  switch (shape.kind) {
    case "message":
      return `{ ${showFields(shape.fields)} }`;
    case "oneof":
      return `oneof { ${showFields(shape.cases)} }`;
    case "enum":
      return shape.values.map(({ value }) => JSON.stringify(value)).join(" | ");
    case "union":
      return `union ${shape.discriminant} { ${shape.variants.map(({ tag, type }) => `${tag}: ${show(type)}`).join("; ")} }`;
    case "alias":
      return show(shape.type);
  }
}

function showFields(fields: readonly Field[]): string {
  return fields
    .map(
      ({ name, optional, readonly, type }) =>
        `${readonly ? "readonly " : ""}${name}${optional ? "?" : ""}: ${show(type)}`,
    )
    .join("; ");
}

/** The type of `type`, of a field of that type. */
export function showType(type: string, declarations = ""): string {
  const [field] = fieldsOf(readText(`${declarations}\nexport interface Holder {\n  field: ${type};\n}\n`), "Holder");
  if (field === undefined) throw new Error(`cannot read ${type}`);
  return show(field.type) + (field.optional ? "?" : "");
}
